# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with a GPU stack: each function breaks one thing in a snapshot."""

from __future__ import annotations

import typing as t

from unit.stack.builders import POOL, Snapshot, node, pod, some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
)

DRIVER = "nvidia-driver-daemonset-9.8.20260801-0"


def nvidia_driver(seen: dict[str, list[dict[str, t.Any]]], switched: bool) -> None:
    """The driver's DaemonSet is an NVIDIADriver's."""
    seen["policies"][0].setdefault("spec", {}).setdefault("driver", {})["useNvidiaDriverCRD"] = switched
    (driver,) = [one for one in seen["daemonsets"] if one["metadata"]["name"] == DRIVER]
    driver["metadata"]["ownerReferences"] = [{"kind": "NVIDIADriver", "name": "training", "uid": "u"}]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def judge(seen: Snapshot, after: float = 0.0, **pool: t.Any) -> t.Any:
    """The verdict at once, or when the same was seen for that many seconds."""
    clock = Clock()
    judging = clusterpolicy_judge.Judge(
        some_params(name="gpu-cluster-policy", grace=60, pools=[POOL | pool]), clock
    )
    verdict = judging(seen)
    if after:
        clock.now = after
        verdict = judging(seen)
    return verdict


def status(seen: Snapshot, state: str, reason: str, error: str = "", message: str = "") -> None:
    seen["policies"][0]["status"] = {
        "state": state,
        "conditions": [
            {
                "type": "Ready",
                "status": "False" if error else "True",
                "reason": "Error" if error else reason,
                "message": "",
            },
            {
                "type": "Error",
                "status": "True" if error else "False",
                "reason": error or "Ready",
                "message": message,
            },
        ],
    }


def broken(one: dict[str, t.Any], reason: str, message: str = "", restarts: int = 4) -> None:
    one["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    one["status"]["containerStatuses"][0] |= {
        "ready": False,
        "restartCount": restarts,
        "state": {"waiting": {"reason": reason, "message": message}},
    }


def lose_label(seen: Snapshot) -> None:
    del node(seen)["metadata"]["labels"]["feature.node.kubernetes.io/pci-10de.present"]


def no_gpu_nodes(seen: Snapshot) -> None:
    status(seen, "ready", "NoGPUNodes")


def labels_missing(seen: Snapshot) -> None:
    status(seen, "ready", "NFDLabelsMissing")


def taint(seen: Snapshot) -> None:
    node(seen)["spec"]["taints"].append({"key": "dedicated", "value": "ml", "effect": "NoSchedule"})


def ignored(seen: Snapshot) -> None:
    """Make the policy the younger of two: the operator passes it over and gives it no status."""
    first = {"name": "older", "creationTimestamp": "2026-11-21T08:00:00Z"}
    seen["policies"].append({"metadata": first, "spec": {}})
    seen["policies"][0]["metadata"]["creationTimestamp"] = "2026-11-21T09:00:00Z"
    seen["policies"][0].pop("status")


def conflict(seen: Snapshot) -> None:
    status(
        seen,
        "notReady",
        "",
        "ReconcileFailed",
        "conflicting GPUCluster resource gpu-cluster cannot co-exist with ClusterPolicy",
    )


def crash(seen: Snapshot) -> None:
    status(
        seen,
        "notReady",
        "",
        "OperandNotReady",
        "ClusterPolicy is not ready; states not ready: [state-driver]",
    )
    broken(pod(seen, DRIVER), "CrashLoopBackOff", "back-off 40s restarting failed container")


def often_restarted(seen: Snapshot) -> None:
    one = pod(seen, DRIVER)
    one["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    one["status"]["containerStatuses"][0] |= {
        "ready": False,
        "restartCount": 3,
        "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}},
    }


def plugin_crash(seen: Snapshot) -> None:
    broken(pod(seen, "nvidia-device-plugin-daemonset"), "CrashLoopBackOff")


def no_image(seen: Snapshot) -> None:
    broken(pod(seen, "nvidia-dcgm-exporter"), "ImagePullBackOff", "manifest unknown")


def not_ready_pod(seen: Snapshot) -> None:
    pod(seen, "nvidia-dcgm-exporter")["status"]["conditions"] = [{"type": "Ready", "status": "False"}]


def no_pod(seen: Snapshot) -> None:
    seen["pods"].remove(pod(seen, "gpu-feature-discovery"))


def old_pod(seen: Snapshot) -> None:
    pod(seen, DRIVER)["metadata"]["labels"]["controller-revision-hash"] = "older"


def rolling(seen: Snapshot) -> None:
    seen["daemonsets"][0]["metadata"]["generation"] = 7


def no_daemonset(seen: Snapshot) -> None:
    seen["daemonsets"] = [one for one in seen["daemonsets"] if one["metadata"]["name"] != "nvidia-dcgm"]


def no_tag(seen: Snapshot) -> None:
    seen["streams"] = []
    pod(seen, DRIVER)["status"]["conditions"] = [{"type": "Ready", "status": "False"}]


def stale_label(seen: Snapshot) -> None:
    node(seen)["status"]["nodeInfo"]["osImage"] = "Red Hat Enterprise Linux CoreOS 9.8.20260901-0 (Plow)"
    pod(seen, DRIVER)["status"]["conditions"] = [{"type": "Ready", "status": "False"}]


def fewer_devices(seen: Snapshot) -> None:
    node(seen)["status"]["allocatable"]["nvidia.com/gpu"] = "3"


def no_devices(seen: Snapshot) -> None:
    del node(seen)["status"]["allocatable"]["nvidia.com/gpu"]


def still_building(seen: Snapshot) -> None:
    no_devices(seen)
    for name in ("nvidia-driver-daemonset", "nvidia-device-plugin"):
        pod(seen, name)["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    status(
        seen,
        "notReady",
        "",
        "OperandNotReady",
        "ClusterPolicy is not ready; states not ready: [state-driver]",
    )


def repartitioned(seen: Snapshot) -> None:
    fewer_devices(seen)
    node(seen)["metadata"]["labels"]["nvidia.com/mig.config.state"] = "pending"


def stopped_for_mig(seen: Snapshot) -> None:
    """As while the MIG manager cuts the GPUs: it stops what uses them, and starts it again itself."""
    no_devices(seen)
    marks = {f"nvidia.com/gpu.deploy.{one}": "paused-for-mig-change" for one in ("device-plugin", "dcgm")}
    node(seen)["metadata"]["labels"] |= {"nvidia.com/mig.config.state": "pending", **marks}


def left_by_mig(seen: Snapshot) -> None:
    stopped_for_mig(seen)
    node(seen)["metadata"]["labels"]["nvidia.com/mig.config.state"] = "success"


def repartitioned_again(seen: Snapshot) -> None:
    node(seen)["metadata"]["labels"] |= {
        "nvidia.com/mig.config.state": "pending",
        "nvidia.com/mig.config": "all-1g.5gb",
    }


def not_cut(seen: Snapshot) -> None:
    node(seen)["metadata"]["labels"] |= {
        "nvidia.com/mig.config.state": "failed",
        "nvidia.com/mig.config": "all-9g.5gb",
    }


def withdrawn(seen: Snapshot) -> None:
    fewer_devices(seen)
    node(seen)["metadata"]["labels"]["nvidia.com/gpu.count"] = "4"


def paused(seen: Snapshot) -> None:
    """As after an upgrade whose manager was killed.

    No DaemonSet selects the node any more, and all count as ready.
    """
    no_devices(seen)
    for name in ("device-plugin", "dcgm"):
        node(seen)["metadata"]["labels"][f"nvidia.com/gpu.deploy.{name}"] = "paused-for-driver-upgrade"


def of_the_other_stack(seen: Snapshot) -> None:
    no_devices(seen)
    node(seen)["metadata"]["labels"]["nvidia.com/gpu-operator.resource-allocation.mode"] = "dra"


def without_plugin(seen: Snapshot) -> None:
    no_devices(seen)
    node(seen)["metadata"]["labels"]["nvidia.com/gpu.deploy.device-plugin"] = "false"


def unwanted(seen: Snapshot) -> None:
    daemonset = next(one for one in seen["daemonsets"] if one["metadata"]["name"] == "nvidia-dcgm-exporter")
    daemonset["metadata"]["generation"] = 2
    daemonset["status"] = {"desiredNumberScheduled": 0, "observedGeneration": 2}
    seen["pods"].remove(pod(seen, "nvidia-dcgm-exporter"))


def refused_by_the_kubelet(seen: Snapshot) -> None:
    one = pod(seen, "nvidia-operator-validator")["status"]
    one |= {
        "phase": "Failed",
        "reason": "UnexpectedAdmissionError",
        "message": "Requested: 1, Available: 0, which is unexpected",
        "containerStatuses": [],
    }
    one["conditions"] = [{"type": "Ready", "status": "False"}]


def upgrading(seen: Snapshot) -> None:
    node(seen)["metadata"]["labels"]["nvidia.com/gpu-driver-upgrade-state"] = "pod-restart-required"


def upgrade_failed(seen: Snapshot) -> None:
    node(seen)["metadata"]["labels"]["nvidia.com/gpu-driver-upgrade-state"] = "upgrade-failed"


def node_down(seen: Snapshot) -> None:
    node(seen)["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]


def opted_out(seen: Snapshot) -> None:
    node(seen)["metadata"]["labels"]["nvidia.com/gpu.deploy.operands"] = "false"


def waits_for_tolerations(seen: Snapshot) -> None:
    taint(seen)
    tolerations = seen["policies"][0]["spec"]["daemonsets"]["tolerations"]
    tolerations.append({"key": "dedicated", "operator": "Exists"})


def not_rolled_out(seen: Snapshot) -> None:
    seen["policies"][0]["spec"]["daemonsets"]["tolerations"].append({"key": "more", "operator": "Exists"})


def old_driver(seen: Snapshot) -> None:
    seen["policies"][0]["spec"]["driver"]["version"] = "600.10.01"


def gone(seen: Snapshot) -> None:
    seen["policies"] = []


def fewer_nodes(seen: Snapshot) -> None:
    seen["nodes"] = []
    status(seen, "ready", "NoGPUNodes")
