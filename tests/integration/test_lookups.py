# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lookups in a play: the offline catalogue, and the GPU nodes of the live cluster."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook

NAME: t.Final = "lookup-gpu-0"


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
