# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""olm_operator finds other owners before the first write, and refuses to choose between catalogues."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.stack.operators.subscribed import V1ALPHA1, VIRT, Data, existing
from integration.wire import Audit

SCENARIO: t.Final = "aws"


def test_an_operator_of_the_cluster_is_looked_at(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    task = playbook.module("olm_operator", name="node-tuning", namespace="anywhere")
    assert (task.changed, task["operator"]["cluster_operator"], task["operator"]["subscription"]) == (
        False,
        "node-tuning",
        None,
    )
    absent = playbook.module("olm_operator", name="node-tuning", namespace="anywhere", state="absent")
    assert not absent.failed
    assert audit.writes(task, absent) == []


def test_other_owners_are_found_before_anything_is_written(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    sriov: Data = {"name": "sriov-network-operator", "namespace": "it-second"}
    source = {"sourceType": "Catalog", "catalog": {"packageName": sriov["name"]}}
    spec = {
        "namespace": "openshift-sriov-network-operator",
        "serviceAccount": {"name": "installer"},
        "source": source,
    }
    owner = {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "their-sriov"},
        "spec": spec,
    }
    with existing(cluster, owner, "clusterextensions"):
        owned = playbook.module("olm_operator", **sriov)
    assert (owned["code"], "ClusterExtension their-sriov" in owned["message"]) == ("OLM-V1", True)

    group = {
        "apiVersion": "operators.coreos.com/v1",
        "kind": "OperatorGroup",
        "metadata": {"name": "theirs", "namespace": "default"},
        "spec": {},
    }
    with existing(cluster, group, "operatorgroups"):
        unsupported = playbook.module("olm_operator", **VIRT | {"namespace": "default"})
    group["spec"] = {"targetNamespaces": ["default"]}
    with existing(cluster, group, "operatorgroups"):
        all_only = playbook.module("olm_operator", name="kueue-operator", namespace="default")
    assert (unsupported["code"], "supports only OwnNamespace" in unsupported["message"]) == (
        "OLM-GROUP",
        True,
    )
    assert (all_only["code"], "openshift-operators" in all_only["remedy"]) == ("OLM-GROUP", True)
    assert audit.writes(owned, unsupported, all_only) == []


@pytest.mark.parametrize("check", [True, False])
def test_somebody_elses_manager_is_named(
    check: bool, cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    marks = {"argocd.argoproj.io/tracking-id": "operators:operators.coreos.com/Subscription:default/sriov"}
    spec = {
        "name": "sriov-network-operator",
        "channel": "stable",
        "source": "redhat-operators",
        "sourceNamespace": "openshift-marketplace",
    }
    metadata = {"name": "sriov-network-operator", "namespace": "default", "annotations": marks}
    group = {
        "apiVersion": "operators.coreos.com/v1",
        "kind": "OperatorGroup",
        "metadata": {"name": "theirs", "namespace": "default"},
        "spec": {},
    }
    subscription = {
        "apiVersion": V1ALPHA1,
        "kind": "Subscription",
        "metadata": metadata,
        "spec": {**spec, "installPlanApproval": "Manual"},
    }
    with existing(cluster, group, "operatorgroups"), existing(cluster, subscription, "subscriptions"):
        task = playbook.module(
            "olm_operator", name=spec["name"], namespace="default", channel="4.22", check=check
        )
    assert task["code"] == "OLM-FOREIGN"
    assert "created by Argo CD (operators)" in task["message"]
    assert task["remedy"].startswith("Change it in Argo CD (operators)")
    assert audit.writes(task) == []
