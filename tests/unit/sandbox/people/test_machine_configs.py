"""Another team's MachineConfigPool and MachineConfig."""

from __future__ import annotations

from unit.sandbox.fake_api import World
from unit.sandbox.machine_config import rolling

from openshift_sandbox.stand_ins.people.machine_configs import (
    ForeignMachineConfigs,
    ForeignPools,
    machine_config,
    pool,
)


def test_a_pool_that_selects_gpu_nodes() -> None:
    world = World(ForeignPools(), troubles=[{"type": "foreign_pool", "paused": True}])
    world.settle(2)
    [made] = world.api.all("MachineConfigPool")
    assert made["spec"]["paused"] is True
    assert made["spec"]["nodeSelector"] == {
        "matchExpressions": [{"key": "accelerators.openshift/pool", "operator": "Exists"}]
    }
    assert len(world.api.writes) == 1


def test_a_pool_with_a_name_and_a_label() -> None:
    made = pool({"name": "infra", "label": "role", "value": "gpu"})
    assert made["metadata"]["name"] == "infra"
    assert made["spec"]["nodeSelector"]["matchExpressions"] == [
        {"key": "role", "operator": "In", "values": ["gpu"]}
    ]
    assert made["spec"]["paused"] is False


def test_a_machine_config_joins_a_rollout() -> None:
    world = World(
        ForeignMachineConfigs(), troubles=[{"type": "machine_config_joins", "pool": "gpu-training"}]
    )
    quiet = rolling.gpu_pool("worker") | {"status": {"conditions": [{"type": "Updating", "status": "True"}]}}
    world.api.create(quiet)
    world.api.create(
        rolling.gpu_pool() | {"status": {"conditions": [{"type": "Updating", "status": "False"}]}}
    )
    world.settle(1)
    assert world.api.all("MachineConfig") == []
    body = {"status": {"conditions": [{"type": "Updating", "status": "True"}]}}
    world.api.patch(rolling.API, "machineconfigpools", "gpu-training", None, body, "status")
    world.settle(1)
    assert [one["metadata"]["name"] for one in world.api.all("MachineConfig")] == [
        "98-another-team-gpu-training"
    ]


def test_its_arguments() -> None:
    made = machine_config({"kernel_arguments": ["nosmt"]}, "worker")
    assert made["spec"] == {"kernelArguments": ["nosmt"]}
