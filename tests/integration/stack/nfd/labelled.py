# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A GPU node and what Node Feature Discovery puts on it."""

from __future__ import annotations

import typing as t

from cluster import Cluster

Data = dict[str, t.Any]
NAMESPACE: t.Final = "openshift-nfd"
NFD: t.Final = ("nfd.openshift.io/v1", "nodefeaturediscoveries")
RULE: t.Final = ("nfd.k8s-sigs.io/v1alpha1", "nodefeaturerules")
FEATURE: t.Final = ("nfd.k8s-sigs.io/v1alpha1", "nodefeatures")
PCI: t.Final = "feature.node.kubernetes.io/pci-10de.present"
POOL: t.Final = {"accelerators.openshift/pool": "it-nfd"}
HAS_GPU: t.Final = [
    {"feature": "pci.device", "matchExpressions": {"vendor": {"op": "In", "value": ["10de"]}}}
]
GIVES: t.Final = {
    "labels": {"example.com/gpu": True, "card": "@system.name.nodename"},
    "extendedResources": {"example.com/slots": 2},
    "taints": [{"key": "example.com/busy", "value": "yes", "effect": "PreferNoSchedule"}],
}
MINE: t.Final = {"name": "it-mine", "rules": [{"name": "gpus", **GIVES, "matchFeatures": HAS_GPU}]}
RACK: t.Final = {
    "name": "it-rack",
    "node_selector": {"node-role.kubernetes.io/worker": ""},
    "labels": {"example.com/rack": "r17"},
}
EXPECT: t.Final = [
    {"node_selector": POOL, "labels": {PCI: True, "example.com/gpu": True, "example.com/rack": "r17"}}
]


def gpu_node(cluster: Cluster) -> Data:
    (node,) = cluster.client.list("v1", "nodes", labels="accelerators.openshift/pool=it-nfd")
    return node


def own(node: Data) -> Data:
    """Return the labels, resources and taints that the tests' rules and features have put on a node."""
    resources = {**node["status"].get("capacity", {}), **node["status"].get("allocatable", {})}
    labels = {
        key: value
        for key, value in node["metadata"]["labels"].items()
        if key.startswith("example.com/") or key.endswith("/card")
    }
    taints = [one["key"] for one in node["spec"].get("taints") or [] if one["key"].startswith("example.com/")]
    return {
        "labels": labels,
        "resources": {key: value for key, value in resources.items() if key.startswith("example.com/")},
        "taints": taints,
    }


def create(cluster: Cluster, api_version: str, kind: str, name: str, **more: t.Any) -> Data:
    metadata = {"name": name, "namespace": NAMESPACE, **more.pop("metadata", {})}
    return cluster.client.create({"apiVersion": api_version, "kind": kind, "metadata": metadata, **more})


def check_facts(facts: Data) -> None:
    """Check what nfd_labels says of an instance with the rule MINE and the features RACK."""
    assert (facts["available"], facts["manager"], facts["rules"], facts["features"]) == (
        True,
        "accelerators.openshift",
        ["it-mine"],
        ["it-rack"],
    )
    families = facts["nodes"][0]["families"]
    assert (
        families["pci"]["10de.present"]
        == families["cpuid"]["AVX512VNNI"]
        == families["storage"]["nonrotationaldisk"]
        == "true"
    )
    assert {"cpu", "cpuid", "kernel", "os_release", "pci", "storage", "custom"} <= set(families)
    assert {one["class"]: one["lets_through"] for one in facts["pci_classes"]}["02"].startswith(
        "all network adapters"
    )
