# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge of a KMM Module: nodes, pods and numbers to verdicts."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock
from unit.stack.kmm.builders import CONFIG, ENTRY, KERNEL, LABEL, build, node, params, pod, pull, snapshot

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    judge as kmm_judge,
    manifest as kmm_manifest,
)


def judged(seen: KubeObject, after: float = 0.0, **more: t.Any) -> t.Any:
    clock = FakeClock()
    judge = kmm_judge.Judge(params(**more), clock)
    verdict = judge(seen)
    if after:
        clock.sleep(after)
        verdict = judge(seen)
    return verdict


def test_ready_is_ready() -> None:
    assert judged(snapshot()).is_ready
    told = kmm_judge.Judge(params(), FakeClock()).summarize(snapshot())
    assert (told["state"], told["reason"]) == ("ready", judged(snapshot()).reason)
    gone = kmm_judge.Judge(params(), FakeClock()).summarize(snapshot(modules=[]))
    assert (gone["state"], gone["reason"], gone["numbers"]) == ("pending", "Missing", {})
    assert (told["name"], list(told["numbers"])) == ("card", ["moduleLoader"])
    assert judged(snapshot(modules=[])).code == "GPU-DELETED"
    assert told["nodes"][0] == {
        "name": "n1",
        "pool": "cards",
        "expected": {"example.com/card": 2},
        "allocatable": {"example.com/card": 2},
        "kernel": KERNEL,
        "image": f"quay.io/acme/card:{KERNEL}",
        "version": "",
    }


OTHER = ENTRY | {"config": CONFIG | {"containerImage": "quay.io/acme/card:old"}}


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"nodes": []}, "GPU-NODES", "0 of 1"),
        ({"configs": []}, "GPU-KMM-PENDING", "waits for the image"),
        (
            {"configs": [{"metadata": {"name": "n1"}, "spec": {"modules": [ENTRY]}}]},
            "GPU-KMM-PENDING",
            "being loaded",
        ),
        (
            {
                "configs": [
                    {"metadata": {"name": "n1"}, "spec": {"modules": [OTHER]}, "status": {"modules": [OTHER]}}
                ]
            },
            "GPU-KMM-PENDING",
            "change",
        ),
        ({"nodes": [node(kernel="5.14.0-999.el9.x86_64")]}, "GPU-KMM-PENDING", "runs 5.14.0-999"),
        ({"nodes": [node(kernel="6.1.0")]}, "GPU-KMM-KERNEL", "no kernel mapping fits its kernel 6.1.0"),
        ({"pods": [pod({"kmm.node.kubernetes.io/worker-action": "Load"})]}, "GPU-KMM-LOAD", "loading: pod p"),
        (
            {
                "pods": [
                    pod({"kmm.node.kubernetes.io/worker-action": "Load"}, "ImagePullBackOff", waiting=True)
                ]
            },
            "GPU-IMAGE",
            "manifest unknown",
        ),
        (
            {"configs": [], "pulls": [pull()]},
            "GPU-IMAGE",
            "image: pod p is in ImagePullBackOff: manifest unknown",
        ),
        ({"configs": [], "pulls": [pull("one-time-pull")]}, "GPU-KMM-PENDING", "waits for the image"),
        (
            {"configs": [], "builds": [build("BuildImage", "Failed")]},
            "GPU-KMM-BUILD",
            "build: Build card-build is Failed: Dockerfile",
        ),
        (
            {"configs": [], "builds": [build("SignImage", "Failed")]},
            "GPU-KMM-SIGN",
            "signing: Build card-build is Failed",
        ),
        (
            {"configs": [], "builds": [build("SignImage", "Running")]},
            "GPU-KMM-PENDING",
            r"(signing card-build is Running)",
        ),
        (
            {
                "configs": [],
                "pods": [
                    pod(
                        {
                            "kmm.node.kubernetes.io/resource-type": "BuildImage",
                            "kmm.node.kubernetes.io/target-kernel": LABEL,
                        },
                        node_name=None,
                    )
                ],
            },
            "GPU-KMM-BUILD",
            "build: pod p",
        ),
        ({"pods": [pod({})]}, "GPU-KMM-PLUGIN", "device plugin: pod p"),
        ({"nodes": [node(devices="1")]}, "GPU-ALLOC", "example.com/card 1 of 2"),
    ],
)
def test_each_lack_has_its_code(change: KubeObject, code: str, said: str) -> None:
    found = judged(snapshot(**change))
    assert (found.code, found.is_ready) == (code, False)
    assert said in found.message


def test_a_rebooted_node_is_not_loaded() -> None:
    seen = snapshot()
    seen["nodes"][0]["status"]["nodeInfo"]["bootID"] = "b2"
    assert "rebooted" in judged(seen).message


def test_a_taint_makes_kmm_leave_the_node_out() -> None:
    seen = snapshot()
    seen["nodes"][0]["spec"]["taints"] = [{"key": "team", "value": "a", "effect": "NoSchedule"}]
    found = judged(seen)
    assert (found.verdict, found.code) == ("failed", "GPU-TAINT")


def test_a_node_of_another_version_waits_for_its_turn() -> None:
    seen = snapshot()
    seen["modules"][0]["spec"]["moduleLoader"]["container"]["version"] = "2"
    assert judged(seen).code == "GPU-KMM-VERSION"
    seen["nodes"][0]["metadata"]["labels"]["kmm.node.kubernetes.io/version-module.openshift-kmm.card"] = "1"
    assert "has version 1 in its label" in judged(seen).message


def test_a_pod_that_stays_broken_is_final_and_missing_devices_only_at_the_end() -> None:
    broken = snapshot(pods=[pod({"kmm.node.kubernetes.io/worker-action": "Load"})])
    assert judged(broken, after=11.0).verdict == "failed"
    assert judged(snapshot(nodes=[node(devices="0")]), after=11.0).verdict == "failed"
    assert judged(snapshot(nodes=[node(devices="0")], configs=[]), after=11.0).verdict == "pending"


@pytest.mark.parametrize(
    ("status", "is_ready"),
    [
        ({}, False),
        ({"moduleLoader": {"nodesMatchingSelectorNumber": 1, "availableNumber": 1}}, False),
        ({"moduleLoader": {"nodesMatchingSelectorNumber": 1, "desiredNumber": 1}}, False),
        ({"moduleLoader": {"nodesMatchingSelectorNumber": 0}}, True),
        (
            {"moduleLoader": {"nodesMatchingSelectorNumber": 2, "desiredNumber": 2, "availableNumber": 1}},
            False,
        ),
        (
            {"moduleLoader": {"nodesMatchingSelectorNumber": 2, "desiredNumber": 0, "availableNumber": 0}},
            False,
        ),
        (
            {"moduleLoader": {"nodesMatchingSelectorNumber": 2, "desiredNumber": 2, "availableNumber": 2}},
            True,
        ),
    ],
)
def test_without_pools_the_numbers_decide(status: KubeObject, is_ready: bool) -> None:
    module = kmm_manifest.build(params()) | {"status": status}
    for number in (1, 0):
        configs = snapshot()["configs"][:number]
        found = judged(snapshot(modules=[module], configs=configs), pools=[])
        assert (found.is_ready, found.reason) == (is_ready, "Loaded" if is_ready else "Numbers")


def test_a_single_node_is_judged_alone() -> None:
    judge = kmm_judge.Judge(params(pools=[]), FakeClock(), only="n1")
    assert judge(snapshot(modules=[kmm_manifest.build(params())])).is_ready, "numbers are of all nodes"
    assert judge(snapshot(configs=[])).code == "GPU-KMM-PENDING"
    other = kmm_judge.Judge(params(), FakeClock(), only="n2")
    assert other(snapshot(configs=[])).is_ready
