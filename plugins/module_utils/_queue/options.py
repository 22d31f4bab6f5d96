# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of gpu_queue: the queues that a task asks for, checked before the first request."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from .._catalogue.well_known import VENDORS
from .._core import namespaces
from .._core.errors import InputError
from .._core.syntax import key_fault, name_fault
from .._frame.argspec import BusyParams, LockParams, StateParams
from .._pools.model import Pool
from . import amounts


class ShareParams(t.TypedDict):
    """A pool of a queue. gpus, resources: its part of the pool; None for the whole pool."""

    name: str
    gpus: int | None
    resources: dict[str, t.Any] | None
    borrow: int | None
    lend: int | None


class PreemptionParams(t.TypedDict):
    """Which Workloads a queue may end: of its own, of those that borrow from it, of those it borrows from."""

    within_queue: t.Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
    reclaim: t.Literal["Never", "LowerPriority", "Any"]
    borrowing: t.Literal["Never", "LowerPriority"]


class QueueParams(t.TypedDict):
    """One queue of the option queues."""

    name: str
    cohort: str | None
    pools: list[ShareParams]
    namespaces: list[str]
    local_queue: str | None
    strategy: t.Literal["BestEffortFIFO", "StrictFIFO"]
    preemption: PreemptionParams | None


Framework = t.Literal[
    "BatchJob",
    "RayJob",
    "RayCluster",
    "RayService",
    "JobSet",
    "MPIJob",
    "PaddleJob",
    "PyTorchJob",
    "TFJob",
    "TrainJob",
    "XGBoostJob",
    "JaxJob",
    "AppWrapper",
    "Pod",
    "Deployment",
    "StatefulSet",
    "LeaderWorkerSet",
    "SparkApplication",
]


class InstanceParams(t.TypedDict):
    """The object Kueue of Red Hat's operator. frameworks: kinds of jobs. namespace: of the operator."""

    frameworks: list[Framework]
    namespace: str


class GpuQueueParams(StateParams, BusyParams, LockParams):
    """The options of gpu_queue. pools: as gpu_plan returns them. namespaces: what may be created."""

    pools: list[dict[str, t.Any]]
    queues: list[QueueParams]
    instance: InstanceParams | None
    tolerate: bool
    topology: list[str]
    claims: bool
    create_namespace: bool
    namespaces: list[str] | None
    adopt: t.Literal["report", "take"]


@dataclass(frozen=True)
class Share:
    """What a queue may use of a pool. path: of the option. quota: resource -> amount.

    borrow, lend: number of each device; None for as many as there are.
    """

    path: str
    pool: Pool
    quota: t.Mapping[str, str]
    borrow: int | None
    lend: int | None

    @property
    def devices(self) -> dict[str, int]:
        """Return the devices of the quota, with their number."""
        return {name: int(amount) for name, amount in self.quota.items() if name in devices(self.pool)}


@dataclass(frozen=True)
class Queue:
    """A queue that the task asks for. path: of the option, such as C(gpu_queues[0])."""

    path: str
    name: str
    cohort: str
    shares: tuple[Share, ...]
    namespaces: tuple[str, ...]
    local_queue: str
    strategy: str
    preemption: PreemptionParams

    @property
    def resources(self) -> list[str]:
        """Return the devices that the queue gives away, each once."""
        return list(dict.fromkeys(name for share in self.shares for name in devices(share.pool)))

    def most(self, resource: str) -> int | None:
        """Return how many of these devices its Workloads may use; None without a limit."""
        if self.cohort and any(one.borrow is None for one in self.shares if resource in one.devices):
            return None
        return sum(
            one.devices[resource] + (one.borrow or 0) for one in self.shares if resource in one.devices
        )


NO_PREEMPTION: t.Final[PreemptionParams] = {
    "within_queue": "Never",
    "reclaim": "Never",
    "borrowing": "Never",
}
# As the variables of the playbooks are called; the options of the module are queues and topology.
PATH, LEVELS = "gpu_queues", "gpu_queue_topology"
NO_LEVEL: t.Final = "QUEUE-TOPOLOGY"
HOST: t.Final = "kubernetes.io/hostname"


def devices(pool: Pool) -> dict[str, int]:
    """Return the GPUs of a node of the pool; of several instance types the highest number of each."""
    return {name: number for name, number in _offered(pool).items() if name.startswith(VENDORS)}


def others(pool: Pool) -> list[str]:
    """Return what nodes of the pool offer beside GPUs, such as RDMA devices: no queue counts that."""
    return [name for name in _offered(pool) if not name.startswith(VENDORS)]


def _offered(pool: Pool) -> dict[str, int]:
    found = dict(pool.expected)
    for offered in (one.expected for one in pool.candidates):
        for name, number in offered.items():
            found[name] = max(number, found.get(name, 0))
    return found


def pools(params: GpuQueueParams) -> dict[str, Pool]:
    """Return the pools by name. Raises InputError for what gpu_plan did not return."""
    found = [Pool.from_result(raw, f"pools[{index}]") for index, raw in enumerate(params["pools"])]
    return {one.name: one for one in found}


def levels(params: GpuQueueParams) -> list[str]:
    """Return the levels of the topology. Raises InputError."""
    found = params["topology"]
    for index, one in enumerate(found):
        path = f"{LEVELS}[{index}]"
        if fault := key_fault(one):
            message = f"{path}: {one!r} {fault}."
            raise InputError(NO_LEVEL, message, f"Set {path}: topology.kubernetes.io/zone.")
        if one in found[:index]:
            message = f"{path}: {one} is in the list twice."
            raise InputError(NO_LEVEL, message, f"Remove {path}.")
        if one == HOST and one != found[-1]:
            message = f"{path}: {one} is one node, so no level can be below it."
            raise InputError(NO_LEVEL, message, f"Put {one} at the end of {LEVELS}.")
    return found


def read(params: GpuQueueParams) -> list[Queue]:
    """Return the queues. Raises InputError; sends no request."""
    if params["claims"] and params["queues"]:
        raise InputError("QUEUE-CLAIMS")
    known, found = pools(params), list[Queue]()
    for index, one in enumerate(params["queues"]):
        found.append(_queue(f"{PATH}[{index}]", one, known, params["queues"]))
    _check_together(found)
    return found


def _queue(
    path: str, raw: QueueParams, known: t.Mapping[str, Pool], queues: t.Sequence[QueueParams]
) -> Queue:
    local = raw["local_queue"] or raw["name"]
    for where, text in (("name", raw["name"]), ("local_queue", local), ("cohort", raw["cohort"] or "a")):
        if fault := name_fault(text):
            raise InputError(
                "QUEUE-NAME", f"{path}.{where}: {text!r} {fault}.", f"Set {path}.{where} to another."
            )
    if not raw["pools"]:
        raise InputError(
            "QUEUE-FLAVOR",
            f"{path}.pools is empty: a queue without a pool admits nothing.",
            f"Set {path}.pools: [{{name: {next(iter(known), 'POOL')}}}].",
        )
    names = [one["name"] for one in raw["pools"]]
    if twice := next((one for one in names if names.count(one) > 1), ""):
        message = f"{path}.pools: pool {twice} is in the list twice."
        raise InputError("QUEUE-FLAVOR", message, f"Give pool {twice} one entry in {path}.pools.")
    preemption = raw["preemption"] or NO_PREEMPTION
    if preemption["borrowing"] != "Never" and preemption["reclaim"] == "Never":
        message = f"{path}.preemption.borrowing: a queue that never reclaims may not end Jobs to borrow."
        raise InputError("QUEUE-COHORT", message, f"Set {path}.preemption.reclaim: LowerPriority.")
    if preemption["reclaim"] != "Never" and not raw["cohort"]:
        message = f"{path}.preemption.reclaim: the queue is in no cohort, so nobody borrows from it."
        raise InputError("QUEUE-COHORT", message, f"Set {path}.cohort, or remove {path}.preemption.reclaim.")
    shares = tuple(
        _share(f"{path}.pools[{index}]", one, raw, known, queues) for index, one in enumerate(raw["pools"])
    )
    return Queue(
        path,
        raw["name"],
        raw["cohort"] or "",
        shares,
        _namespaces(path, raw["namespaces"]),
        local,
        raw["strategy"],
        preemption,
    )


def _namespaces(path: str, given: t.Sequence[str]) -> tuple[str, ...]:
    if not given:
        message = f"{path}.namespaces is empty: no Job could use the queue."
        raise InputError("QUEUE-NAMESPACE", message, f"Set {path}.namespaces: [team-a].")
    for index, one in enumerate(given):
        if namespaces.is_of_platform(one):
            message = f"{path}.namespaces[{index}]: {one} belongs to the platform."
            raise InputError("QUEUE-NAMESPACE", message, "Set the namespace of a team, such as team-a.")
        if fault := name_fault(one):
            message = f"{path}.namespaces[{index}]: {one!r} {fault}."
            raise InputError("QUEUE-NAMESPACE", message, f"Set {path}.namespaces[{index}] to another.")
        if one in given[:index]:
            message = f"{path}.namespaces[{index}]: {one} is in the list twice."
            raise InputError("QUEUE-NAMESPACE", message, f"Remove {path}.namespaces[{index}].")
    return tuple(given)


def _share(
    path: str,
    raw: ShareParams,
    queue: QueueParams,
    known: t.Mapping[str, Pool],
    queues: t.Sequence[QueueParams],
) -> Share:
    pool = known.get(raw["name"])
    if pool is None:
        message = f"{path}.name: there is no pool {raw['name']}."
        raise InputError("QUEUE-FLAVOR", message, f"Set it to one of {', '.join(known) or 'gpu_pools'}.")
    if not pool.node_selector:
        message = f"{path}.name: pool {pool.name} has no labels that tell its nodes from others."
        raise InputError("QUEUE-FLAVOR", message, f"Set node_selector of pool {pool.name}.")
    is_shared = sum(one["name"] == pool.name for other in queues for one in other["pools"]) > 1
    quota = amounts.quota(path, raw["gpus"], raw["resources"], devices(pool), pool.most_nodes, is_shared)
    amounts.check_limits(path, raw["borrow"], raw["lend"], queue["cohort"] or "", quota, devices(pool))
    return Share(path, pool, quota, raw["borrow"], raw["lend"])


def _check_together(queues: t.Sequence[Queue]) -> None:
    """Raise InputError for two queues of one name, and for two LocalQueues of one name in a namespace."""
    names: dict[str, str] = {}
    local: dict[tuple[str, str], str] = {}
    for one in queues:
        if one.name in names:
            message = f"{one.path}.name: {names[one.name]} has the name {one.name} too."
            raise InputError("QUEUE-NAME", message, f"Set {one.path}.name to another.")
        names[one.name] = one.path
        for space in one.namespaces:
            if (space, one.local_queue) in local:
                message = (
                    f"{one.path}.local_queue: {local[space, one.local_queue]} has the LocalQueue "
                    f"{one.local_queue} in namespace {space} too."
                )
                raise InputError("QUEUE-NAME", message, f"Set another {one.path}.local_queue.")
            local[space, one.local_queue] = one.path
