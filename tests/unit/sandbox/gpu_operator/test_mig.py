"""The stand-ins for the MIG manager, for colleagues who edit things, and for what operands print."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.test_node import NAMESPACE, add_driver, add_operand, annotations, make

from openshift_sandbox.stand_ins.gpu_operator.logs import GpuLogs
from openshift_sandbox.stand_ins.gpu_operator.mig import LAYOUT, MigManager, offered
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import CRASH, OperandPods
from openshift_sandbox.stand_ins.people.edits import ForeignEdits


@pytest.mark.parametrize(
    ("layout", "gpus", "strategy", "expected"),
    [
        ("", 8, "mixed", {"nvidia.com/gpu": 8}),
        ("all-disabled", 8, "single", {"nvidia.com/gpu": 8}),
        ("all-1g.5gb", 8, "mixed", {"nvidia.com/gpu": 0, "nvidia.com/mig-1g.5gb": 56}),
        ("all-3g.20gb", 2, "single", {"nvidia.com/gpu": 4}),
        ("all-1g.5gb", 8, "none", {"nvidia.com/gpu": 8}),
    ],
)
def test_what_a_layout_offers(layout: str, gpus: int, strategy: str, expected: dict[str, int]) -> None:
    assert offered(layout, gpus, strategy) == expected


def labels(world: World) -> dict[str, str]:
    found: dict[str, str] = world.api.get("Node", "gpu-0")["metadata"]["labels"]
    return found


@pytest.mark.parametrize(
    ("trouble", "state", "layout"),
    [("", "success", "all-1g.5gb"), ("mig_fails", "failed", ""), ("mig_stuck", "pending", "")],
)
def test_a_label_becomes_a_layout_and_a_state(trouble: str, state: str, layout: str) -> None:
    world = make(MigManager(), troubles=[{"type": trouble}] if trouble else [])
    wanted = {"node.kubernetes.io/instance-type": "p4d.24xlarge", "nvidia.com/mig.config": "all-1g.5gb"}
    world.api.patch("v1", "nodes", "gpu-0", None, {"metadata": {"labels": wanted}})
    add_operand(world, "nvidia-mig-manager", hold=None, ready=True)
    world.settle(2)
    assert labels(world)["nvidia.com/mig.config.state"] == state
    assert (world.api.get("Node", "gpu-0")["metadata"].get("annotations") or {}).get(LAYOUT, "") == layout


def test_an_edited_label_is_put_back_with_the_trouble() -> None:
    world = make(
        ForeignEdits(),
        troubles=[{"type": "node_label", "key": "accelerators.openshift/pool", "value": "theirs"}],
    )
    world.settle(1)
    assert labels(world)["accelerators.openshift/pool"] == "theirs"
    world.scenario.now.troubles.clear()
    world.settle(1)
    assert labels(world)["accelerators.openshift/pool"] == "test"


def test_an_operand_that_ends_again_and_again_prints_what_it_was_told_to(tmp_path: Path) -> None:
    app = "nvidia-device-plugin-daemonset"
    troubles = [
        {"type": "operand_crashloop", "operand": app},
        {"type": "log_line", "operand": "nvidia-device", "container": "one", "text": "no NVML"},
    ]
    world = make(OperandPods(), GpuLogs(), directory=tmp_path, troubles=troubles)
    add_driver(world)
    add_operand(world, app, hold=None, ready=True)
    world.settle(1)
    assert annotations(world, app) == {CRASH: "true"}
    assert "no NVML" in (tmp_path / "pod-logs" / f"{NAMESPACE}_{app}_one.log").read_text()
    assert "no NVML" not in (tmp_path / "pod-logs" / f"{NAMESPACE}_nvidia-driver-daemonset.log").read_text()
    world.scenario.now.troubles.clear()
    world.settle(1)
    assert annotations(world, app) == {}
    assert "no NVML" not in (tmp_path / "pod-logs" / f"{NAMESPACE}_{app}.log").read_text()


def test_a_lost_gpu_has_its_xid_in_the_log(tmp_path: Path) -> None:
    world = make(GpuLogs(), directory=tmp_path, troubles=[{"type": "gpu_lost", "count": 2, "xid": 79}])
    add_operand(world, "nvidia-device-plugin-daemonset", hold=None, ready=True)
    world.settle(1)
    text = (tmp_path / "pod-logs" / f"{NAMESPACE}_nvidia-device-plugin-daemonset.log").read_text()
    assert text.count("XidCriticalError: Xid=79 on Device=GPU-") == 2
