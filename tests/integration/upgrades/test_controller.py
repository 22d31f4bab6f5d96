# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The upgrade controller of the sandbox with real programs: the ClusterPolicy and labels ask it."""

from __future__ import annotations

import typing as t

import pytest
from integration.patience import until
from integration.sandbox.gpu_cluster import log
from integration.stack.driver_gaps import NAMESPACE, NEW, OLD, POLICIES, driver
from integration.upgrades.upgrades import DRIVERS, NODES, POLICY, STATE, Upgrades

SCENARIO: t.Final = "gpu-nodes"
pytestmark = [
    pytest.mark.story("one stack, whose driver changes again and again"),
    pytest.mark.long("the sandbox itself; upgrades/test_canary.py needs its controller in every run"),
]
Data = dict[str, t.Any]


def ask(upgrades: Upgrades, version: str, **rules: t.Any) -> None:
    """Write a driver and rules of its upgrade into the ClusterPolicy."""
    body = {"spec": {"driver": {**driver(version), "upgradePolicy": rules}}}
    upgrades.client.patch(*POLICIES, POLICY, None, body)


def mark(upgrades: Upgrades, node: str, state: str) -> None:
    upgrades.client.patch("v1", "nodes", node, None, {"metadata": {"labels": {STATE: state}}})


def request(upgrades: Upgrades, node: str) -> None:
    """Ask the controller for the whole upgrade of a node."""
    body = {"metadata": {"annotations": {"nvidia.com/gpu-driver-upgrade-requested": "true"}}}
    upgrades.client.patch("v1", "nodes", node, None, body)


def runs(upgrades: Upgrades, version: str) -> bool:
    """Return whether every node has ended its upgrade to a driver."""
    is_done = set(upgrades.states().values()) == {"upgrade-done"}
    return is_done and upgrades.versions() == dict.fromkeys(NODES, version) and not upgrades.cordoned()


def pod_of(upgrades: Upgrades, node: str) -> Data | None:
    found = upgrades.client.list("v1", "pods", NAMESPACE, labels=DRIVERS)
    alive = [pod for pod in found if not pod["metadata"].get("deletionTimestamp")]
    return next((pod for pod in alive if pod["spec"].get("nodeName") == node), None)


def waits(pod: Data | None) -> str:
    """Return why the first init container of a pod waits."""
    found = ((pod or {}).get("status") or {}).get("initContainerStatuses") or [{}]
    return str(((found[0].get("state") or {}).get("waiting") or {}).get("reason", ""))


def test_a_driver_in_use_crashes_in_its_init_container_until_the_node_is_emptied(installed: Upgrades) -> None:
    with installed.trains("t4-0") as uid:
        with installed.staged("driver-restarts-in-use"):
            ask(installed, NEW)
            pod = until(
                lambda: (
                    (one := pod_of(installed, "t4-0"))
                    and waits(one) == "CrashLoopBackOff"
                    and one["metadata"]
                ),
                "Init:CrashLoopBackOff",
            )
            assert installed.states() == dict.fromkeys(NODES, "upgrade-done")
            text = log(installed.client, NAMESPACE, pod["name"], "k8s-driver-manager")
            assert "Could not unload NVIDIA driver kernel modules, driver is in use" in text
            assert [one["metadata"]["uid"] for one in installed.pods()] == [uid]
        # By the label alone the controller would only restart the driver pod, and end no pod.
        request(installed, "t4-0")
        until(lambda: [one for one in installed.pods() if one["metadata"]["uid"] != uid], "another pod")
        until(lambda: runs(installed, NEW), "the controller empties the node, and the driver starts")


def test_a_failed_validation_becomes_upgrade_done_by_itself(installed: Upgrades) -> None:
    ask(installed, OLD)
    until(lambda: runs(installed, OLD), "the old driver")
    seen: list[str] = []
    with installed.staged("driver-upgrade-heals"):
        ask(installed, NEW, maxParallelUpgrades=0, maxUnavailable="100%")
        for state in installed.followed("a100-0"):
            seen.append(state)
            if state == "upgrade-done" and "upgrade-failed" in seen:
                break
    assert seen[-3:] in (
        ["upgrade-failed", "uncordon-required", "upgrade-done"],
        ["validation-required", "upgrade-failed", "upgrade-done"],
    )
    until(lambda: runs(installed, NEW), "the new driver")


def test_a_node_waits_for_the_pods_of_a_selector(installed: Upgrades) -> None:
    with installed.trains("t4-1") as uid:
        ask(installed, OLD, waitForCompletion={"podSelector": "app=training"})
        until(
            lambda: installed.states()["t4-1"] == "wait-for-jobs-required", "a node that waits", seconds=120
        )
        assert [one["metadata"]["uid"] for one in installed.pods()] == [uid]
    until(lambda: runs(installed, OLD), "the old driver", seconds=120)


def test_a_budget_fails_the_upgrade_and_the_node_stays_cordoned(installed: Upgrades) -> None:
    with installed.staged("budget-keeps-gpus"):
        until(lambda: installed.client.list("v1", "pods", "another-team"), "a pod that a budget keeps")
        ask(installed, NEW, waitForCompletion=None, podDeletion={"timeoutSeconds": 10})
        until(lambda: installed.states()["t4-0"] == "upgrade-failed", "upgrade-failed", seconds=120)
        assert "t4-0" in installed.cordoned()
        assert installed.versions()["t4-0"] == OLD
    installed.client.delete("v1", "namespaces", "another-team")
    until(lambda: not installed.client.list("v1", "pods", "another-team"), "the pod is gone")
    mark(installed, "t4-0", "upgrade-required")
    until(lambda: runs(installed, NEW), "the new driver", seconds=120)
