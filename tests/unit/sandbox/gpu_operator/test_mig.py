"""What the MIG manager makes of a label."""

from __future__ import annotations

import pytest
from unit.sandbox.gpu_operator.builders import add_operand, labels, make

from openshift_sandbox.stand_ins.gpu_operator.mig import LAYOUT, MigManager, offered


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
