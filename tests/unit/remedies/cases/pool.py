"""The variables of pools end the failures whose remedies name them."""

from __future__ import annotations

import json
import typing as t

from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.machines.builders import Data, lived, plan as planned_sets, worker
from unit.pool_builders import INFRASTRUCTURE
from unit.pools.builders import candidate, pool
from unit.remedies.case import LEFT_OUT, Case, Cases, Options, checked, ensured

from ansible_collections.accelerators.openshift.plugins.modules import gpu_plan

KINDS: t.Final = (
    *("Event", "Infrastructure", "Machine", "MachineAutoscaler", "MachineHealthCheck", "MachineSet"),
    *("Node", "Pod"),
)
P4D: t.Final = candidate("p4d.24xlarge")
LARGER: t.Final = {"instance_type": "g4dn.2xlarge", "zones": ["us-east-2a"]}


def plan(options: Options) -> str | None:
    """Plan the pools of a user."""
    return ensured("gpu_plan", api_on(FakeServer()), {"platform": "aws", **options})


def claiming(options: Options) -> str | None:
    """Plan a pool whose GPUs are shared by time."""
    shared = pool(sharing={"time_slicing": {"replicas": 4}})
    return plan({"pools": [shared], **options})


def with_claims(options: Options) -> str | None:
    """Plan a pool whose GPUs pods claim."""
    claims = [{"name": "shared-gpu", "namespace": "team-a"}]
    return plan({"pools": [pool(sharing={"claims": claims})], **options})


def cluster(replicas: int) -> FakeServer:
    """Return a cluster whose pool t4 has machines of type g4dn.xlarge."""
    server = FakeServer(*KINDS)
    (live,) = lived(planned_sets(replicas=replicas))
    ours = {"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet", **live}
    ours["status"] = {"replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas}
    for one in (INFRASTRUCTURE, {**worker(), "kind": "MachineSet"}, ours):
        server.put(one)
    return server


def machines(server: FakeServer, entry: Data, options: Options) -> str | None:
    """Bring the planned pool to the cluster, as the role gpu_node_pool does, without the wait."""
    return ensured("gpu_machineset", api_on(server, wait_wanted=False), {"pool": entry, **options})


def retyped(options: Options) -> str | None:
    """Plan the pools of a user, and ask for the machines of the first one."""
    given = checked("gpu_plan", {"platform": "aws", **options})
    (entry, *_others) = gpu_plan.ensure(api_on(FakeServer()), given)["plan"]["pools"]
    return machines(cluster(1), entry, {})


def surging(options: Options) -> str | None:
    """Replace two machines by machines of another instance type."""
    given = checked("gpu_plan", {"platform": "aws", "pools": [pool(candidates=[LARGER])]})
    (entry,) = gpu_plan.ensure(api_on(FakeServer()), given)["plan"]["pools"]
    return machines(cluster(2), entry, {"on_change": "replace", **options})


def pools(before: list[Data], value: list[Data]) -> Case:
    """Return the case of a user who had described the pools in one way, and describes them in another."""
    return Case("gpu_plan", plan, value=json.dumps(value), before=json.dumps(before), where="enable_gpus")


def of_one(before: Data, **value: t.Any) -> Case:
    """Return the case of a single pool. before, value: what differs from a pool that can be planned."""
    return pools([pool(**before)], [pool(**value)])


def strategy(value: str, name: str) -> Data:
    return pool(name=name, candidates=P4D, sharing={"mig": {"slices": 7, "strategy": value}})


CASES: t.Final[Cases] = {
    ("POOL-CONFLICT", "gpu_pools"): of_one({"autoscale": {"min": 1, "max": 2}}, replicas=2),
    ("POOL-DIFFERS", "gpu_pools"): pools(
        [strategy("single", "a"), strategy("mixed", "b")], [strategy("mixed", "a"), strategy("mixed", "b")]
    ),
    ("POOL-DRA", "gpu_backend"): Case(
        "gpu_plan", claiming, before="dra", value=LEFT_OUT, where="enable_gpus"
    ),
    ("POOL-DRIFT", "gpu_pools"): Case(
        "gpu_plan",
        retyped,
        before=json.dumps([pool(candidates=[LARGER])]),
        value=json.dumps([pool(), pool(name="larger", candidates=[LARGER])]),
        where="enable_gpus",
    ),
    ("POOL-DUPLICATE", "gpu_pools"): pools([pool(), pool()], [pool()]),
    ("POOL-INVALID", "gpu_pools"): of_one({"replicas": -1, "replica": 2}),
    ("POOL-NO-DRA", "gpu_backend"): Case("gpu_plan", with_claims, where="enable_gpus"),
    ("POOL-PLATFORM", "gpu_pools"): of_one({"azure": {"ultra_disks": True}}),
    ("POOL-REQUIRED", "gpu_pools"): of_one({"replicas": None}),
    ("POOL-SURGE", "gpu_node_pool_max_surge"): Case("gpu_machineset", surging),
    ("POOL-TYPE", "gpu_pools"): of_one({"replicas": "two"}),
    ("POOL-UNKNOWN-KEY", "gpu_pools"): of_one({"replica": 3}, replicas=3),
}
