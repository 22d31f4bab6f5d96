# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes whose GPUs belong to virtual machines: what they offer, and what their managers report."""

from __future__ import annotations

import json
import typing as t

import pytest
import yaml
from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import (
    NAMESPACE,
    add_job_pod,
    add_operand,
    conditions,
    labels,
    make,
    pod_annotations,
    policy,
)

from openshift_sandbox.hardware.machine_devices import passthrough_resource, vgpu_resource
from openshift_sandbox.stand_ins.gpu_operator import operands
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD
from openshift_sandbox.stand_ins.gpu_operator.logs import GpuLogs
from openshift_sandbox.stand_ins.gpu_operator.machines import output, vgpus
from openshift_sandbox.stand_ins.gpu_operator.machines.device_plugin import MachineDevices
from openshift_sandbox.stand_ins.gpu_operator.machines.pods import MachinePods
from openshift_sandbox.stand_ins.gpu_operator.machines.vgpu_manager import PROBLEM, VgpuDeviceManager
from openshift_sandbox.stand_ins.gpu_operator.node import GpuNode
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import INIT_CRASH
from openshift_sandbox.stand_ins.kubevirt.host_devices import HostDevices
from openshift_sandbox.stand_ins.nfd import iommu

Object = dict[str, t.Any]
VFIO, VGPU = "nvidia-vfio-manager", "nvidia-vgpu-manager-daemonset-9.8.1"
DEVICES, PLUGIN = "nvidia-vgpu-device-manager", "nvidia-sandbox-device-plugin-daemonset"
VALIDATOR: t.Final = "nvidia-sandbox-validator"
T4: t.Final = "nvidia.com/TU104GL_TESLA_T4"
STATE: t.Final = "nvidia.com/vgpu.config.state"
IOMMU: t.Final = {"kernelArguments": ["intel_iommu=on"]}
HARDWARE: t.Final = "sandbox.openshift/hardware"


def world_of(spec: Object | None = None, hardware: str = "64x512x2xT4", **scenario: t.Any) -> World:
    """Return a node with GPUs that has started with this configuration."""
    stand_ins = (MachinePods(), VgpuDeviceManager(), GpuNode(), MachineDevices(), HostDevices())
    world = make(*stand_ins, **scenario)
    config = {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig"}
    world.api.create(config | {"metadata": {"name": "rendered-gpu"}, "spec": spec or {}})
    notes = {HARDWARE: hardware, "machineconfiguration.openshift.io/currentConfig": "rendered-gpu"}
    body: Object = {"metadata": {"annotations": notes}}
    world.api.patch("v1", "nodes", "gpu-0", None, body)
    body = {"status": {"nodeInfo": {"architecture": "amd64"}}}
    world.api.patch("v1", "nodes", "gpu-0", None, body, "status")
    return world


def ready(world: World, *names: str) -> None:
    """Have pods Ready that nothing holds any more, as the kubelet does."""
    for name in names:
        held = HOLD in pod_annotations(world, name) or INIT_CRASH in pod_annotations(world, name)
        world.api.patch(
            "v1", "pods", name, NAMESPACE, {"status": {"conditions": conditions(not held)}}, "status"
        )
    world.settle(2)


def offered(world: World, field: str = "allocatable") -> dict[str, str]:
    found = world.api.get("Node", "gpu-0")["status"].get(field) or {}
    return {name: amount for name, amount in found.items() if name.startswith("nvidia.com/")}


def passthrough(world: World) -> None:
    """Run the operands of a node with whole GPUs for virtual machines."""
    add_operand(world, VFIO, "ready")
    for name in (VALIDATOR, PLUGIN):
        add_operand(world, name, "init")
    world.settle()
    ready(world, VFIO)
    ready(world, VALIDATOR, PLUGIN)


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("1eb8", "nvidia.com/TU104GL_TESLA_T4"),
        ("2236", "nvidia.com/GA102GL_A10"),
        ("2330", "nvidia.com/GH100_H100_SXM5_80GB"),
        ("2901", "nvidia.com/2901"),
    ],
)
def test_a_resource_has_the_name_that_the_plugin_makes(device: str, name: str) -> None:
    assert passthrough_resource(device) == name


def test_a_vgpu_has_the_name_of_its_type() -> None:
    assert vgpu_resource("2236", "A10-12Q") == "nvidia.com/NVIDIA_A10-12Q"
    assert vgpu_resource("1eb8", "T4-8Q") == "nvidia.com/GRID_T4-8Q"


def test_whole_gpus_need_the_iommu() -> None:
    world = world_of()
    passthrough(world)
    assert (offered(world), pod_annotations(world, VALIDATOR)[INIT_CRASH]) == ({}, "true")
    node, pod = world.api.get("Node", "gpu-0"), world.api.get("Pod", VFIO, NAMESPACE)
    assert output.lines(world.cluster, pod, node)[1].endswith(
        'to vfio-pci: write /sys/bus/pci/drivers/vfio-pci/bind: invalid argument"'
    )
    world = world_of(IOMMU)
    passthrough(world)
    assert offered(world) == offered(world, "capacity") == {T4: "2"}
    node = world.api.get("Node", "gpu-0")
    assert iommu.iommu_of(world.cluster, node) == "DMA-FQ"
    world.scenario.now.troubles.append({"type": "no_iommu"})
    world.settle(2)
    assert offered(world) == {T4: "0"}
    assert iommu.iommu_of(world.cluster, node) == ""


def test_a_newer_plugin_has_another_name_for_a_gpu() -> None:
    world = world_of(IOMMU)
    passthrough(world)
    trouble = {"type": "resource_renamed", "device": "1eb8", "name": "TU104GL [T4]"}
    world.scenario.now.troubles.append(trouble | {"release": "26.7.1"})
    world.settle(2)
    assert offered(world) == {T4: "2"}, "the operator is older"
    world.scenario.now.troubles[:] = [trouble]
    world.settle(2)
    assert offered(world) == {T4: "0", "nvidia.com/TU104GL_T4": "2"}


def test_the_manager_waits_for_pods_with_gpus() -> None:
    world = world_of(IOMMU)
    add_job_pod(world, "train", "team")
    add_operand(world, VFIO, "ready")
    world.settle()
    assert pod_annotations(world, VFIO) == {HOLD: "ready", INIT_CRASH: "true"}
    world.api.delete("v1", "pods", "train", "team")
    world.settle()
    assert not {HOLD, INIT_CRASH} & set(pod_annotations(world, VFIO))


def vgpu(world: World, config: str) -> None:
    """Run the operands of a node with vGPUs, which shall have this configuration."""
    found = {"apiVersion": "v1", "kind": "ConfigMap", "data": {vgpus.FILE: vgpus.shipped()}}
    world.api.create(found | {"metadata": {"name": vgpus.DEFAULT_CONFIG, "namespace": NAMESPACE}})
    deploy = ("vgpu-manager", "sandbox-device-plugin", "sandbox-validator")
    wanted = {f"nvidia.com/gpu.deploy.{one}": "true" for one in deploy} | {"nvidia.com/vgpu.config": config}
    world.api.patch("v1", "nodes", "gpu-0", None, {"metadata": {"labels": wanted}})
    add_operand(world, VGPU, "ready")
    add_operand(world, DEVICES, "init")
    volumes = [{"name": "vgpu-config", "configMap": {"name": vgpus.DEFAULT_CONFIG}}]
    world.api.patch("v1", "pods", DEVICES, NAMESPACE, {"spec": {"volumes": volumes}})
    world.settle(3)
    ready(world, VGPU)
    ready(world, DEVICES)


def layout(world: World) -> t.Any:
    return json.loads(world.api.get("Node", "gpu-0")["metadata"]["annotations"].get(vgpus.LAYOUT, "[]"))


def test_a_label_becomes_vgpus() -> None:
    world = world_of(IOMMU, "64x512x2xA10")
    vgpu(world, "A10-12Q")
    assert (layout(world), labels(world)[STATE]) == ([{"A10-12Q": 2}] * 2, "success")
    add_operand(world, PLUGIN, "init")
    world.settle()
    ready(world, PLUGIN)
    assert offered(world) == {"nvidia.com/NVIDIA_A10-12Q": "4"}


def test_what_offers_vgpus_is_paused_while_they_change() -> None:
    world = world_of(IOMMU, "64x512x2xA10")
    vgpu(world, "A10-12Q")
    add_operand(world, PLUGIN, "init")
    world.settle()
    ready(world, PLUGIN)
    world.api.patch(
        "v1", "nodes", "gpu-0", None, {"metadata": {"labels": {"nvidia.com/vgpu.config": "A10-24Q"}}}
    )
    world.settle(1)
    key = "nvidia.com/gpu.deploy.sandbox-device-plugin"
    assert (labels(world)[STATE], labels(world)[key]) == ("pending", "paused-for-vgpu-change")
    world.api.delete("v1", "pods", PLUGIN, NAMESPACE)
    world.settle(2)
    assert (labels(world)[STATE], labels(world)[key]) == ("success", "true")
    assert (layout(world), offered(world)) == ([{"A10-24Q": 1}] * 2, {"nvidia.com/NVIDIA_A10-12Q": "0"})


@pytest.mark.parametrize(
    ("spec", "config", "text"),
    [
        (IOMMU, "mine", "unable to validate the selected vGPU configuration"),
        (IOMMU, "T4-8Q", "vGPU type T4-8Q is not supported on GPU (index=0, address=0000:1e:00.0)"),
        ({}, "A10-12Q", "error setting VGPU config: no parent devices found for GPU at index '0'"),
    ],
)
def test_a_configuration_fails_with_a_reason(spec: Object, config: str, text: str) -> None:
    world = world_of(spec, "64x512x2xA10")
    vgpu(world, config)
    assert (labels(world)[STATE], layout(world)) == ("failed", [])
    assert text in pod_annotations(world, DEVICES)[PROBLEM]


def test_vgpus_stay_while_a_machine_holds_one_and_go_with_their_manager() -> None:
    world = world_of(IOMMU, "64x512x2xA10")
    vgpu(world, "A10-12Q")
    add_job_pod(world, "desktop", "team", resource="nvidia.com/NVIDIA_A10-12Q")
    world.api.patch(
        "v1", "nodes", "gpu-0", None, {"metadata": {"labels": {"nvidia.com/vgpu.config": "A10-24Q"}}}
    )
    world.settle(2)
    assert (labels(world)[STATE], layout(world)) == ("failed", [{"A10-12Q": 2}] * 2)
    assert "device or resource busy" in pod_annotations(world, DEVICES)[PROBLEM]
    world.api.patch(
        "v1", "nodes", "gpu-0", None, {"metadata": {"labels": {"nvidia.com/gpu.deploy.vgpu-manager": None}}}
    )
    world.settle(2)
    assert layout(world) == []


FILES: t.Final = {
    "/etc/modprobe.d/vfio.conf": "options%20vfio-pci%20ids%3D10de%3A1eb8%0A",
    "/etc/modules-load.d/vfio-pci.conf": "vfio-pci",
}


def test_kubevirt_offers_what_the_host_gave_it_by_itself() -> None:
    files = [{"path": path, "contents": {"source": f"data:,{text}"}} for path, text in FILES.items()]
    world = world_of(IOMMU | {"config": {"storage": {"files": files}}})
    entries = [
        {"pciVendorSelector": "10DE:1EB8", "resourceName": T4},
        {"pciVendorSelector": "10DE:2236", "resourceName": "nvidia.com/GA102GL_A10"},
        {"pciVendorSelector": "10de:1eb8", "resourceName": "a/b", "externalResourceProvider": True},
    ]
    spec = {"configuration": {"permittedHostDevices": {"pciHostDevices": entries}}}
    kubevirt = {"apiVersion": "kubevirt.io/v1", "kind": "KubeVirt", "spec": spec}
    world.api.create(kubevirt | {"metadata": {"name": "kubevirt", "namespace": "openshift-cnv"}})
    world.settle(1)
    assert offered(world) == {T4: "2"}


def test_the_shipped_configurations_fit_their_models() -> None:
    configs = yaml.safe_load(vgpus.shipped())["vgpu-configs"]
    assert configs["A10-12Q"] == [{"devices": "all", "vgpu-devices": {"A10-12Q": 2}}]
    default = {one["device-filter"][0]: one["vgpu-devices"] for one in configs["default"]}
    assert (default["0x223610DE"], default["0x1EB810DE"]) == ({"A10-12Q": 2}, {"T4-8Q": 2})


def test_the_operands_of_machines_are_off_unless_the_policy_wants_them() -> None:
    def wanted(**spec: t.Any) -> set[str]:
        found = policy(**spec)["spec"]
        return {one.component for one in operands.MACHINE_OPERANDS if operands.enabled(one, found)}

    on = {"enabled": True}
    assert wanted(vfioManager=on) == set()
    assert wanted(sandboxWorkloads=on) == {"sandbox-validator"}
    assert wanted(sandboxWorkloads=on, vfioManager=on) == {"sandbox-validator", "vfio-manager"}


def test_the_operator_names_a_workload_that_it_does_not_know() -> None:
    world = make(GpuLogs())
    marks = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.workload.config": "vm-passthru"}
    world.api.patch("v1", "nodes", "gpu-0", None, {"metadata": {"labels": marks}})
    kind = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy"}
    world.api.create(kind | policy(sandboxWorkloads={"enabled": True}))
    world.settle()
    [line] = output.misread(world.cluster)
    told = json.loads(line)
    assert told["Error"] == "invalid GPU workload config: vm-passthru"
    assert (told["NodeName"], told["defaultGPUWorkloadConfig"]) == ("gpu-0", "container")
