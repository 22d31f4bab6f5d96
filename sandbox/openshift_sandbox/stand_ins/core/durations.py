# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Durations and times as the API writes them."""

from __future__ import annotations

import re
import typing as t
from datetime import UTC, datetime

UNITS: t.Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
PART: t.Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")


def seconds(text: str | None, default: float) -> float:
    """Return `1h2m0.5s` as seconds; the default for an empty text."""
    if text is None:
        return default
    return sum(float(number) * UNITS[unit] for number, unit in PART.findall(text))


def moment(timestamp: str) -> datetime:
    """Return a timestamp of the API as a time."""
    return datetime.strptime(timestamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def age(timestamp: str | None, now: datetime) -> float:
    """Return the seconds since a timestamp; 0 without one."""
    return (now - moment(timestamp)).total_seconds() if timestamp else 0.0
