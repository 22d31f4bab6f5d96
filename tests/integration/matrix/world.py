# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An enabled cluster with one pool of two nodes, and the actions that end something on it."""

from __future__ import annotations

import dataclasses
import re
import typing as t

from cluster import Cluster
from integration.playbook import Run
from integration.troubles.demo import POOLS, Demo
from integration.wire import Audit

Data = dict[str, t.Any]

# The release that the cluster has, and the next one: the same driver, another driver manager.
CHANNEL, RELEASE, NEXT = "v26.3", "gpu-operator-certified.v26.3.0", "gpu-operator-certified.v26.3.3"
TOLERATED: t.Final = {"key": "team", "value": "b", "effect": "NoSchedule"}


@dataclasses.dataclass
class World:
    """The cluster of the matrix. more: extra vars that a situation adds to each run."""

    cluster: Cluster
    demo: Demo
    audit: Audit
    more: Data = dataclasses.field(default_factory=dict)

    @property
    def nodes(self) -> list[str]:
        found = self.cluster.client.list("v1", "nodes", labels="accelerators.openshift/pool=demo")
        return sorted(one["metadata"]["name"] for one in found)

    def enable(self, **more: t.Any) -> Run:
        return self.demo.enable(**{"gpu_operator_channel": CHANNEL, "gpu_operator_csv": RELEASE, **more})


def remove_gpus(world: World) -> Run:
    return world.demo.remove(**world.more)


def remove_pool(world: World) -> Run:
    return world.demo.playbook("remove_pool", gpu_pool="demo", **world.more)


def resize_down(world: World) -> Run:
    return world.demo.playbook("resize_pool", gpu_pools=POOLS, gpu_pool="demo", gpu_replicas=1, **world.more)


def uid_of(world: World, node: str) -> str:
    """Return the uid of the node's Machine. A test's machines are young, so a playbook asks for it."""
    machines = world.cluster.client.list("machine.openshift.io/v1beta1", "machines", "openshift-machine-api")
    found = [one for one in machines if ((one.get("status") or {}).get("nodeRef") or {}).get("name") == node]
    return str(found[0]["metadata"]["uid"])


def replace_node(world: World) -> Run:
    node = world.nodes[0]
    return world.demo.playbook(
        "replace_node", gpu_node=node, gpu_machine_uid=uid_of(world, node), **world.more
    )


def replace_all(world: World) -> Run:
    pools = [POOLS[0] | {"disk": {"size_gib": 200}}]
    return world.enable(gpu_pools=pools, gpu_node_pool_on_change="replace", **world.more)


def upgrade_operator(world: World) -> Run:
    return world.enable(gpu_operator_csv=NEXT, gpu_operator_approve="upgrade", **world.more)


def tolerate(world: World) -> Run:
    pools = [POOLS[0], {**POOLS[0], "name": "second", "replicas": 1, "taints": [TOLERATED]}]
    return world.enable(gpu_pools=pools, **world.more)


def change_driver(world: World) -> Run:
    return world.enable(gpu_operator_spec={"driver": {"rdma": {"enabled": True}}}, **world.more)


ACTIONS: t.Final[dict[str, t.Callable[[World], Run]]] = {
    "remove_gpus": remove_gpus,
    "remove_pool": remove_pool,
    "resize_pool to one node": resize_down,
    "replace_node": replace_node,
    "enable_gpus, machines replaced": replace_all,
    "enable_gpus, operator upgraded": upgrade_operator,
    "enable_gpus, a taint of a second pool": tolerate,
    "enable_gpus, driver options changed": change_driver,
}


def code_of(run: Run) -> str:
    """Return the code of the failure that ended the run, or `done`."""
    if run.rc == 0:
        return "done"
    result = run.failure.result
    found = next((item for item in result.get("results", []) if item.get("failed")), result)
    text = str(found.get("code") or found.get("msg") or "")
    return text if re.fullmatch(r"[A-Z0-9-]+", text) else f"other: {text[:120]}"
