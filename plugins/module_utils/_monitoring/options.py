# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of gpu_monitoring, checked before the first request."""

from __future__ import annotations

import difflib
import re
import typing as t

from .._core.errors import InputError
from .._frame.argspec import LockParams, StateParams
from . import metrics
from .alerts import Alert, Limits, alerts

PLATFORM, USER_WORKLOAD = "platform", "user_workload"
# The lowest and the highest number of each limit.
_RANGES: t.Final = {"temperature": (40, 110), "quota": (1, 100)}
_DURATION: t.Final = re.compile(r"[1-9]\d*(m|h|d)")


class LimitsParams(t.TypedDict):
    """The suboptions of limits, as in `Limits`."""

    temperature: int | None
    idle: str | None
    cordoned: str | None
    upgrade: str | None
    quota: int | None
    lease: str | None


class GpuMonitoringParams(LockParams, StateParams):
    """The options of gpu_monitoring. limits: a value or None for each limit of an alert."""

    namespace: str
    prometheus: t.Literal["platform", "user_workload"]
    metrics: list[str]
    limits: LimitsParams | None
    without: list[str]
    pools: list[dict[str, t.Any]]
    dashboard: bool
    console: bool
    console_image: str | None
    url: str | None
    adopt: t.Literal["report", "take"]


def read(params: GpuMonitoringParams) -> list[Alert]:
    """Return the alerts that the task asks for. Raises InputError with the path of what is wrong."""
    metrics.check(params["metrics"])
    found = alerts(_limits(params["limits"] or {}))
    known = [alert.name for alert in found]
    for index, name in enumerate(params["without"]):
        if name not in known:
            near = difflib.get_close_matches(name, known, 3) or known
            raise InputError("MON-ALERT", index=index, name=repr(name), known=" or ".join(near))
    return [alert for alert in found if alert.name not in params["without"]]


def _limits(given: t.Mapping[str, t.Any]) -> Limits:
    chosen = {name: value for name, value in given.items() if value is not None}
    for name, value in chosen.items():
        least, most = _RANGES.get(name, (0, 0))
        if name in _RANGES:
            if not least <= value <= most:
                wanted = f"a number from {least} to {most}"
                raise InputError("MON-LIMIT", name=name, value=value, wanted=wanted, example=most)
        elif not _DURATION.fullmatch(value):
            wanted = "a duration of Prometheus in minutes (m), hours (h) or days (d)"
            raise InputError("MON-LIMIT", name=name, value=repr(value), wanted=wanted, example="30m")
    return Limits(**chosen)
