# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Options of gpu_sharing: the pools that a task knows, checked before the first request."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core.input import Problems, read_map
from .._core.objects import value_fault
from .._core.ownership import pool_label
from .._frame.argspec import BusyParams, LockParams, StateParams
from . import profile
from .schema import FIELDS


class PoolSharingParams(t.TypedDict):
    """One pool of the option pools. sharing: empty or None for a pool with whole GPUs."""

    name: str
    node_selector: dict[str, t.Any] | None
    sharing: dict[str, t.Any] | None
    expected: dict[str, t.Any] | None


class GpuSharingParams(StateParams, BusyParams, LockParams):
    """The options of gpu_sharing. config_map: None means the one that the ClusterPolicy names.

    only_add: whether profiles and labels that pools no longer need stay for now.
    """

    pools: list[PoolSharingParams]
    only_add: bool
    config_map: str | None
    namespace: str


@dataclass(frozen=True)
class Shared:
    """A pool with its nodes. sharing: empty for whole GPUs. expected: devices of a node, empty if unknown."""

    name: str
    label: t.Mapping[str, str]
    sharing: t.Mapping[str, t.Any] = field(default_factory=dict)
    expected: t.Mapping[str, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return the key of the pool's profile."""
        return profile.key(self.name)

    @property
    def is_shared(self) -> bool:
        """Return True if the device plugin needs a profile for the pool."""
        return bool(profile.way_of(self.sharing))


def read(pools: t.Sequence[PoolSharingParams]) -> list[Shared]:
    """Return the pools. Raises InputError with every problem; sends no request."""
    problems, found = Problems(), []
    for index, one in enumerate(pools):
        path = f"pools[{index}]"
        problems.refuse_second(pools, index, path)
        if fault := value_fault(profile.key(one["name"])):
            message = f"the profile's name {profile.key(one['name'])!r} {fault}."
            problems.add("POOL-NAME", f"{path}.name", message, "Give the pool a shorter name.")
        sharing = _read(one["sharing"] or {}, f"{path}.sharing", problems)
        label = {str(name): str(value) for name, value in (one["node_selector"] or {}).items()}
        expected = {str(name): int(number) for name, number in (one["expected"] or {}).items()}
        found.append(Shared(one["name"], label or pool_label(one["name"]), sharing, expected))
    problems.raise_if_any()
    return found


def _read(sharing: dict[str, t.Any], path: str, problems: Problems) -> dict[str, t.Any]:
    given = {way: asked for way, asked in sharing.items() if asked is not None}
    if "mig" in given:
        message = "is not a way of the device plugin's ConfigMap."
        problems.add("POOL-CONFLICT", f"{path}.mig", message, "Use time_slicing or mps.")
        return {}
    if len(given) > 1:
        message = f"must be one of time_slicing and mps, not {' and '.join(sorted(given))}."
        problems.add("POOL-CONFLICT", path, message, "Keep one.")
    read_in = read_map(given, FIELDS, path, problems)
    return {
        way: {name: value for name, value in asked.items() if value is not None}
        for way, asked in read_in.items()
        if asked
    }
