"""Rules of schedules that AWX would refuse, and schedules that would never run."""

from __future__ import annotations

import pytest
from unit.awx.content import NOW

from ansible_collections.accelerators.openshift.plugins.module_utils._awx import recurrence

DAILY = "RRULE:FREQ=DAILY;INTERVAL=1"


@pytest.mark.parametrize(
    "rule",
    [
        f"DTSTART:20270101T020000Z {DAILY}",
        f"DTSTART;TZID=Europe/Berlin:20270101T020000 {DAILY}",
        f"DTSTART:20200101T020000Z {DAILY}",
        f"DTSTART:20200101T020000Z {DAILY};UNTIL=20270101T000000Z",
        f"DTSTART:20261121T020000Z {DAILY};COUNT=5",
        "DTSTART:20261123T020000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=1",
        f"DTSTART:20200101T020000Z {DAILY};COUNT=1 RRULE:FREQ=WEEKLY;INTERVAL=1",
    ],
)
def test_a_schedule_that_runs(rule: str) -> None:
    assert recurrence.problem(rule, NOW) == ""


def test_a_machine_without_time_zones_refuses_none(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = f"DTSTART;TZID=Mars/Base:20270101T020000 {DAILY}"
    monkeypatch.setattr("zoneinfo.available_timezones", set)
    assert recurrence.problem(rule, NOW) == ""


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        (DAILY, "needs one DTSTART"),
        ("DTSTART:20270101T020000Z", "needs a rule"),
        (f"DTSTART:20270101T020000 {DAILY}", "neither TZID nor a Z"),
        (f"DTSTART;TZID=Mars/Base:20270101T020000 {DAILY}", "its DTSTART is not valid"),
        (f"DTSTART:20271301T020000Z {DAILY}", "its DTSTART is not valid"),
        ("DTSTART:20270101T020000Z RRULE:FREQ=DAILY", "requires an INTERVAL"),
        ("DTSTART:20270101T020000Z RRULE:FREQ=SECONDLY;INTERVAL=1", "FREQ is SECONDLY"),
        ("DTSTART:20270101T020000Z RRULE:INTERVAL=1", "FREQ is missing"),
        (f"DTSTART:20270101T020000Z {DAILY};COUNT=1;UNTIL=20270101T000000Z", "both COUNT and UNTIL"),
        (f"DTSTART:20270101T020000Z {DAILY};COUNT=1000", "COUNT is not a number from 1 to 999"),
        (f"DTSTART:20270101T020000Z {DAILY};UNTIL=tomorrow", "UNTIL is not a time"),
        (f"DTSTART:20270101T020000Z {DAILY} EXDATE:20270102T020000Z", "neither EXDATE nor RDATE"),
        (f"DTSTART:20200101T020000Z {DAILY};UNTIL=20200201T000000Z", "its last run was before 2026-11-22"),
        (f"DTSTART:20261121T020000Z {DAILY};COUNT=1", "its last run was before 2026-11-22"),
        (f"DTSTART:20200101T020000Z {DAILY};COUNT=5", "its last run was before 2026-11-22"),
    ],
)
def test_a_schedule_that_awx_refuses_or_never_runs(rule: str, found: str) -> None:
    assert found in recurrence.problem(rule, NOW)
