# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which logs are read after a failure, and what they add to it."""

from __future__ import annotations

import pytest
from unit.stack.builders import POOL, Snapshot, node, pod, second_node, unready

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ApiError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import diagnose
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackPool


def sources(seen: Snapshot, pools: list[StackPool] | None = None) -> list[diagnose.Source]:
    parts = clusterpolicy_judge.judge(seen, "gpu-cluster-policy", pools or [POOL])
    decisive = next((one for one in parts if not one.is_ready), None)
    return diagnose.log_sources(parts, seen["pods"], decisive, clusterpolicy_judge.PODS)


def test_the_log_of_what_broke_is_read_and_of_nothing_that_waits(seen: Snapshot) -> None:
    second_node(seen)
    for one in seen["pods"]:
        unready(one)
    [found, *more] = sources(seen)
    assert (found.pod.startswith("nvidia-driver"), found.decides, more) == (True, True, [])


def test_few_logs_are_read(seen: Snapshot) -> None:
    second_node(seen, "training")
    for one in seen["pods"]:
        unready(one)
        one["status"]["containerStatuses"] = [
            {
                "name": "c",
                "ready": False,
                "restartCount": 9,
                "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            }
        ]
    found = sources(seen, [{**POOL, "replicas": 2}])
    assert len(found) == diagnose.MOST
    assert found[0].pod.startswith("nvidia-driver")


def test_the_init_container_that_hangs_is_the_one(seen: Snapshot) -> None:
    driver = pod(seen, "nvidia-driver")
    unready(driver)
    driver["status"]["initContainerStatuses"] = [{"name": "k8s-driver-manager", "state": {"running": {}}}]
    driver["status"]["containerStatuses"] = [
        {"name": "nvidia-driver-ctr", "ready": False, "state": {"waiting": {"reason": "PodInitializing"}}}
    ]
    assert [one.container for one in sources(seen)] == ["k8s-driver-manager"]


def test_peermem_beside_a_driver_that_runs_is_the_one(seen: Snapshot) -> None:
    driver = pod(seen, "nvidia-driver")
    unready(driver)
    states = [
        {"name": "nvidia-driver-ctr", "ready": True, "state": {"running": {}}},
        {"name": "nvidia-peermem-ctr", "ready": False, "state": {"running": {}}},
    ]
    driver["status"] |= {"initContainerStatuses": [], "containerStatuses": states}
    assert [one.container for one in sources(seen)] == ["nvidia-peermem-ctr"]


def test_a_taint_is_in_no_log(seen: Snapshot) -> None:
    node(seen)["spec"]["taints"].append({"key": "dedicated", "effect": "NoSchedule"})
    assert sources(seen) == []


def test_the_operators_own_log_tells_of_labels(seen: Snapshot) -> None:
    del node(seen)["metadata"]["labels"]["feature.node.kubernetes.io/pci-10de.present"]
    seen["pods"].append(
        {
            "metadata": {"name": "gpu-operator-5d", "namespace": "n"},
            "spec": {"containers": [{"name": "gpu-operator"}]},
            "status": {},
        }
    )
    assert [(one.pod, one.container) for one in sources(seen)] == [("gpu-operator-5d", "gpu-operator")]


def test_a_log_that_cannot_be_read_says_so() -> None:
    error = AcceleratorError("GPU-DRV-CRASH", "crashes.")
    diagnose.add_unreadable(
        error, diagnose.Source("n", "p", "c", True), ApiError("API-FORBIDDEN", "no get on pods/log")
    )
    assert error.evidence == ["p/c: its log could not be read: API-FORBIDDEN: no get on pods/log"]


def test_the_log_of_another_node_is_evidence_and_no_cause() -> None:
    error = AcceleratorError("GPU-DRV-CRASH", "crashes.", "look")
    diagnose.add_log(error, diagnose.Source("n", "p", "c", False), "NVRM: RmInitAdapter failed!")
    assert (error.code, error.remedy, error.evidence) == (
        "GPU-DRV-CRASH",
        "look",
        ["p/c: NVRM: RmInitAdapter failed!"],
    )


@pytest.mark.parametrize(
    ("code", "text", "becomes"),
    [
        ("GPU-MIG-FAILED", "At least one mode change pending", "GPU-MIG-REBOOT"),
        ("GPU-ALLOC", "Failed to initialize NVML: Unknown Error", "GPU-CDI-LOST"),
        (
            "GPU-DRV-OUTDATED",
            "Could not unload NVIDIA driver kernel modules, driver is in use",
            "GPU-DRV-IN-USE",
        ),
        ("GPU-CP-NOT-READY", "driver-toolkit imagestream not found", "GPU-DTK-STREAM"),
        ("GPU-TAINT", "driver-toolkit imagestream not found", "GPU-TAINT"),
        ("GPU-ALLOC", "everything is fine", "GPU-ALLOC"),
    ],
)
def test_a_log_may_know_more_than_what_was_seen(code: str, text: str, becomes: str) -> None:
    error = AcceleratorError(code, "Seen.", "look")
    diagnose.add_log(error, diagnose.Source("n", "p", "c", True), f"starting\n{text}\n")
    assert error.code == becomes
    assert (error.message == "Seen.") is (becomes == code)
    assert error.evidence[-1] == f"p/c: {text}"


def test_what_a_log_says_is_a_sentence_of_its_own() -> None:
    error = AcceleratorError("NIC-DRV-CRASH", "Node n1: the NIC driver is in CrashLoopBackOff")
    diagnose.add_log(error, diagnose.Source("n", "mofed-x", "c", True), "no space left")
    assert (
        error.message == "Node n1: the NIC driver is in CrashLoopBackOff. "
        "The log of container c of pod mofed-x says: no space left"
    )


def test_an_event_tells_what_no_log_can() -> None:
    error = AcceleratorError("GPU-OPERAND", "not Ready.", "look")
    diagnose.add_events(
        error,
        diagnose.Source("n", "p", "", True),
        [
            {"type": "Normal", "message": "Pulled"},
            {"type": "Warning", "reason": "Failed", "message": 'no runtime for "nvidia" is configured'},
        ],
    )
    assert error.code == "GPU-TK-RUNTIME"


@pytest.mark.parametrize(
    ("log", "words", "remedy"),
    [
        (
            "XidCriticalError: Xid=79 on Device=GPU-1; marking device as unhealthy.",
            "Xid 79 on GPU-1: the GPU has fallen off the bus",
            "reboot the node",
        ),
        (
            "XidCriticalError: Xid=95 on Device=GPU-1; x\nXidCriticalError: Xid=95 on Device=GPU-1; x",
            "Xid 95 on GPU-1: memory error, not contained",
            "reset the GPU",
        ),
        (
            "XidCriticalError: Xid=64 on Device=GPU-1; x\nXidCriticalError: Xid=48 on Device=GPU-2; x",
            "Xid 64 on GPU-1: a memory row could not be remapped; Xid 48",
            "have it replaced",
        ),
        (
            "XidCriticalError: Xid=119, All devices will go unhealthy.",
            "Xid 119 on every device",
            "reset the GPU",
        ),
        (
            "XidCriticalError: Xid=94 on Device=GPU-1; x",
            "contained in one application",
            "Restart the application",
        ),
        ("XidCriticalError: Xid=777 on Device=GPU-1; x", "not in our table", "reboot"),
    ],
)
def test_an_xid_says_what_to_do(log: str, words: str, remedy: str) -> None:
    error = AcceleratorError("GPU-ALLOC", "Node a offers 3 of 4.", "look")
    diagnose.add_log(error, diagnose.Source("n", "plugin", "c", True), f"starting\n{log}\n")
    assert error.code == "GPU-HW-XID"
    assert words in error.message
    assert remedy in error.remedy
    assert error.evidence[0].startswith("plugin/c: XidCriticalError")
