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
    create_namespaces: bool
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
        if self.cohort and any(part.borrow is None for part in self.shares if resource in part.devices):
            return None
        return sum(
            part.devices[resource] + (part.borrow or 0) for part in self.shares if resource in part.devices
        )


NO_PREEMPTION: t.Final[PreemptionParams] = {
    "within_queue": "Never",
    "reclaim": "Never",
    "borrowing": "Never",
}
# As the variables of the playbooks are called; the options of the module are queues and topology.
PATH, LEVELS = "gpu_queues", "gpu_queue_topology"
HOST: t.Final = "kubernetes.io/hostname"


def devices(pool: Pool) -> dict[str, int]:
    """Return the GPUs of a node of the pool; of several instance types the highest number of each."""
    return {name: number for name, number in _offered(pool).items() if name.startswith(VENDORS)}


def others(pool: Pool) -> list[str]:
    """Return what nodes of the pool offer beside GPUs, such as RDMA devices: no queue counts that."""
    return [name for name in _offered(pool) if not name.startswith(VENDORS)]


def _offered(pool: Pool) -> dict[str, int]:
    found = dict(pool.expected)
    for offered in (candidate.expected for candidate in pool.candidates):
        for name, number in offered.items():
            found[name] = max(number, found.get(name, 0))
    return found


def pools(params: GpuQueueParams) -> dict[str, Pool]:
    """Return the pools by name. Raises InputError for what gpu_plan did not return."""
    found = [Pool.from_result(raw, f"pools[{index}]") for index, raw in enumerate(params["pools"])]
    return {pool.name: pool for pool in found}


def levels(params: GpuQueueParams) -> list[str]:
    """Return the levels of the topology. Raises InputError."""
    found = params["topology"]
    for index, level in enumerate(found):
        fault = key_fault(level)
        if level in found[:index]:
            fault = "is in the list twice"
        elif level == HOST and level != found[-1]:
            fault = "is one node, so no level can be below it"
        if fault:
            raise InputError("QUEUE-TOPOLOGY", path=f"{LEVELS}[{index}]", level=repr(level), fault=fault)
    return found


def read(params: GpuQueueParams) -> list[Queue]:
    """Return the queues. Raises InputError; sends no request."""
    if params["claims"] and params["queues"]:
        raise InputError("QUEUE-CLAIMS")
    known, found = pools(params), list[Queue]()
    for index, queue in enumerate(params["queues"]):
        found.append(_queue(f"{PATH}[{index}]", queue, known, params["queues"]))
    _check_together(found)
    return found


def _queue(
    path: str, raw: QueueParams, known: t.Mapping[str, Pool], queues: t.Sequence[QueueParams]
) -> Queue:
    local = raw["local_queue"] or raw["name"]
    for where, text in (("name", raw["name"]), ("local_queue", local), ("cohort", raw["cohort"] or "a")):
        if fault := name_fault(text):
            raise InputError("QUEUE-NAME", path=f"{path}.{where}", name=repr(text), fault=fault)
    if not raw["pools"]:
        raise InputError(
            "QUEUE-FLAVOR",
            f"{path}.pools is empty: a queue without a pool admits nothing.",
            f"Set {path}.pools: [{{name: {next(iter(known), 'POOL')}}}].",
        )
    names = [pool["name"] for pool in raw["pools"]]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        message = f"{path}.pools: pool {twice} is in the list twice."
        raise InputError("QUEUE-FLAVOR", message, f"Give pool {twice} one entry in {path}.pools.")
    preemption = raw["preemption"] or NO_PREEMPTION
    if preemption["borrowing"] != "Never" and preemption["reclaim"] == "Never":
        raise InputError("QUEUE-RECLAIM", path=f"{path}.preemption")
    if preemption["reclaim"] != "Never" and not raw["cohort"]:
        raise InputError("QUEUE-NO-COHORT", path=f"{path}.preemption.reclaim", queue=path)
    shares = tuple(
        _share(f"{path}.pools[{index}]", part, raw, known, queues) for index, part in enumerate(raw["pools"])
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
        raise InputError("QUEUE-NAMESPACE", path=f"{path}.namespaces", fault="the list is empty")
    for index, namespace in enumerate(given):
        fault = name_fault(namespace)
        if namespaces.is_of_platform(namespace):
            fault = "belongs to the platform"
        elif namespace in given[:index]:
            fault = "is in the list twice"
        if fault:
            path = f"{path}.namespaces[{index}]"
            raise InputError("QUEUE-NAMESPACE", path=path, fault=f"{namespace!r} {fault}")
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
    if pool.runs_machines:
        message = (
            f"{path}.name: the GPUs of pool {pool.name} are for virtual machines, which Kueue never sees."
        )
        raise InputError("QUEUE-FLAVOR", message, f"Remove pool {pool.name} from {path.rpartition('[')[0]}.")
    is_shared = sum(share["name"] == pool.name for other in queues for share in other["pools"]) > 1
    quota = amounts.quota(path, raw["gpus"], raw["resources"], devices(pool), pool.most_nodes, is_shared)
    amounts.check_limits(path, raw["borrow"], raw["lend"], queue["cohort"] or "", quota, devices(pool))
    return Share(path, pool, quota, raw["borrow"], raw["lend"])


def _check_together(queues: t.Sequence[Queue]) -> None:
    """Raise InputError for two queues of one name, and for two LocalQueues of one name in a namespace."""
    names: dict[str, str] = {}
    local: dict[tuple[str, str], str] = {}
    for queue in queues:
        path, name = f"{queue.path}.name", queue.name
        fault = f"is the name of {names[name]} too" if name in names else ""
        names[name] = queue.path
        for space in queue.namespaces:
            if not fault and (space, queue.local_queue) in local:
                path, name = f"{queue.path}.local_queue", queue.local_queue
                fault = f"is the LocalQueue of {local[space, name]} in namespace {space} too"
            local[space, queue.local_queue] = queue.path
        if fault:
            raise InputError("QUEUE-NAME", path=path, name=repr(name), fault=fault)
