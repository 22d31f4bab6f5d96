# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gangs on the pools of scenario gpu-nodes: the upgrade evicts all pods of a gang, or none of them."""

from __future__ import annotations

import typing as t

import pytest
from integration.patience import until
from integration.stack.driver_gaps import NEW, OLD, POOL, POOLS, WORK, training
from integration.upgrades.upgrades import Data, Upgrades

SCENARIO: t.Final = "gpu-nodes"
pytestmark = [
    pytest.mark.story("a gang that a budget keeps, and then lets go"),
    pytest.mark.long("two upgrades; the unit tests of _upgrade have gangs in every run"),
]
BUDGET: t.Final[Data] = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "keep", "namespace": "default"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": WORK}}},
}


def gang() -> Data:
    """Return a ReplicaSet whose two pods have the labels of a JobSet; one fits on each node with a T4."""
    made = training("any")
    made["spec"]["replicas"] = 2
    made["spec"]["template"]["metadata"]["labels"] |= {"jobset.sigs.k8s.io/jobset-name": "train"}
    made["spec"]["template"]["spec"]["nodeSelector"] = {POOL: "inference"}
    return made


@pytest.fixture(scope="module")
def installed(upgrades: Upgrades) -> Upgrades:
    upgrades.install()
    upgrades.client.create(gang())
    until(lambda: len(upgrades.pods()) == 2, "two pods with a GPU")
    return upgrades


def evicted(upgrades: Upgrades, made: t.Any) -> set[str]:
    writes = (one.split(" ") for one in upgrades.audit.writes(made))
    return {name for _verb, resource, name in writes if resource.startswith("pods/eviction")}


def test_a_budget_for_a_part_keeps_the_whole_gang(installed: Upgrades) -> None:
    before = {pod["metadata"]["uid"] for pod in installed.pods()}
    installed.client.create(BUDGET)
    until(
        lambda: (
            (installed.client.get("policy/v1", "poddisruptionbudgets", "keep", "default") or {})
            .get("status", {})
            .get("disruptionsAllowed")
            == 1
        ),
        "the budget counts its pods",
    )
    made = installed.run(pools=POOLS[:1], on_busy="drain", wait_timeout=5)
    assert (made.failed, made["code"]) == (True, "UPGRADE-GANG"), made.result
    assert "allows the end of 1 of 2 pods" in made["message"]
    assert {pod["metadata"]["uid"] for pod in installed.pods()} == before
    assert evicted(installed, made) == set()
    assert (installed.cordoned(), installed.versions()["t4-0"]) == ([], OLD)


def test_without_the_budget_the_whole_gang_is_evicted_first(installed: Upgrades) -> None:
    installed.client.delete("policy/v1", "poddisruptionbudgets", "keep", "default")
    names = {f"default/{pod['metadata']['name']}" for pod in installed.pods()}
    made = installed.run(pools=POOLS[:1], on_busy="drain")
    assert not made.failed, made.result
    assert names <= evicted(installed, made)
    assert any("JobSet default/train ends whole" in line for line in made["driver_upgrade"]["plan"])
    assert installed.versions() == {"t4-0": NEW, "t4-1": NEW, "a100-0": OLD}
    assert installed.cordoned() == []
