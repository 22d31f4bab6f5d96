"""What becomes of a PerformanceProfile."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.machine_config import rolling
from unit.sandbox.node_tuning.builders import CLUSTER, NAMESPACE, POOL, ROLE, Data, node

from openshift_sandbox.stand_ins.node_tuning import performance_parts
from openshift_sandbox.stand_ins.node_tuning.operand import TunedDaemons
from openshift_sandbox.stand_ins.node_tuning.operator import NodeTuningOperator
from openshift_sandbox.stand_ins.node_tuning.performance import PerformanceProfiles

API = "performance.openshift.io/v2"
ARGUMENTS = (
    "nohz=on rcu_nocbs=4-95 isolcpus=managed_irq,4-95 nohz_full=4-95 nosoftlockup skew_tick=1 "
    "default_hugepagesz=1G hugepagesz=1G hugepages=16 iommu=pt"
)


def performance(**spec: t.Any) -> Data:
    return {
        "apiVersion": API,
        "kind": "PerformanceProfile",
        "metadata": {"name": "gpu"},
        "spec": {
            "cpu": {"isolated": "4-95", "reserved": "0-3"},
            "nodeSelector": {POOL: "training"},
            "machineConfigLabel": {ROLE: "gpu-training"},
            "numa": {"topologyPolicy": "single-numa-node"},
            "hugepages": {"defaultHugepagesSize": "1G", "pages": [{"size": "1G", "count": 16}]},
            "additionalKernelArgs": ["iommu=pt"],
        }
        | spec,
    }


def world(*objects: Data, seconds: float = 3.0, **scenario: t.Any) -> World:
    made = World(
        NodeTuningOperator(), PerformanceProfiles(), TunedDaemons(), **{"cluster": CLUSTER, **scenario}
    )
    for one in (rolling.gpu_pool(), *objects):
        made.api.create(one)
    made.settle(seconds)
    return made


def conditions(made: World) -> dict[str, tuple[str, str]]:
    found = made.api.get("PerformanceProfile", "gpu").get("status", {}).get("conditions") or []
    return {one["type"]: (one["status"], one.get("reason", "")) for one in found}


def test_it_makes_tuned_machine_config_kubelet_config_and_runtime_class() -> None:
    made = world(node("g", pool="training"), performance())
    assert made.api.get("Tuned", "openshift-node-performance-gpu", NAMESPACE)["spec"]["recommend"] == [
        {
            "profile": "openshift-node-performance-gpu",
            "priority": 20,
            "machineConfigLabels": {ROLE: "gpu-training"},
        }
    ]
    values = made.api.get("KubeletConfig", "performance-gpu")["spec"]
    assert values["machineConfigPoolSelector"] == {"matchLabels": {POOL: "training"}}
    wanted = {
        "cpuManagerPolicy": "static",
        "reservedSystemCPUs": "0-3",
        "memoryManagerPolicy": "Static",
        "topologyManagerPolicy": "single-numa-node",
        "cpuManagerPolicyOptions": {"full-pcpus-only": "true"},
    }
    assert wanted.items() <= values["kubeletConfig"].items()
    assert made.api.get("MachineConfig", "50-performance-gpu")["metadata"]["labels"] == {ROLE: "gpu-training"}
    assert made.api.get("RuntimeClass", "performance-gpu")["handler"] == "high-performance"
    assert made.api.get("MachineConfig", "50-nto-gpu-training")["spec"] == {
        "kernelArguments": ARGUMENTS.split()
    }
    status = made.api.get("PerformanceProfile", "gpu")["status"]
    assert (status["tuned"], status["runtimeClass"]) == (
        f"{NAMESPACE}/openshift-node-performance-gpu",
        "performance-gpu",
    )
    assert conditions(made) == {
        "Available": ("True", ""),
        "Upgradeable": ("True", ""),
        "Progressing": ("False", ""),
        "Degraded": ("False", ""),
    }


def test_it_waits_for_the_kernel_arguments_of_the_nodes() -> None:
    made = world(node("g", pool="training"), performance(), delays={"tuned_apply": 5})
    assert made.api.get("Tuned", "openshift-node-performance-gpu", NAMESPACE)
    assert made.api.all("KubeletConfig") == []
    made.settle(5)
    assert len(made.api.all("KubeletConfig")) == 1


def test_a_pool_without_nodes_waits() -> None:
    made = world(performance())
    assert made.api.all("KubeletConfig") == []
    assert conditions(made) == {}


def test_a_change_reaches_all_its_objects() -> None:
    made = world(node("g", pool="training"), performance())
    body = {"spec": {"cpu": {"isolated": "8-95", "reserved": "0-7"}}}
    made.api.patch(API, "performanceprofiles", "gpu", None, body)
    made.settle(3)
    assert (
        made.api.get("KubeletConfig", "performance-gpu")["spec"]["kubeletConfig"]["reservedSystemCPUs"]
        == "0-7"
    )
    arguments = made.api.get("MachineConfig", "50-nto-gpu-training")["spec"]["kernelArguments"]
    assert "rcu_nocbs=8-95" in arguments


def test_a_role_in_the_node_selector_is_the_default_label() -> None:
    selector = {"node-role.kubernetes.io/gpu-training": ""}
    pool = rolling.gpu_pool("roles", nodeSelector={"matchLabels": selector})
    pool["spec"]["machineConfigSelector"]["matchExpressions"][0]["values"] = ["worker", "gpu-training"]
    made = World(PerformanceProfiles(), cluster=CLUSTER)
    made.api.create(pool)
    made.api.create(performance(nodeSelector=selector, machineConfigLabel=None))
    made.settle(2)
    [tuned] = made.api.all("Tuned")
    assert tuned["spec"]["recommend"][0]["machineConfigLabels"] == {ROLE: "gpu-training"}


class TestFailures:
    def test_no_pool_or_two(self) -> None:
        made = world(performance(nodeSelector={POOL: "other"}))
        assert conditions(made)["Degraded"] == ("True", "GettingMachineConfigPoolFailed")
        made = world(rolling.gpu_pool("twin"), performance())
        assert conditions(made)["Degraded"] == ("True", "GettingMachineConfigPoolFailed")
        assert conditions(made)["Available"] == ("False", "")

    def test_labels_that_the_pool_does_not_select(self) -> None:
        made = world(performance(machineConfigLabel={ROLE: "nobody"}))
        assert conditions(made)["Degraded"] == ("True", "BadMachineConfigLabels")

    def test_a_degraded_pool(self) -> None:
        made = world(node("g", pool="training"), performance())
        degraded = {"type": "NodeDegraded", "status": "True", "reason": "1 nodes", "message": "disk full"}
        body = {"status": {"conditions": [degraded]}}
        made.api.patch(rolling.API, "machineconfigpools", "gpu-training", None, body, "status")
        made.settle(1)
        assert conditions(made)["Degraded"] == ("True", "MCPDegraded")
        [one] = [
            one
            for one in made.api.get("PerformanceProfile", "gpu")["status"]["conditions"]
            if "message" in one
        ]
        assert "Machine config pool gpu-training Degraded Message: disk full.\n" in one["message"]

    def test_a_profile_that_is_not_applied(self) -> None:
        trouble = {"type": "profile_fails", "node": "g"}
        made = world(node("g", pool="training"), performance())
        made.scenario.now.troubles.append(trouble)
        made.settle(2)
        assert conditions(made)["Degraded"] == ("True", "TunedProfileDegraded")

    def test_a_kubelet_config_that_fails(self) -> None:
        made = world(node("g", pool="training"), performance())
        body = {"status": {"conditions": [{"type": "Failure", "status": "False", "message": "Error: no"}]}}
        made.api.patch(rolling.API, "kubeletconfigs", "performance-gpu", None, body, "status")
        made.settle(1)
        assert conditions(made)["Degraded"] == ("True", "KubeletConfig failure")


def test_a_removal_takes_everything_away() -> None:
    made = world(node("g", pool="training"), performance())
    assert made.api.get("PerformanceProfile", "gpu")["metadata"]["finalizers"] == ["foreground-deletion"]
    made.api.delete(API, "performanceprofiles", "gpu")
    made.settle(3)
    for kind in ("PerformanceProfile", "KubeletConfig", "RuntimeClass", "MachineConfig"):
        assert made.api.all(kind) == [], kind
    assert [one["metadata"]["name"] for one in made.api.all("Tuned")] == ["default"]


@pytest.mark.parametrize(
    ("default", "pages", "arguments"),
    [
        ("1G", [("2M", 0)], "default_hugepagesz=1G hugepagesz=2M hugepages=0"),
        (
            "1G",
            [("1G", None), ("2M", 1)],
            "default_hugepagesz=1G hugepagesz=1G hugepages=8 hugepagesz=2M hugepages=0",
        ),
        ("1G", [("2M", 0), ("2M", None)], "default_hugepagesz=1G hugepagesz=2M hugepages=8"),
        ("2M", [("2M", 0)], "default_hugepagesz=2M"),
        ("1G", [("1G", 0)], "default_hugepagesz=1G"),
    ],
)
def test_pages_of_2m_on_a_numa_node_beside_a_default_of_1g(
    default: str, pages: list[tuple[str, int | None]], arguments: str
) -> None:
    listed = [
        {"size": size, "count": 8} | ({} if number is None else {"node": number}) for size, number in pages
    ]
    spec = {"hugepages": {"defaultHugepagesSize": default, "pages": listed}}
    assert performance_parts.huge_pages(spec) == arguments


def test_huge_pages_of_a_numa_node_are_a_service() -> None:
    pages = {"defaultHugepagesSize": "1G", "pages": [{"size": "1G", "count": 8, "node": 1}]}
    made = world(node("g", pool="training"), performance(hugepages=pages))
    units = made.api.get("MachineConfig", "50-performance-gpu")["spec"]["config"]["systemd"]["units"]
    assert "hugepages-allocation-1048576kB-NUMA1.service" in {one["name"] for one in units}
    arguments = made.api.get("MachineConfig", "50-nto-gpu-training")["spec"]["kernelArguments"]
    assert "hugepages=8" not in arguments
