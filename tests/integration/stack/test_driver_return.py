# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource: from NVIDIADrivers back to the ClusterPolicy's driver: refused, killed, resumed."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from cluster import Cluster
from integration.killed import kill
from integration.patience import until
from integration.playbook import Playbook
from integration.stack.driver_gaps import DRIVERS, NEW, OLD, POLICIES, POOLS, QUICK, Gaps, driver, owners
from integration.wire import Audit

from openshift_sandbox.client import Client

Data = dict[str, t.Any]
SCENARIO: t.Final = "gpu-nodes"
pytestmark = pytest.mark.long(
    "a driver for each pool and not one for all, which test_cluster_policy.py and test_truth.py have"
)
OPERATORS: t.Final = {"nfd": "openshift-nfd", "gpu-operator-certified": "nvidia-gpu-operator"}

NAMESPACE: t.Final = "nvidia-gpu-operator"
REQUESTED: t.Final = "nvidia.com/gpu-driver-upgrade-requested"
INFERENCE, TRAINING = POOLS
BACK: t.Final[Data] = {"pools": POOLS, "driver": driver(NEW) | {"use_nvidia_driver_crd": False}, **QUICK}


def daemonsets(cluster: Cluster) -> dict[str, str]:
    """Return the driver DaemonSets, each with the kind of its owner."""
    found = cluster.client.list(
        "apps/v1", "daemonsets", NAMESPACE, labels="app.kubernetes.io/component=nvidia-driver"
    )
    return {one["metadata"]["name"]: one["metadata"]["ownerReferences"][0]["kind"] for one in found}


def test_what_keeps_it_from_working_is_told_before_the_first_write(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    """Create another owner's NVIDIADriver: its DaemonSet would keep the policy's driver away."""
    theirs = {"driverType": "gpu", "nodeSelector": INFERENCE["node_selector"], **driver(OLD)}
    cluster.client.create(
        {"apiVersion": DRIVERS[0], "kind": "NVIDIADriver", "metadata": {"name": "inference"}, "spec": theirs}
    )
    made = playbook.module(
        "special_resource", backend="nvidiadriver", pools=[TRAINING], driver=driver(NEW), **QUICK
    )
    assert not made.failed, made.result
    until(lambda: set(owners(cluster).values()) == {"inference", "training"}, "an owner for every node")
    until(lambda: list(daemonsets(cluster).values()) == ["NVIDIADriver"] * 2, "two drivers side by side")

    unasked = playbook.module("special_resource", pools=POOLS, **QUICK)
    assert (unasked["code"], audit.writes(unasked)) == ("GPU-NVD-MODE", []), unasked.result
    refused = playbook.module("special_resource", **BACK)
    assert (refused["code"], audit.writes(refused)) == ("GPU-NVD-FOREIGN", []), refused.result
    mark = (
        "oc label --field-manager=accelerators.openshift nvidiadriver inference "
        "app.kubernetes.io/managed-by=accelerators.openshift"
    )
    assert mark in refused["remedy"]
    Client(cluster.kubeconfig, "accelerators.openshift").patch(
        *DRIVERS, "inference", None, {"metadata": {"labels": dict([mark.split()[-1].split("=")])}}
    )

    by_hand = BACK | {"driver": BACK["driver"] | {"upgrade_policy": {"auto_upgrade": False}}}
    refused = playbook.module("special_resource", **by_hand)
    assert (refused["code"], audit.writes(refused)) == ("GPU-NVD-BACK", []), refused.result
    foreseen = playbook.module("special_resource", check=True, **BACK)
    assert (foreseen.failed, foreseen.changed, audit.writes(foreseen)) == (False, True, []), foreseen.result


def test_killed_half_way_and_gone_on_with(
    cluster: Cluster, playbook: Playbook, audit: Audit, tmp_path: Path
) -> None:
    """Check that each pool has at most one node without a driver at a time, also between the two runs."""
    with Gaps(cluster) as gaps:
        # one DaemonSet is gone; the other one, or the nodes, are not migrated yet
        kill(
            playbook,
            tmp_path,
            lambda: list(daemonsets(cluster).values()).count("NVIDIADriver") < 2,
            "special_resource",
            **BACK,
        )
        assert [one["metadata"]["name"] for one in cluster.client.list(*DRIVERS)] == ["inference", "training"]
        made = playbook.module("special_resource", **BACK)
    assert (made.failed, made.changed) == (False, True), made.result
    assert gaps.most == {"inference": 1, "training": 1}
    assert {one["name"]: one["driver_version"] for one in made["special_resource"]["nodes"]} == dict.fromkeys(
        ("t4-0", "t4-1", "a100-0"), NEW
    )
    assert cluster.client.list(*DRIVERS) == []
    assert set(daemonsets(cluster).values()) == {"ClusterPolicy"}
    live = cluster.client.get(*POLICIES, "gpu-cluster-policy")
    assert live is not None
    assert live["spec"]["driver"]["useNvidiaDriverCRD"] is False
    for node in cluster.client.list("v1", "nodes"):
        assert not node["spec"].get("unschedulable")
        assert REQUESTED not in (node["metadata"].get("annotations") or {})


def test_once_back_nothing_is_written_and_nothing_more_is_asked(playbook: Playbook, audit: Audit) -> None:
    again = playbook.module("special_resource", **BACK)
    assert (again.failed, again.changed, audit.writes(again)) == (False, False, []), again.result
    foreseen = playbook.module("special_resource", check=True, **BACK)
    assert (foreseen.failed, foreseen.changed) == (False, False), foreseen.result
    plain = playbook.module("special_resource", pools=POOLS, driver=driver(NEW), **QUICK)
    assert (plain.failed, plain.changed, audit.writes(plain)) == (False, False, []), plain.result
