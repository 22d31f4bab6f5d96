# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs for virtual machines: passthrough, vGPUs, a new name after an upgrade, and everything given back."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Playbook, Run
from integration.troubles.demo import PATIENT
from integration.wire import Audit

from openshift_sandbox import faults

pytestmark = [
    pytest.mark.story("the GPUs of some nodes go to virtual machines, and come back"),
    pytest.mark.long(
        "the whole chain several times: tests/unit/stack/test_virtual_machines.py holds its rules"
    ),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "virtual-machines"
SPACE: t.Final = "nvidia-gpu-operator"
POOL: t.Final = "accelerators.openshift/pool"
HCO: t.Final = ("hco.kubevirt.io/v1beta1", "hyperconvergeds", "kubevirt-hyperconverged", "openshift-cnv")
QAT: t.Final = {"pciDeviceSelector": "8086:37C8", "resourceName": "intel.com/qat"}
T4: t.Final = "nvidia.com/TU104GL_TESLA_T4"
NEWER: t.Final = "nvidia.com/TU104GL_TESLA_T4_16GB"
A10: t.Final = "nvidia.com/NVIDIA_A10-12Q"
IMAGE: t.Final = {
    "repository": "registry.example.com/nvidia",
    "image": "vgpu-manager",
    "version": "580.65-rhel9.6",
}
VGPU: t.Final = {"type": "A10-12Q", "image": IMAGE, "licence_secret": "vgpu-licence"}
THROUGH: t.Final = {"workload": "vm_passthrough", "virtual_machines": {"device": "10de:1eb8"}}


def pool(name: str, gpus: int, **more: t.Any) -> Data:
    chosen = {"node_selector": {POOL: name}, "expected": {"nvidia.com/gpu": gpus}}
    return {"name": name, "existing": chosen, **more}


VGPUS: t.Final = pool("vgpu", 2, workload="vm_vgpu", virtual_machines={"vgpu": VGPU})
POOLS: t.Final = [pool("passthrough", 8, **THROUGH), VGPUS, pool("containers", 1)]


def play(playbook: Playbook, name: str, given: list[Data] | None = None, **more: t.Any) -> Run:
    return playbook.playbook(name, gpu_pools=given or POOLS, **PATIENT | more)


def done(run: Run) -> Run:
    assert run.rc == 0, run.output[-4000:]
    return run


def refused(run: Run, code: str) -> str:
    assert run.rc != 0, run.output[-4000:]
    assert run.failure["code"] == code, run.failure.result
    return str(run.failure["msg"])


def spec(cluster: Cluster) -> Data:
    found: Data = must_get(cluster.client, *HCO)["spec"]
    return found


def permitted(cluster: Cluster) -> dict[str, str]:
    lists = spec(cluster)["permittedHostDevices"]
    return {
        entry.get("pciDeviceSelector") or entry["mdevNameSelector"]: entry["resourceName"]
        for entries in (lists.get("pciHostDevices") or [], lists.get("mediatedDevices") or [])
        for entry in entries
    }


def node(cluster: Cluster, name: str) -> Data:
    found: Data = must_get(cluster.client, "v1", "nodes", name)
    return found


def machine(cluster: Cluster, name: str, resource: str) -> None:
    devices = {"gpus": [{"name": "gpu", "deviceName": resource}]}
    spec = {"domain": {"devices": devices, "memory": {"guest": "2Gi"}}}
    cluster.client.apply(
        {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "metadata": {"name": name, "namespace": "people"},
            "spec": {"runStrategy": "Always", "template": {"metadata": {}, "spec": spec}},
        }
    )


def instance(cluster: Cluster, name: str) -> Data:
    found = cluster.client.get("kubevirt.io/v1", "virtualmachineinstances", name, "people") or {}
    return found.get("status") or {}


def runs(cluster: Cluster, name: str) -> None:
    until(lambda: instance(cluster, name).get("phase") == "Running", f"{name} runs")


def refusal(cluster: Cluster, name: str) -> str:
    """Return why KubeVirt does not start the machine."""

    def seen() -> str:
        conditions = instance(cluster, name).get("conditions") or []
        wrong = [one["message"] for one in conditions if one["type"] == "Synchronized"]
        return str(wrong[0]) if wrong else ""

    return until(seen, f"{name} is refused")


def test_the_plan_shows_reboots_and_writes_nothing(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    secret = {"name": "vgpu-licence", "namespace": SPACE}
    cluster.client.apply({"apiVersion": "v1", "kind": "Secret", "metadata": secret})
    since = audit.position()
    run = done(play(playbook, "plan"))
    assert "reboot  pass-0, pass-1" in run.output, run.output[-4000:]
    audit.flush()
    assert audit.written(since) == []


def test_the_nodes_offer_their_devices_and_machines_may_have_them(
    cluster: Cluster, playbook: Playbook
) -> None:
    machine(cluster, "early", T4)
    assert f"{T4} is not permitted in permittedHostDevices configuration" in refusal(cluster, "early")
    run = done(play(playbook, "enable_gpus"))
    assert permitted(cluster) == {"8086:37C8": "intel.com/qat", "10DE:1EB8": T4, "NVIDIA A10-12Q": A10}
    assert spec(cluster)["featureGates"]["disableMDevConfiguration"] is True
    assert "passthrough is not validated" in run.output
    assert node(cluster, "pass-0")["status"]["allocatable"][T4] == "8"
    assert node(cluster, "vgpu-0")["status"]["allocatable"][A10] == "4"
    assert node(cluster, "cuda-0")["status"]["allocatable"]["nvidia.com/gpu"] == "1"
    runs(cluster, "early")


def test_a_second_run_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    done(play(playbook, "enable_gpus"))
    audit.flush()
    assert audit.written(since) == []


def test_a_node_with_a_machine_keeps_its_workload_until_somebody_agrees(
    playbook: Playbook, audit: Audit
) -> None:
    since = audit.position()
    containers = [pool("passthrough", 8, workload="container"), *POOLS[1:]]
    said = refused(play(playbook, "enable_gpus", containers), "GPU-BUSY")
    assert "virt-launcher-early" in said
    audit.flush()
    assert audit.written(since) == []


def test_a_new_name_is_found_and_mended(cluster: Cluster, playbook: Playbook) -> None:
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, "resource_renamed", {"device": "1eb8", "name": "TU104GL [Tesla T4 16GB]"})
    until(lambda: NEWER in node(cluster, "pass-0")["status"]["allocatable"], "the new name")
    run = done(play(playbook, "enable_gpus"))
    assert permitted(cluster)["10DE:1EB8"] == NEWER
    assert f"deviceName {T4} do not start" in run.output


def test_a_removal_gives_everything_back(cluster: Cluster, playbook: Playbook) -> None:
    refused(play(playbook, "remove_gpus"), "NODE-BUSY")
    cluster.client.delete("kubevirt.io/v1", "virtualmachines", "early", "people")
    done(play(playbook, "remove_gpus", gpu_on_busy="wait"))
    assert spec(cluster)["permittedHostDevices"] == {"pciHostDevices": [QAT]}
    assert "disableMDevConfiguration" not in (spec(cluster).get("featureGates") or {})
    for name in ("pass-0", "vgpu-0"):
        assert not [key for key in node(cluster, name)["metadata"]["labels"] if key.endswith(".config")]
