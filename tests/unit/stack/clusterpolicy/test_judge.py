"""The GPU stack: what is ready, and every way in which `Ready` was seen to lie."""

from __future__ import annotations

import copy
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import check_pools
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
    result as clusterpolicy_result,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.judge import judge_gone
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.pods import explain

Snapshot = dict[str, list[dict[str, t.Any]]]
FIXTURE = yaml.safe_load((Path(__file__).parents[2] / "fixtures/stack_ready.yml").read_text())
POOL = {
    "name": "training",
    "node_selector": {"accelerators.openshift/pool": "training"},
    "replicas": 1,
    "expected": {"nvidia.com/gpu": 4},
}
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


@pytest.fixture
def seen() -> Snapshot:
    return copy.deepcopy(FIXTURE)


def judge(seen: Snapshot, after: float = 0.0, **pool: t.Any) -> t.Any:
    """The verdict at once, or when the same was seen for that many seconds."""
    clock = Clock()
    judging = clusterpolicy_judge.Judge(
        {"name": "gpu-cluster-policy", "grace": 60, "pools": [POOL | pool]}, clock
    )
    verdict = judging(seen)
    if after:
        clock.now = after
        verdict = judging(seen)
    return verdict


def node(seen: Snapshot) -> dict[str, t.Any]:
    return seen["nodes"][0]


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


def pod(seen: Snapshot, prefix: str) -> dict[str, t.Any]:
    return next(one for one in seen["pods"] if one["metadata"]["name"].startswith(prefix))


def broken(one: dict[str, t.Any], reason: str, message: str = "", restarts: int = 4) -> None:
    one["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    one["status"]["containerStatuses"][0] |= {
        "ready": False,
        "restartCount": restarts,
        "state": {"waiting": {"reason": reason, "message": message}},
    }


def test_a_stack_that_works(seen: Snapshot) -> None:
    verdict = judge(seen)
    assert verdict.verdict == "ready"
    facts = clusterpolicy_result.summarize(seen, "gpu-cluster-policy", [POOL])
    assert (facts["state"], facts["reason"], facts["driver_version"]) == ("ready", "Reconciled", "595.91.07")
    (entry,) = facts["nodes"]
    assert entry["expected"] == entry["allocatable"] == {"nvidia.com/gpu": 4}
    assert [one["name"] for one in entry["operands"]][:4] == [
        "driver",
        "container-toolkit",
        "operator-validator",
        "device-plugin",
    ]
    assert all(one["ready"] for one in entry["operands"])


def lose_label(seen: Snapshot) -> None:
    del node(seen)["metadata"]["labels"]["feature.node.kubernetes.io/pci-10de.present"]


def no_gpu_nodes(seen: Snapshot) -> None:
    status(seen, "ready", "NoGPUNodes")


def labels_missing(seen: Snapshot) -> None:
    status(seen, "ready", "NFDLabelsMissing")


def taint(seen: Snapshot) -> None:
    node(seen)["spec"]["taints"].append({"key": "dedicated", "value": "ml", "effect": "NoSchedule"})


def ignored(seen: Snapshot) -> None:
    seen["policies"].append({"metadata": {"name": "older"}, "spec": {}})
    status(seen, "ignored", "")


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
    """As after an upgrade whose manager was killed: no DaemonSet selects the node any more, and all count as ready."""
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
    seen["policies"][0]["spec"]["daemonsets"]["tolerations"].append(
        {"key": "dedicated", "operator": "Exists"}
    )


def not_rolled_out(seen: Snapshot) -> None:
    seen["policies"][0]["spec"]["daemonsets"]["tolerations"].append({"key": "more", "operator": "Exists"})


def old_driver(seen: Snapshot) -> None:
    seen["policies"][0]["spec"]["driver"]["version"] = "600.10.01"


def gone(seen: Snapshot) -> None:
    seen["policies"] = []


def fewer_nodes(seen: Snapshot) -> None:
    seen["nodes"] = []
    status(seen, "ready", "NoGPUNodes")


CASES = [
    (
        lose_label,
        "GPU-NFD-EMPTY",
        "pending",
        "failed",
        "no label feature.node.kubernetes.io/pci-10de.present",
    ),
    (no_gpu_nodes, "GPU-NFD-EMPTY", "pending", "failed", "reason NoGPUNodes"),
    (labels_missing, "GPU-NFD-EMPTY", "pending", "failed", "reason NFDLabelsMissing"),
    (
        taint,
        "GPU-TAINT",
        "failed",
        "failed",
        "gpu-0: taint dedicated=ml:NoSchedule is not tolerated by 8 operands",
    ),
    (waits_for_tolerations, "GPU-TAINT", "pending", "pending", "do not have the policy's tolerations yet"),
    (ignored, "GPU-CP-IGNORED", "failed", "failed", "older is older"),
    (conflict, "GPU-CP-CONFLICT", "failed", "failed", "conflicting GPUCluster resource"),
    (
        crash,
        "GPU-DRV-CRASH",
        "pending",
        "failed",
        "container nvidia-driver-ctr of pod nvidia-driver-daemonset-9.8.20260801-0-x4h94 is in CrashLoopBackOff",
    ),
    (often_restarted, "GPU-DRV-CRASH", "pending", "failed", "3 restarts"),
    (plugin_crash, "GPU-OPERAND-CRASH", "pending", "failed", "device-plugin"),
    (no_image, "GPU-IMAGE", "pending", "failed", "manifest unknown"),
    (not_ready_pod, "GPU-OPERAND", "pending", "pending", "dcgm-exporter is not Ready"),
    (no_pod, "GPU-OPERAND", "pending", "pending", "gpu-feature-discovery has no pod"),
    (old_pod, "GPU-DRV-OUTDATED", "pending", "pending", "of the driver is of an older revision"),
    (rolling, "GPU-OPERAND", "pending", "pending", "older revision"),
    (no_daemonset, "GPU-OPERAND-LACKING", "pending", "failed", "its labels call for dcgm,"),
    (no_tag, "GPU-DTK-STREAM", "pending", "failed", "has no tag 9.8.20260801-0"),
    (stale_label, "GPU-DTK-STALE", "pending", "failed", "contradicts its osImage"),
    (fewer_devices, "GPU-ALLOC", "pending", "failed", "offers nvidia.com/gpu 3 of 4"),
    (no_devices, "GPU-ALLOC", "pending", "failed", "offers nvidia.com/gpu 0 of 4"),
    (still_building, "GPU-OPERAND", "pending", "pending", "driver is not Ready"),
    (repartitioned, "GPU-MIG-RUNNING", "pending", "pending", "is being repartitioned"),
    (
        repartitioned_again,
        "GPU-MIG-RUNNING",
        "pending",
        "pending",
        "is being repartitioned (all-1g.5gb: pending)",
    ),
    (not_cut, "GPU-MIG-FAILED", "failed", "failed", "could not be repartitioned (all-9g.5gb: failed)"),
    (
        withdrawn,
        "GPU-ALLOC",
        "pending",
        "failed",
        "offers nvidia.com/gpu 3 of 4 (4 GPUs are in the node, 1 of them withdrawn)",
    ),
    (paused, "GPU-PAUSED", "pending", "failed", "still keeps dcgm, device-plugin away"),
    (of_the_other_stack, "GPU-MODE", "pending", "failed", "is left over from a GPUCluster"),
    (
        without_plugin,
        "GPU-OPTED-OUT",
        "pending",
        "failed",
        "label nvidia.com/gpu.deploy.device-plugin=false keeps device-plugin away",
    ),
    (
        unwanted,
        "GPU-OPERAND-LACKING",
        "pending",
        "failed",
        "DaemonSet nvidia-dcgm-exporter selects it and wants no pod anywhere (0 desired)",
    ),
    (
        refused_by_the_kubelet,
        "GPU-VAL-BUSY",
        "pending",
        "pending",
        "was refused by the node (UnexpectedAdmissionError)",
    ),
    (upgrading, "GPU-UPG-RUNNING", "pending", "pending", "pod-restart-required"),
    (upgrade_failed, "GPU-UPG-FAILED", "failed", "failed", "stays cordoned"),
    (node_down, "GPU-NODE-NOTREADY", "pending", "pending", "the node is not Ready"),
    (opted_out, "GPU-OPTED-OUT", "pending", "failed", "keeps every operand away"),
    (
        not_rolled_out,
        "GPU-CP-NOTREADY",
        "pending",
        "pending",
        "has not yet brought the policy to container-toolkit (tolerations)",
    ),
    (
        old_driver,
        "GPU-CP-NOTREADY",
        "pending",
        "pending",
        "has not yet brought the policy to driver (version 600.10.01)",
    ),
    (gone, "GPU-CP-ABSENT", "pending", "pending", "not there yet"),
    (fewer_nodes, "GPU-NODES", "pending", "pending", "Pool training has 0 of 1 nodes"),
]


@pytest.mark.parametrize(
    ("change", "code", "first", "later", "words"), CASES, ids=[case[0].__name__ for case in CASES]
)
def test_a_policy_that_lies(
    seen: Snapshot, change: t.Callable[[Snapshot], None], code: str, first: str, later: str, words: str
) -> None:
    change(seen)
    early, late = judge(seen), judge(seen, after=61)
    assert (early.code, early.verdict, late.code, late.verdict) == (code, first, code, later)
    assert words in f"{early.message} {' '.join(early.details)}"
    assert early.remedy


def test_zero_nodes_are_fine_for_a_pool_that_may_be_empty(seen: Snapshot) -> None:
    fewer_nodes(seen)
    assert judge(seen, after=300, min_replicas=0).is_ready


def test_devices_that_a_running_plugin_withholds_are_not_waited_for(seen: Snapshot) -> None:
    no_devices(seen)
    pod(seen, "nvidia-operator-validator")["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    status(
        seen,
        "notReady",
        "",
        "OperandNotReady",
        "ClusterPolicy is not ready; states not ready: [state-operator-validation]",
    )
    assert judge(seen, after=59).verdict == "pending"
    late = judge(seen, after=61)
    assert (late.verdict, late.code) == ("failed", "GPU-ALLOC")
    assert "offers nvidia.com/gpu 0 of 4" in late.message


def test_an_upgrade_may_take_the_devices_away_for_long(seen: Snapshot) -> None:
    no_devices(seen)
    upgrading(seen)
    assert judge(seen, after=600).verdict == "pending"


def test_a_driver_that_runs_needs_no_toolkit(seen: Snapshot) -> None:
    seen["streams"] = []
    assert judge(seen).is_ready


def test_switched_off_operands_are_not_missed(seen: Snapshot) -> None:
    no_daemonset(seen)
    seen["policies"][0]["spec"]["dcgm"]["enabled"] = False
    assert judge(seen).is_ready


def test_one_operand_is_off_unless_it_is_switched_on(seen: Snapshot) -> None:
    seen["daemonsets"] = [
        one for one in seen["daemonsets"] if one["metadata"]["name"] != "nvidia-node-status-exporter"
    ]
    assert judge(seen).code == "GPU-OPERAND-LACKING"
    del seen["policies"][0]["spec"]["nodeStatusExporter"]
    assert judge(seen).is_ready


def test_nodes_of_other_people_do_not_matter(seen: Snapshot) -> None:
    other = copy.deepcopy(node(seen))
    other["metadata"] |= {"name": "foreign", "labels": {"nvidia.com/gpu.deploy.driver": "true"}}
    other["status"] = {}
    seen["nodes"].append(other)
    assert judge(seen).is_ready


def test_a_trouble_that_passes_starts_anew(seen: Snapshot) -> None:
    clock, well = Clock(), copy.deepcopy(seen)
    judging = clusterpolicy_judge.Judge({"name": "gpu-cluster-policy", "grace": 60, "pools": [POOL]}, clock)
    crash(seen)
    for now, snapshot, expected in (
        (0, seen, "pending"),
        (50, seen, "pending"),
        (55, well, "ready"),
        (70, seen, "pending"),
        (129, seen, "pending"),
        (130, seen, "failed"),
    ):
        clock.now = now
        assert judging(snapshot).verdict == expected


def test_devices_without_a_promise_are_those_that_feature_discovery_counted(seen: Snapshot) -> None:
    assert judge(seen, expected={}).is_ready
    fewer_devices(seen)
    assert judge(seen, expected={}).code == "GPU-ALLOC"


def test_consequences_stand_in_one_line(seen: Snapshot) -> None:
    for one in seen["pods"]:
        one["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    assert judge(seen).details == ("gpu-0: driver is not Ready, 6 operands wait for it",)


def test_a_node_has_one_line_that_changes_only_with_what_it_waits_for(seen: Snapshot) -> None:
    """What was not made yet and what is not Ready yet both wait for the driver; the exporter that waits for nobody does not count."""
    node(seen)["metadata"]["name"] = "gpu-0.example.com"
    for one in seen["pods"]:
        one["spec"]["nodeName"] = "gpu-0.example.com"
        one["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    no_devices(seen)
    status(seen, "notReady", "OperandNotReady")
    expected = ("gpu-0…: driver is not Ready, 6 operands wait for it; nvidia.com/gpu 0 of 4",)
    assert judge(seen).details == expected
    no_daemonset(seen)
    assert judge(seen).details == expected
    next(one for one in seen["pods"] if "node-status-exporter" in one["metadata"]["name"])["status"][
        "conditions"
    ] = [{"type": "Ready", "status": "True"}]
    assert judge(seen).details == expected


@pytest.mark.parametrize(
    ("log", "code"),
    [
        (
            "error: failed to install elfutils packages. RHEL entitlement may be improperly deployed.",
            "GPU-DRV-NODTK",
        ),
        ("modprobe: ERROR: could not insert 'nvidia': Required key not available", "GPU-DRV-SIGN"),
        ("NVRM: RmInitAdapter failed! (0x22:0x56:884)", "GPU-DRV-FLAVOUR"),
        ("Could not unload NVIDIA driver kernel modules, driver is in use", "GPU-DRV-INUSE"),
    ],
)
def test_a_known_text_in_the_log_brings_its_remedy(log: str, code: str) -> None:
    error = NotReadyError("GPU-DRV-CRASH", "driver crashes.", "look")
    explain(error, "nvidia-driver-x", "nvidia-driver-ctr", f"starting\n{log}\n")
    assert error.code == code
    assert error.message.endswith(log)
    assert error.remedy != "look"
    assert error.evidence[-1].endswith(log)


def test_an_unknown_text_is_only_evidence() -> None:
    error = AcceleratorError("GPU-DRV-CRASH", "driver crashes.", "look")
    explain(error, "nvidia-driver-x", "ctr", "something else")
    assert (error.code, error.remedy, error.evidence) == (
        "GPU-DRV-CRASH",
        "look",
        ["nvidia-driver-x/ctr: something else"],
    )
    assert error.message == "driver crashes. The log of nvidia-driver-x ends with: something else"


def test_a_log_does_not_replace_another_cause() -> None:
    error = AcceleratorError("GPU-TAINT", "not tolerated.", "oc adm taint")
    explain(error, "nvidia-driver-x", "ctr", "NVRM: RmInitAdapter failed!")
    assert (error.code, error.message, error.remedy) == ("GPU-TAINT", "not tolerated.", "oc adm taint")


@pytest.mark.parametrize(
    ("pool", "path"),
    [
        ({"name": "a"}, "pools[0].node_selector"),
        ({"node_selector": {"a": "b"}}, "pools[0].name"),
        ({"name": "a", "node_selector": "x"}, "pools[0]"),
    ],
)
def test_bad_pools_are_named(pool: dict[str, t.Any], path: str) -> None:
    with pytest.raises(InputError, match=r"pools\[0\]") as caught:
        check_pools([pool])
    assert path in caught.value.message


def test_absence_means_no_operand_and_no_pod(seen: Snapshot) -> None:
    assert judge_gone({"daemonsets": [], "pods": []}).is_ready
    assert judge_gone({"daemonsets": [], "pods": seen["pods"]}).code == "GPU-LEFTOVER"
    assert judge_gone(seen).details


def test_a_driver_that_was_switched_off_and_stays_is_told_and_is_final_when_it_lasts(seen: Snapshot) -> None:
    nvidia_driver(seen, switched=False)
    first, last = judge(copy.deepcopy(seen)), judge(seen, after=61)
    assert (first.verdict, last.verdict, last.code) == ("pending", "failed", "GPU-NVD-LEFT")
    assert "NVIDIADriver training, which is switched off" in last.message
    nvidia_driver(seen, switched=True)
    assert judge(seen).code != "GPU-NVD-LEFT"
