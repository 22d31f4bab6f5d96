# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""olm_operator beyond one operator: upgrades along a channel, a driver that would change, other owners of a package, and a removal to the last CRD."""

from __future__ import annotations

import contextlib
import time
import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

from openshift_sandbox import faults

Data = dict[str, t.Any]
SCENARIO: t.Final = "aws"

V1ALPHA1: t.Final = "operators.coreos.com/v1alpha1"
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies", "gpu-cluster-policy")
GPU: t.Final = {
    "name": "gpu-operator-certified",
    "namespace": "nvidia-gpu-operator",
    "source": "certified-operators",
    "channel": "stable",
}
FIRST, MIDDLE, LAST = (f"gpu-operator-certified.v{version}" for version in ("26.3.2", "26.3.3", "26.7.0"))
VIRT: t.Final = {"name": "kubevirt-hyperconverged", "namespace": "openshift-cnv"}
# Every operator that the collection uses, but for those of the tests below.
OTHERS: t.Final = {
    "nfd": "openshift-nfd",
    "nvidia-network-operator": "nvidia-network-operator",
    "sriov-network-operator": "openshift-sriov-network-operator",
    "kernel-module-management": "openshift-kmm",
    "kueue-operator": "openshift-kueue-operator",
}


@contextlib.contextmanager
def trouble(cluster: Cluster, kind: str, **fields: t.Any) -> t.Iterator[None]:
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, kind, fields)
    connected(cluster)
    try:
        yield
    finally:
        faults.clear(sandbox, kind, fields)
        connected(cluster)


def connected(cluster: Cluster) -> None:
    """A catalogue that was served anew is lost for a moment, even after OLM has reached it once."""
    since = time.monotonic()

    def stays() -> bool:
        nonlocal since
        states = [
            one["status"]["connectionState"]["lastObservedState"]
            for one in cluster.client.list(V1ALPHA1, "catalogsources")
        ]
        if any(state != "READY" for state in states):
            since = time.monotonic()
        return time.monotonic() - since > 2

    assert until(stays, "every catalogue READY for two seconds")


@contextlib.contextmanager
def existing(cluster: Cluster, obj: Data, plural: str) -> t.Iterator[Data]:
    yield cluster.client.create(obj)
    cluster.client.delete(
        obj["apiVersion"], plural, obj["metadata"]["name"], obj["metadata"].get("namespace")
    )


def written(lines: list[str]) -> list[str]:
    """Verb and plural of each write, in their order."""
    return [" ".join(line.split()[:2]).partition(".")[0] for line in lines]


def approved(cluster: Cluster, namespace: str) -> list[str]:
    plans = cluster.client.list(V1ALPHA1, "installplans", namespace)
    return sorted(
        name
        for plan in plans
        if plan["spec"]["approved"]
        for name in plan["spec"]["clusterServiceVersionNames"]
    )


def test_one_plan_after_another_up_to_the_wanted_csv(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    csvs = [f"kubevirt-hyperconverged.v4.22.{number}" for number in range(3)]
    cluster.needs_sandbox()
    assert playbook.module("olm_operator", **VIRT, csv=csvs[0])["operator"]["csv"] == csvs[0]
    looked = playbook.module("olm_operator", **VIRT, csv=csvs[2], approve="upgrade", check=True)
    assert audit.writes(looked) == []
    reached = playbook.module("olm_operator", **VIRT, csv=csvs[2], approve="upgrade")
    assert reached["operator"]["csv"] == csvs[2]
    # OLM may have to be made to look again in between.
    assert [line for line in written(audit.writes(reached)) if line != "patch subscriptions"] == [
        "patch installplans"
    ] * 2
    assert approved(cluster, VIRT["namespace"]) == csvs
    again = playbook.module("olm_operator", **VIRT, csv=csvs[2], approve="upgrade")
    back = playbook.module("olm_operator", **VIRT, csv=csvs[1], approve="upgrade")
    assert (again.changed, again["driver_change"], back["code"]) == (False, None, "OLM-VERSION")
    assert audit.writes(again, back) == []

    theirs = {
        "apiVersion": "hco.kubevirt.io/v1beta1",
        "kind": "HyperConverged",
        "metadata": {"name": "theirs", "namespace": "default"},
    }
    with existing(cluster, theirs, "hyperconvergeds"):
        kept = playbook.module("olm_operator", **VIRT, state="absent", force=True, remove_crds=True)
        assert (kept["code"], kept["evidence"]) == ("OLM-IN-USE", ["HyperConverged theirs"])
        assert audit.writes(kept) == []
    foreseen = playbook.module("olm_operator", **VIRT, state="absent", remove_crds=True, check=True)
    gone = playbook.module("olm_operator", **VIRT, state="absent", remove_crds=True)
    once_more = playbook.module("olm_operator", **VIRT, state="absent", remove_crds=True)
    order = (
        "subscriptions",
        "clusterserviceversions",
        "operatorgroups",
        "namespaces",
        "customresourcedefinitions",
    )
    assert written(audit.writes(gone)) == [f"delete {one}" for one in order]
    assert (foreseen.changed, gone.changed, once_more.changed) == (True, True, False)
    assert (
        cluster.client.get(
            "apiextensions.k8s.io/v1", "customresourcedefinitions", "hyperconvergeds.hco.kubevirt.io"
        )
        is None
    )


def test_a_driver_that_would_change_is_asked_about_pinned_or_allowed(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    cluster.needs_sandbox()
    assert playbook.module("olm_operator", **GPU, csv=FIRST)["operator"]["csv"] == FIRST
    # Only what an upgrade looks at: the label by which the operator knows a GPU node, the driver's own, and a pod with a GPU.
    worker = next(
        one["metadata"]["name"]
        for one in cluster.client.list("v1", "nodes", labels="node-role.kubernetes.io/worker")
    )
    marks = {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "nvidia.com/cuda.driver-version.full": "580.126.20",
    }
    cluster.client.patch("v1", "nodes", worker, None, {"metadata": {"labels": marks}})
    assert not playbook.module("special_resource", wait=False).failed
    until(
        lambda: cluster.client.list("v1", "nodes", labels="nvidia.com/gpu.deploy.driver=true") or None,
        "a node with a driver",
    )
    gpu = {"resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}}
    spec = {"nodeName": worker, "containers": [{"name": "c", "image": "example.com/none", **gpu}]}
    with existing(
        cluster,
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "train", "namespace": "default"},
            "spec": spec,
        },
        "pods",
    ):
        upgrade = {**GPU, "approve": "upgrade"}
        until(
            lambda: len(cluster.client.list(V1ALPHA1, "installplans", GPU["namespace"])) > 1,
            "the plan of the upgrade",
        )
        past = playbook.module("olm_operator", **upgrade, csv=MIDDLE)
        asked, asked_in_check_mode = (
            playbook.module("olm_operator", **upgrade),
            playbook.module("olm_operator", **upgrade, check=True),
        )
    assert past["code"] == "OLM-NO-PATH"
    assert f"{FIRST} -> {LAST}" in past["message"]
    assert "set channel to v26.3" in past["remedy"]
    assert asked["code"] == asked_in_check_mode["code"] == "OLM-DRIVER-CHANGE"
    assert asked["driver_change"]["nodes"] == [{"name": worker, "driver": "580.126.20"}]
    assert f"default/train on {worker}" in asked["driver_change"]["pods"]
    assert audit.writes(past, asked, asked_in_check_mode) == []

    foreseen = playbook.module("olm_operator", **upgrade, driver_change="pin", check=True)
    assert audit.writes(foreseen) == []
    pinned = playbook.module("olm_operator", **upgrade, driver_change="pin")
    assert written(audit.writes(pinned)) == ["patch clusterpolicies", "patch installplans"]
    assert (foreseen.changed, pinned["operator"]["csv"], pinned["driver_change"]["action"]) == (
        True,
        LAST,
        "pin",
    )
    policy = cluster.client.get(*POLICIES)
    assert policy
    driver = policy["spec"]["driver"]
    assert (
        f"{driver['repository']}/{driver['image']}@{driver['version']}"
        == asked["driver_change"]["from"]
        == pinned["driver_change"]["from"]
    )
    stays = playbook.module("special_resource", wait=False)
    assert (stays.changed, audit.writes(stays)) == (False, [])

    cluster.client.patch("v1", "nodes", worker, None, {"metadata": {"labels": dict.fromkeys(marks)}})
    assert playbook.module("special_resource", state="absent").changed
    assert playbook.module("olm_operator", **GPU, state="absent", remove_crds=True).changed


def test_every_operator_is_installed(cluster: Cluster, playbook: Playbook) -> None:
    cluster.needs_sandbox()
    asked = [{"name": name, "namespace": namespace} for name, namespace in OTHERS.items()]
    # Their plans are made side by side, and each is approved as soon as it is there.
    begun = [{"accelerators.openshift.olm_operator": {**one, "wait": False}} for one in asked]
    again = [
        {
            **one,
            "register": "one",
            "until": "one.operator.install_plan is not none",
            "retries": 30,
            "delay": 1,
        }
        for one in begun
    ]
    done = playbook.tasks(*begun, *again, *({"accelerators.openshift.olm_operator": one} for one in asked))
    assert done.rc == 0, done.output[-4000:]
    assert [one["operator"]["phase"] for one in done.tasks[-len(asked) :]] == ["Succeeded"] * len(asked)
    settled = playbook.tasks(*({"accelerators.openshift.olm_operator": one} for one in asked))
    assert settled.changed == 0
    removed = playbook.tasks(
        *(
            {
                "accelerators.openshift.olm_operator": {
                    **one,
                    "state": "absent",
                    "remove_crds": True,
                    "wait": False,
                }
            }
            for one in asked
        )
    )
    assert (removed.rc, removed.changed) == (0, len(asked)), removed.output[-4000:]


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
    sriov = {"name": "sriov-network-operator", "namespace": "it-second"}
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


def test_catalogues_that_leave_a_question(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    sriov = {"name": "sriov-network-operator", "namespace": "it-twice"}
    with trouble(cluster, "package_twice", package=sriov["name"], catalog="certified-operators"):
        which = playbook.module("olm_operator", **sriov)
        one = playbook.module("olm_operator", **sriov, source="certified-operators", check=True)
    assert (which["code"], which["remedy"]) == (
        "OLM-SOURCES",
        "Set source to one of certified-operators, redhat-operators.",
    )
    assert (one.failed, audit.writes(which, one)) == (False, [])

    hub = ("config.openshift.io/v1", "operatorhubs", "cluster", None)
    cluster.client.patch(*hub, {"spec": {"disableAllDefaultSources": True}})
    try:
        off = playbook.module("olm_operator", **sriov, source="redhat-marketplace")
    finally:
        cluster.client.patch(*hub, {"spec": {"disableAllDefaultSources": None}})
    assert (off["code"], "spec.disableAllDefaultSources is true" in off["message"]) == ("OLM-CATALOG", True)

    with trouble(
        cluster, "deprecated", package=sriov["name"], channel="stable", message="sriov: use channel 4.22"
    ):
        run = playbook.tasks(
            {"accelerators.openshift.olm_operator": sriov, "register": "one", "check_mode": True},
            {"ansible.builtin.debug": {"msg": "{{ one.warnings }}"}},
        )
    assert "Channel stable is deprecated: sriov: use channel 4.22" in run.tasks[-1]["msg"]


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
    assert task["code"] == "OLM-NOT-OURS"
    assert "made by Argo CD (operators)" in task["message"]
    assert task["remedy"].startswith("Change it in Argo CD (operators)")
    assert audit.writes(task) == []
