# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""olm_operator: upgrades along a channel, an upgrade that changes the driver, all operators at once."""

from __future__ import annotations

import contextlib
import typing as t

from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook, TaskResult
from integration.stack.operators.subscribed import V1ALPHA1, VIRT, Data, approved, existing, written
from integration.wire import Audit

SCENARIO: t.Final = "aws"
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies", "gpu-cluster-policy")
GPU: t.Final[Data] = {
    "name": "gpu-operator-certified",
    "namespace": "nvidia-gpu-operator",
    "source": "certified-operators",
    "channel": "stable",
}
UPGRADE: t.Final[Data] = {**GPU, "approve": "upgrade"}
FIRST, MIDDLE, LAST = (f"gpu-operator-certified.v{version}" for version in ("26.3.0", "26.3.3", "26.7.1"))


def remove_with_its_crds(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    """Remove the operator and its CRDs, which the module refuses while one of them has an object."""
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
    # The module may patch a Subscription to make OLM look again.
    assert [line for line in written(audit.writes(reached)) if line != "patch subscriptions"] == [
        "patch installplans"
    ] * 2
    assert approved(cluster, VIRT["namespace"]) == csvs
    again = playbook.module("olm_operator", **VIRT, csv=csvs[2], approve="upgrade")
    back = playbook.module("olm_operator", **VIRT, csv=csvs[1], approve="upgrade")
    assert (again.changed, again["driver_change"], back["code"]) == (False, None, "OLM-VERSION")
    assert audit.writes(again, back) == []

    remove_with_its_crds(cluster, playbook, audit)


def test_a_channel_without_a_way_is_refused_and_olm_takes_none(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    """Real OLM makes no plan into a channel that begins with a release that replaces nothing."""
    cluster.needs_sandbox()
    space = "nvidia-network-operator"
    network: Data = {"name": "nvidia-network-operator", "namespace": space, "approve": "upgrade"}
    first, head = (f"nvidia-network-operator.v{one}" for one in ("26.4.0", "26.7.0-1"))
    installed = playbook.module("olm_operator", **network, channel="v26.4")
    assert installed["operator"]["csv"] == first
    refused = playbook.module("olm_operator", **network, channel="v26.7")
    asked = [{"name": "nic", "channel": "v26.7"}]
    upgrade = playbook.module("operator_upgrade", operators=asked)
    assert [refused["code"], upgrade["code"]] == ["OLM-NO-PATH"] * 2
    assert "nvidia_network_operator_channel (module option channel) to stable" in refused["remedy"]
    assert "[{name: nvidia-network-operator, channel: stable}]" in upgrade["remedy"]
    assert audit.writes(refused, upgrade) == []

    def live() -> Data:
        return cluster.client.list(V1ALPHA1, "subscriptions", space)[0]

    before = live()["status"]["lastUpdated"]
    cluster.client.patch(V1ALPHA1, "subscriptions", network["name"], space, {"spec": {"channel": "v26.7"}})
    until(lambda: live()["status"]["lastUpdated"] != before, "OLM has looked at the channel", 60)
    state = live()["status"]
    assert (state["installedCSV"], state["state"]) == (first, "AtLatestKnown")
    assert approved(cluster, space) == [first]

    reached = playbook.module("olm_operator", **network, channel="stable", adopt="take")
    assert reached["operator"]["csv"] == head
    assert approved(cluster, space) == [first, "nvidia-network-operator.v26.7.0", head]
    gone = playbook.module("olm_operator", **{**network, "approve": "install"}, state="absent")
    assert gone.changed, gone.result


@contextlib.contextmanager
def marked(cluster: Cluster) -> t.Iterator[str]:
    """Give a worker the labels of a GPU node; yield its name."""
    # An upgrade reads only these: the label of a GPU node, the driver's version label, and a pod with a GPU.
    first, *_others = cluster.client.list("v1", "nodes", labels="node-role.kubernetes.io/worker")
    worker = first["metadata"]["name"]
    marks = {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "nvidia.com/cuda.driver-version.full": "580.126.20",
    }
    cluster.client.patch("v1", "nodes", worker, None, {"metadata": {"labels": marks}})
    yield worker
    cluster.client.patch("v1", "nodes", worker, None, {"metadata": {"labels": dict.fromkeys(marks)}})


@contextlib.contextmanager
def training(cluster: Cluster, worker: str) -> t.Iterator[None]:
    """Run a pod that holds a GPU of the worker."""
    gpu = {"resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}}
    spec = {"nodeName": worker, "containers": [{"name": "c", "image": "example.com/none", **gpu}]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train", "namespace": "default"},
        "spec": spec,
    }
    with existing(cluster, pod, "pods"):
        yield


def test_a_driver_that_would_change_is_asked_about_pinned_or_allowed(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    cluster.needs_sandbox()
    assert playbook.module("olm_operator", **GPU, csv=FIRST)["operator"]["csv"] == FIRST
    with marked(cluster) as worker:
        asked = ask_about_the_driver(cluster, playbook, audit, worker)
        pin_the_driver(cluster, playbook, audit, asked)
    assert playbook.module("special_resource", state="absent").changed
    assert playbook.module("olm_operator", **GPU, state="absent", remove_crds=True).changed


def ask_about_the_driver(cluster: Cluster, playbook: Playbook, audit: Audit, worker: str) -> TaskResult:
    """Try the upgrade while a pod uses a GPU; return the result of the task, which is refused."""
    assert not playbook.module("special_resource", wait=False).failed
    until(
        lambda: cluster.client.list("v1", "nodes", labels="nvidia.com/gpu.deploy.driver=true") or None,
        "a node with a driver",
    )
    with training(cluster, worker):
        until(
            lambda: len(cluster.client.list(V1ALPHA1, "installplans", GPU["namespace"])) > 1,
            "the plan of the upgrade",
        )
        past = playbook.module("olm_operator", **UPGRADE, csv=MIDDLE)
        asked, asked_in_check_mode = (
            playbook.module("olm_operator", **UPGRADE),
            playbook.module("olm_operator", **UPGRADE, check=True),
        )
    assert past["code"] == "OLM-NO-PATH"
    assert f"{FIRST} -> {LAST}" in past["message"]
    assert "set gpu_operator_channel (module option channel) to v26.3" in past["remedy"]
    assert asked["code"] == asked_in_check_mode["code"] == "OLM-DRIVER-CHANGE"
    assert asked["driver_change"]["nodes"] == [{"name": worker, "driver": "580.126.20"}]
    assert f"default/train on {worker}" in asked["driver_change"]["pods"]
    assert audit.writes(past, asked, asked_in_check_mode) == []
    return asked


def pin_the_driver(cluster: Cluster, playbook: Playbook, audit: Audit, asked: TaskResult) -> None:
    """Upgrade with the driver pinned: the ClusterPolicy keeps the driver that the nodes run."""
    foreseen = playbook.module("olm_operator", **UPGRADE, driver_change="pin", check=True)
    assert audit.writes(foreseen) == []
    pinned = playbook.module("olm_operator", **UPGRADE, driver_change="pin")
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
