# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Result of a KMM Module: the cause is named, what comes after it waits."""

from __future__ import annotations

import typing as t

import pytest
from unit.stack.kmm.builders import DRA, ENTRY, build, node, params, pod, published, pull, snapshot

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    judge as kmm_judge,
    manifest as kmm_manifest,
)

PLUGIN = {"device_plugin": {"image": "i"}}


MAKING = {
    "build": {"dockerfile": "FROM x"},
    "sign": {"key_secret": "k", "cert_secret": "c", "files_to_sign": ["/opt/a.ko"]},
}


OF_NODES = ["selector", "image", "build", "signing", "driver", "device plugin", "allocatable"]


ROLE = {"kmm.node.kubernetes.io/role": "device-plugin"}


READY: KubeObject = {"metadata": {"name": "q", "namespace": "s", "labels": ROLE}, "spec": {"nodeName": "n1"}}


READY |= {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def staged(asked: KubeObject, failed: str = "", **more: t.Any) -> KubeObject:
    given = params(kmm=asked)
    numbers = {"nodesMatchingSelectorNumber": 1, "desiredNumber": 1, "availableNumber": 1}
    module = kmm_manifest.build(given) | {
        "status": {"moduleLoader": numbers, "devicePlugin": numbers, "dra": numbers}
    }
    seen = snapshot(**{"modules": [module], "pods": [READY]} | more)
    return kmm_judge.summarize_stages(given, seen, failed)


def verdicts(found: KubeObject) -> dict[str, str]:
    return {one["name"]: one["verdict"] for one in found["stages"] if one["verdict"] != "ready"}


def test_a_module_that_is_ready() -> None:
    found = staged(PLUGIN)
    assert [one["name"] for one in found["stages"]] == ["catalogue", "install plan", "csv", "crd", *OF_NODES]
    assert (verdicts(found), found["pools"][0]["ready"]) == ({}, True)
    assert found["table"] == [f"ready: catalogue, install plan, csv, crd, {', '.join(OF_NODES)}"]


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"nodes": []}, "selector"),
        ({"nodes": [node(kernel="6.1")]}, "selector"),
        ({"configs": [], "pulls": [pull()]}, "image"),
        ({"configs": []}, "image"),
        ({"configs": [], "builds": [build("BuildImage", "Running")]}, "build"),
        ({"configs": [], "builds": [build("BuildImage", "Failed")]}, "build"),
        ({"configs": [], "builds": [build("SignImage", "Failed")]}, "signing"),
        ({"configs": [{"metadata": {"name": "n1"}, "spec": {"modules": [ENTRY]}}]}, "driver"),
        (
            {
                "configs": [{"metadata": {"name": "n1"}, "spec": {"modules": [ENTRY]}}],
                "pods": [pod({"kmm.node.kubernetes.io/worker-action": "Load"})],
            },
            "driver",
        ),
        ({"pods": [pod(ROLE)], "nodes": [node(devices="0")]}, "device plugin"),
        ({"nodes": [node(devices="1")]}, "allocatable"),
    ],
)
def test_the_cause_is_named_and_the_rest_waits(change: KubeObject, cause: str) -> None:
    found = staged(PLUGIN | MAKING, **change)
    after = OF_NODES[OF_NODES.index(cause) + 1 :]
    own = "failed" if "kernel" in found["pools"][0]["message"] and cause == "selector" else "pending"
    assert verdicts(found) == {cause: own} | dict.fromkeys(after, "waiting")
    assert {one["consequence_of"] for one in found["stages"] if one["verdict"] == "waiting"} <= {cause}
    assert found["pools"][0]["ready"] is False
    assert any(line.startswith(f"{cause} {own.upper()}") for line in found["table"])


def test_what_ended_the_wait_is_failed() -> None:
    few = [node(devices="1")]
    assert verdicts(staged(PLUGIN, "GPU-ALLOC", nodes=few)) == {"allocatable": "failed"}
    assert verdicts(staged(PLUGIN, "GPU-KMM-LOAD", nodes=few)) == {"allocatable": "pending"}


def test_a_loaded_module_whose_plugin_has_no_pod_waits_for_it_alone() -> None:
    assert verdicts(staged(PLUGIN, pods=[])) == {"device plugin": "pending"}


def test_a_node_that_is_not_ready_is_no_trouble_of_the_module() -> None:
    late = node()
    late["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    assert verdicts(staged(PLUGIN, nodes=[late])) == {"selector": "pending"}


def test_a_dra_driver_takes_the_plugins_place() -> None:
    found = staged(DRA, slices=[published(0)])
    assert "dra driver" in [one["name"] for one in found["stages"]]
    assert "device plugin" not in [one["name"] for one in found["stages"]]
    assert "allocatable" in verdicts(found)
    none = {one["name"]: one["evidence"] for one in staged({})["stages"]}
    assert (none["device plugin"], "dra driver" in none) == (["not requested"], False)


def test_the_numbers_of_a_dra_driver_count_too() -> None:
    module = kmm_manifest.build(params(kmm=DRA)) | {"status": {"moduleLoader": {}, "devicePlugin": {}}}
    assert kmm_judge.judge_numbers(module).details == ("dra: 0 of 0 available, matching nodes: 0",)


def test_without_the_module_everything_waits() -> None:
    found = kmm_judge.summarize_stages(params(), snapshot(modules=[]))
    assert verdicts(found) == {"crd": "pending"} | dict.fromkeys(OF_NODES, "waiting")
    assert verdicts(kmm_judge.summarize_stages(params(), {})) == {"crd": "pending"}, "nothing was read yet"
