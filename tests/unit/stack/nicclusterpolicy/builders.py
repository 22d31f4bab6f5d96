# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stack of network adapters that is ready, and what can be wrong with it."""

from __future__ import annotations

import copy
import typing as t

from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.judge import StackJudge
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import (
    judge as nic_judge,
    manifest as nic_manifest,
    node as nic_node,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy.judge import (
    summarize,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import (
    StackParams,
    StackPool,
)

Data = dict[str, t.Any]


IMAGES = {
    "doca-driver": {"repository": "nvcr.io/nvidia/mellanox", "version": "doca3.5.0"},
    "k8s-rdma-shared-dev-plugin": {"repository": "nvcr.io/nvidia/mellanox", "version": "v26.7.0"},
}


RDMA: Data = {"resources": [{"name": "rdma_a", "hca_max": 63, "link_types": ["infiniband"]}]}


READY: list[Data] = [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-22T02:00:00Z"}]


POOL: t.Final = t.cast(StackPool, {"name": "ib", "node_selector": {"pool": "ib"}})


def params(**more: t.Any) -> StackParams:
    asked = {"ofed_driver": {}, "rdma_shared_device_plugin": RDMA}
    usual = {"name": nic_manifest.NAME, "nic_cluster_policy": asked, "pools": [POOL], "grace": 0.0}
    return some_params(**{"backend": "nicclusterpolicy", **usual, **more})


def node(**labels: str) -> Data:
    marks = {"pool": "ib", nic_node.PRESENT: "true", nic_node.WAITS: "false", **labels}
    return {
        "metadata": {"name": "n1", "labels": marks},
        "spec": {},
        "status": {"conditions": READY, "allocatable": {"rdma/rdma_a": "63"}},
    }


def daemonset(name: str, selector: Data, **labels: str) -> Data:
    owner = {"kind": "NicClusterPolicy", "name": nic_manifest.NAME, "uid": "p"}
    metadata = {
        "name": name,
        "uid": name,
        "namespace": "nvidia-network-operator",
        "labels": labels,
        "ownerReferences": [owner],
        "generation": 1,
    }
    return {
        "metadata": metadata,
        "spec": {"template": {"spec": {"nodeSelector": selector}}},
        "status": {"observedGeneration": 1},
    }


def pod(of: str, is_ready: bool = True, **status: t.Any) -> Data:
    metadata = {
        "name": f"{of}-x",
        "namespace": "nvidia-network-operator",
        "labels": {},
        "ownerReferences": [{"kind": "DaemonSet", "name": of, "uid": of}],
    }
    return {
        "metadata": metadata,
        "spec": {"nodeName": "n1"},
        "status": {"conditions": [{"type": "Ready", "status": str(is_ready)}], **status},
    }


def policy(state: str = "ready", **status: t.Any) -> Data:
    spec = nic_manifest.wished(params(), IMAGES)
    return {
        "metadata": {"name": nic_manifest.NAME, "uid": "p", "generation": 2},
        "spec": spec,
        "status": {"state": state, **status},
    }


def world(**more: t.Any) -> dict[str, list[Data]]:
    driver = daemonset("mofed", {nic_node.PRESENT: "true"}, **{nic_node.DRIVER: ""})
    plugin = daemonset("rdma-shared-dp-ds", {nic_node.PRESENT: "true", nic_node.WAITS: "false"})
    found = {
        "policies": [policy()],
        "nodes": [node()],
        "daemonsets": [driver, plugin],
        "pods": [pod("mofed"), pod("rdma-shared-dp-ds")],
        "revisions": [],
    }
    return found | more


def judging(asked: StackParams) -> StackJudge:
    return nic_judge.judging(asked, nic_manifest.offered(asked), lambda: 0.0)


def verdict(snapshot: dict[str, list[Data]], **more: t.Any) -> t.Any:
    return judging(params(**more))(snapshot)


def crashing() -> Data:
    waiting = {"reason": "CrashLoopBackOff", "message": "back-off"}
    return pod(
        "mofed",
        False,
        containerStatuses=[{"name": "mofed-container", "restartCount": 4, "state": {"waiting": waiting}}],
    )


def offering(number: int) -> Data:
    made = copy.deepcopy(node())
    made["status"]["allocatable"]["rdma/rdma_a"] = str(number)
    return made


def unlabelled() -> Data:
    made = node()
    del made["metadata"]["labels"][nic_node.PRESENT]
    return made


def tainted() -> Data:
    return node() | {"spec": {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}}


def stages(snapshot: dict[str, list[Data]], *pools: Data, **more: t.Any) -> dict[str, tuple[str, str]]:
    """Stage -> verdict, and what it waits for, as a judge without patience leaves them."""
    found = told(snapshot, *pools, **more)["stages"]
    return {
        one["name"]: (one["verdict"], one["consequence_of"]) for one in found if one["verdict"] != "ready"
    }


def told(snapshot: dict[str, list[Data]], *pools: t.Any, **more: t.Any) -> Data:
    asked = params(pools=list(pools) or [POOL], **more)
    judge = judging(asked)
    judge(snapshot)
    return summarize(snapshot, asked.pools, nic_manifest.offered(asked), judge.findings)


def elsewhere() -> dict[str, list[Data]]:
    """Return a snapshot in which the driver on a node outside every pool is not Ready."""
    other, late = node(pool="theirs"), pod("mofed", False)
    other["metadata"]["name"] = late["spec"]["nodeName"] = "n2"
    late["metadata"]["name"] += "-n2"
    found = world(policies=[policy("notReady", appliedStates=[{"name": "state-OFED", "state": "notReady"}])])
    return found | {"nodes": [*found["nodes"], other], "pods": [*found["pods"], late]}
