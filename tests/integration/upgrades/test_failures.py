# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpu_driver_upgrade when an upgrade goes wrong: each trouble has its code, and the way out of it works."""

from __future__ import annotations

import typing as t

import pytest
from integration.patience import until
from integration.stack.driver_gaps import NAMESPACE, NEW, OLD, POOLS, driver
from integration.upgrades.upgrades import NODES, Upgrades

SCENARIO: t.Final = "gpu-nodes"
pytestmark = [
    pytest.mark.story("one stack, whose upgrades fail one after another"),
    pytest.mark.long("several minutes; upgrades/test_canary.py has a failing canary in every run"),
]
TOOLKIT: t.Final = "nvidia-container-toolkit-daemonset"
HURRIED: t.Final[dict[str, t.Any]] = {"grace": 4, "node_timeout": 60, "canary": "t4-0"}


def test_nodes_that_stay_in_upgrade_required(installed: Upgrades) -> None:
    with installed.staged("driver-upgrade-stalls"):
        made = installed.run(**HURRIED, rollback=False)
        assert made["code"] == "UPGRADE-NOT-STARTED", made.result
        assert "t4-0" in made["message"]
        assert installed.versions() == dict.fromkeys(NODES, OLD)
    installed.succeed(canary="t4-0")
    installed.succeed(OLD)


def test_a_driver_pod_that_restarts_under_a_pod_with_a_gpu(installed: Upgrades) -> None:
    with installed.trains("t4-0"):
        with installed.staged("driver-restarts-in-use"):
            made = installed.run(**HURRIED, on_busy="drain", rollback=False)
            assert made["code"] == "UPGRADE-IN-USE", made.result
            assert "oc annotate node t4-0" in made["remedy"]
            assert installed.pods()
        installed.succeed(canary="t4-0", on_busy="drain")
    installed.succeed(OLD)


def test_an_upgrade_that_says_done_while_its_validator_fails(installed: Upgrades) -> None:
    with installed.staged("driver-upgrade-heals"):
        made = installed.run(**HURRIED)
        assert made["code"].startswith("GPU-"), made.result
        assert "nvidia-operator-validator" in made["message"]
        assert installed.versions() == dict.fromkeys(NODES, OLD)
    installed.assert_clean()


def test_a_budget_that_never_yields(installed: Upgrades) -> None:
    with installed.staged("budget-keeps-gpus"):
        keeper = ("v1", "pods", "another-team")
        pods = until(
            lambda: [one for one in installed.client.list(*keeper) if one["status"]["phase"] == "Running"],
            "a pod that a budget keeps",
        )
        made = installed.run(**HURRIED, on_busy="drain", force=True)
        assert made["code"] in ("GPU-UPG-FAILED", "NODE-PDB"), made.result
        assert pods[0]["metadata"]["uid"] in [
            one["metadata"]["uid"] for one in installed.client.list(*keeper)
        ]
        assert installed.versions() == dict.fromkeys(NODES, OLD)
        installed.assert_clean()
    installed.client.delete("v1", "namespaces", "another-team")
    until(lambda: not installed.client.list(*keeper), "the pod is gone")


def test_operands_that_wait_behind_a_driver_that_is_ready(installed: Upgrades) -> None:
    installed.succeed(NEW)
    with installed.staged("operands-wait"):
        for pod in installed.client.list("v1", "pods", NAMESPACE, labels=f"app={TOOLKIT}"):
            if pod["spec"].get("nodeName") == "t4-0":
                installed.client.delete("v1", "pods", pod["metadata"]["name"], NAMESPACE)
        wanted: dict[str, t.Any] = {"driver": driver(NEW), "pools": POOLS, "grace": 4, "wait_timeout": 60}
        made = installed.playbook.module("special_resource", **wanted)
        assert (made.failed, made["code"]) == (True, "GPU-OPERAND"), made.result
        assert TOOLKIT in made["message"]
    installed.install(NEW)
