# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nfd_labels on OpenShift 4.18, whose rules and features have an older API group, and after the update."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

Data = dict[str, t.Any]
SCENARIO: t.Final = "older-nfd"
pytestmark = pytest.mark.long("Node Feature Discovery as OpenShift 4.18 had it, and the update from there")
NAMESPACE: t.Final = "openshift-nfd"
OLDER_CSV, NEWER_CSV = "nfd.v4.18.0-202601131107", "nfd.v4.19.0-202602101242"
OLDER, NEWER = "nfd.openshift.io/v1alpha1", "nfd.k8s-sigs.io/v1alpha1"
POOL: t.Final = {"accelerators.openshift/pool": "it-older"}
HAS_GPU: t.Final = [
    {"feature": "pci.device", "matchExpressions": {"vendor": {"op": "In", "value": ["10de"]}}}
]
GIVES: t.Final[Data] = {
    "labels": {"example.com/gpu": True},
    "extendedResources": {"example.com/slots": 2},
    "taints": [{"key": "example.com/busy", "value": "yes", "effect": "PreferNoSchedule"}],
}
RACK: t.Final = {
    "name": "it-rack",
    "node_selector": {"node-role.kubernetes.io/worker": ""},
    "labels": {"example.com/rack": "r17"},
}
LABELS: t.Final = "accelerators.openshift.nfd_labels"


def rule(name: str, **gives: t.Any) -> Data:
    return {"name": name, "rules": [{"name": name, **gives, "matchFeatures": HAS_GPU}]}


def expect(**labels: t.Any) -> list[Data]:
    return [{"node_selector": POOL, "labels": {f"example.com/{key}": value for key, value in labels.items()}}]


MINE: t.Final = rule("it-mine", **GIVES)
OTHER: t.Final = rule("it-other", labels={"example.com/other": True})
WANTED: t.Final[Data] = {
    "rules": [MINE, OTHER],
    "features": [RACK],
    "expect": expect(gpu=True, other=True, rack="r17"),
    "stale_features": "report",
}


@pytest.fixture(scope="module")
def nfd(cluster: Cluster, playbook: Playbook) -> Playbook:
    """Install the operator of 4.18 and create one GPU node."""
    cluster.needs_sandbox()
    run = playbook.tasks(
        {"accelerators.openshift.olm_operator": {"name": "nfd", "namespace": NAMESPACE, "csv": OLDER_CSV}},
        {
            "accelerators.openshift.gpu_machineset": {
                "name": "it-older",
                "instance_type": "g4dn.xlarge",
                "zones": ["us-east-2b"],
                "replicas": 1,
            }
        },
    )
    assert run.rc == 0, run.output[-3000:]
    return playbook


def names(cluster: Cluster, api_version: str, plural: str) -> list[str]:
    return sorted(
        one["metadata"]["name"]
        for one in cluster.client.list(api_version, plural, NAMESPACE)
        if one["metadata"]["name"].startswith("it-")
    )


def on_node(cluster: Cluster) -> Data:
    (node,) = cluster.client.list("v1", "nodes", labels="accelerators.openshift/pool=it-older")
    return {
        "labels": {
            key: value for key, value in node["metadata"]["labels"].items() if key.startswith("example.com/")
        },
        "resources": {
            key: value
            for key, value in node["status"].get("capacity", {}).items()
            if key.startswith("example.com/")
        },
        "taints": [
            one["key"] for one in node["spec"].get("taints") or [] if one["key"].startswith("example.com/")
        ],
    }


def test_the_group_of_4_18(cluster: Cluster, nfd: Playbook, audit: Audit) -> None:
    labels = "accelerators.openshift.nfd_labels"
    run = nfd.tasks(
        {labels: WANTED},
        {labels: WANTED},
        {
            labels: {
                **WANTED,
                "rules": [rule("it-mine", labels={"example.com/card": "t4"})],
                "expect": expect(card="t4"),
            }
        },
    )
    made, again, _changed = run.tasks
    assert [one.changed for one in run.tasks] == [True, False, True], run.output[-3000:]
    assert audit.writes(again) == []
    assert (made["nfd"]["rules"], made["nfd"]["stale"]) == (["it-mine", "it-other"], [])
    assert names(cluster, OLDER, "nodefeaturerules") == ["it-mine", "it-other"]
    assert len(names(cluster, OLDER, "nodefeatures")) == 4
    until(lambda: on_node(cluster)["taints"] == [], "the end of what the rule gave before")
    assert on_node(cluster) == {
        "labels": {"example.com/card": "t4", "example.com/other": "true", "example.com/rack": "r17"},
        "resources": {},
        "taints": [],
    }

    gone = nfd.module("nfd_labels", rules=[{"name": "it-other"}], state="absent")
    assert (gone.changed, gone["nfd"]["removed"]) == (True, {"rules": ["it-other"], "features": []}), (
        gone.result
    )
    assert "example.com/other" not in on_node(cluster)["labels"]


def update_the_operator(cluster: Cluster, nfd: Playbook) -> None:
    """Create the collection's rules and another owner's in the older group, then upgrade the operator."""
    theirs = {
        "apiVersion": OLDER,
        "kind": "NodeFeatureRule",
        "metadata": {"name": "it-theirs", "namespace": NAMESPACE},
    }
    cluster.client.create(
        {
            **theirs,
            "spec": {
                "rules": [
                    {"name": "theirs", "labels": {"example.com/theirs": "true"}, "matchFeatures": HAS_GPU}
                ]
            },
        }
    )
    run = nfd.tasks(
        {LABELS: WANTED},
        {
            "accelerators.openshift.olm_operator": {
                "name": "nfd",
                "namespace": NAMESPACE,
                "csv": NEWER_CSV,
                "approve": "upgrade",
            }
        },
    )
    assert run.rc == 0, run.output[-3000:]
    until(
        lambda: names(cluster, NEWER, "nodefeaturerules") == ["it-mine", "it-other", "it-theirs"],
        "the operator's copies",
    )


def test_the_update_to_the_newer_group(cluster: Cluster, nfd: Playbook, audit: Audit) -> None:
    update_the_operator(cluster, nfd)
    # A rule that is removed before its move must go from both groups: the operator copies rules from the
    # older one.
    gone = nfd.module("nfd_labels", rules=[{"name": "it-other"}], state="absent")
    assert gone["nfd"]["removed"]["rules"] == ["it-other"], gone.result
    assert names(cluster, OLDER, "nodefeaturerules") == ["it-mine", "it-theirs"]
    assert names(cluster, NEWER, "nodefeaturerules") == ["it-mine", "it-theirs"]

    wanted = {**WANTED, "rules": [MINE], "expect": expect(gpu=True, theirs=True, rack="r17")}
    run = nfd.tasks(
        {LABELS: wanted, "check_mode": True},
        {LABELS: wanted, "register": "moved"},
        {LABELS: wanted},
        {"ansible.builtin.debug": {"msg": "{{ moved }}"}},
    )
    foretold, moved, again, told = run.tasks
    assert [one.changed for one in (foretold, moved, again)] == [True, True, False], run.output[-3000:]
    assert audit.writes(foretold) == audit.writes(again) == []
    assert "NodeFeatureRule it-mine: moved from nfd.openshift.io to nfd.k8s-sigs.io" in " ".join(
        told["msg"]["warnings"]
    )
    assert moved["nfd"]["lost"] == []
    assert (names(cluster, OLDER, "nodefeaturerules"), names(cluster, OLDER, "nodefeatures")) == (
        ["it-theirs"],
        [],
    )
    (mine,) = (
        one
        for one in cluster.client.list(NEWER, "nodefeaturerules", NAMESPACE)
        if one["metadata"]["name"] == "it-mine"
    )
    assert "ownerReferences" not in mine["metadata"]
    assert on_node(cluster)["taints"] == ["example.com/busy"]

    removed = nfd.module(
        "nfd_labels", rules=[{"name": "it-mine"}], features=[{"name": "it-rack"}], state="absent"
    )
    assert not removed.failed, removed.result
    assert on_node(cluster) == {"labels": {"example.com/theirs": "true"}, "resources": {}, "taints": []}
