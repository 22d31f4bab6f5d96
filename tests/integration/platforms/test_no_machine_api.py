# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters whose machines are made elsewhere: what is told instead, and pools of the nodes that are there."""

from __future__ import annotations

import os
import typing as t

import pytest
import yaml
from cluster import running
from integration.platforms.pools import Data, Pools
from integration.playbook import ROOT, Playbook
from integration.wire import Audit

EXISTING: t.Final[Data] = yaml.safe_load((ROOT / "examples/existing-nodes.yml").read_text())["gpu_pools"][0]
TOOL: t.Final = "hcp create nodepool"


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Pools]:
    if os.environ.get("KUBECONFIG"):
        pytest.skip("needs a cluster of its own: scenario hosted")
    with running("hosted") as cluster:
        sandbox, playbook = cluster.needs_sandbox(), Playbook(tmp_path_factory.mktemp("hosted"), cluster.kubeconfig)
        yield Pools(cluster.client, sandbox, playbook, Audit(sandbox.directory / "audit.log", cluster.client))


def test_what_to_use_instead(hosted: Pools) -> None:
    refused = hosted.attempt({"name": "gpu", "replicas": 1, "candidates": [{"instance_type": "g6.4xlarge", "zones": ["us-east-2a"]}]})
    assert (refused["code"], hosted.audit.writes(refused)) == ("MACH-NO-API", [])
    assert "its control plane is hosted elsewhere" in refused["msg"]
    assert TOOL in refused["remedy"]
    assert "existing.node_selector" in refused["remedy"]


def test_existing_nodes_are_a_pool_from_end_to_end(hosted: Pools) -> None:
    names = [node["metadata"]["name"] for node in hosted.client.list("v1", "nodes", labels="hypershift.openshift.io/nodePool=demo-gpu")]
    before = {name: marks(hosted, name) for name in names}
    run = hosted.playbook.playbook("enable_gpus", gpu_pools=[EXISTING])
    assert run.rc == 0, run.output
    assert {name: marks(hosted, name) for name in names} == before
    again = hosted.playbook.playbook("enable_gpus", gpu_pools=[EXISTING])
    assert (again.rc, again.changed, hosted.audit.writes(*again.tasks)) == (0, 0, [])


def marks(pools: Pools, name: str) -> tuple[list[str], list[Data]]:
    """Labels that are nobody's but the nodes' makers' or ours, and taints."""
    node = pools.client.get("v1", "nodes", name)
    return sorted(key for key in node["metadata"]["labels"] if key.startswith(("accelerators.openshift", "cluster-api", "hypershift"))), node["spec"].get(
        "taints", []
    )
