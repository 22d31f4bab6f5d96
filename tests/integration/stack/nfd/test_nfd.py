# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nfd_labels with real OLM and nfd-master: rules and features are added and removed, and labels get lost."""

from __future__ import annotations

import threading
import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook, TaskResult
from integration.stack.nfd.labelled import (
    EXPECT,
    FEATURE,
    HAS_GPU,
    MINE,
    NAMESPACE,
    NFD,
    PCI,
    POOL,
    RACK,
    RULE,
    check_facts,
    create,
    gpu_node,
    own,
)
from integration.wire import OURS, Audit

from openshift_sandbox import audit as audit_log, faults
from openshift_sandbox.sandbox import Sandbox

SCENARIO: t.Final = "aws"
pytestmark = pytest.mark.story("an instance of ours, from its first label to its removal")


@pytest.fixture(scope="module")
def made(sandbox: Sandbox, playbook: Playbook) -> TaskResult:
    task = playbook.module(
        "nfd_labels",
        rules=[MINE],
        features=[RACK],
        expect=EXPECT,
        compare={"gpu": {"node_selector": POOL}, "cpu": {}},
    )
    assert not task.failed, task.result
    return task


def test_what_rules_and_node_features_give(
    cluster: Cluster, playbook: Playbook, audit: Audit, made: TaskResult
) -> None:
    node = gpu_node(cluster)
    found = until(
        lambda: own(gpu_node(cluster)) if own(gpu_node(cluster))["resources"] else None,
        "the extended resource",
    )
    labels = {
        "example.com/gpu": "true",
        "example.com/rack": "r17",
        "feature.node.kubernetes.io/card": node["metadata"]["name"],
    }
    assert found == {
        "labels": labels,
        "resources": {"example.com/slots": "2"},
        "taints": ["example.com/busy"],
    }
    # NFD sets a rule's taints only if its instance allows taints, as the collection's instance does.
    instance = cluster.client.get(*NFD, "nfd-instance", NAMESPACE)
    assert instance is not None
    assert instance["spec"]["enableTaints"] is True

    check_facts(made["nfd"])
    again = playbook.module("nfd_labels", rules=[MINE], features=[RACK], expect=EXPECT)
    assert not again.changed, again.result
    assert audit.writes(again) == []

    def is_quick() -> bool:
        """Return whether the task does not wait, since the labels have been there for long enough."""
        # This task names no rule with taints, but the instance keeps enableTaints for the rules that exist.
        task = playbook.module("nfd_labels", expect=EXPECT)
        assert not task.changed
        return "waited" not in task.result

    until(is_quick, "labels of some seconds ago")


def test_the_difference_of_a_gpu_node_and_the_others(made: TaskResult) -> None:
    difference = made["nfd"]["difference"]
    assert {name: len(nodes) for name, nodes in difference["sets"].items()} == {"gpu": 1, "cpu": 3}
    kinds = {(one["family"], one["name"]): one["kind"] for one in difference["labels"]}
    assert kinds["pci", "10de.present"] == "only gpu"
    assert kinds["cpu", "model.id"] == "differs"
    heading, first, *_more, last = difference["table"]
    assert heading.split() == ["FAMILY", "LABEL", "GPU", "(1", "node)", "CPU", "(3", "nodes)"]
    assert first.split() == ["pci", "10de.present", "true", "-"]
    assert last == f"{difference['equal']} more labels are the same on both sides."


def test_the_same_by_lookup_and_filter(playbook: Playbook, made: TaskResult) -> None:
    labels = "query('accelerators.openshift.node_labels', label_selector='{}', kubeconfig=kubeconfig)"
    gpu, cpu = (
        labels.format("accelerators.openshift/pool"),
        labels.format("node-role.kubernetes.io/worker,!accelerators.openshift/pool"),
    )
    difference = (
        f"{{{{ {gpu} | accelerators.openshift.label_difference("
        f"{cpu}, names=['gpu', 'cpu'], only=['pci']) }}}}"
    )
    run = playbook.tasks(
        {"vars": {"kubeconfig": str(playbook.kubeconfig)}, "ansible.builtin.debug": {"msg": difference}}
    )
    assert run.tasks[-1]["msg"]["table"][:2] == [
        "FAMILY  LABEL         GPU (1 node)  CPU (3 nodes)",
        "pci     10de.present  true          -",
    ]


def test_a_label_that_blinks_is_no_loss(
    cluster: Cluster, sandbox: Sandbox, playbook: Playbook, made: TaskResult
) -> None:
    log, position = sandbox.directory / "audit.log", audit_log.position(sandbox.directory / "audit.log")

    def has_label() -> bool:
        return PCI in gpu_node(cluster)["metadata"]["labels"]

    def watched() -> bool:
        return any(
            one.verb == "watch" and one.resource == "nodes" for one in audit_log.read(log, position, OURS)
        )

    def blink() -> None:
        faults.add(sandbox, "nfd_label_lost", {"label": "pci-10de.present"})
        until(lambda: not has_label(), "the label's loss")
        faults.clear(sandbox, "nfd_label_lost", {})
        until(has_label, "the label's return")

    def blink_twice() -> None:
        until(watched, "the task's watch")
        blink()
        blink()

    # The task waits for labels that are new.
    blink()
    thread = threading.Thread(target=blink_twice)
    thread.start()
    try:
        task = playbook.module(
            "nfd_labels", expect=[{"node_selector": POOL, "labels": {PCI: True}}], settle=5
        )
    finally:
        thread.join()
    assert not task.failed, task.result
    assert {(one["node"], one["label"]) for one in task["nfd"]["lost"]} == {
        (gpu_node(cluster)["metadata"]["name"], PCI)
    }
    assert not task.changed


def test_a_label_that_stays_away_is_explained(
    cluster: Cluster, sandbox: Sandbox, playbook: Playbook, audit: Audit, made: TaskResult
) -> None:
    faults.add(sandbox, "nfd_label_lost", {"label": "pci-10de.present"})
    try:
        until(lambda: PCI not in gpu_node(cluster)["metadata"]["labels"], "the label's loss")
        task = playbook.module("nfd_labels", expect=[{"node_selector": POOL, "labels": {PCI: True}}], grace=2)
    finally:
        faults.clear(sandbox, "nfd_label_lost", {})
    assert (task.failed, task["code"]) == (True, "NFD-LABEL-MISSING")
    # The device is among the features; only its label is missing.
    assert (
        "(the device is there with PCI class 0302, which deviceClassWhitelist does not let through)"
        in task["evidence"][0]
    )
    assert audit.writes(task) == []


def test_node_features_that_nobody_keeps(
    cluster: Cluster, sandbox: Sandbox, playbook: Playbook, made: TaskResult
) -> None:
    faults.add(sandbox, "nfd_gc_stopped", {})
    try:
        create(
            cluster,
            FEATURE[0],
            "NodeFeature",
            "gone",
            metadata={"labels": {"nfd.node.kubernetes.io/node-name": "gone"}},
            spec={"labels": {}},
        )
        told = playbook.module("nfd_labels", stale_features="report")
        assert [(one["node"], one["name"]) for one in told["nfd"]["stale"]] == [("gone", "gone")]
        assert not told.changed
        assert playbook.module("nfd_labels", stale_features="remove").changed
        assert cluster.client.get(*FEATURE, "gone", NAMESPACE) is None
    finally:
        faults.clear(sandbox, "nfd_gc_stopped", {})


def test_a_feature_file_s_features_reach_nodes_and_rules(
    cluster: Cluster, playbook: Playbook, sandbox: Sandbox, made: TaskResult
) -> None:
    file = (
        "{{ {'example.com/shell': 'xdma', 'slots': 4} | accelerators.openshift.feature_file("
        "name='fpga', expires='2099-01-31T00:00:00Z', "
    )
    objects = {
        "objects": f"{file}as='daemon_set', node_selector={{'accelerators.openshift/pool': 'it-nfd'}}) }}}}"
    }
    rule = {
        "name": "it-slots",
        "rules": [
            {
                "name": "slots",
                "labels": {"example.com/slots": "@local.feature.slots"},
                "matchFeatures": [{"feature": "local.feature"}],
            }
        ],
    }
    wanted = {"example.com/shell": "xdma", "feature.node.kubernetes.io/slots": 4, "example.com/slots": 4}
    run = playbook.tasks(
        {"accelerators.openshift.manifests": objects},
        {
            "accelerators.openshift.nfd_labels": {
                "rules": [rule],
                "expect": [{"node_selector": POOL, "labels": wanted}],
            }
        },
        {"accelerators.openshift.nfd_labels": {"rules": [{"name": "it-slots"}], "state": "absent"}},
        {"accelerators.openshift.manifests": {**objects, "state": "absent"}},
        {
            "accelerators.openshift.nfd_labels": {
                "expect": [{"node_selector": POOL, "labels": dict.fromkeys(wanted)}]
            }
        },
    )
    assert run.rc == 0, run.output[-3000:]
    assert run.tasks[1]["nfd"]["nodes"][0]["families"]["custom"]["slots"] == "4"


def test_a_removed_rule_takes_its_own_along_and_nothing_else(
    cluster: Cluster, playbook: Playbook, audit: Audit, made: TaskResult
) -> None:
    client, name = cluster.client, gpu_node(cluster)["metadata"]["name"]
    theirs = {"labels": {"example.com/theirs": "true", "example.com/gpu": "true"}, "matchFeatures": HAS_GPU}
    create(cluster, RULE[0], "NodeFeatureRule", "it-theirs", spec={"rules": [{"name": "theirs", **theirs}]})
    client.patch("v1", "nodes", name, None, {"metadata": {"labels": {"example.com/by-hand": "true"}}})
    until(lambda: "example.com/theirs" in gpu_node(cluster)["metadata"]["labels"], "the other rule's label")

    removed = playbook.module(
        "nfd_labels", rules=[{"name": "it-mine"}, {"name": "it-theirs"}], state="absent"
    )
    assert not removed.failed, removed.result
    labels = {
        "example.com/rack": "r17",
        "example.com/theirs": "true",
        "example.com/gpu": "true",
        "example.com/by-hand": "true",
    }
    assert own(gpu_node(cluster)) == {"labels": labels, "resources": {}, "taints": []}
    assert [one["metadata"]["name"] for one in client.list(*RULE, NAMESPACE)] == ["it-theirs"]
    assert removed["nfd"]["removed"]["rules"] == ["it-mine"]
    assert cluster.client.get(*NFD, "nfd-instance", NAMESPACE)

    # The module removes its own objects and its instance. NFD's prune job would also remove the other rule's
    # labels.
    gone = playbook.module("nfd_labels", state="absent")
    assert not gone.failed, gone.result
    assert client.list(*NFD, NAMESPACE) == []
    assert [
        one["metadata"]["name"]
        for one in client.list(*FEATURE, NAMESPACE)
        if "it-rack" in one["metadata"]["name"]
    ] == []
    left = own(gpu_node(cluster))["labels"]
    assert (left["example.com/by-hand"], "example.com/rack" in left) == ("true", False)
    assert not [line for line in audit.writes(gone) if line.startswith("patch nodefeaturediscoveries")]
    client.delete(*RULE, "it-theirs", NAMESPACE)


def test_our_instance_takes_every_label_along(cluster: Cluster, playbook: Playbook, made: TaskResult) -> None:
    assert playbook.module("nfd_labels", expect=[{"node_selector": POOL, "labels": {PCI: True}}]).changed
    assert playbook.module("nfd_labels", state="absent").changed
    nodes = cluster.client.list("v1", "nodes")
    assert [
        key
        for node in nodes
        for key in node["metadata"]["labels"]
        if key.startswith("feature.node.kubernetes.io/")
    ] == []
    assert own(gpu_node(cluster))["labels"] == {"example.com/by-hand": "true"}
