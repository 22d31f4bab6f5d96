# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs for virtual machines: passthrough, vGPUs, a new name after an upgrade, and everything given back."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook
from integration.virtual_machines.builders import (
    QAT,
    SPACE,
    T4,
    done,
    machine,
    node,
    permitted,
    play,
    pool,
    refusal,
    refused,
    runs,
    spec,
)
from integration.wire import Audit

from openshift_sandbox import faults

pytestmark = [
    pytest.mark.story("the GPUs of some nodes go to virtual machines, and come back"),
    pytest.mark.long("the whole chain several times: the unit tests of special_resource hold its rules"),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "virtual-machines"
NEWER: t.Final = "nvidia.com/TU104GL_TESLA_T4_16GB"
A10: t.Final = "nvidia.com/NVIDIA_A10-12Q"
IMAGE: t.Final = {
    "repository": "registry.example.com/nvidia",
    "image": "vgpu-manager",
    "version": "580.65.05",
}
VGPU: t.Final = {"type": "A10-12Q", "image": IMAGE, "license_secret": "vgpu-licence"}
THROUGH: t.Final = {"workload": "vm_passthrough", "virtual_machines": {"device": "10de:1eb8"}}
OTHERS: t.Final = [
    pool("vgpu", 2, workload="vm_vgpu", virtual_machines={"vgpu": VGPU}),
    pool("containers", 1),
]
POOLS: t.Final = [pool("passthrough", 8, **THROUGH), *OTHERS]


def test_the_plan_shows_reboots_and_writes_nothing(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    secret = {"name": "vgpu-licence", "namespace": SPACE}
    cluster.client.apply({"apiVersion": "v1", "kind": "Secret", "metadata": secret})
    since = audit.position()
    run = done(play(playbook, "plan", POOLS))
    assert "reboot  pass-0, pass-1" in run.output, run.output[-4000:]
    audit.flush()
    assert audit.written(since) == []


def test_the_nodes_offer_their_devices_and_machines_may_have_them(
    cluster: Cluster, playbook: Playbook
) -> None:
    machine(cluster, "early", T4)
    assert f"{T4} is not permitted in permittedHostDevices configuration" in refusal(cluster, "early")
    run = done(play(playbook, "enable_gpus", POOLS))
    assert permitted(cluster) == {"8086:37C8": "intel.com/qat", "10DE:1EB8": T4, "NVIDIA A10-12Q": A10}
    assert spec(cluster)["featureGates"]["disableMDevConfiguration"] is True
    assert "passthrough is not validated" in run.output
    assert node(cluster, "pass-0")["status"]["allocatable"][T4] == "8"
    assert node(cluster, "vgpu-0")["status"]["allocatable"][A10] == "4"
    assert node(cluster, "cuda-0")["status"]["allocatable"]["nvidia.com/gpu"] == "1"
    runs(cluster, "early")


def test_a_second_run_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    done(play(playbook, "enable_gpus", POOLS))
    audit.flush()
    assert audit.written(since) == []


def test_a_node_with_a_machine_keeps_its_workload_until_somebody_agrees(
    playbook: Playbook, audit: Audit
) -> None:
    since = audit.position()
    containers = [pool("passthrough", 8, workload="container"), *OTHERS]
    said = refused(play(playbook, "enable_gpus", containers), "GPU-BUSY")
    assert "virt-launcher-early" in said
    audit.flush()
    assert audit.written(since) == []


def test_a_new_name_is_found_and_mended(cluster: Cluster, playbook: Playbook) -> None:
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, "resource_renamed", {"device": "1eb8", "name": "TU104GL [Tesla T4 16GB]"})
    until(lambda: NEWER in node(cluster, "pass-0")["status"]["allocatable"], "the new name")
    run = done(play(playbook, "enable_gpus", POOLS))
    assert permitted(cluster)["10DE:1EB8"] == NEWER
    assert f"deviceName {T4} do not start" in run.output


def test_a_reboot_says_which_machine_holds_it_up(playbook: Playbook) -> None:
    tuned = [{**POOLS[0], "tuning": {"huge_pages": {"size": "2M", "count": 8}, "reboot": "planned"}}, *OTHERS]
    run = play(playbook, "tune_nodes", tuned, gpu_on_busy="drain", node_tuning_wait_timeout=20)
    assert run.rc != 0
    assert "virtual machine early has a device and cannot move" in run.output, run.output[-4000:]


def test_a_removal_gives_everything_back(cluster: Cluster, playbook: Playbook) -> None:
    refused(play(playbook, "remove_gpus", POOLS), "NODE-BUSY")
    cluster.client.delete("kubevirt.io/v1", "virtualmachines", "early", "people")
    done(play(playbook, "remove_gpus", POOLS, gpu_on_busy="wait"))
    assert spec(cluster)["permittedHostDevices"] == {"pciHostDevices": [QAT]}
    assert "disableMDevConfiguration" not in (spec(cluster).get("featureGates") or {})
    for name in ("pass-0", "vgpu-0"):
        marks = [key for key in node(cluster, name)["metadata"]["labels"] if ".config" in key]
        assert [key for key in marks if key.startswith("nvidia.com/")] == []
