# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pools of scenario two-pools, the module's verdict on them, and their operands' pods."""

from __future__ import annotations

import contextlib
import re
import typing as t

from cluster import Cluster
from integration import direct
from integration.patience import until
from integration.sandbox import gpu_cluster as gpus
from integration.troubles import demo
from integration.troubles.taints import untaint

from openshift_sandbox.stand_ins.core.conditions import holds

Data = dict[str, t.Any]
T4: t.Final[Data] = {
    "name": "t4",
    "node_selector": {"accelerators.openshift/pool": "t4"},
    "replicas": 2,
    "expected": {"nvidia.com/gpu": 4},
}
A100: t.Final[Data] = {
    "name": "a100",
    "node_selector": {"accelerators.openshift/pool": "a100"},
    "replicas": 2,
    "expected": {"nvidia.com/mig-1g.5gb": 56},
}
STAGES: t.Final = [
    "catalogue",
    "install plan",
    "csv",
    "crd",
    "nfd labels",
    "driver",
    "toolkit",
    "device plugin",
    "validator",
    "metrics",
    "allocatable",
]
MOMENT: t.Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def judge(cluster: Cluster, *pools: Data, **options: t.Any) -> Data:
    """Return the module's result, which may be a failure."""
    given = {"spec": {"mig": {"strategy": "mixed"}}, "pools": list(pools) or [T4, A100]}
    return direct.judge(cluster, **{**given, "grace": 1, "wait_timeout": 90, **options})


@contextlib.contextmanager
def trouble(cluster: Cluster, name: str) -> t.Iterator[None]:
    """Stage the troubles of a scenario's file; clear them and the taints at the end."""
    try:
        with demo.trouble(cluster, name):
            yield
    finally:
        untaint(cluster.client)


def stage(found: Data, name: str) -> Data:
    return next(one for one in found["special_resource"]["stages"] if one["name"] == name)


def verdicts(found: Data) -> dict[str, str]:
    return {one["name"]: one["verdict"] for one in found["special_resource"]["stages"]}


def well(cluster: Cluster) -> None:
    """Wait until the stack works again after the trouble before."""
    until(lambda: not judge(cluster, grace=60).get("failed"), "the stack works again", pause=0.3)


def operands(cluster: Cluster, node: str) -> list[Data]:
    """Return the pods on a node that need the driver."""
    names = ("nvidia-container-toolkit", "nvidia-device-plugin", "nvidia-operator-validator", "nvidia-dcgm")
    return [pod for pod in gpus.pods_on(cluster.client, node) if pod["metadata"]["name"].startswith(names)]


def idle(cluster: Cluster, node: str) -> bool:
    """Return whether none of the node's five operand pods is ready and it offers no MIG device."""
    found = operands(cluster, node)
    offered = (cluster.client.get("v1", "nodes", node) or {})["status"]["allocatable"].get(
        "nvidia.com/mig-1g.5gb", "0"
    )
    return len(found) == 5 and not any(holds(pod, "Ready") for pod in found) and offered == "0"


def broken(cluster: Cluster) -> bool:
    node = cluster.client.get("v1", "nodes", "a100-0") or {}
    return node["metadata"]["labels"].get("nvidia.com/mig.config.state") == "failed" and crashes(
        cluster, "nvidia-driver-daemonset", "a100-1"
    )


def crashes(cluster: Cluster, operand: str, node: str = "a100-0") -> bool:
    pods = [pod for pod in gpus.pods_on(cluster.client, node) if pod["metadata"]["name"].startswith(operand)]
    return "CrashLoopBackOff" in str([pod["status"].get("containerStatuses") for pod in pods])
