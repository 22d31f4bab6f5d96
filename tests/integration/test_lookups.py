# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lookups in a play, and the inventory: the offline catalogue, and the GPU nodes of the live cluster."""

from __future__ import annotations

import json
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
from cluster import Cluster
from integration.playbook import ROOT, Playbook

NAME: t.Final = "lookup-gpu-0"
OFFERING: t.Final = "lookup-free-0"


@pytest.fixture
def gpu_node(cluster: Cluster) -> t.Iterator[None]:
    """Create a node that another tool made: only its label says that it has a GPU."""
    labels = {
        "nvidia.com/gpu.present": "true",
        "node.kubernetes.io/instance-type": "g4dn.xlarge",
        "team": "lookup",
    }
    cluster.client.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": NAME, "labels": labels},
            "spec": {"unschedulable": True},
        }
    )
    yield
    cluster.client.delete("v1", "nodes", NAME)


def looked_up(playbook: Playbook, expression: str) -> t.Any:
    run = playbook.tasks({"ansible.builtin.debug": {"msg": "{{ " + expression + " }}"}})
    assert run.rc == 0, run.output
    return run.tasks[-1]["msg"]


@pytest.mark.usefixtures("gpu_node")
def test_gpu_nodes_with_a_query(playbook: Playbook, cluster: Cluster) -> None:
    call = (
        "query('accelerators.openshift.gpu_nodes', label_selector='team=lookup', "
        f"kubeconfig='{cluster.kubeconfig}'"
    )
    assert looked_up(playbook, call + ", query='[].[name, instance_type, schedulable]')") == [
        [NAME, "g4dn.xlarge", False]
    ]
    assert looked_up(playbook, call + ", query='[?schedulable].name')") == []


def test_a_wrong_query_names_itself(playbook: Playbook, cluster: Cluster) -> None:
    run = playbook.tasks(
        {
            "ansible.builtin.debug": {
                "msg": "{{ query('accelerators.openshift.gpu_nodes', "
                f"kubeconfig='{cluster.kubeconfig}', query='[') }}}}"
            }
        }
    )
    assert run.rc != 0
    assert "INPUT-JMESPATH" in run.output


PLAIN: t.Final = "{{ 6 * 7 }}"
UNSAFE: t.Final = "__ansible_unsafe"


@pytest.fixture
def offering_node(cluster: Cluster) -> t.Iterator[None]:
    """Create a node with two GPUs, and a pod that holds one of them."""
    labels = {
        "accelerators.openshift/pool": "lookup-free",
        "nvidia.com/gpu.product": "Tesla-T4",
        "nvidia.com/cuda.driver-version.full": "580.95.05",
        "topology.kubernetes.io/zone": "zone-a",
        "node.kubernetes.io/instance-type": "lookup.large",
    }
    metadata = {"name": OFFERING, "labels": labels, "annotations": {"note": PLAIN}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
    status = {
        "capacity": {"nvidia.com/gpu": "2"},
        "allocatable": {"nvidia.com/gpu": "2"},
        "conditions": [{"type": "Ready", "status": "True", "reason": "x", "message": "x"}],
        "addresses": [{"type": "InternalIP", "address": "10.9.8.7"}],
    }
    cluster.client.create(node)
    cluster.client.apply_status({**node, "metadata": {"name": OFFERING}, "status": status})
    limits = {"nvidia.com/gpu": "1"}
    containers = [
        {"name": "c", "image": "example.com/none", "resources": {"limits": limits, "requests": limits}}
    ]
    cluster.client.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": OFFERING, "namespace": "default"},
            "spec": {"nodeName": OFFERING, "containers": containers},
        }
    )
    yield
    cluster.client.delete("v1", "pods", OFFERING, "default")
    cluster.client.delete("v1", "nodes", OFFERING)


@pytest.mark.usefixtures("offering_node")
def test_what_is_free_and_who_is_a_host(playbook: Playbook, cluster: Cluster, tmp_path: Path) -> None:
    lookup = "query('accelerators.openshift.gpu_free', "
    more = f"kubeconfig='{cluster.kubeconfig}', pool='lookup-free'"
    calls = f"{more})", f"{more}, by='pool')", f"'default', {more}, by='namespace')"
    found = looked_up(playbook, f"[{', '.join(lookup + call for call in calls)}]")
    ((node,), (pool,), (namespace,)) = found
    one, two = {"nvidia.com/gpu": 1}, {"nvidia.com/gpu": 2}
    assert [(row["allocatable"], row["requested"], row["free"]) for row in (node, pool)] == [
        (two, one, one)
    ] * 2
    assert (namespace["name"], namespace["requested"], namespace["free"]) == ("default", one, one)

    source = tmp_path / "gpu_nodes.yml"
    source.write_text(
        (ROOT / "examples/gpu_nodes.yml").read_text()
        + f"kubeconfig: {cluster.kubeconfig}\npool: lookup-free\nannotations: true\nstrict: true\n"
        + f"cache: true\ncache_plugin: ansible.builtin.jsonfile\ncache_connection: {tmp_path / 'cache'}\n"
    )
    first, second = inventory(source), inventory(source)
    assert first == second
    assert len(list((tmp_path / "cache").iterdir())) == 1
    host = first["_meta"]["hostvars"][OFFERING]
    assert (host["node_free"], host["node_health"]) == (one, "healthy")
    # The kubelet writes the address, when it comes to it.
    assert host["ansible_host"] in ("10.9.8.7", "127.0.0.1")
    assert host["node_annotations"]["note"] == PLAIN
    groups = {name for name, group in first.items() if OFFERING in group.get("hosts", [])}
    assert groups == {
        "gpu_nodes",
        "gpu_pool_lookup_free",
        "gpu_model_Tesla_T4",
        "gpu_driver_580_95_05",
        "gpu_health_healthy",
        "gpu_zone_zone_a",
        "type_lookup_large",
    }


def inventory(source: Path) -> dict[str, t.Any]:
    """Return what ansible-inventory lists; it marks text that is no template."""
    command = [str(Path(sys.executable).with_name("ansible-inventory")), "-i", str(source), "--list"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Failed to parse" not in done.stderr, done.stderr
    marked = json.loads(done.stdout)["_meta"]["hostvars"][OFFERING]["node_annotations"]["note"]
    assert marked == {UNSAFE: PLAIN}
    found = json.loads(done.stdout, object_hook=lambda obj: obj.get(UNSAFE, obj))
    return t.cast(dict[str, t.Any], found)
