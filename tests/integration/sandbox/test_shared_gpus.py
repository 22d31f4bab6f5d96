# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared GPUs with real controllers: time-slicing and MPS, from a ConfigMap to pods on one device."""

from __future__ import annotations

import re
import typing as t

import pytest
from integration.patience import until
from integration.sandbox import gpu_cluster
from integration.sandbox.gpu_cluster import NAMESPACE
from integration.sandbox.subscriptions import Data

from openshift_sandbox.client import Client
from openshift_sandbox.sandbox import Sandbox

SCENARIO = "plugin-keeps-config"
pytestmark = [
    pytest.mark.long("the sandbox itself: every other test uses its parts, these test them one by one"),
    pytest.mark.story("the configurations of one cluster, one after the other"),
]
SLICED = "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n"
ONE_EACH = (
    "version: v1\nsharing: {timeSlicing: {renameByDefault: true, failRequestsGreaterThanOne: true, "
    "resources: [{name: nvidia.com/gpu, replicas: 2}]}}\n"
)
MPS = "version: v1\nsharing: {mps: {resources: [{name: nvidia.com/gpu, replicas: 3}]}}\n"
CONTENT: t.Final = {"sliced": SLICED, "one-each": ONE_EACH, "mps": MPS}


@pytest.fixture(scope="module")
def client(sandbox: Sandbox) -> Client:
    client = sandbox.client("shared-gpus-test")
    gpu_cluster.install(client, *gpu_cluster.NFD)
    gpu_cluster.install(client, *gpu_cluster.GPU)
    gpu_cluster.discover(client)
    write(client, CONTENT)
    gpu_cluster.apply_policy(
        client, devicePlugin={"config": {"name": "sharing", "default": "sliced"}}, mig={"strategy": "single"}
    )
    until(lambda: gpu_cluster.reconciled(client), "ready/Reconciled")
    return client


def write(client: Client, content: dict[str, str]) -> None:
    metadata = {"name": "sharing", "namespace": NAMESPACE}
    client.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": content})


def choose(client: Client, node: str, key: str) -> None:
    client.patch(
        "v1", "nodes", node, None, {"metadata": {"labels": {"nvidia.com/device-plugin.config": key}}}
    )


def look(client: Client, node: str) -> Data:
    return client.get("v1", "nodes", node) or {}


def offers(client: Client, node: str, **expected: str) -> bool:
    """Return whether a node offers so many of each kind of GPU."""
    found = look(client, node)["status"]["allocatable"]
    return all(found.get(f"nvidia.com/{name.replace('_', '.')}") == count for name, count in expected.items())


def described(client: Client, node: str, **expected: str) -> bool:
    found = look(client, node)["metadata"]["labels"]
    return all(found.get(f"nvidia.com/{key.replace('__', '.')}") == value for key, value in expected.items())


def plugin_of(client: Client, node: str) -> Data:
    pods = gpu_cluster.pods_on(client, node)
    return next(pod for pod in pods if pod["metadata"]["name"].startswith("nvidia-device-plugin-daemonset"))


def test_time_slicing_multiplies_the_gpus_of_every_node(client: Client) -> None:
    until(lambda: offers(client, "t4-0", gpu="4") and offers(client, "a100-0", gpu="32"), "shared GPUs")
    until(
        lambda: described(client, "t4-1", gpu__product="Tesla-T4-SHARED", gpu__replicas="4", gpu__count="1"),
        "labels of shared GPUs",
    )


def test_pods_share_one_device(client: Client) -> None:
    names = [f"cuda-{index}" for index in range(4)]
    for name in names:
        gpu_cluster.run_cuda(client, name)
    ended = [gpu_cluster.ended(client, name) for name in names]
    assert {pod["status"]["phase"] for pod in ended} == {"Succeeded"}
    for pod in ended:
        assert re.search(r"UUID: GPU-", gpu_cluster.log(client, "default", pod["metadata"]["name"], "cuda"))


def test_the_label_of_a_node_chooses_another_configuration(client: Client) -> None:
    for node in ("t4-0", "t4-1"):
        choose(client, node, "one-each")
    until(lambda: offers(client, "t4-1", gpu="0", gpu_shared="2"), "the renamed resource")
    until(lambda: described(client, "t4-1", gpu__product="Tesla-T4", gpu__replicas="2"), "its labels")


def test_a_plugin_that_is_told_nothing_changes_when_its_pod_restarts(client: Client) -> None:
    assert offers(client, "t4-0", gpu="4")
    client.delete("v1", "pods", plugin_of(client, "t4-0")["metadata"]["name"], NAMESPACE)
    until(lambda: offers(client, "t4-0", gpu="0", gpu_shared="2"), "the renamed resource")


def test_a_request_for_two_shared_devices_is_not_admitted(client: Client) -> None:
    gpu_cluster.run_cuda(client, "two", "nvidia.com/gpu.shared", 2)
    pod = gpu_cluster.ended(client, "two")
    assert pod["status"]["reason"] == "UnexpectedAdmissionError"


def test_a_key_that_is_missing_leaves_the_plugin_running(client: Client) -> None:
    choose(client, "t4-1", "later")

    def crashing() -> bool:
        states = plugin_of(client, "t4-1")["status"]["containerStatuses"]
        waiting = {one["name"]: one["state"].get("waiting", {}).get("reason") for one in states}
        return waiting == {"nvidia-device-plugin": None, "config-manager": "CrashLoopBackOff"}

    until(crashing, "config-manager in CrashLoopBackOff")
    assert offers(client, "t4-1", gpu_shared="2")
    write(client, CONTENT | {"later": SLICED})
    until(lambda: offers(client, "t4-1", gpu="4", gpu_shared="0"), "the configuration that came later")


def test_mps_brings_its_daemon(client: Client) -> None:
    choose(client, "a100-0", "mps")
    until(lambda: described(client, "a100-0", mps__capable="true"), "the label of MPS")
    until(lambda: offers(client, "a100-0", gpu="24"), "GPUs shared with MPS")
    names = [pod["metadata"]["name"] for pod in gpu_cluster.pods_on(client, "a100-0")]
    assert any(name.startswith("nvidia-device-plugin-mps-control-daemon") for name in names)
    until(lambda: gpu_cluster.reconciled(client), "ready/Reconciled")


def test_without_a_configuration_every_gpu_is_whole_again(client: Client) -> None:
    gpu_cluster.apply_policy(client, devicePlugin={}, mig={"strategy": "single"})
    until(
        lambda: offers(client, "a100-0", gpu="8") and offers(client, "t4-0", gpu="1", gpu_shared="0"),
        "whole GPUs",
    )
    until(lambda: described(client, "a100-0", mps__capable="false", gpu__replicas="1"), "their labels")
