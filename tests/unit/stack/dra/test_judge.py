# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUCluster: the stages of the DRA stack, what only waits, and nodes of nobody."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra import judge as dra_judge
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra.judge import summarize
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.judge import StackJudge
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackPool

Data = dict[str, t.Any]
Snapshot = dict[str, list[Data]]

NINE: t.Final = "2026-11-22T09:00:00Z"
DEPLOY: t.Final = "nvidia.com/gpu.deploy."
OPERANDS: t.Final = {
    "nvidia-gpu-driver-rhel9-1": "driver",
    "nvidia-dra-driver-kubelet-plugin": "dra-driver",
    "nvidia-dra-validator": "dra-validator",
    "nvidia-dcgm-exporter-dra": "dcgm-exporter-dra",
}
POOL: t.Final = t.cast(
    StackPool,
    {
        "name": "training",
        "node_selector": {"pool": "training"},
        "expected": {"nvidia.com/gpu": 2},
    },
)
DRIVER: t.Final[Data] = {
    "metadata": {"name": "training"},
    "spec": {"nodeSelector": {"pool": "training"}, "version": "595"},
}
NAMES: t.Final = [
    "catalogue",
    "install plan",
    "csv",
    "crd",
    "nfd labels",
    "driver",
    "dra driver",
    "validator",
    "metrics",
    "allocatable",
]
BEHIND_DRIVER: t.Final = dict.fromkeys(NAMES[6:], ("waiting", "driver"))


def conditions(is_ready: bool = True) -> list[Data]:
    return [{"type": "Ready", "status": str(is_ready), "lastTransitionTime": NINE}]


def node(name: str = "n1", pool: str = "training", **labels: str | None) -> Data:
    marks = {
        "pool": pool,
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "feature.node.kubernetes.io/system-os_release.VERSION_ID.major": "9",
        "feature.node.kubernetes.io/kernel-version.full": "5.14",
        "feature.node.kubernetes.io/system-os_release.OSTREE_VERSION": "9.8",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu-operator.driver.owner": "training",
        "nvidia.com/gpu-driver-upgrade-state": "upgrade-done",
        **{DEPLOY + component: "true" for component in OPERANDS.values()},
        **labels,
    }
    kept = {key: value for key, value in marks.items() if value is not None}
    return {
        "metadata": {"name": name, "labels": kept},
        "spec": {},
        "status": {
            "conditions": conditions(),
            "nodeInfo": {"kernelVersion": "5.14", "osImage": "Red Hat Enterprise Linux CoreOS 9.8"},
        },
    }


def daemonset(name: str, component: str) -> Data:
    kind = "NVIDIADriver" if component == "driver" else "GPUCluster"
    metadata = {
        "name": name,
        "uid": name,
        "namespace": "n",
        "generation": 1,
        "ownerReferences": [{"kind": kind, "name": "training", "uid": "o"}],
    }
    template = {
        "spec": {
            "nodeSelector": {DEPLOY + component: "true"},
            "containers": [{"name": "main", "image": "driver:595"}],
        }
    }
    return {
        "metadata": metadata,
        "spec": {"template": template},
        "status": {"observedGeneration": 1, "desiredNumberScheduled": 1},
    }


def pod(of: str, on: str = "n1", is_ready: bool = True, **status: t.Any) -> Data:
    metadata = {
        "name": f"{of}-{on}",
        "namespace": "n",
        "labels": {},
        "ownerReferences": [{"kind": "DaemonSet", "name": of, "uid": of}],
    }
    return {
        "metadata": metadata,
        "spec": {"nodeName": on},
        "status": {"conditions": conditions(is_ready), **status},
    }


def pods(late: t.Collection[str] = (), on: str = "n1") -> list[Data]:
    return [pod(name, on, component not in late) for name, component in OPERANDS.items()]


def devices(number: int, on: str = "n1") -> Data:
    found = [{"name": f"gpu-{index}", "attributes": {"type": {"string": "gpu"}}} for index in range(number)]
    return {
        "metadata": {"name": on},
        "spec": {"driver": "gpu.nvidia.com", "nodeName": on, "pool": POOL_OF_ONE, "devices": found},
    }


POOL_OF_ONE: t.Final = {"name": "n1", "generation": 1, "resourceSliceCount": 1}


def cluster(state: str = "ready", reason: str = "", message: str = "", **spec: t.Any) -> Data:
    error = {"type": "Error", "status": "True" if reason else "False", "reason": reason, "message": message}
    return {
        "metadata": {"name": "gpu-cluster"},
        "spec": spec,
        "status": {"state": state, "conditions": [*conditions(state == "ready"), error]},
    }


def world(**more: list[Data]) -> Snapshot:
    return {
        "clusters": [cluster()],
        "drivers": [DRIVER | {"status": {"state": "ready"}}],
        "nodes": [node()],
        "daemonsets": [daemonset(name, component) for name, component in OPERANDS.items()],
        "pods": pods(),
        "revisions": [],
        "slices": [devices(2)],
        **more,
    }


def judged(snapshot: Snapshot) -> tuple[t.Any, StackJudge]:
    judge = StackJudge(
        lambda seen: dra_judge.judge(seen, [POOL], [DRIVER]),
        dra_judge.CHAIN,
        Grace(lambda: 0.0, 0, dra_judge.PASSING),
    )
    return judge(snapshot), judge


def told(snapshot: Snapshot) -> Data:
    return summarize(snapshot, [POOL], [DRIVER], judged(snapshot)[1].findings)


def behind(snapshot: Snapshot) -> dict[str, tuple[str, str]]:
    return {
        one["name"]: (one["verdict"], one["consequence_of"])
        for one in told(snapshot)["stages"]
        if one["verdict"] != "ready"
    }


def test_every_stage_is_told() -> None:
    found = told(world())
    assert [(one["name"], one["verdict"]) for one in found["stages"]] == [(name, "ready") for name in NAMES]
    assert next(one for one in found["stages"] if one["name"] == "validator")["since"] == NINE
    assert [(one["name"], one["ready"], one["nodes_ready"]) for one in found["pools"]] == [
        ("training", True, 1)
    ]


# Each of them with a GPUCluster that says ready.
@pytest.mark.parametrize(
    ("changes", "code", "expected"),
    [
        ({"slices": [devices(1)]}, "GPU-DRA-SLICES", {"allocatable": ("failed", "")}),
        ({"slices": []}, "GPU-DRA-SLICES", {"allocatable": ("failed", "")}),
        (
            {"nodes": [node(**{"nvidia.com/gpu-operator.resource-allocation.mode": "device-plugin"})]},
            "GPU-MODE",
            {"nfd labels": ("failed", "")},
        ),
        (
            {"nodes": [node(**{f"{DEPLOY}dra-driver": "false"})], "slices": []},
            "GPU-OPTED-OUT",
            {"dra driver": ("failed", ""), "allocatable": ("waiting", "dra driver")},
        ),
        (
            {"nodes": [node(**t.cast(Data, {f"{DEPLOY}dra-driver": None}))], "slices": []},
            "GPU-OPERAND-LACKING",
            {"dra driver": ("failed", ""), "allocatable": ("waiting", "dra driver")},
        ),
        (
            {"nodes": [node(**{"nvidia.com/gpu-operator.driver.owner": "other"})]},
            "GPU-NVD-OWNER",
            {"driver": ("failed", "")},
        ),
        ({"drivers": []}, "GPU-DELETED", {"crd": ("pending", "")}),
        (
            {"nodes": [node(**{"nvidia.com/gpu-driver-upgrade-state": "upgrade-failed"})]},
            "GPU-UPG-FAILED",
            {"driver": ("failed", "")},
        ),
        (
            {"nodes": [node() | {"spec": {"taints": [{"key": "mine", "effect": "NoSchedule"}]}}]},
            "GPU-TAINT",
            {"driver": ("pending", "")},
        ),
        (
            {"pods": pods(OPERANDS.values()), "slices": []},
            "GPU-OPERAND",
            {"driver": ("pending", ""), **BEHIND_DRIVER},
        ),
        ({"pods": pods(["dra-validator"])}, "GPU-OPERAND", {"validator": ("pending", "")}),
        (
            {"pods": pods(["dra-driver", "dra-validator", "dcgm-exporter-dra"]), "slices": []},
            "GPU-OPERAND",
            {"dra driver": ("pending", ""), **dict.fromkeys(NAMES[7:], ("waiting", "dra driver"))},
        ),
    ],
)
def test_ready_is_not_believed(changes: Snapshot, code: str, expected: Data) -> None:
    snapshot = world(**changes)
    assert judged(snapshot)[0].code == code
    assert behind(snapshot) == expected


def test_before_the_gpucluster_everything_waits_for_it() -> None:
    found = behind(world(clusters=[]))
    assert found == {
        "crd": ("pending", ""),
        "driver": ("waiting", "crd"),
        **dict.fromkeys(NAMES[6:], ("waiting", "crd")),
    }


def test_an_exporter_that_is_switched_off_is_said_to_be() -> None:
    snapshot = world(clusters=[cluster(dcgmExporter={"enabled": False})])
    assert next(one for one in told(snapshot)["stages"] if one["name"] == "metrics")["evidence"] == [
        "switched off in the GPUCluster"
    ]


def test_the_result_names_the_cluster_and_its_devices() -> None:
    found = told(world())
    assert (found["name"], found["state"], found["reason"]) == ("gpu-cluster", "ready", "")
    assert (found["driver_version"], found["others"]) == ("", [])
    assert [one["name"] for one in found["nvidia_drivers"]] == ["training"]
    (node,) = found["nodes"]
    assert (node["name"], node["pool"], node["offered"]) == ("n1", "training", {"nvidia.com/gpu": 2})
    assert node["expected"] == {"nvidia.com/gpu": 2}
    assert [sorted(device) for device in node["devices"]] == [
        ["driverVersion", "name", "productName", "uuid"]
    ] * 2


def test_the_operators_word_is_in_the_message() -> None:
    said = cluster("notReady", "ReconcileFailed", "no such image")
    assert "state notReady: no such image" in judged(world(clusters=[said]))[0].message
    silent = {"metadata": {"name": "gpu-cluster"}, "spec": {}}
    assert "state unknown." in judged(world(clusters=[silent]))[0].message


def test_what_the_operator_could_not_do_is_a_cause() -> None:
    snapshot = world(
        clusters=[cluster("notReady", "ReconcileFailed", "Error syncing state state-dra-driver: no")]
    )
    assert (judged(snapshot)[0].code, behind(snapshot)) == ("GPU-DRA-NOT-READY", {"crd": ("pending", "")})
    late = behind(snapshot | {"slices": []})
    assert late == {"crd": ("pending", ""), "allocatable": ("failed", "")}


def test_a_state_that_is_ahead_of_its_conditions_is_not_ready_yet() -> None:
    ahead = cluster("ready", "OperandNotReady", "states not ready: [state-dra-driver]")
    assert judged(world(clusters=[ahead]))[0].verdict == "pending"
    without = cluster("ready")
    without["status"]["conditions"] = []
    assert judged(world(clusters=[without]))[0].verdict == "pending"
    assert judged(world())[0].is_ready


@pytest.mark.parametrize(
    ("clusters", "reason"),
    [
        ([], "NoCluster"),
        ([cluster("notReady", "PrerequisiteNotMet")], "Conflict"),
        ([cluster("notReady")], "NotReady"),
        ([cluster()], "Reconciled"),
    ],
)
def test_the_last_finding_has_the_reason(clusters: list[Data], reason: str) -> None:
    assert dra_judge.judge(world(clusters=clusters), [POOL], [DRIVER])[-1].reason == reason


def test_a_clusterpolicy_beside_it_is_a_conflict() -> None:
    snapshot = world(clusters=[cluster("notReady", "PrerequisiteNotMet", "A ClusterPolicy CR exists")])
    assert judged(snapshot)[0].message == "GPUCluster gpu-cluster: A ClusterPolicy CR exists"
    assert (judged(snapshot)[0].code, behind(snapshot)["crd"]) == ("GPU-CP-CONFLICT", ("failed", ""))


def test_nodes_of_nobody_hold_nothing_up() -> None:
    late = pods(["dra-driver"], "n2")
    waits = cluster("notReady", "OperandNotReady", "Waiting for operand pods to be ready")
    snapshot = world(clusters=[waits], nodes=[node(), node("n2", "theirs")], pods=[*pods(), *late])
    verdict, judge = judged(snapshot)
    assert verdict.is_ready
    assert "outside the pools alone: n2 (dra-driver is not Ready)" in judge.findings[-1].message
    assert not judged(world(clusters=[waits]))[0].is_ready
    assert behind(world(clusters=[waits])) == {"crd": ("pending", "")}
