# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of gpu_sharing: the pools that a task knows, checked before the first request."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._catalogue.well_known import GPU, INSTANCE_TYPE
from .._core.input import Problems, read_map
from .._core.objects import KubeObject
from .._core.ownership import pool_label
from .._core.syntax import value_fault
from .._frame.argspec import BusyParams, LockParams, StateParams
from .._nodes.labels import labels
from . import claims, mig_name, partitions, profile
from .claims import Claim
from .partitions import Entry
from .pool_rules import check_mig, refuse_backend
from .schema import CLAIMS, FIELDS, MIG, WAYS_TOGETHER, conflict


class PoolSharingParams(t.TypedDict):
    """One pool of the option pools. sharing: empty or None for a pool with whole GPUs.

    partitions: the MIG configuration of each instance type, as gpu_plan returns it; None derives one from
    sharing.
    """

    name: str
    node_selector: dict[str, t.Any] | None
    sharing: dict[str, t.Any] | None
    expected: dict[str, t.Any] | None
    partitions: list[dict[str, t.Any]] | None


class GpuSharingParams(StateParams, BusyParams, LockParams):
    """The options of gpu_sharing. config_map: None means the one that the ClusterPolicy names.

    claims: pods claim devices (backend dra). only_add: whether profiles and labels that pools no longer need
    stay for now. on_change: what to do if nodes that offer GPUs have other partitions than their pool.
    """

    pools: list[PoolSharingParams]
    claims: bool
    only_add: bool
    on_change: t.Literal["fail", "keep"]
    config_map: str | None
    mig_reboot: bool
    namespace: str


class Partition(t.NamedTuple):
    """The MIG configuration of one kind of node. instance_type: empty for all nodes of the pool.

    expected: what such a node has to offer, empty if unknown.
    """

    instance_type: str
    config: list[Entry]
    expected: t.Mapping[str, int]


@dataclass(frozen=True)
class Shared:
    """A pool with its nodes. sharing: empty for whole GPUs. expected: devices of a node, empty if unknown.

    partitions: the MIG configurations of its nodes.
    """

    name: str
    label: t.Mapping[str, str]
    sharing: t.Mapping[str, t.Any] = field(default_factory=dict)
    expected: t.Mapping[str, int] = field(default_factory=dict)
    partitions: tuple[Partition, ...] = ()

    @property
    def key(self) -> str:
        """Return the key of the pool's profile."""
        return profile.key(self.name)

    @property
    def is_shared(self) -> bool:
        """Return True if the device plugin needs a profile for the pool."""
        return bool(profile.way_of(self.sharing))

    @property
    def is_cut(self) -> bool:
        """Return True if MIG partitions the GPUs of the pool."""
        return bool(self.partitions)

    @property
    def profile(self) -> str:
        """Return the pool's profile as the device plugin reads it."""
        return profile.text(self.sharing, self._names(self.partitions))

    def devices_of(self, node: KubeObject) -> list[str]:
        """Return the names of the node's devices before they are shared."""
        found = self.partition_of(node)
        return self._names([found] if found else [])

    def _names(self, cuts: t.Iterable[Partition]) -> list[str]:
        found = {name for cut in cuts for name in partitions.names(self.sharing[MIG], cut.config)}
        return sorted(found) or [GPU]

    def partition_of(self, node: KubeObject) -> Partition | None:
        """Return the MIG configuration of a node of the pool; None for whole GPUs."""
        kind = labels(node).get(INSTANCE_TYPE, "")
        return next(
            (partition for partition in self.partitions if partition.instance_type in ("", kind)), None
        )

    def mig_config(self, node: KubeObject) -> str:
        """Return the name of that configuration, or ""."""
        found = self.partition_of(node)
        return mig_name.name(self.name, found.config) if found else ""


def read(pools: t.Sequence[PoolSharingParams], claims_devices: bool = False) -> list[Shared]:
    """Return the pools. Raises InputError with every problem; sends no request.

    claims_devices: pods claim devices (backend dra).
    """
    problems, found = Problems(), []
    for index, pool in enumerate(pools):
        path = f"pools[{index}]"
        problems.refuse_second(pools, index, path)
        sharing = _read(pool["sharing"] or {}, f"{path}.sharing", problems)
        refuse_backend(sharing, claims_devices, f"{path}.sharing", problems)
        label = {str(name): str(value) for name, value in (pool["node_selector"] or {}).items()}
        expected = {str(name): int(number) for name, number in (pool["expected"] or {}).items()}
        cuts = _partitions(pool, sharing, expected, path, problems)
        names = [profile.key(pool["name"]), *(mig_name.name(pool["name"], cut.config) for cut in cuts)]
        if fault := value_fault(names[-1]):
            message = f"the profile's name {names[-1]!r} {fault}."
            problems.add("POOL-NAME", f"{path}.name", message, "Give the pool a shorter name.")
        found.append(Shared(pool["name"], label or pool_label(pool["name"]), sharing, expected, cuts))
    problems.raise_if_any()
    return found


def claims_of(pools: t.Sequence[Shared]) -> list[Claim]:
    """Return the shared claims of all pools. Raises InputError if two pools have the same one."""
    problems, found = Problems(), dict[str, tuple[int, Claim]]()
    for index, pool in enumerate(pools):
        for claim in claims.of(pool.name, pool.sharing.get(CLAIMS) or []):
            first, _claim = found.setdefault(claim.object_name, (index, claim))
            if first != index:
                where, name = f"pools[{index}].sharing.{CLAIMS}", f"claim {claim.object_name}"
                also = f", first in pools[{first}]"
                problems.add("POOL-DUPLICATE", where, remedy="Rename one.", name=name, also=also)
    problems.raise_if_any()
    return [claim for _index, claim in found.values()]


def _partitions(
    pool: PoolSharingParams,
    sharing: t.Mapping[str, t.Any],
    expected: t.Mapping[str, int],
    path: str,
    problems: Problems,
) -> tuple[Partition, ...]:
    """Return the MIG configurations of the pool: those that are given, else the one that sharing says."""
    if MIG not in sharing:
        return ()
    if pool.get("partitions"):
        return tuple(
            Partition(
                str(partition.get("instance_type") or ""),
                list(partition["config"]),
                {str(name): int(number) for name, number in (partition.get("expected") or {}).items()},
            )
            for partition in pool["partitions"] or []
        )
    check_mig(sharing[MIG], f"{path}.sharing.{MIG}", problems)
    if problems.at(path):
        return ()
    try:
        config = partitions.entries(sharing[MIG], partitions.Node("the pool", partitions.MOST_GPUS))
    except partitions.GeometryError as exc:
        problems.add("POOL-GEOMETRY", f"{path}.sharing.{exc.where}", exc.message, exc.remedy)
        return ()
    return (Partition("", config, expected),)


def _read(sharing: dict[str, t.Any], path: str, problems: Problems) -> dict[str, t.Any]:
    given = {way: asked for way, asked in sharing.items() if asked is not None}
    if given and (wrong := conflict(sorted(given))):
        problems.add("POOL-EITHER", path, options=WAYS_TOGETHER, given=wrong)
    read_in = read_map(given, FIELDS, path, problems)
    if CLAIMS in read_in:
        claims.check(read_in[CLAIMS], f"{path}.{CLAIMS}", problems)
        return {CLAIMS: read_in[CLAIMS]}
    return {way: asked for way, asked in read_in.items() if asked or way == MIG}
