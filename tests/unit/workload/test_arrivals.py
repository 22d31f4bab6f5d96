# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pools have their devices, what the others wait for, and when the wait is over."""

from __future__ import annotations

import itertools
import typing as t

import pytest
from unit.fake_server import Answer
from unit.workload.builders import node, params
from unit.workload.test_steps import PODS, World, of

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import POOL
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import steps, turns
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.arrivals import Arrivals
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.options import (
    GpuWorkloadParams,
)

NFD: t.Final = "feature.node.kubernetes.io/pci-10de.present"
CREATED: t.Final = "2026-11-21T20:00:00Z"
AT_ONCE: t.Final = 1795291205.0  # five seconds later
Seen = dict[str, list[KubeObject]]


def machine(name: str, pool: str, phase: str = "Running", to: str = "", **status: t.Any) -> KubeObject:
    made = {"name": name, "labels": {POOL: pool}, "creationTimestamp": CREATED}
    joined = {"nodeRef": {"name": to}} if to else {}
    return {"metadata": made, "spec": {}, "status": {"phase": phase, **status, **joined}}


def of_pool(name: str, pool: str, labelled: bool = True, is_ready: bool = True, **offers: str) -> KubeObject:
    """Return a node of the pool; it offers one GPU unless offers says otherwise."""
    found = node(name, labels={POOL: pool, **({NFD: "true"} if labelled else {})}, **(offers or {"gpu": "1"}))
    found["status"]["conditions"] = [{"type": "Ready", "status": str(is_ready)}]
    return found


def judge(now: float = AT_ONCE, claims: bool = False) -> Arrivals:
    """Return a judge of the pools fast and slow, whose machines may be on their way."""
    pools = [
        {"name": name, "node_selector": {POOL: name}, "expected": {"nvidia.com/gpu": 1}, "min_nodes": 1}
        for name in ("slow", "fast")
    ]
    each = turns.begin(params(pools=[{**one, "claims": claims} for one in pools]))
    times = itertools.count(1)
    return Arrivals(each, ["slow", "fast"], lambda: now, lambda: f"moment {next(times)}")


def seen(machines: list[KubeObject], nodes: list[KubeObject]) -> Seen:
    return {"machines": machines, "nodes": nodes}


FAST: t.Final = machine("m-fast", "fast", to="n-fast")
SLOW: t.Final = machine("m-slow", "slow", "Provisioning")


def arrived(judging: Arrivals) -> list[str]:
    return [turn.pool for turn in judging.arrived]


def test_a_pool_has_arrived_when_its_nodes_offer_their_devices() -> None:
    judging = judge()
    assert judging(seen([FAST, SLOW], [of_pool("n-fast", "fast")])).is_ready
    assert (arrived(judging), judging.is_over) == (["fast"], False)
    judging.leave(judging.arrived)
    verdict = judging(seen([FAST, SLOW], [of_pool("n-fast", "fast")]))
    assert (verdict.verdict, arrived(judging)) == ("pending", [])


@pytest.mark.parametrize(
    ("here", "step"),
    [
        (of_pool("n-fast", "fast", is_ready=False), "1 machine Running"),
        (of_pool("n-fast", "fast", labelled=False), "labels of 1 node"),
        (of_pool("n-fast", "fast", gpu="0"), "driver and devices of 1 node"),
    ],
    ids=["node", "labels", "devices"],
)
def test_one_line_says_what_each_pool_waits_for_and_since_when(here: KubeObject, step: str) -> None:
    judging = judge()
    for _look in range(2):
        found = judging(seen([FAST, SLOW], [here]))
        assert found.details == (f"slow: 1 machine Provisioning since moment 1; fast: {step} since moment 2",)
    booted = machine("m-slow", "slow", "Provisioned", conditions=[])
    (line,) = judging(seen([FAST, booted], [here])).details
    assert line == f"slow: 1 machine Provisioned since moment 3; fast: {step} since moment 2"


def test_machines_that_do_not_exist_yet_are_on_their_way() -> None:
    judging = judge()
    (line,) = judging(seen([], [])).details
    assert line == "slow: 0 of 1 node since moment 1; fast: 0 of 1 node since moment 2"
    assert not judging.is_over


def test_the_wait_is_over_when_every_machine_is_a_node() -> None:
    judging = judge()
    machines = [FAST, machine("m-slow", "slow", to="n-slow")]
    nodes = [of_pool("n-fast", "fast", gpu="0"), of_pool("n-slow", "slow", labelled=False)]
    assert judging(seen(machines, nodes)).is_ready
    assert (arrived(judging), judging.is_over) == ([], True)


REFUSAL: t.Final = {"type": "MachineCreation", "status": "False", "message": "InsufficientInstanceCapacity"}
REFUSED: t.Final[dict[str, t.Any]] = {"providerStatus": {"conditions": [REFUSAL]}}


@pytest.mark.parametrize(
    ("one", "now", "is_over"),
    [
        (machine("m", "slow", "Provisioning", **REFUSED), AT_ONCE, True),
        (machine("m", "slow", "Failed", errorMessage="gone"), AT_ONCE, True),
        (machine("m", "slow", "Provisioned"), AT_ONCE, False),
        (machine("m", "slow", "Provisioned"), AT_ONCE + 600, True),
        (machine("m", "slow", "Provisioning"), AT_ONCE + 600, False),
        (machine("m", "theirs", "Failed", errorMessage="gone"), AT_ONCE, False),
    ],
    ids=["refused", "failed", "booted", "booted long ago", "slow", "of another pool"],
)
def test_the_wait_is_over_when_a_machine_needs_another_task(
    one: KubeObject, now: float, is_over: bool
) -> None:
    judging = judge(now)
    judging(seen([FAST, SLOW, one], [of_pool("n-fast", "fast", gpu="0")]))
    assert judging.is_over is is_over


def test_devices_that_pods_claim_count_by_their_slices() -> None:
    judging = judge(claims=True)
    found = seen([FAST, SLOW], [of_pool("n-fast", "fast", gpu="0")])
    judging({**found, "slices": []})
    assert arrived(judging) == []
    offer = {
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": "n-fast",
            "pool": {"name": "n-fast", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0", "attributes": {"type": {"string": "gpu"}}}],
        }
    }
    judging({**found, "slices": [offer]})
    assert arrived(judging) == ["fast"]


def test_of_many_pools_the_line_names_eight() -> None:
    names = [f"p{index}" for index in range(10)]
    each = turns.begin(params(pools=[{"name": name, "node_selector": {POOL: name}} for name in names]))
    judging = Arrivals(each, names, lambda: 0.0, lambda: "now")
    (line,) = judging(seen([], [])).details
    assert (line.count(" since "), line.rpartition("; ")[2]) == (8, "2 more pools")


Data = dict[str, t.Any]


def asked(**more: t.Any) -> GpuWorkloadParams:
    pools = [
        {"name": name, "node_selector": {POOL: name}, "expected": {"nvidia.com/gpu": 1}, "min_nodes": 1}
        for name in ("slow", "fast")
    ]
    return params(node_selector=None, pools=pools, joining=["slow", "fast"], **more)


class Cloud(World):
    """A World whose pool fast has its node. later: the Machine of the pool slow, once fast is validated."""

    def __init__(self, later: Data) -> None:
        super().__init__()
        self._later, self._answered = later, self.server.request
        self.put("Node", of_pool("n-fast", "fast"))
        self.put("Machine", machine("m-fast", "fast", to="n-fast"))
        self.put("Machine", machine("m-slow", "slow", "Provisioning"))
        self.server.request = self.watched

    def put(self, kind: str, one: Data) -> None:
        is_machine = kind == "Machine"
        version = "machine.openshift.io/v1beta1" if is_machine else "v1"
        metadata = {**one["metadata"], **({"namespace": "openshift-machine-api"} if is_machine else {})}
        self.server.put({"apiVersion": version, "kind": kind, **one, "metadata": metadata})

    def watched(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        answered = self._answered(method, url, body, **more)
        if method in ("POST", "PATCH") and "configmaps" in url:
            self.put("Machine", self._later)
        return answered


FAILED: t.Final = machine("m-slow", "slow", "Failed", errorMessage="no capacity")


def test_a_pool_is_validated_while_the_machine_of_another_is_on_its_way() -> None:
    world, lines = Cloud(FAILED), list[str]()
    found = steps.present(world.api(lines=lines), asked())
    assert of(found, "validated") == {"n-fast": 1}
    assert world.pods() == []
    assert any("pool fast: has its devices" in line for line in lines)


def test_the_later_validation_of_the_pool_has_nothing_to_do() -> None:
    world = Cloud(FAILED)
    steps.present(world.api(), asked())
    made = world.made()
    (_slow, fast) = asked().pools or []
    assert steps.present(world.api(), params(node_selector=None, pools=[fast]))["workload"]["due"] == []
    assert world.made() == made == 1


def test_a_pool_that_fails_is_a_warning_and_no_failure() -> None:
    world = Cloud(FAILED)
    world._on_pod = world.lose
    world.server.request = lambda *given, **more: _fail_slow(world, *given, **more)
    api = world.api()
    assert of(steps.present(api, asked()), "validated") == {"n-fast": 0}
    assert any(text.startswith("Pool fast was not validated yet: WORK-GONE: ") for text in api.warnings)


def _fail_slow(world: Cloud, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
    answered = world.watched(method, url, body, **more)
    if method == "POST" and PODS in url and "dryRun" not in url:
        world.put("Machine", FAILED)
    return answered


def test_check_mode_waits_for_nothing() -> None:
    world = Cloud(FAILED)
    steps.present(world.api(check_mode=True), asked())
    assert world.server.requests == []
