# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a schedule runs: the part of RFC 5545 that AWX accepts, and whether the last run is over."""

from __future__ import annotations

import datetime
import re
import typing as t
import zoneinfo

_START: t.Final = re.compile(r"DTSTART(?:;TZID=(?P<zone>[^:\s]+))?:(?P<time>\d{8}T\d{6})(?P<utc>Z?)")
_RULE: t.Final = re.compile(r"(EX|R)RULE:(\S+)", re.IGNORECASE)
_DAY: t.Final = re.compile(r"[+-]?\d*(MO|TU|WE|TH|FR|SA|SU)|(MO|TU|WE|TH|FR|SA|SU)\([+-]?\d+\)")
_NUMBERS: t.Final = re.compile(r"[+-]?\d+(,[+-]?\d+)*")
# The parts of a rule whose values are numbers.
_NUMBERED: t.Final = (
    *("BYSETPOS", "BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYEASTER", "BYWEEKNO"),
    *("BYHOUR", "BYMINUTE", "BYSECOND"),
)
_OTHERS: t.Final = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "BYWEEKDAY")
_TIME: t.Final = "%Y%m%dT%H%M%S"
# The seconds between two runs, at least.
_SECONDS: t.Final = {
    "MINUTELY": 60,
    "HOURLY": 3_600,
    "DAILY": 86_400,
    "WEEKLY": 604_800,
    "MONTHLY": 2_678_400,
    "YEARLY": 31_622_400,
}


def problem(rrule: t.Any, now: datetime.datetime) -> str:
    """Return why AWX would refuse a schedule, or why it would never run; "" if it is right."""
    text = str(rrule)
    starts = list(_START.finditer(text))
    rules = [(kind.upper(), _parts(rule.upper())) for kind, rule in _RULE.findall(text)]
    runs = [parts for kind, parts in rules if kind == "R"]
    if len(starts) != 1:
        return f"{text!r} needs one DTSTART, such as DTSTART:20270101T020000Z"
    if not runs:
        return f"{text!r} needs a rule, such as RRULE:FREQ=DAILY;INTERVAL=1"
    if "EXDATE" in text.upper() or "RDATE" in text.upper():
        return "AWX accepts neither EXDATE nor RDATE"
    if odd := [word for word in text.split() if not (_START.fullmatch(word) or _RULE.fullmatch(word))]:
        return f"{odd[0]!r} is neither a DTSTART nor a rule such as RRULE:FREQ=DAILY;INTERVAL=1"
    try:
        start = _start(starts[0])
    except (ValueError, zoneinfo.ZoneInfoNotFoundError) as exc:
        return f"its DTSTART is not valid: {exc}"
    wrong = next(filter(None, (_wrong(parts) for _kind, parts in rules)), "")
    if wrong:
        return wrong
    last_runs = [_end(start, run) for run in runs]
    last = None if None in last_runs else max(end for end in last_runs if end is not None)
    return f"its last run was before {now:%Y-%m-%d}, so it would never run" if last and last < now else ""


def _start(found: re.Match[str]) -> datetime.datetime:
    if found["zone"] and found["utc"]:
        raise ValueError("it has both TZID and a Z at its end")
    if found["zone"]:
        zone = _zone(found["zone"])
    elif found["utc"]:
        zone = datetime.UTC
    else:
        raise ValueError("it has neither TZID nor a Z at its end")
    return datetime.datetime.strptime(found["time"], _TIME).replace(tzinfo=zone)


def _zone(name: str) -> datetime.tzinfo:
    """Return a time zone. Raise ZoneInfoNotFoundError, unless this machine knows no zone at all."""
    try:
        return zoneinfo.ZoneInfo(name)
    except zoneinfo.ZoneInfoNotFoundError:
        if zoneinfo.available_timezones():
            raise
        return datetime.UTC


def _parts(rule: str) -> dict[str, str]:
    return {key: value for key, _equals, value in (part.partition("=") for part in rule.split(";"))}


def _wrong(parts: t.Mapping[str, str]) -> str:
    if parts.get("FREQ") not in _SECONDS:
        return f"its FREQ is {parts.get('FREQ', 'missing')}, not one of {', '.join(_SECONDS)}"
    if not parts.get("INTERVAL", "").isdigit() or int(parts["INTERVAL"]) < 1:
        return "AWX requires an INTERVAL, such as INTERVAL=1"
    if "COUNT" in parts and "UNTIL" in parts:
        return "it has both COUNT and UNTIL"
    if "COUNT" in parts and not (parts["COUNT"].isdigit() and 1 <= int(parts["COUNT"]) <= 999):
        return "its COUNT is not a number from 1 to 999"
    if "UNTIL" in parts and not _is_time(parts["UNTIL"]):
        return "its UNTIL is not a time such as 20271231T000000Z"
    return next(filter(None, (_wrong_part(key, value) for key, value in parts.items())), "")


def _is_time(text: str) -> bool:
    try:
        datetime.datetime.strptime(text.removesuffix("Z"), _TIME)
    except ValueError:
        return False
    return True


def _wrong_part(key: str, value: str) -> str:
    """Return what is wrong with one part of a rule, or an empty text."""
    if key not in (*_NUMBERED, *_OTHERS):
        return f"no rule has the part {key}"
    if key in _NUMBERED:
        return (
            "" if _NUMBERS.fullmatch(value) else f"its {key} is {value}, not a number or several with commas"
        )
    days = value.split(",") if key in ("BYDAY", "BYWEEKDAY") else [value] if key == "WKST" else []
    if any(not _DAY.fullmatch(day) for day in days):
        return f"its {key} is {value}, not days such as MO,TU"
    # AWX looks at the first day alone, and takes -1FR.
    if key == "BYDAY" and value[:1].isdigit():
        day = value.lstrip("0123456789")
        return f"AWX takes no number before a day: write BYDAY={day};BYSETPOS={value.removesuffix(day)}"
    return ""


def _end(start: datetime.datetime, parts: t.Mapping[str, str]) -> datetime.datetime | None:
    """Return a time after which the rule runs no more, or None if it never ends."""
    if "UNTIL" in parts:
        until = parts["UNTIL"]
        zone = datetime.UTC if until.endswith("Z") else start.tzinfo
        return datetime.datetime.strptime(until.removesuffix("Z"), _TIME).replace(tzinfo=zone)
    if "COUNT" not in parts:
        return None
    runs = int(parts["COUNT"]) - 1
    # Rules such as BYMONTHDAY=31 leave periods out, so all but a single run get twice their time.
    try:
        return start + datetime.timedelta(seconds=2 * runs * int(parts["INTERVAL"]) * _SECONDS[parts["FREQ"]])
    except OverflowError:  # after the year 9999
        return None
