# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""olm_operator with real OLM: an exact version, an upgrade, a refused plan, the code of every trouble."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.wire import Audit

from openshift_sandbox import faults

Data = dict[str, t.Any]
SCENARIO: t.Final = "aws"

V1ALPHA1 = "operators.coreos.com/v1alpha1"
GROUP = {"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup"}
NFD: t.Final[Data] = {"name": "nfd", "namespace": "it-nfd", "channel": "stable"}
OLDER, NEWER = "nfd.v4.22.0-202607141007", "nfd.v4.22.0-202608111344"
SRIOV: t.Final[Data] = {"name": "sriov-network-operator", "namespace": "it-sriov"}
KUEUE: t.Final[Data] = {"name": "kueue-operator", "namespace": "it-kueue"}
NETWORK: t.Final[Data] = {"name": "nvidia-network-operator", "namespace": "it-network"}
TROUBLES = [
    ("foreign_csv", {"package": SRIOV["name"], "with_package": "kernel-module-management"}),
    ("resolution_failed", {"package": KUEUE["name"]}),
    ("csv_failed", {"package": NETWORK["name"]}),
]


@pytest.fixture(scope="module")
def troubled(cluster: Cluster) -> t.Iterator[Cluster]:
    sandbox = cluster.needs_sandbox()
    for kind, fields in TROUBLES:
        faults.add(sandbox, kind, dict(fields))
    yield cluster
    for kind, fields in TROUBLES:
        faults.clear(sandbox, kind, dict(fields))


def subscription(cluster: Cluster, options: Data) -> Data:
    found = cluster.client.get(V1ALPHA1, "subscriptions", options["name"], options["namespace"])
    assert found
    return found


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (
            {"name": "gpu-operator", "namespace": "it-none"},
            "OLM-NO-PACKAGE",
            "Did you mean gpu-operator-certified",
        ),
        ({"name": "nfd", "namespace": "it-none", "csv": "nfd.v4.21.0"}, "OLM-NO-CSV", OLDER),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_written(
    options: Data, code: str, words: str, playbook: Playbook, audit: Audit
) -> None:
    task = playbook.module("olm_operator", **options)
    assert task.failed
    assert (task["code"], task["layer"]) == (code, "olm")
    assert words in task["msg"]
    assert task["remedy"]
    assert audit.writes(task) == []


def offer_the_upgrade(playbook: Playbook, audit: Audit) -> None:
    """Wait for the newer version, which no task installs that does not approve it."""
    again = playbook.tasks(
        {
            "accelerators.openshift.olm_operator": NFD,
            "register": "one",
            "until": "one.operator.upgrade_available is not none",
            "retries": 60,
            "delay": 1,
        },
        {"accelerators.openshift.olm_operator": NFD | {"csv": OLDER}},
    )
    assert again.tasks[-1]["operator"]["upgrade_available"] == NEWER
    assert again.changed == 0
    assert audit.writes(*again.tasks) == []

    refused = playbook.module("olm_operator", **NFD, csv=NEWER)
    assert (refused.failed, refused["code"]) == (True, "OLM-VERSION")
    assert audit.writes(refused) == []


def keep_what_is_in_use(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    """Refuse the removal while the operator's CRD has an object."""
    rule = {
        "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
        "kind": "NodeFeatureRule",
        "metadata": {"name": "theirs", "namespace": "it-nfd"},
        "spec": {"rules": []},
    }
    cluster.client.create(rule)
    kept = playbook.module("olm_operator", **NFD, state="absent")
    assert kept["code"] == "OLM-IN-USE"
    assert "NodeFeatureRule theirs" in kept["evidence"]
    assert audit.writes(kept) == []
    cluster.client.delete("nfd.k8s-sigs.io/v1alpha1", "nodefeaturerules", "theirs", "it-nfd")


def remove_it(cluster: Cluster, playbook: Playbook) -> None:
    """Remove the operator; its namespace stays until the ConfigMap of another owner is gone."""
    cluster.client.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs", "namespace": "it-nfd"}}
    )
    gone = playbook.module("olm_operator", **NFD, state="absent")
    assert gone.changed
    assert cluster.client.list(V1ALPHA1, "clusterserviceversions", "it-nfd") == []
    assert cluster.client.get("v1", "namespaces", "it-nfd"), "somebody's ConfigMap is in it"
    assert cluster.client.get(
        "apiextensions.k8s.io/v1", "customresourcedefinitions", "nodefeaturerules.nfd.k8s-sigs.io"
    ), "CRDs stay"
    cluster.client.delete("v1", "configmaps", "theirs", "it-nfd")
    assert playbook.module("olm_operator", **NFD, state="absent").changed
    assert cluster.client.get("v1", "namespaces", "it-nfd") is None


def test_an_exact_version_its_upgrade_and_its_removal(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    first = playbook.module("olm_operator", **NFD, csv=OLDER)
    assert (first["operator"]["csv"], first["operator"]["phase"]) == (OLDER, "Succeeded")

    offer_the_upgrade(playbook, audit)
    upgraded = playbook.module("olm_operator", **NFD, approve="upgrade")
    assert upgraded.changed
    assert upgraded["operator"]["csv"] == NEWER
    assert upgraded["operator"]["upgrade_available"] is None
    assert [line for line in audit.writes(upgraded) if "installplans" not in line] == []

    back = playbook.module("olm_operator", **NFD, csv=OLDER)
    assert back["code"] == "OLM-VERSION"
    assert "does not downgrade" in back["msg"]

    keep_what_is_in_use(cluster, playbook, audit)
    remove_it(cluster, playbook)


def test_a_plan_with_somebody_elses_csv_is_not_approved(
    troubled: Cluster, playbook: Playbook, audit: Audit
) -> None:
    task = playbook.module("olm_operator", **SRIOV)
    assert task["code"] == "OLM-FOREIGN-CSV"
    assert any(
        line.startswith("kernel-module-management") and line.endswith("not asked for")
        for line in task["evidence"]
    )
    assert [line for line in audit.writes(task) if "installplans" in line] == []
    assert [
        plan["spec"]["approved"]
        for plan in troubled.client.list(V1ALPHA1, "installplans", SRIOV["namespace"])
    ] == [False]
    assert playbook.module("olm_operator", **SRIOV, state="absent").changed


def test_the_resolvers_own_text(troubled: Cluster, playbook: Playbook) -> None:
    task = playbook.module("olm_operator", **KUEUE)
    assert task["code"] == "OLM-RESOLVE"
    conditions = {one["type"]: one for one in subscription(troubled, KUEUE)["status"]["conditions"]}
    assert conditions["ResolutionFailed"]["message"] in task["message"]
    assert playbook.module("olm_operator", **KUEUE, state="absent").changed


def test_a_csv_that_failed(troubled: Cluster, playbook: Playbook) -> None:
    task = playbook.module("olm_operator", **NETWORK)
    assert task["code"] == "OLM-CSV-FAILED"
    assert "InstallCheckFailed" in task["message"]
    assert "oc describe csv " in task["remedy"]
    assert " -n it-network`" in task["remedy"]
    assert playbook.module("olm_operator", **NETWORK, state="absent").changed


@pytest.mark.parametrize(
    "targets", [[["elsewhere"]], [["it-group"], ["it-group"]], [[]]], ids=["other", "two", "all"]
)
def test_an_operator_group_that_is_in_the_way(
    targets: list[list[str]], cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "it-group"}})
    for index, names in enumerate(targets):
        spec = {"targetNamespaces": names} if names else {}
        cluster.client.apply(
            GROUP | {"metadata": {"name": f"group-{index}", "namespace": "it-group"}, "spec": spec}
        )
    task = playbook.module(
        "olm_operator", name="gpu-operator-certified", namespace="it-group", install_mode="OwnNamespace"
    )
    for index in range(len(targets)):
        cluster.client.delete(GROUP["apiVersion"], "operatorgroups", f"group-{index}", "it-group")
    assert task["code"] == "OLM-GROUP"
    assert len(task["evidence"]) == len(targets)
    assert audit.writes(task) == []


def test_somebody_elses_subscription_is_reported_and_never_deleted(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    where: Data = {"name": "sriov-network-operator", "namespace": "it-hand"}
    spec = {
        "name": where["name"],
        "channel": "stable",
        "source": "redhat-operators",
        "sourceNamespace": "openshift-marketplace",
        "installPlanApproval": "Manual",
    }
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "it-hand"}})
    cluster.client.apply(
        GROUP
        | {"metadata": {"name": "by-hand", "namespace": "it-hand"}, "spec": {"targetNamespaces": ["it-hand"]}}
    )
    cluster.client.apply({"apiVersion": V1ALPHA1, "kind": "Subscription", "metadata": where, "spec": spec})
    other = playbook.module("olm_operator", **where, channel="4.22")
    absent = playbook.module("olm_operator", **where, state="absent")
    elsewhere = playbook.module("olm_operator", **where | {"namespace": "it-elsewhere"})
    cluster.client.delete(V1ALPHA1, "subscriptions", where["name"], "it-hand")
    assert other["code"] == "OLM-FOREIGN"
    assert "channel: stable (asked: 4.22)" in other["message"]
    assert (absent.failed, absent.changed) == (False, False)
    assert elsewhere["code"] == "OLM-TWICE"
    assert "it-hand" in elsewhere["remedy"]
    assert audit.writes(other, absent, elsewhere) == []
