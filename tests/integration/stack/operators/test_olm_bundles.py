# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bundles that real OLM unpacks from images: read before approval, missing, installed; a CSV that stays."""

from __future__ import annotations

import json
import signal
import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

from openshift_sandbox import faults

Data = dict[str, t.Any]
SCENARIO: t.Final = "gpu-nodes"
pytestmark = pytest.mark.long(
    "bundles that lie in images: test_olm_operator.py installs, upgrades and removes without"
)
OPERATORS: t.Final = {"nfd": "openshift-nfd"}

V1ALPHA1: t.Final = "operators.coreos.com/v1alpha1"
MARKET: t.Final = "openshift-marketplace"
GPU: t.Final[Data] = {
    "name": "gpu-operator-certified",
    "namespace": "nvidia-gpu-operator",
    "channel": "stable",
}
FIRST, LAST = (f"gpu-operator-certified.v{version}" for version in ("26.3.0", "26.7.1"))
POOL: t.Final = "accelerators.openshift/pool"
STACK: t.Final[Data] = {
    "pools": [
        {
            "name": "inference",
            "node_selector": {POOL: "inference"},
            "expected": {"nvidia.com/gpu": 1},
            "min_nodes": 2,
        }
    ],
    "driver": {
        "upgrade_policy": {"auto_upgrade": True, "max_parallel_upgrades": 0, "max_unavailable": "100%"}
    },
    "wait_timeout": 180,
}
DRIVER: t.Final = "nvidia.com/cuda.driver-version.full"
SRIOV: t.Final[Data] = {
    "name": "sriov-network-operator",
    "namespace": "it-sriov",
    "channel": "stable",
    "wait_timeout": 240,
}
GROUP: t.Final[Data] = {
    "apiVersion": "operators.coreos.com/v1",
    "kind": "OperatorGroup",
    # This annotation is OLM's deadline for the Job that unpacks a bundle.
    "metadata": {
        "name": "theirs",
        "namespace": SRIOV["namespace"],
        "annotations": {"operatorframework.io/bundle-unpack-timeout": "8s"},
    },
    "spec": {"targetNamespaces": [SRIOV["namespace"]]},
}
MISSING: t.Final = {"package": SRIOV["name"], "missing": True}


def drivers(cluster: Cluster) -> set[str]:
    """Return the driver versions in the labels of the pool's nodes."""
    return {
        one["metadata"]["labels"].get(DRIVER, "")
        for one in cluster.client.list("v1", "nodes", labels=f"{POOL}=inference")
    }


def images(cluster: Cluster) -> set[str]:
    pods = cluster.client.list(
        "v1", "pods", GPU["namespace"], labels="app.kubernetes.io/component=nvidia-driver"
    )
    return {
        pod["spec"]["containers"][0]["image"] for pod in pods if not pod["metadata"].get("deletionTimestamp")
    }


def check_that_the_plan_holds_no_csv(cluster: Cluster) -> None:
    """Wait for the plan of the upgrade; check that it only says where the CSV lies."""
    plans = until(
        lambda: [
            one
            for one in cluster.client.list(V1ALPHA1, "installplans", GPU["namespace"])
            if not one["spec"]["approved"]
        ],
        "the next plan",
    )
    steps = [
        step["resource"]
        for step in plans[0]["status"]["plan"]
        if step["resource"]["kind"] == "ClusterServiceVersion"
    ]
    assert [json.loads(one["manifest"])["kind"] for one in steps] == ["ConfigMap"], (
        "the plan only says where the CSV lies"
    )


def test_a_driver_change_that_lies_in_an_image_is_read_and_allowed(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    faults.add(cluster.needs_sandbox(), "bundle_image", {"package": GPU["name"]})
    assert playbook.module("olm_operator", **GPU, csv=FIRST)["operator"]["csv"] == FIRST
    made = playbook.module("special_resource", **STACK)
    assert not made.failed, made.result
    assert drivers(cluster) == {"580.126.20"}
    upgrade = {**GPU, "approve": "upgrade"}
    check_that_the_plan_holds_no_csv(cluster)
    asked, foreseen = (
        playbook.module("olm_operator", **upgrade),
        playbook.module("olm_operator", **upgrade, driver_change="allow", check=True),
    )
    assert asked["code"] == "OLM-DRIVER-CHANGE"
    assert images(cluster) == {asked["driver_change"]["from"]} != {asked["driver_change"]["to"]}
    assert asked["driver_change"]["to"].startswith("nvcr.io/nvidia/driver@sha256:")
    assert (foreseen.failed, foreseen.changed, audit.writes(asked, foreseen)) == (False, True, [])

    allowed = playbook.module("olm_operator", **upgrade, driver_change="allow")
    assert not allowed.failed, allowed.result
    assert [line.partition(".")[0] for line in audit.writes(allowed)] == ["patch installplans"]
    assert (allowed["operator"]["csv"], allowed["operator"]["phase"]) == (LAST, "Succeeded")
    assert allowed["driver_change"] == asked["driver_change"] | {"action": "allow"}
    until(lambda: images(cluster) == {asked["driver_change"]["to"]}, "the new driver on every node")
    rolled = playbook.module("special_resource", **STACK)
    assert (rolled.failed, rolled.changed, drivers(cluster)) == (False, False, {"595.91.07"}), rolled.result
    again = playbook.module("olm_operator", **upgrade, driver_change="allow")
    assert (again.failed, again.changed, again["driver_change"], audit.writes(rolled, again)) == (
        False,
        False,
        None,
        [],
    )


def test_an_image_that_no_registry_has_is_named_and_read_once_it_is_there(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, "bundle_image", dict(MISSING))
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SRIOV["namespace"]}})
    cluster.client.apply(GROUP)
    pulls = playbook.module("olm_operator", **SRIOV, grace=1)
    late = playbook.module("olm_operator", **SRIOV)
    (job,) = [
        one["metadata"]["name"]
        for one in cluster.client.list("batch/v1", "jobs", MARKET)
        if "Failed" in str(one.get("status"))
    ]
    for task, words in (
        (pulls, "ImagePullBackOff: Back-off pulling image"),
        (late, "DeadlineExceeded: Job was active longer than specified deadline"),
    ):
        assert task["code"] == "OLM-UNPACK"
        assert f"Bundle image registry.example.com/bundles/{SRIOV['name']}@sha256:" in task["message"]
        assert words in task["evidence"][0]
        assert task["remedy"].endswith(f"oc -n {MARKET} delete job {job}")
    assert audit.writes(late) == []

    faults.add(sandbox, "bundle_image", {"package": SRIOV["name"]})
    faults.clear(sandbox, "bundle_image", dict(MISSING))
    cluster.client.delete("batch/v1", "jobs", job, MARKET)
    made = playbook.module("olm_operator", **SRIOV)
    assert not made.failed, made.result
    assert made["operator"]["phase"] == "Succeeded"
    again = playbook.module("olm_operator", **SRIOV)
    also = playbook.module("olm_operator", **SRIOV, approve="upgrade")
    assert (again.changed, also.failed, also.changed, audit.writes(again, also)) == (False, False, False, [])


def test_a_csv_that_is_held(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    """Stop OLM while a CSV is deleted, then let it continue: another owner's finalizer is left."""
    sandbox, where = cluster.needs_sandbox(), ("clusterserviceversions", "it-sriov")
    (csv,) = [
        one["metadata"]["name"]
        for one in cluster.client.list(V1ALPHA1, *where)
        if one["metadata"]["name"].startswith(SRIOV["name"])
    ]
    held = cluster.client.get(V1ALPHA1, where[0], csv, where[1])
    assert held
    finalizers = held["metadata"]["finalizers"]
    assert finalizers == ["operators.coreos.com/csv-cleanup"]
    cluster.client.patch(
        V1ALPHA1, where[0], csv, where[1], {"metadata": {"finalizers": [*finalizers, "example.com/audit"]}}
    )
    sandbox.processes.signal("olm", signal.SIGSTOP)
    try:
        stopped = playbook.module("olm_operator", **SRIOV | {"state": "absent", "wait_timeout": 3})
    finally:
        sandbox.processes.signal("olm", signal.SIGCONT)
    assert stopped["code"] == "OLM-CSV-HELD"
    assert (
        f"CSV {csv} is still being deleted (finalizers: operators.coreos.com/csv-cleanup, example.com/audit)"
        in stopped["message"]
    )

    def left() -> list[str]:
        live = cluster.client.get(V1ALPHA1, where[0], csv, where[1])
        return list(live["metadata"]["finalizers"]) if live else []

    until(lambda: left() == ["example.com/audit"], "OLM has cleaned up")
    foreign = playbook.module("olm_operator", **SRIOV | {"state": "absent", "wait_timeout": 3})
    assert foreign["code"] == "OLM-CSV-HELD"
    assert "(finalizers: example.com/audit)" in foreign["message"]
    assert "the owner of example.com/audit has to remove it" in foreign["remedy"]
    cluster.client.patch(V1ALPHA1, where[0], csv, where[1], {"metadata": {"finalizers": None}})
    gone, again = (playbook.module("olm_operator", **SRIOV, state="absent") for _time in range(2))
    assert (gone.failed, again.failed, again.changed, audit.writes(again)) == (False, False, False, [])
    assert cluster.client.get(V1ALPHA1, where[0], csv, where[1]) is None
