# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters without the Machine API: what the messages recommend, and pools of existing nodes."""

from __future__ import annotations

import contextlib
import typing as t
from pathlib import Path

import pytest
import yaml
from cluster import must_get, own
from integration.platforms.pools import Data, Pools
from integration.playbook import ROOT

from openshift_sandbox import scenario
from openshift_sandbox.seed import installer

STARTS_CLUSTERS: t.Final = True

EXISTING: t.Final[Data] = yaml.safe_load((ROOT / "examples/existing-nodes.yml").read_text())["gpu_pools"][0]
TOOL: t.Final = "hcp create nodepool"
POOL: t.Final[Data] = {
    "name": "l4",
    "candidates": [{"instance_type": "g6.4xlarge", "zones": ["us-east-2a"]}],
    "replicas": 2,
    "labels": {"team": "a"},
    "taints": [{"key": "nvidia.com/gpu", "value": "l4", "effect": "NoSchedule"}],
    "disk": {"size_gib": 200},
}


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Pools]:
    with on("hosted", tmp_path_factory) as pools:
        yield pools


@contextlib.contextmanager
def on(scenario: str, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Pools]:
    with own(scenario) as cluster:
        yield Pools.on(cluster, tmp_path_factory.mktemp(scenario))


def test_what_to_use_instead(hosted: Pools) -> None:
    refused = hosted.attempt(
        {
            "name": "gpu",
            "replicas": 1,
            "candidates": [{"instance_type": "g6.4xlarge", "zones": ["us-east-2a"]}],
        }
    )
    assert (refused["code"], hosted.audit.writes(refused)) == ("MACH-NO-API", [])
    assert "its control plane is hosted elsewhere" in refused["msg"]
    assert TOOL in refused["remedy"]
    assert "existing.node_selector" in refused["remedy"]


def test_the_pool_that_a_node_pool_makes_works_with_the_same_file(hosted: Pools, tmp_path: Path) -> None:
    """Refused with the NodePool, also as a file; its nodes join; then everything works, and works again."""
    refused = hosted.playbook.playbook("render", gpu_pools=[POOL], gpu_render_dir=str(tmp_path / "git"))
    assert (refused.failure["code"], hosted.audit.writes(*refused.tasks)) == ("MACH-NO-API", [])
    (made,) = refused.failure["machine_pools"]
    assert made["command"] == "oc apply -f hub/node-pool-l4.yaml"
    (node_pool,) = yaml.safe_load_all((tmp_path / "git/hub/node-pool-l4.yaml").read_text())
    assert [node_pool] == made["manifests"]
    names = join(hosted, node_pool)
    run = hosted.playbook.playbook("enable_gpus", gpu_pools=[POOL])
    assert run.rc == 0, run.output
    unchanged = (["hypershift.openshift.io/nodePool"], POOL["taints"])
    assert [marks(hosted, name) for name in names] == [unchanged] * 2
    for playbook in ("enable_gpus", "validate", "diagnose", "render"):
        again = hosted.playbook.playbook(playbook, gpu_pools=[POOL], gpu_render_dir=str(tmp_path / "git"))
        assert again.rc == 0, again.output
        assert hosted.audit.writes(*again.tasks) == []
    assert next(yaml.safe_load_all((tmp_path / "git/hub/node-pool-l4.yaml").read_text())) == node_pool
    assert "NodePool" not in (tmp_path / "git/README.md").read_text()


def join(pools: Pools, node_pool: Data) -> list[str]:
    """Make the nodes of a NodePool, as its controllers on the other cluster do. Return their names."""
    spec, cluster = node_pool["spec"], scenario.load("hosted").cluster
    nodes = [
        {
            "name": f"ip-10-0-0-{number}.us-east-2.compute.internal",
            "zone": "us-east-2a",
            "instance_type": spec["platform"]["aws"]["instanceType"],
            "labels": {**spec["nodeLabels"], "hypershift.openshift.io/nodePool": "demo-l4"},
        }
        for number in range(210, 210 + spec["replicas"])
    ]
    for node in installer.other_nodes({**cluster, "nodes": nodes}):
        pools.client.create({**node, "spec": {**node["spec"], "taints": spec["taints"]}})
    return [node["name"] for node in nodes]


def test_existing_nodes_are_a_pool_from_end_to_end(hosted: Pools) -> None:
    from_end_to_end(hosted, EXISTING)


def from_end_to_end(pools: Pools, pool: Data) -> None:
    """Run enable_gpus.yml twice: only the operators change the nodes; the second run writes nothing."""
    selector = ",".join(f"{key}={value}" for key, value in pool["existing"]["node_selector"].items())
    names = [node["metadata"]["name"] for node in pools.client.list("v1", "nodes", labels=selector)]
    before = {name: marks(pools, name) for name in names}
    run = pools.playbook.playbook("enable_gpus", gpu_pools=[pool])
    assert run.rc == 0, run.output
    assert {name: marks(pools, name) for name in names} == before
    again = pools.playbook.playbook("enable_gpus", gpu_pools=[pool])
    assert (again.rc, again.changed, pools.audit.writes(*again.tasks)) == (0, 0, [])


def marks(pools: Pools, name: str) -> tuple[list[str], list[Data]]:
    """Return the label keys that the collection or the nodes' makers would set, and the taints."""
    node = must_get(pools.client, "v1", "nodes", name)
    return sorted(
        key
        for key in node["metadata"]["labels"]
        if key.startswith(("accelerators.openshift", "cluster-api", "hypershift"))
    ), node["spec"].get("taints", [])
