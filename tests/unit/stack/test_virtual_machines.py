# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools of virtual machines in the stack: options of the policy, labels of nodes, devices and permits."""

from __future__ import annotations

import typing as t

import pytest
from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import virtual_machines
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackPool
from ansible_collections.accelerators.openshift.plugins.module_utils._virtualization.hyperconverged import (
    Permit,
)

Object = dict[str, t.Any]
WORKLOAD: t.Final = "nvidia.com/gpu.workload.config"
CONFIG: t.Final = "nvidia.com/vgpu.config"
OPTED_OUT: t.Final = "nvidia.com/gpu.deploy.operands"
IMAGE: t.Final = {"repository": "r.example.com/n", "image": "vgpu-manager", "version": "580.65"}
VGPU: t.Final = {"type": "A10-12Q", "image": {**IMAGE, "pull_secrets": ["r"]}, "license_secret": "l"}
T4: t.Final = "nvidia.com/TU104GL_TESLA_T4"


def pool(workload: str = "vm_passthrough", **options: t.Any) -> StackPool:
    given = {"device": "10de:1eb8", "gpus": 2} if workload == "vm_passthrough" else {"gpus": 2, "vgpu": VGPU}
    found: Object = {"name": "vm", "node_selector": {"gpu": "vm"}, "expected": {}, "workload": workload}
    if workload.startswith("vm_"):
        found["virtual_machines"] = {**given, **options}
    return t.cast("StackPool", found)


PLATFORM: t.Final = {"provider": "platform", "resource": "nvidia.com/T4"}


def node(labels: dict[str, str] | None = None, /, **allocatable: int) -> Object:
    offers = {f"nvidia.com/{key}": str(number) for key, number in allocatable.items()}
    metadata = {"name": "n", "labels": {"gpu": "vm", **(labels or {})}}
    return {"metadata": metadata, "status": {"allocatable": {"cpu": "8", **offers}}}


def test_the_policy_gets_what_the_pools_need_and_the_user_has_the_last_word() -> None:
    params = some_params(pools=[pool("vm_vgpu")], vgpu_manager={"version": "550.1", "env": None})
    found = virtual_machines.completed(params)
    assert found.sandbox_workloads == {"enabled": True}
    assert found.vgpu_manager == {**IMAGE, "enabled": True, "image_pull_secrets": ["r"], "version": "550.1"}
    assert found.driver == {"licensing_config": {"secret_name": "l"}}
    assert found.vgpu_device_manager == {"enabled": True}
    assert (found.sandbox_device_plugin, found.vfio_manager) == ({"enabled": True}, None)
    assert virtual_machines.completed(some_params(pools=[pool()])).vfio_manager == {"enabled": True}
    own = virtual_machines.completed(some_params(pools=[pool("vm_vgpu", vgpu={**VGPU, "config_map": "c"})]))
    assert own.vgpu_device_manager == {"enabled": True, "config": {"name": "c"}}


def test_a_licence_replaces_no_driver_of_containers() -> None:
    found = virtual_machines.completed(some_params(pools=[pool("vm_vgpu"), pool("container")]))
    assert found.driver is None
    for pools in ([pool("container")], [pool(**PLATFORM)]):
        params = some_params(pools=pools)
        assert virtual_machines.completed(params) is params


@pytest.mark.parametrize(
    ("wanted", "have", "changes"),
    [
        (pool(), {}, {WORKLOAD: "vm-passthrough"}),
        (pool(), {WORKLOAD: "vm-passthrough"}, {}),
        (pool(), {WORKLOAD: "vm-vgpu", CONFIG: "A10-8Q"}, {WORKLOAD: "vm-passthrough", CONFIG: None}),
        (pool("vm_vgpu"), {WORKLOAD: "vm-vgpu"}, {CONFIG: "A10-12Q"}),
        (pool(**PLATFORM), {WORKLOAD: "vm-passthrough"}, {WORKLOAD: None, OPTED_OUT: "false"}),
        (pool("container"), {WORKLOAD: "vm-vgpu", CONFIG: "c"}, {WORKLOAD: "container", CONFIG: None}),
        (pool("container"), {}, {}),
        (pool(""), {WORKLOAD: "vm-vgpu"}, {}),
    ],
)
def test_nodes_get_the_labels_of_their_pool(
    wanted: StackPool, have: dict[str, str], changes: dict[str, str | None]
) -> None:
    assert virtual_machines.marks(have, wanted) == changes


def test_a_removal_takes_the_labels_of_the_pool_alone() -> None:
    have = {WORKLOAD: "vm-vgpu", CONFIG: "A10-8Q", OPTED_OUT: "false"}
    assert virtual_machines.unmarked(have, pool("vm_vgpu")) == {WORKLOAD: None}
    assert virtual_machines.unmarked(have, pool(**PLATFORM)) == {OPTED_OUT: None}
    assert virtual_machines.unmarked(have, pool("container")) == {}


FILE: t.Final = """
version: v1
vgpu-configs:
  A10-12Q:
    - devices: all
      vgpu-devices: {"A10-12Q": 2}
  one: [{devices: [0], vgpu-devices: {A10-24Q: 1}}]
  default:
    - {devices: all, device-filter: ["0x2236"], vgpu-devices: {"A10-12Q": 2}}
    - {devices: all, device-filter: ["0x1EB8"], vgpu-devices: {"T4-8Q": 2}}
"""


@pytest.mark.parametrize(("kind", "number"), [("A10-12Q", 4), ("one", 1), ("default", 0), ("other", 0)])
def test_the_device_manager_says_how_many_vgpus_there_are(kind: str, number: int) -> None:
    config = {"data": {"config.yaml": FILE}}
    wanted = pool("vm_vgpu", vgpu={**VGPU, "type": kind})
    assert virtual_machines.number(wanted, config) == number
    assert virtual_machines.number(wanted) == 0
    assert virtual_machines.number(pool(), config) == 2


@pytest.mark.parametrize(
    ("wanted", "live", "code", "verdict"),
    [
        (pool(), node(TU104GL_TESLA_T4=2), "", ""),
        (pool(), node(TU104GL_TESLA_T4=1), "GPU-VM-DEVICES", "pending"),
        (pool(), node(gpu=2), "GPU-VM-DEVICES", "pending"),
        (pool("vm_vgpu"), node({f"{CONFIG}.state": "success"}, **{"NVIDIA_A10-12Q": 4}), "", ""),
        (
            pool("vm_vgpu"),
            node({f"{CONFIG}.state": "success"}, **{"NVIDIA_A10-12Q": 2}),
            "GPU-VM-DEVICES",
            "pending",
        ),
        (pool("vm_vgpu"), node({f"{CONFIG}.state": "failed"}), "GPU-VGPU-CONFIG", "failed"),
        (pool("vm_vgpu"), node({f"{CONFIG}.state": "pending"}), "GPU-VGPU-CONFIG", "pending"),
        (pool("vm_vgpu"), node(), "GPU-VGPU-CONFIG", "pending"),
        (pool(**PLATFORM), node(T4=2), "", ""),
        (pool(**PLATFORM), node(TU104GL_TESLA_T4=2), "GPU-VM-DEVICES", "pending"),
    ],
)
def test_a_node_is_ready_when_it_offers_its_devices(
    wanted: StackPool, live: Object, code: str, verdict: str
) -> None:
    found = virtual_machines.judge(live, wanted, {"vgpu_configs": [{"data": {"config.yaml": FILE}}]})
    assert (found.code, found.verdict) == (code, verdict) if found else not code
    if found and wanted["virtual_machines"].get("provider"):
        assert "oc debug node/n -- chroot /host lspci -nnk -d 10de:1eb8" in found.remedy


def test_the_nodes_name_their_devices() -> None:
    nodes = [node(TU104GL_TESLA_T4=2, NVSWITCH=6)]
    assert virtual_machines.permits([pool()], nodes) == [Permit("10DE:1EB8", T4)]
    vgpus = [node(**{"NVIDIA_A10-12Q": 4})]
    assert virtual_machines.permits([pool("vm_vgpu")], vgpus) == [
        Permit("NVIDIA A10-12Q", "nvidia.com/NVIDIA_A10-12Q", is_mediated=True)
    ]
    assert virtual_machines.permits([pool(), pool("container")], [node(gpu=2)]) == []
    own = Permit("10DE:1EB8", "nvidia.com/T4", is_external=False)
    assert virtual_machines.permits([pool(**PLATFORM)], []) == [own]


def test_two_names_need_a_word_of_the_user() -> None:
    nodes = [node(TU104GL_TESLA_T4=2, OTHER=2)]
    with pytest.raises(NotReadyError) as caught:
        virtual_machines.permits([pool()], nodes)
    assert caught.value.code == "GPU-VM-NAMES"
    assert virtual_machines.permits([pool(resource=T4)], nodes) == [Permit("10DE:1EB8", T4)]


def test_a_name_that_no_node_offers_is_no_silent_success() -> None:
    with pytest.raises(NotReadyError, match=f"nvidia.com/TYPO to virtual machines, but {T4}") as caught:
        virtual_machines.permits([pool(resource="nvidia.com/TYPO")], [node(TU104GL_TESLA_T4=2)])
    assert caught.value.code == "GPU-VM-RESOURCE"
    assert virtual_machines.permits([pool(resource="nvidia.com/TYPO")], [node()]) == []


POLICY: t.Final = {"spec": {"sandboxWorkloads": {"enabled": True}}}


def test_a_node_says_its_workload_where_nobody_else_does() -> None:
    """An upgrade of the operator and a diagnosis know nodes, and no pools."""
    nobody = t.cast("StackPool", {"name": "all", "node_selector": {"gpu": "vm"}})
    vgpu = node(
        {WORKLOAD: "vm-vgpu", CONFIG: "A10-12Q", f"{CONFIG}.state": "success"}, **{"NVIDIA_A10-12Q": 4}
    )
    found = virtual_machines.as_seen(vgpu, nobody, POLICY)
    assert (found["workload"], found["virtual_machines"]) == ("vm_vgpu", {"vgpu": {"type": "A10-12Q"}})
    assert virtual_machines.judge(vgpu, found, {}) is None
    for pool_of, policy in ((pool(), POLICY), (nobody, {"spec": {}})):
        assert virtual_machines.as_seen(vgpu, pool_of, policy) is pool_of
    expecting = t.cast("StackPool", {**nobody, "expected": {"nvidia.com/gpu": 1}})
    assert virtual_machines.as_seen(vgpu, expecting, POLICY) is expecting


def test_a_device_without_a_permit_is_found() -> None:
    entry = {"pciDeviceSelector": "10DE:1EB8", "resourceName": T4, "externalResourceProvider": True}
    live = {
        "apiVersion": "hco.kubevirt.io/v1beta1",
        "metadata": {"name": "kubevirt-hyperconverged"},
        "spec": {"permittedHostDevices": {"pciHostDevices": [entry]}},
    }
    marks = {WORKLOAD: "vm-passthrough"}
    assert (
        virtual_machines.unpermitted([node(marks, TU104GL_TESLA_T4=2), node(gpu=1), node(marks)], live) == {}
    )
    found = virtual_machines.unpermitted([node(marks, TU104GL_TESLA_T4_16GB=2)], live)["n"]
    assert found.code == "GPU-VM-UNPERMITTED"
    assert "nvidia.com/TU104GL_TESLA_T4_16GB" in found.message


def test_a_policy_that_serves_no_virtual_machine_is_refused() -> None:
    params = some_params(pools=[pool()])
    policy = {"metadata": {"name": "theirs"}, "spec": {"sandboxWorkloads": {"enabled": False}}}
    for is_ours, remedy in ((True, "Remove sandboxWorkloads from gpu_operator_spec"), (False, "adopt: take")):
        with pytest.raises(NotReadyError, match=r"Pool vm .* sandboxWorkloads\.enabled: true") as caught:
            virtual_machines.refuse_disabled(params, policy, is_ours=is_ours)
        assert remedy in caught.value.remedy
    enabled = {**policy, "spec": {"sandboxWorkloads": {"enabled": True}}}
    virtual_machines.refuse_disabled(params, enabled, is_ours=False)
    others = some_params(pools=[pool("container"), pool(**PLATFORM)])
    virtual_machines.refuse_disabled(others, policy, is_ours=True)
