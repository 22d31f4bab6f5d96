"""Objects that give a pool's nodes their kernel and kubelet settings."""

from __future__ import annotations

import typing as t

from unit.tuning.operator_in_memory import LABEL, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import machine_config
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.options import (
    HugePages,
    Isolation,
)

CPUS: t.Final = Isolation("0-1", "2-7")
ROLE: t.Final = "machineconfiguration.openshift.io/role"


def kinds(**more: t.Any) -> list[str]:
    served = bool(more.pop("served", False))
    return [one["kind"] for one in machine_config.manifests(tuning(**more), served)]


def test_the_pool_takes_the_workers_configuration_and_its_own() -> None:
    found = machine_config.pool(tuning())
    (rule,) = found["spec"]["machineConfigSelector"]["matchExpressions"]
    assert rule == {"key": ROLE, "operator": "In", "values": ["worker", "gpu-training"]}
    assert found["spec"]["nodeSelector"]["matchLabels"] == LABEL
    assert found["spec"]["paused"] is False
    assert "maxUnavailable" not in found["spec"], "an administrator's number stays"
    assert machine_config.pool_selector("training").items() <= found["metadata"]["labels"].items()


def test_a_paused_pool_says_which_run_paused_it() -> None:
    found = machine_config.pool(tuning(), "drain me")
    assert found["spec"]["paused"] is True
    assert found["metadata"]["annotations"] == {machine_config.ROLLOUT: "drain me"}


def test_a_released_pool_has_no_node_and_knows_which_it_had() -> None:
    found = machine_config.released_pool("training", LABEL)
    assert machine_config.is_released(found)
    assert machine_config.node_label(found) == LABEL
    assert machine_config.has_other_nodes(found, LABEL)
    live = machine_config.pool(tuning())
    assert not machine_config.is_released(live)
    assert machine_config.node_label(live) == LABEL
    assert not machine_config.has_other_nodes(live, LABEL)


def test_which_objects_hold_the_settings() -> None:
    assert kinds() == ["MachineConfig"]
    assert kinds(kernel_arguments=(), topology="restricted") == ["KubeletConfig"]
    assert kinds(isolate=CPUS) == ["MachineConfig", "KubeletConfig"]
    assert kinds(isolate=CPUS, served=True) == ["PerformanceProfile"]
    assert kinds(served=True) == ["MachineConfig"], "a PerformanceProfile needs CPUs"
    two = {"a": "b", "c": "d"}
    assert kinds(isolate=CPUS, label=two, served=True) == ["MachineConfig", "KubeletConfig"]


def test_kernel_arguments_in_their_order() -> None:
    one = tuning(huge_pages=(HugePages("1G", 16), HugePages("2M", 512)), isolate=CPUS)
    found = machine_config.machine_config(one, CPUS)
    assert found is not None
    assert found["metadata"]["name"] == "99-gpu-training-kernel"
    assert found["metadata"]["labels"][ROLE] == "gpu-training"
    assert found["spec"]["kernelArguments"] == [
        "iommu=pt",
        "default_hugepagesz=1G",
        "hugepagesz=1G",
        "hugepages=16",
        "hugepagesz=2M",
        "hugepages=512",
        "isolcpus=managed_irq,2-7",
        "rcu_nocbs=2-7",
        "systemd.cpu_affinity=0,1",
    ]


def test_pages_of_one_numa_node_are_made_by_a_unit_before_the_kubelet() -> None:
    found = machine_config.machine_config(tuning(huge_pages=(HugePages("1G", 16, 1),)), None)
    assert found is not None
    assert found["spec"]["kernelArguments"] == ["iommu=pt", "default_hugepagesz=1G"]
    (unit,) = found["spec"]["config"]["systemd"]["units"]
    assert unit["enabled"] is True
    assert "Before=kubelet.service" in unit["contents"]
    assert "echo 16 > /sys/devices/system/node/node1/hugepages/hugepages-1048576kB/" in unit["contents"]


def test_the_kubelet_reserves_the_cpus() -> None:
    found = machine_config.kubelet_config(tuning(isolate=CPUS), CPUS)
    assert found is not None
    kubelet = found["spec"]["kubeletConfig"]
    assert kubelet["cpuManagerPolicy"] == "static"
    assert kubelet["reservedSystemCPUs"] == "0-1"
    assert "memoryManagerPolicy" not in kubelet
    assert found["spec"]["machineConfigPoolSelector"]["matchLabels"] == machine_config.pool_selector(
        "training"
    )


def test_an_aligned_topology_brings_the_memory_manager() -> None:
    found = machine_config.kubelet_config(tuning(isolate=CPUS, topology="single-numa-node"), CPUS)
    assert found is not None
    kubelet = found["spec"]["kubeletConfig"]
    assert kubelet["memoryManagerPolicy"] == "Static"
    # The kubelet demands that this is the sum of the reservations and the eviction threshold.
    (reserved,) = kubelet["reservedMemory"]
    assert reserved["limits"]["memory"] == "1100Mi"
    alone = machine_config.kubelet_config(tuning(topology="restricted"), None)
    assert alone is not None
    assert alone["spec"]["kubeletConfig"] == {"topologyManagerPolicy": "restricted"}


def test_a_performance_profile_has_all_settings() -> None:
    one = tuning(isolate=CPUS, topology="restricted", huge_pages=(HugePages("1G", 4, 0),))
    (found,) = machine_config.manifests(one, served=True)
    spec = found["spec"]
    assert spec["cpu"] == {"isolated": "2-7", "reserved": "0-1"}
    assert spec["numa"] == {"topologyPolicy": "restricted"}
    assert spec["additionalKernelArgs"] == ["iommu=pt"]
    assert spec["hugepages"]["pages"] == [{"size": "1G", "count": 4, "node": 0}]
    assert spec["nodeSelector"] == LABEL
    # The webhook allows one label in each of them.
    assert len(spec["machineConfigLabel"]) == len(spec["machineConfigPoolSelector"]) == 1
    assert spec["workloadHints"]["realTime"] is False


def test_the_tuned_profile_of_a_pool_builds_on_that_of_its_performance_profile() -> None:
    assert (
        machine_config.tuned_parent(tuning(isolate=CPUS), True) == "openshift-node-performance-gpu-training"
    )
    assert machine_config.tuned_parent(tuning(isolate=CPUS), False) == ""
    assert machine_config.tuned_parent(tuning(), True) == ""
    assert machine_config.role_label("training") == {ROLE: "gpu-training"}


def test_devices_for_virtual_machines_are_bound_by_files() -> None:
    (found,) = machine_config.manifests(tuning(vfio=("10de:1eb8", "10de:2236")), False)
    files = found["spec"]["config"]["storage"]["files"]
    assert {one["path"]: one["contents"]["source"] for one in files} == {
        "/etc/modprobe.d/vfio.conf": "data:,options%20vfio-pci%20ids%3D10de%3A1eb8%2C10de%3A2236%0A",
        "/etc/modules-load.d/vfio-pci.conf": "data:,vfio-pci%0A",
    }
    assert kinds(vfio=("10de:1eb8",), isolate=CPUS, served=True) == ["PerformanceProfile", "MachineConfig"]
