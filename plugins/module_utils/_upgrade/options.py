# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of gpu_driver_upgrade, and what they ask for: the driver, the nodes of a wave, the window."""

from __future__ import annotations

import datetime
import math
import re
import typing as t
from dataclasses import dataclass

from .._catalogue import driver_branches
from .._core import references
from .._core.errors import InputError
from .._core.objects import KubeObject, number_of
from .._core.ownership import pool_label
from .._frame.nested import near

RUN, PAUSE, RESUME, STATUS = "run", "pause", "resume", "status"
_WAVE: t.Final = re.compile(r"(?P<number>[1-9]\d*)(?P<percent>%?)")
_WINDOW: t.Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")
_DAY: t.Final = datetime.timedelta(days=1)


@dataclass(frozen=True)
class GpuDriverUpgradeParams:
    """The options of gpu_driver_upgrade. node_timeout, grace, settle: seconds."""

    action: t.Literal["run", "pause", "resume", "status"]
    version: str | None
    repository: str | None
    image: str | None
    branch: str | None
    pools: list[dict[str, t.Any]]
    only: list[str]
    canary: str | None
    wave: str
    window: str | None
    outside_window: t.Literal["end", "wait"]
    wait_for: str | None
    probe: KubeObject | None
    rollback: bool
    validate: bool
    validation: dict[str, t.Any] | None
    queues: t.Literal["drain", "hold", "leave"] | None
    adopt: t.Literal["report", "take"]
    namespace: str
    node_timeout: int
    grace: float | None
    settle: float
    on_busy: t.Literal["fail", "drain", "wait"]
    delete_emptydir: bool
    evict_unmanaged: bool
    wait: bool
    wait_timeout: int
    lock_timeout: int


def chosen(pools: t.Sequence[dict[str, t.Any]], only: t.Sequence[str]) -> list[dict[str, t.Any]]:
    """Return the pools in `only`, or all if it is empty. Raise InputError for a name that no pool has.

    Without pools, nodes with the label of a pool belong to it.
    """
    known = list(dict.fromkeys(str(pool["name"]) for pool in pools))
    if known and (unknown := [near(name, known) for name in only if name not in known]):
        raise InputError(
            "POOL-UNKNOWN",
            path="gpu_pools",
            pool=f"{', '.join(unknown)} with GPUs of NVIDIA",
            known=", ".join(known),
            option="gpu_upgrade_pools (module option only)",
        )
    if not pools:
        return [{"name": name, "node_selector": pool_label(name)} for name in only]
    return [pool for pool in pools if not only or pool["name"] in only]


class Triple(t.NamedTuple):
    """A driver: the three parts of its image. All are empty where the operator chooses its own."""

    repository: str
    image: str
    version: str

    @classmethod
    def of(cls, section: t.Mapping[str, t.Any]) -> Triple:
        """Return the driver that a part of a ClusterPolicy or NVIDIADriver asks for."""
        return cls(*(str(section.get(key) or "") for key in cls._fields))

    @property
    def path(self) -> str:
        """Return the image without what the operator adds, for people too."""
        if not any(self):
            return "the operator's own driver"
        mark = "@" if self.version.startswith("sha256:") else ":"
        return f"{self.repository}/{self.image}{mark}{self.version}"

    def is_of(self, image: str) -> bool:
        """Return whether a pod with this image runs the driver."""
        return bool(self.version) and (image == self.path or image.startswith(f"{self.path}-"))


def wanted(params: GpuDriverUpgradeParams) -> Triple | None:
    """Return the driver that the options ask for, or None if they name none. Raise InputError."""
    parts = Triple(params.repository or "", params.image or "", params.version or "")
    for key, fault in references.faults(parts._asdict(), is_driver=True).items():
        raise InputError(
            "INPUT-IMAGE",
            f"{key}: {getattr(parts, key)!r} {fault}.",
            f"Correct gpu_driver_{key} (module option {key}).",
        )
    if branch := params.branch:
        return _newest(str(branch), parts)
    if not any(parts):
        return None
    if missing := [key for key, value in zip(Triple._fields, parts, strict=True) if not value]:
        raise InputError("UPGRADE-TRIPLE", option=missing[0], fault="is missing")
    return parts


def _newest(branch: str, parts: Triple) -> Triple:
    if parts.version:
        fault = f"cannot be combined with version {parts.version}, which names a driver already"
        raise InputError("UPGRADE-TRIPLE", option="branch", fault=fault)
    version = driver_branches.NEWEST.get(branch.removeprefix("R").removeprefix("r"))
    if version is None:
        known = ", ".join(driver_branches.NEWEST)
        raise InputError("UPGRADE-BRANCH", branch=branch, as_of=driver_branches.AS_OF, known=known)
    return Triple(
        parts.repository or driver_branches.REPOSITORY, parts.image or driver_branches.IMAGE, version
    )


def check(params: GpuDriverUpgradeParams) -> None:
    """Raise InputError for options that cannot work."""
    found = _WAVE.fullmatch(params.wave)
    if not found or (found["percent"] and int(found["number"]) > 100):
        fault = "neither a number of nodes nor a percentage"
        raise InputError("UPGRADE-WAVE", wave=repr(params.wave), fault=fault)
    window = Window.of(params.window)
    if params.window and (window is None or window.begin == window.end):
        what = "begins when it ends" if window else "is no time of day"
        raise InputError("UPGRADE-WINDOW", window=repr(params.window), fault=what)
    if params.node_timeout < 1:
        raise InputError(
            "INPUT-VALUE",
            f"node_timeout: {params.node_timeout} s would fail each wave at once.",
            "Set gpu_upgrade_node_timeout (module option node_timeout) to the seconds for one node.",
        )
    if wrong := _wrong_in_job(params.probe):
        raise InputError("UPGRADE-JOB", fault=wrong)


def _wrong_in_job(probe: t.Any) -> str:
    """Return what is wrong with the parts of the manifest that the task reads, or an empty text."""
    if probe is None:
        return ""
    if probe.get("kind") != "Job":
        return f"kind is {probe.get('kind')}"
    wanted: dict[str, type] = {"metadata": dict, "metadata.name": str, "metadata.namespace": str}
    wanted |= {"metadata.labels": dict, "spec": dict, "spec.template": dict, "spec.template.spec": dict}
    wanted |= {"spec.template.spec.nodeSelector": dict, "spec.template.spec.tolerations": list}
    for path, kind in wanted.items():
        found: t.Any = probe
        for key in path.split("."):
            found = (found or {}).get(key)
        if (found is not None and not isinstance(found, kind)) or (path == "metadata.name" and not found):
            return f"{path} is {'missing' if found is None else f'{found!r}'}"
    return ""


def wave_size(wave: str, nodes: int, largest: int) -> int:
    """Return how many nodes of a pool one wave takes. Raise UPGRADE-WAVE for more than any pool has.

    largest: the number of nodes of the largest pool.
    """
    number = int(wave.rstrip("%"))
    if wave.endswith("%"):
        return max(1, math.ceil(nodes * number / 100))
    if number > largest:
        fault = f"more than any chosen pool has; the largest has {number_of(largest, 'node')}"
        raise InputError("UPGRADE-WAVE", wave=number, fault=fault)
    return min(number, max(1, nodes))


class Window(t.NamedTuple):
    """Hours of each day, in UTC, in which a wave may begin. A window may go past midnight."""

    begin: datetime.time
    end: datetime.time

    @classmethod
    def of(cls, text: str | None) -> Window | None:
        """Return the window that a checked option names, or None without one."""
        found = _WINDOW.fullmatch(text or "")
        if not found:
            return None
        one, two, three, four = map(int, found.groups())
        return cls(datetime.time(one, two), datetime.time(three, four))

    def is_open(self, now: datetime.datetime) -> bool:
        """Return whether a wave may begin now."""
        time = now.time()
        if self.begin <= self.end:
            return self.begin <= time < self.end
        return time >= self.begin or time < self.end

    def opens(self, now: datetime.datetime) -> datetime.datetime:
        """Return when the window opens next."""
        today = now.replace(hour=self.begin.hour, minute=self.begin.minute, second=0, microsecond=0)
        return today if today > now else today + _DAY
