# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A virtual machine on each GPU node: KubeVirt's webhook refuses evictions until it has moved the machine."""

from __future__ import annotations

import typing as t

import pytest
from integration.platforms.pools import Pools

SCENARIO: t.Final = "kubevirt-eviction"
pytestmark = pytest.mark.long("few clusters have virtual machines with GPUs, and unit tests hold each part")


def test_a_drain_waits_until_the_virtual_machine_has_left(pools: Pools) -> None:
    mine = {
        "name": "t4",
        "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
        "replicas": 1,
    }
    pools.ensure(mine)
    (node,) = pools.nodes(mine)
    name = node["metadata"]["name"]
    drained = pools.playbook.module(
        "gpu_node",
        name=name,
        state="drained",
        on_busy="drain",
        delete_emptydir=True,
        force=True,
        wait_timeout=120,
    )
    assert not drained.failed, drained.result
    left = [
        pod
        for pod in pools.client.list("v1", "pods")
        if pod["spec"].get("nodeName") == name and pod["metadata"]["name"].startswith("virt-launcher")
    ]
    assert [one for one in left if "deletionTimestamp" not in one["metadata"]] == []
