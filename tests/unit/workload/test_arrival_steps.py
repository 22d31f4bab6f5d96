# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool is validated while the machine of another one is on its way, and a trouble of it is a warning."""

from __future__ import annotations

import typing as t

from unit.fake_server import Answer
from unit.workload.builders import params
from unit.workload.test_arrivals import machine, of_pool
from unit.workload.test_steps import PODS, World, of

from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import POOL
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.options import (
    GpuWorkloadParams,
)

Data = dict[str, t.Any]


def asked(**more: t.Any) -> GpuWorkloadParams:
    pools = [
        {"pool": name, "node_selector": {POOL: name}, "expected": {"nvidia.com/gpu": 1}, "min_nodes": 1}
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
