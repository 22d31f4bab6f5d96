# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Until when a token or a client certificate is good, as far as it says so itself."""

from __future__ import annotations

import base64
import datetime
import json

_PEM = "-----BEGIN CERTIFICATE-----"
_VERSION, _UTC_TIME = 0xA0, 0x17


def of_token(token: str) -> datetime.datetime | None:
    """The claim C(exp) of a JWT; None for what is none, or does not say."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        end = claims.get("exp")
        return (
            None
            if isinstance(end, bool) or not isinstance(end, (int, float))
            else datetime.datetime.fromtimestamp(end, datetime.UTC)
        )
    except (ValueError, AttributeError, OverflowError, OSError):
        return None


def of_certificate(pem: str) -> datetime.datetime | None:
    """The end of the validity of the first certificate in a PEM text; None when it cannot be read."""
    body = pem.partition(_PEM)[2].partition("-----END")[0]
    try:
        der = base64.b64decode(body)
        start = _element(der, _element(der, 0)[1])[1]
        tag, _start, end = _element(der, start)
        at = end if tag == _VERSION else start
        for _passed_over in ("serial number", "signature algorithm", "issuer"):
            at = _element(der, at)[2]
        not_before = _element(der, _element(der, at)[1])
        tag, start, end = _element(der, not_before[2])
        text = der[start:end].decode("ascii")
        if tag == _UTC_TIME:
            text = ("19" if text[:2] >= "50" else "20") + text
        # Not by strptime, whose first use imports a module in every worker.
        digits = [int(text[:4]), *(int(text[place : place + 2]) for place in range(4, 14, 2))]
        return datetime.datetime(*digits, tzinfo=datetime.UTC) if text[14:] == "Z" else None  # type: ignore[arg-type, misc]
    except (ValueError, IndexError):
        return None


def warning(what: str, end: datetime.datetime, now: datetime.datetime, seconds: float) -> str | None:
    """What to say of something that the task may outlive, which may take that many seconds more."""
    moment = f"{end.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC"
    if end <= now:
        return f"{what} expired at {moment}; the API server will not accept it any more."
    if end <= now + datetime.timedelta(seconds=seconds):
        return f"{what} expires at {moment}, before the time for this task is over; the task fails when it needs longer."
    return None


def _element(der: bytes, at: int) -> tuple[int, int, int]:
    """Tag, start and end of the content of the DER element at an offset."""
    length, start = der[at + 1], at + 2
    if length & 0x80:
        size = length & 0x7F
        length, start = int.from_bytes(der[start : start + size], "big"), start + size
    return der[at], start, start + length
