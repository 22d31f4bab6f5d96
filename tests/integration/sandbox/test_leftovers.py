# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a test file leaves on a shared sandbox is named and removed, and nothing else."""

from __future__ import annotations

import typing as t

from cluster import Cluster
from leftovers import Left, Leftovers

SETS: t.Final = ("machine.openshift.io/v1beta1", "machinesets", "openshift-machine-api")
CLASS: t.Final = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 7}


def priority_class(name: str) -> dict[str, t.Any]:
    return {**CLASS, "metadata": {"name": name}}


def test_what_was_there_before_is_no_leftover(cluster: Cluster) -> None:
    sandbox = cluster.needs_sandbox()
    cluster.client.create(priority_class("it-before"))
    assert Leftovers(sandbox).sweep(grace=0) == []
    assert cluster.client.delete("scheduling.k8s.io/v1", "priorityclasses", "it-before")


def test_objects_and_marks_of_nodes_are_named_and_removed(cluster: Cluster) -> None:
    sandbox, client = cluster.needs_sandbox(), cluster.client
    node = client.list("v1", "nodes", labels="node-role.kubernetes.io/worker")[0]["metadata"]["name"]
    found = Leftovers(sandbox)
    client.create(priority_class("it-left"))
    taints = [{"key": "example.com/left", "effect": "PreferNoSchedule"}]
    body = {"metadata": {"labels": {"example.com/team": "a"}}, "spec": {"unschedulable": True}}
    client.patch("v1", "nodes", node, None, body)
    client.patch("v1", "nodes", node, None, {"spec": {"taints": taints}})
    quota = {"metadata": {"name": "it-left", "namespace": "default"}, "spec": {"hard": {"pods": "1k"}}}
    client.create({"apiVersion": "v1", "kind": "ResourceQuota", **quota})
    client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "it-left"}})
    for name in ("gpu-validation", "it-left"):
        client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    expected = [
        Left("cordon", node, ""),
        Left("label", node, "example.com/team"),
        Left("namespaces", "", "gpu-validation"),
        Left("nodes", "", "it-left"),
        Left("priorityclasses", "", "it-left"),
        Left("resourcequotas", "default", "it-left"),
        Left("taint", node, "example.com/left"),
    ]
    assert found.sweep(grace=0) == expected
    assert [str(one) for one in expected[:5]] == [
        f"cordon {node}",
        f"label {node}/example.com/team",
        "namespaces gpu-validation",
        "nodes it-left",
        "priorityclasses it-left",
    ]
    assert found.names() == []
    assert client.delete("v1", "namespaces", "it-left"), "a namespace of a test stays"


def test_a_machine_set_goes_with_its_machines_and_nodes(cluster: Cluster) -> None:
    sandbox, client = cluster.needs_sandbox(), cluster.client
    found, nodes = Leftovers(sandbox), len(client.list("v1", "nodes"))
    copied = client.list(*SETS)[0]
    labels = {"matchLabels": {"it-left": "yes"}}
    copied["spec"] |= {"replicas": 1, "selector": labels}
    copied["spec"]["template"]["metadata"]["labels"] |= labels["matchLabels"]
    copied["metadata"] = {"name": "it-left", "namespace": SETS[2]}
    client.create(copied)
    assert Left("machinesets", SETS[2], "it-left") in found.sweep(grace=0)
    assert [one for one in client.list(*SETS[:2]) if one["metadata"]["name"] == "it-left"] == []
    assert len(client.list("v1", "nodes")) == nodes
