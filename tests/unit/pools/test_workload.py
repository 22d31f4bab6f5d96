# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workload of a pool in the plan: what is refused with its path, and what the roles get."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.pool_builders import plan, single
from unit.pools.builders import NOBODY, candidate, existing, pool, problems

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import propagation
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.machine_set import node_labels
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.steps import plan as run

IMAGE: t.Final = {"repository": "registry.example.com/nvidia", "image": "vgpu-manager", "version": "580.65"}
VGPU: t.Final = {"type": "T4-8Q", "image": IMAGE, "license_secret": "vgpu-licence"}
THROUGH: t.Final[dict[str, t.Any]] = {
    "workload": "vm_passthrough",
    "virtual_machines": {"device": "10de:1EB8"},
}
SHARED: t.Final[dict[str, t.Any]] = {"workload": "vm_vgpu", "virtual_machines": {"vgpu": VGPU}}
PLATFORM: t.Final = {"provider": "platform", "device": "10de:1eb8", "resource": "nvidia.com/T4"}
METAL: t.Final = candidate("g4dn.metal", "us-east-2a")


def vm(**more: t.Any) -> dict[str, t.Any]:
    return pool(**{"name": "vm", "candidates": METAL, **THROUGH, **more})


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"workload": "vm"}, "POOL-VALUE", "workload"),
        ({"workload": "container"}, "POOL-CONFLICT", "virtual_machines"),
        ({"virtual_machines": {}}, "POOL-REQUIRED", "virtual_machines.device"),
        ({"virtual_machines": {"device": "T4"}}, "POOL-VALUE", "virtual_machines.device"),
        ({"sharing": {"time_slicing": {"replicas": 4}}}, "POOL-CONFLICT", "sharing"),
        ({"spare": 1}, "POOL-CONFLICT", "spare"),
        ({"validate": {"benchmark": "matmul"}}, "POOL-CONFLICT", "validate"),
        ({"driver": {"kernel_module_type": "open"}}, "POOL-CONFLICT", "driver"),
        ({"quota": [{"namespace": "team-a", "gpus": 2}]}, "POOL-CONFLICT", "quota[0].gpus"),
        ({"tuning": {"profile": "virtualization", "reboot": "never"}}, "POOL-CONFLICT", "tuning.reboot"),
        (
            {"virtual_machines": {**THROUGH["virtual_machines"], "vgpu": VGPU}},
            "POOL-CONFLICT",
            "virtual_machines.vgpu",
        ),
        (
            {"virtual_machines": {"provider": "platform", "device": "10de:1eb8"}},
            "POOL-REQUIRED",
            "virtual_machines.resource",
        ),
        ({**SHARED, "virtual_machines": {}}, "POOL-REQUIRED", "virtual_machines.vgpu"),
        (
            {**SHARED, "virtual_machines": {"vgpu": {**VGPU, "image": None}}},
            "POOL-REQUIRED",
            "virtual_machines.vgpu.image",
        ),
        (
            {**SHARED, "virtual_machines": {"vgpu": {**VGPU, "license_secret": None}}},
            "POOL-REQUIRED",
            "virtual_machines.vgpu.license_secret",
        ),
        (
            {
                **SHARED,
                "virtual_machines": {"vgpu": {**VGPU, "image": {**IMAGE, "version": "580.65.05-rhel9.6"}}},
            },
            "POOL-VALUE",
            "virtual_machines.vgpu.image.version",
        ),
        (
            {**SHARED, "virtual_machines": {"vgpu": {**VGPU, "type": "A10-8Q"}}},
            "POOL-VGPU-TYPE",
            "virtual_machines.vgpu.type",
        ),
        (
            {
                **SHARED,
                "virtual_machines": {"provider": "platform", "resource": "nvidia.com/T4", "vgpu": VGPU},
            },
            "POOL-CONFLICT",
            "virtual_machines.provider",
        ),
        (
            {**SHARED, "virtual_machines": {"vgpu": {**VGPU, "type": "T40-8Q"}}},
            "POOL-VGPU-TYPE",
            "virtual_machines.vgpu.type",
        ),
        ({"virtual_machines": {**PLATFORM, "resource": "cpu"}}, "POOL-VALUE", "virtual_machines.resource"),
        (
            {"virtual_machines": {"device": "10de:1eb8", "resource": "nvidia.com/gpu"}},
            "POOL-VALUE",
            "virtual_machines.resource",
        ),
        (
            {"virtual_machines": {**PLATFORM, "resource": "nvidia.com/mig-1g.5gb"}},
            "POOL-VALUE",
            "virtual_machines.resource",
        ),
        (
            {"tuning": {"kernel_arguments": ["intel_iommu=off"]}},
            "POOL-CONFLICT",
            "tuning.kernel_arguments",
        ),
        ({"candidates": candidate("g4dn.12xlarge", "us-east-2a")}, "POOL-CONFLICT", "candidates"),
        ({"candidates": candidate("g6f.large", "us-east-2a")}, "POOL-CONFLICT", "candidates"),
        (
            {"labels": {"nvidia.com/gpu.workload.config": "vm-vgpu"}},
            "POOL-LABEL-TAKEN",
            "labels.nvidia.com/gpu.workload.config",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_with_its_path(
    changes: dict[str, t.Any], code: str, path: str
) -> None:
    assert problems([vm(**changes)]) == [(code, f"gpu_pools[0].{path}")]


def test_virtual_machines_get_no_parts_of_a_gpu_of_containers() -> None:
    split = vm(candidates=candidate("p4d.24xlarge"), sharing={"mig": {"slices": 7}})
    assert problems([split]) == [
        ("POOL-CONFLICT", f"gpu_pools[0].{path}") for path in ("sharing", "candidates")
    ]


def test_existing_nodes_say_their_whole_gpus() -> None:
    assert plan([{**existing(2, gpu="vm"), **THROUGH}])["groups"][0]["virtual_machines"]["gpus"] == 2
    wrong = {**existing(2, gpu="vm"), **THROUGH}
    wrong["existing"] = {"node_selector": {"gpu": "vm"}, "expected": {"nvidia.com/GA102GL_A10": 2}}
    assert problems([wrong]) == [("POOL-CONFLICT", "gpu_pools[0].existing.expected")]


def test_claims_of_devices_are_no_way_for_virtual_machines() -> None:
    assert problems([vm()], backend="dra") == [("POOL-DRA", "gpu_pools[0].workload")]


def test_one_device_has_one_provider_and_the_cluster_one_vgpu_manager() -> None:
    both = [vm(), {**vm(), "name": "other", "virtual_machines": PLATFORM}]
    found = problems(both)
    assert found == [
        ("POOL-DIFFERS", f"gpu_pools[1].virtual_machines.{key}") for key in ("provider", "resource")
    ]
    older = {**VGPU, "image": {**IMAGE, "version": "550.1"}}
    shared = [vm(**SHARED), {**vm(**SHARED), "name": "b", "virtual_machines": {"vgpu": older}}]
    assert problems(shared) == [("POOL-DIFFERS", "gpu_pools[1].virtual_machines.vgpu.image")]


def test_each_role_gets_what_it_needs() -> None:
    found = plan([vm(), pool(name="train")], cloud="aws")
    machines, containers = found["groups"]
    assert (machines["expected"], machines["workload"]) == ({}, "vm_passthrough")
    assert machines["virtual_machines"] == {"device": "10de:1EB8", "gpus": 8}
    assert containers["expected"] == {"nvidia.com/gpu": 1}
    assert "workload" not in containers
    assert [one["name"] for one in found["validations"]] == ["train"], "no container validates the others"
    assert [one["name"] for one in found["partitions"]] == ["train"]
    assert [one["name"] for one in found["sharings"]] == ["vm", "train"], "an old profile has to go"
    (tuned,) = found["tunings"]
    assert tuned["tuning"] == {"kernel_arguments": ["intel_iommu=on", "iommu=pt"], "reboot": "planned"}


@pytest.mark.parametrize(
    ("changes", "tuning"),
    [
        ({"virtual_machines": {**THROUGH["virtual_machines"], "iommu": False}}, None),
        (
            {"tuning": {"kernel_arguments": ["intel_iommu=on,sm_on"], "reboot": "planned"}},
            {"kernel_arguments": ["intel_iommu=on,sm_on", "iommu=pt"], "reboot": "planned"},
        ),
        (
            {"virtual_machines": PLATFORM},
            {"kernel_arguments": ["intel_iommu=on", "iommu=pt"], "vfio": ["10de:1eb8"], "reboot": "planned"},
        ),
        ({"workload": None, "virtual_machines": None}, None),
    ],
)
def test_the_nodes_reboot_with_what_the_devices_need(
    changes: dict[str, t.Any], tuning: dict[str, t.Any] | None
) -> None:
    found = plan([vm(**changes)], cloud="aws")["tunings"]
    assert [one["tuning"] for one in found] == ([tuning] if tuning else [])


def test_a_planned_pool_is_the_same_again() -> None:
    for given in (vm(), vm(**SHARED), {**NOBODY, **existing(2, gpu="vm"), **THROUGH}):
        whole = {key: value for key, value in given.items() if value is not None}
        first = plan([whole], cloud="aws")
        assert plan(first["pools"], cloud="aws") == first
        assert Pool.from_result(first["pools"][0]).as_result() == first["pools"][0]


def test_new_nodes_have_the_labels_and_nodes_that_are_there_are_asked_for() -> None:
    labels = {}
    for name, options in {
        "through": THROUGH,
        "vgpu": SHARED,
        "platform": {**THROUGH, "virtual_machines": PLATFORM},
    }.items():
        planned = single(vm(**options), cloud="aws")
        labels[name] = {
            key: value
            for key, value in node_labels(planned, planned.candidates[0]).items()
            if key.startswith("nvidia.com/")
        }
    assert labels == {
        "through": {"nvidia.com/gpu.workload.config": "vm-passthrough"},
        "vgpu": {"nvidia.com/gpu.workload.config": "vm-vgpu", "nvidia.com/vgpu.config": "T4-8Q"},
        "platform": {"nvidia.com/gpu.deploy.operands": "false"},
    }
    template = {"spec": {"metadata": {"labels": {**labels["vgpu"], "team": "a"}}}}
    assert propagation.of_template({"spec": {"template": template}}).labels == {"team": "a"}


def planned_on(server: FakeServer, *pools: dict[str, t.Any]) -> list[str]:
    """Return the warnings of a plan."""
    params: t.Any = {
        **dict.fromkeys(("platform", "accelerator_limits", "backend", "prices", "cost_classes")),
        "gpu_pools_name": "gpu_pools",
        "replicas": {},
        "incomplete": [],
        "catalogue": [],
        "queues": [],
        "networks": [],
        "leftovers": False,
        "pools": list(pools),
    }
    api = api_on(server)
    run(api, params)
    assert server.writes() == []
    return api.warnings


@pytest.mark.parametrize("kinds", [("Infrastructure",), ("Infrastructure", "HyperConverged")])
def test_a_cluster_without_openshift_virtualization_is_refused(kinds: tuple[str, ...]) -> None:
    server = FakeServer(*kinds)
    with pytest.raises(InputError) as caught:
        planned_on(server, vm())
    assert caught.value.code == "POOL-NO-VIRTUALIZATION"
    assert "gpu_pools[0].workload" in caught.value.message
    assert server.writes() == []


def test_existing_nodes_that_are_virtual_machines_are_named_before_they_reboot() -> None:
    server = FakeServer("Infrastructure", "HyperConverged", "Node")
    metadata = {"name": "kubevirt-hyperconverged", "namespace": "openshift-cnv"}
    server.put({"apiVersion": "hco.kubevirt.io/v1", "kind": "HyperConverged", "metadata": metadata})
    for kind in ("g4dn.metal", "g5.12xlarge"):
        labels = {"gpu": "vm", "node.kubernetes.io/instance-type": kind}
        server.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": kind, "labels": labels}})
    (warning,) = planned_on(server, {**existing(2, gpu="vm"), **THROUGH})
    assert warning.startswith("gpu_pools[0].existing.node_selector: g5.12xlarge is a virtual machine itself")
