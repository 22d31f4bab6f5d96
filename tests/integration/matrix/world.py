# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An enabled cluster with one pool of two nodes, and the actions that end something on it."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import typing as t

from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Run
from integration.troubles.demo import POOLS, Demo
from integration.wire import Audit

from openshift_sandbox import faults

Data = dict[str, t.Any]

# The release that the cluster has, and the next one: the same driver, another driver manager.
CHANNEL, RELEASE, NEXT = "v26.3", "gpu-operator-certified.v26.3.0", "gpu-operator-certified.v26.3.3"
SUBSCRIPTION: t.Final = (
    "operators.coreos.com/v1alpha1",
    "subscriptions",
    "gpu-operator-certified",
    "nvidia-gpu-operator",
)
MACHINES: t.Final = ("machine.openshift.io/v1beta1", "machines", "openshift-machine-api")
MACHINE_SETS: t.Final = ("machine.openshift.io/v1beta1", "machinesets", "openshift-machine-api")
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")
DEMO: t.Final = {"accelerators.openshift/pool": "demo"}
UPGRADE: t.Final = "nvidia.com/gpu-driver-upgrade-state"
# No cell is about a timeout but those with a budget, and a busy machine is slow.
PATIENT: t.Final[Data] = {
    "gpu_operator_grace": 20,
    "gpu_node_pool_capacity_timeout": 20,
    **{
        f"{role}_wait_timeout": 400
        for role in ("gpu_node_pool", "node_feature_discovery", "gpu_operator", "gpu_validation")
    },
}
# A pool without a node whose taint the operands have to tolerate.
TAINTED: t.Final[Data] = {
    **{key: value for key, value in POOLS[0].items() if key not in ("quota", "priority")},
    "name": "second",
    "replicas": 0,
    "taints": [{"key": "team", "value": "b", "effect": "NoSchedule"}],
}


@dataclasses.dataclass
class World:
    """The cluster of a matrix file.

    more: variables that a situation adds to the run.
    """

    cluster: Cluster
    demo: Demo
    audit: Audit
    more: Data = dataclasses.field(default_factory=dict)

    @property
    def nodes(self) -> list[str]:
        labels = ",".join(f"{key}={value}" for key, value in DEMO.items())
        return sorted(
            one["metadata"]["name"] for one in self.cluster.client.list("v1", "nodes", labels=labels)
        )

    @property
    def release(self) -> str:
        """The GPU operator's CSV."""
        found = self.cluster.client.get(*SUBSCRIPTION) or {}
        return str(found.get("status", {}).get("installedCSV") or RELEASE)

    def machine_sets(self, pool: str = "demo") -> list[Data]:
        return self.cluster.client.list(*MACHINE_SETS, f"accelerators.openshift/pool={pool}")

    def asked(self, **more: t.Any) -> Data:
        """Return the variables of enable_gpus.yml."""
        asked = {"gpu_pools": POOLS, "gpu_operator_channel": CHANNEL, "gpu_operator_csv": self.release}
        return {**asked, **PATIENT, **more}

    def enable(self, **more: t.Any) -> Run:
        return self.demo.enable(**self.asked(**more))


def remove_gpus(world: World) -> Run:
    return world.demo.remove(**{**PATIENT, **world.more})


def remove_pool(world: World) -> Run:
    return world.demo.playbook("remove_pool", gpu_pool="demo", **world.more)


def resize_down(world: World) -> Run:
    return world.demo.playbook("resize_pool", gpu_pools=POOLS, gpu_pool="demo", gpu_replicas=1, **world.more)


def uid_of(world: World, node: str) -> str:
    """Return the uid of the node's Machine. A test's machines are young, so a playbook asks for it."""
    machines = world.cluster.client.list(*MACHINES)
    found = [one for one in machines if ((one.get("status") or {}).get("nodeRef") or {}).get("name") == node]
    return str(found[0]["metadata"]["uid"])


def replace_node(world: World) -> Run:
    node = world.nodes[0]
    return world.demo.playbook(
        "replace_node", gpu_node=node, gpu_machine_uid=uid_of(world, node), **world.more
    )


@contextlib.contextmanager
def lost_gpu(world: World, node: str) -> t.Iterator[None]:
    """Let the node lose its GPU to an Xid, until it reboots."""
    sandbox, trouble = world.cluster.needs_sandbox(), {"node": node, "xid": 79, "until": "reboot"}

    def is_lost() -> bool:
        live = must_get(world.cluster.client, "v1", "nodes", node)
        return bool(live["status"]["allocatable"].get("nvidia.com/gpu") == "0")

    faults.add(sandbox, "gpu_lost", trouble)
    try:
        until(is_lost, "a GPU that is out of service")
        yield
    finally:
        faults.clear(sandbox, "gpu_lost", trouble)


def repair_node(world: World) -> Run:
    node = world.nodes[0]

    def keeps_its_driver() -> bool:
        live = must_get(world.cluster.client, "v1", "nodes", node)
        return live["metadata"]["labels"].get(UPGRADE) in (None, "", "upgrade-done")

    # An earlier action may have left the operator at work, on a busy machine.
    until(keeps_its_driver, "a node whose driver nobody replaces")
    with lost_gpu(world, node):
        # The sandbox runs no machine-config daemon, whose image the pod would have.
        reboot = {"gpu_repair_reboot_with": "pod", "gpu_repair_reboot_image": "registry.example.com/tools:1"}
        return world.demo.playbook("repair_node", gpu_node=node, **reboot, **world.more)


def replace_all(world: World) -> Run:
    pools = [POOLS[0] | {"disk": {"size_gib": 200}}]
    return world.enable(gpu_pools=pools, gpu_node_pool_on_change="replace", **world.more)


def upgrade_operator(world: World) -> Run:
    return world.enable(gpu_operator_csv=NEXT, gpu_operator_approve="upgrade", **world.more)


def tolerate(world: World) -> Run:
    run = world.enable(gpu_pools=[POOLS[0], TAINTED], **world.more)
    for one in world.machine_sets("second"):
        world.cluster.client.delete(*MACHINE_SETS[:2], one["metadata"]["name"], MACHINE_SETS[2])
    return run


def change_driver(world: World) -> Run:
    return world.enable(gpu_operator_spec={"driver": {"rdma": {"enabled": True}}}, **world.more)


# The order in which a situation sees them: each leaves what the next one needs.
ACTIONS: t.Final[dict[str, t.Callable[[World], Run]]] = {
    "enable_gpus, driver options changed": change_driver,
    "enable_gpus, a taint of a second pool": tolerate,
    "enable_gpus, operator upgraded": upgrade_operator,
    "enable_gpus, machines replaced": replace_all,
    "repair_node": repair_node,
    "replace_node": replace_node,
    "resize_pool to one node": resize_down,
    "remove_pool": remove_pool,
    "remove_gpus": remove_gpus,
}
NIC_IMAGES: t.Final = "enable_gpus, NIC images changed"
TUNING: t.Final = "tune_nodes, kernel arguments changed"
GEOMETRY: t.Final = "repartition, another MIG geometry"
# What an earlier action took away, this one needs.
NEEDS_ALL: t.Final = {"remove_gpus"}


def code_of(run: Run) -> str:
    """Return the code of the failure that ended the run, or `done`."""
    if run.rc == 0:
        return "done"
    result = run.failure.result
    found = next((item for item in result.get("results", []) if item.get("failed")), result)
    text = str(found.get("code") or found.get("msg") or "")
    # With several pools the play goes on with the others, and fails at its end with a message alone.
    code = re.match(r"[A-Z]+(-[A-Z0-9]+)+(?=:|$)", text)
    return code[0] if code else f"other: {text[:120]}"
