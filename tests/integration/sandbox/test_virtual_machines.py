# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs for virtual machines by hand: nodes offer them, machines run or wait, and evictions are refused."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, own
from integration.patience import until
from integration.sandbox import gpu_cluster

from openshift_sandbox import faults
from openshift_sandbox.client import ApiError, Client
from openshift_sandbox.seed.virtualization import machine

Data = dict[str, t.Any]
pytestmark = [
    pytest.mark.long(
        "it tests the sandbox; unit/sandbox has what computes, and molecule/virtual_machines the chain"
    ),
    pytest.mark.story("one cluster, from its nodes to machines that run on them"),
]
HCO: t.Final = ("hco.kubevirt.io/v1beta1", "hyperconvergeds", "kubevirt-hyperconverged", "openshift-cnv")
MACHINE: t.Final = ("kubevirt.io/v1", "virtualmachines")
TEAM: t.Final = "people"
T4, T4_RENAMED = "nvidia.com/TU104GL_TESLA_T4", "nvidia.com/TU104GL_T4"
A10: t.Final = "nvidia.com/NVIDIA_A10-12Q"
ON: t.Final = {"enabled": True}
HOST: t.Final = {"repository": "registry.example.com/vgpu", "image": "vgpu-manager", "version": "595.71"}
POLICY: t.Final[Data] = {
    **{key: {} for key in ("operator", "daemonsets", "dcgm", "gfd", "toolkit")},
    **{key: {} for key in ("driver", "devicePlugin", "dcgmExporter", "nodeStatusExporter")},
    "sandboxWorkloads": ON | {"defaultWorkload": "container"},
    **dict.fromkeys(("vfioManager", "vgpuDeviceManager", "sandboxDevicePlugin"), ON),
    "vgpuManager": ON,
}


@pytest.fixture(scope="module")
def cluster() -> t.Iterator[Cluster]:
    with own("virtual-machines") as found:
        yield found


def workload(client: Client, node: str, name: str) -> None:
    label(client, node, **{"nvidia.com/gpu.workload.config": name})


def label(client: Client, node: str, **labels: str) -> None:
    client.patch("v1", "nodes", node, None, {"metadata": {"labels": labels}})


def amount(client: Client, node: str, resource: str) -> str | None:
    found = client.get("v1", "nodes", node)
    assert found is not None
    return t.cast("str | None", found["status"]["allocatable"].get(resource))


def shown(client: Client, name: str) -> Data:
    return t.cast("Data", (client.get(*MACHINE, name, TEAM) or {}).get("status") or {})


def messages(client: Client, name: str) -> str:
    return " ".join(one.get("message", "") for one in shown(client, name).get("conditions") or [])


def iommu(client: Client) -> None:
    """Have the pools of GPU nodes for machines start with the IOMMU."""
    group, role = "machineconfiguration.openshift.io", "machine-gpus"
    key = "accelerators.openshift/pool"
    roles = {"key": f"{group}/role", "operator": "In", "values": ["worker", role]}
    nodes = {"key": key, "operator": "In", "values": ["passthrough", "vgpu"]}
    for kind, name, spec in (
        (
            "MachineConfigPool",
            role,
            {
                "machineConfigSelector": {"matchExpressions": [roles]},
                "nodeSelector": {"matchExpressions": [nodes]},
            },
        ),
        ("MachineConfig", "100-iommu", {"kernelArguments": ["intel_iommu=on"]}),
    ):
        metadata = {"name": name, "labels": {f"{group}/role": role}}
        client.apply({"apiVersion": f"{group}/v1", "kind": kind, "metadata": metadata, "spec": spec})


def test_nodes_offer_what_their_operands_give_to_machines(cluster: Cluster) -> None:
    client = cluster.client
    for node, name in (("pass-0", "vm-passthrough"), ("pass-1", "vm-passthrough"), ("vgpu-0", "vm-vgpu")):
        workload(client, node, name)
    for package in (gpu_cluster.NFD, gpu_cluster.GPU):
        gpu_cluster.install(client, *package)
    gpu_cluster.discover(client)
    metadata = {"name": gpu_cluster.POLICY}
    policy = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": metadata}
    client.apply(policy | {"spec": POLICY})
    refused = "empty image path provided through both ClusterPolicy CR and ENV VGPU_MANAGER_IMAGE"
    until(lambda: refused in gpu_cluster.condition(client, "Error").get("message", ""), "no image")
    client.apply(policy | {"spec": POLICY | {"vgpuManager": ON | HOST}})
    label(client, "vgpu-0", **{"nvidia.com/vgpu.config": "A10-12Q"})
    iommu(client)
    until(lambda: amount(client, "pass-0", T4) == amount(client, "pass-1", T4) == "8", "whole GPUs")
    until(lambda: amount(client, "vgpu-0", A10) == "4", "vGPUs")
    until(lambda: amount(client, "cuda-0", "nvidia.com/gpu") == "1", "a GPU for containers")
    until(lambda: gpu_cluster.policy_status(client).get("state") == "ready", "the policy")


def test_a_machine_waits_until_its_gpu_is_listed(cluster: Cluster) -> None:
    client = cluster.client
    client.create(machine("desktop", TEAM, [T4]))
    refused = f"failed to render launch manifest: GPU {T4} is not permitted in permittedHostDevices config"
    until(lambda: refused in messages(client, "desktop"), "the refusal")
    entry = {"pciDeviceSelector": "10DE:1EB8", "resourceName": T4, "externalResourceProvider": True}
    spec = {"virtualization": {"permittedHostDevices": {"pciHostDevices": [entry]}}}
    own_part = {"apiVersion": "hco.kubevirt.io/v1", "kind": "HyperConverged", "spec": spec}
    client.apply(own_part | {"metadata": {"name": HCO[2], "namespace": HCO[3]}}, force=False)
    until(lambda: shown(client, "desktop").get("printableStatus") == "Running", "the machine")
    found = client.get(*HCO)
    assert found is not None
    listed = found["spec"]["permittedHostDevices"]["pciHostDevices"]
    assert [one["resourceName"] for one in listed] == ["intel.com/qat", T4]


def test_a_machine_with_a_gpu_stays_where_it_is(cluster: Cluster) -> None:
    client = cluster.client
    [pod] = [one for one in client.list("v1", "pods", TEAM) if "-desktop-" in one["metadata"]["name"]]
    name = pod["metadata"]["name"]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": TEAM}}
    path = f"/api/v1/namespaces/{TEAM}/pods/{name}/eviction"
    with pytest.raises(
        ApiError, match="VMI desktop is configured with an eviction strategy but is not"
    ) as got:
        client.checked("POST", path, eviction)
    assert got.value.status == 429


def test_a_renamed_gpu_is_no_longer_what_is_listed(cluster: Cluster) -> None:
    client, sandbox = cluster.client, cluster.needs_sandbox()
    faults.add(sandbox, "resource_renamed", {"device": "1eb8", "name": "TU104GL [T4]"})
    until(lambda: amount(client, "pass-0", T4_RENAMED) == "8", "the new name")
    assert amount(client, "pass-0", T4) == "0"
    faults.clear(sandbox, "resource_renamed", {})
    until(lambda: amount(client, "pass-0", T4) == "8", "the name as before")
