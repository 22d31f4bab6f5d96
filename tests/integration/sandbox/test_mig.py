# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The MIG manager with real controllers: one layout after the other, and a mode that needs a reboot."""

from __future__ import annotations

import re

import pytest
from integration.patience import until
from integration.sandbox import gpu_cluster
from integration.sandbox.subscriptions import Data

from openshift_sandbox import faults
from openshift_sandbox.client import Client
from openshift_sandbox.sandbox import Sandbox

SCENARIO = "mig-mode-pending"
NODE = "a100-0"
pytestmark = [
    pytest.mark.long("the sandbox itself: every other test uses its parts, these test them one by one"),
    pytest.mark.story("the layouts of one node, one after the other"),
]


@pytest.fixture(scope="module")
def client(sandbox: Sandbox) -> Client:
    client = sandbox.client("mig-test")
    gpu_cluster.install(client, *gpu_cluster.NFD)
    gpu_cluster.install(client, *gpu_cluster.GPU)
    gpu_cluster.discover(client)
    gpu_cluster.apply_policy(
        client,
        mig={"strategy": "mixed"},
        migManager={"env": [{"name": "WITH_REBOOT", "value": "true"}], "config": {"default": "all-disabled"}},
    )
    until(lambda: gpu_cluster.reconciled(client), "ready/Reconciled")
    return client


def node(client: Client) -> Data:
    return client.get("v1", "nodes", NODE) or {}


def label(client: Client, value: str) -> None:
    client.patch("v1", "nodes", NODE, None, {"metadata": {"labels": {"nvidia.com/mig.config": value}}})


def state(client: Client) -> str | None:
    found: str | None = node(client)["metadata"]["labels"].get("nvidia.com/mig.config.state")
    return found


def offers(client: Client, **expected: str) -> bool:
    found = node(client)["status"]["allocatable"]
    names = {key: f"nvidia.com/{key.replace('__', '.').replace('_', '-')}" for key in expected}
    return all(found.get(names[key]) == count for key, count in expected.items())


def boot(client: Client) -> str:
    return str(node(client)["status"]["nodeInfo"]["bootID"])


def test_a_node_without_a_label_stays_whole(client: Client) -> None:
    until(lambda: state(client) == "success", "the state of all-disabled")
    until(lambda: offers(client, gpu="8"), "whole GPUs")
    assert node(client)["metadata"]["labels"]["nvidia.com/mig.config"] == "all-disabled"
    shown = client.get("v1", "configmaps", f"{NODE}-mig-config", gpu_cluster.NAMESPACE) or {}
    assert "all-1g.5gb" in shown["data"]["config.yaml"]


def test_a_mode_that_waits_for_a_reboot_gets_one(client: Client) -> None:
    before = boot(client)
    label(client, "all-balanced")
    until(lambda: state(client) == "success" and boot(client) != before, "the layout after the reboot")
    until(lambda: offers(client, gpu="0", mig_1g__5gb="16", mig_2g__10gb="8", mig_3g__20gb="8"), "its parts")
    labels = node(client)["metadata"]["labels"]
    assert labels["nvidia.com/gpu.deploy.device-plugin"] == "true"
    key = "nvidia.com/mig-3g.20gb.count"
    until(lambda: node(client)["metadata"]["labels"].get(key) == "8", "labels of the parts")


def test_a_pod_gets_a_part(client: Client) -> None:
    gpu_cluster.run_cuda(client, "part", "nvidia.com/mig-3g.20gb")
    assert gpu_cluster.ended(client, "part")["status"]["phase"] == "Succeeded"
    text = gpu_cluster.log(client, "default", "part", "cuda")
    assert re.search(r"MIG 3g\.20gb +Device +0: \(UUID: MIG-", text)


def test_another_layout_follows_and_an_unknown_one_fails(client: Client, sandbox: Sandbox) -> None:
    faults.clear(sandbox, None, {})
    label(client, "all-3g.20gb")
    until(lambda: state(client) == "success" and offers(client, mig_3g__20gb="16", mig_1g__5gb="0"), "halves")
    label(client, "all-9g.99gb")
    until(lambda: state(client) == "failed", "a layout that does not exist")
    until(lambda: offers(client, mig_3g__20gb="16"), "the layout before")


def test_the_strategy_single_offers_each_part_as_a_gpu(client: Client) -> None:
    gpu_cluster.apply_policy(client, mig={"strategy": "single"})
    until(lambda: offers(client, gpu="16", mig_3g__20gb="0"), "parts as GPUs")
    key = "nvidia.com/gpu.product"
    product = "NVIDIA-A100-SXM4-40GB-MIG-3g.20gb"
    until(lambda: node(client)["metadata"]["labels"].get(key) == product, "the label of the product")
