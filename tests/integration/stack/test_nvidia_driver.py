# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource, backend nvidiadriver, on two pools: from the ClusterPolicy's driver to one per pool.

The file also tests what the module refuses before the first write.
"""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.stack.driver_gaps import DRIVERS, NEW, OLD, POOLS, QUICK, Gaps, driver, owners
from integration.wire import Audit

from openshift_sandbox import faults

Data = dict[str, t.Any]
SCENARIO: t.Final = "gpu-nodes"
pytestmark = pytest.mark.long(
    "a driver for each pool and not one for all, which test_cluster_policy.py and test_truth.py have"
)
OPERATORS: t.Final = {"nfd": "openshift-nfd", "gpu-operator-certified": "nvidia-gpu-operator"}

BACKEND: t.Final = "nvidiadriver"
WANTED: t.Final[Data] = {"backend": BACKEND, "pools": POOLS, **QUICK}


def test_overlaps_are_refused_before_the_first_write(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    everything = {
        "name": "everything",
        "node_selector": {"feature.node.kubernetes.io/pci-10de.present": "true"},
    }
    made = playbook.module("special_resource", **WANTED, nvidia_drivers=[{"name": "training"}, everything])
    assert (made["code"], audit.writes(made)) == ("GPU-NVD-OVERLAP", []), made.result
    foreign = {
        "apiVersion": DRIVERS[0],
        "kind": "NVIDIADriver",
        "metadata": {"name": "theirs"},
        "spec": {"driverType": "gpu", "image": "driver"},
    }
    cluster.client.create(foreign)
    try:
        made = playbook.module("special_resource", **WANTED)
        assert (made["code"], audit.writes(made)) == ("GPU-NVD-OVERLAP", []), made.result
        assert "theirs (all nodes)" in made["message"]
    finally:
        cluster.client.delete(*DRIVERS, "theirs")


def test_from_the_policys_driver_to_two_versions_without_a_gap(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    """Migrate to one driver per pool after the ClusterPolicy's driver runs on all nodes.

    In each pool at most one node at a time is without a driver.
    """
    before = playbook.module("special_resource", pools=POOLS, driver=driver(NEW), **QUICK)
    assert not before.failed, before.result
    own = [POOLS[0] | {"driver": driver(OLD)}, POOLS[1]]
    with Gaps(cluster) as gaps:
        made = playbook.module("special_resource", backend=BACKEND, pools=own, driver=driver(NEW), **QUICK)
    assert not made.failed, made.result
    assert gaps.most == {"inference": 1, "training": 1}
    found = {one["name"]: one for one in made["special_resource"]["nvidia_drivers"]}
    assert {name: (one["state"], one["version"], one["nodes"]) for name, one in found.items()} == {
        "inference": ("ready", OLD, ["t4-0", "t4-1"]),
        "training": ("ready", NEW, ["a100-0"]),
    }
    assert {one["name"]: one["driver_version"] for one in made["special_resource"]["nodes"]} == {
        "t4-0": OLD,
        "t4-1": OLD,
        "a100-0": NEW,
    }
    assert owners(cluster) == {"t4-0": "inference", "t4-1": "inference", "a100-0": "training"}
    writes = audit.writes(made)
    assert [line.split()[1].partition(".")[0] for line in writes] == [
        "nvidiadrivers",
        "nvidiadrivers",
        "clusterpolicies",
        "nvidiadrivers",
    ], writes
    again = playbook.module("special_resource", backend=BACKEND, pools=own, driver=driver(NEW), **QUICK)
    assert (again.changed, audit.writes(again)) == (False, []), again.result
    assert again["special_resource"]["nvidia_drivers_unlisted"] == []


def test_the_driver_of_a_pool_that_left_the_list_is_told_and_removed_by_name(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    fewer: Data = {
        "backend": BACKEND,
        "pools": [POOLS[0] | {"driver": driver(OLD)}],
        "driver": driver(NEW),
        **QUICK,
    }
    made = playbook.module("special_resource", **fewer)
    assert (made.failed, made.changed, audit.writes(made)) == (False, False, []), made.result
    (left,) = made["special_resource"]["nvidia_drivers_unlisted"]
    assert (left["name"], left["state"], left["nodes"]) == ("training", "ready", ["a100-0"])
    (warning,) = [text for text in made["warnings"] if "NVIDIADriver training" in text]
    assert "nvidia_drivers: [{name: training, state: absent}]" in warning
    gone = playbook.module(
        "special_resource", nvidia_drivers=[{"name": "training", "state": "absent"}], **fewer
    )
    assert (gone.failed, gone.changed, audit.writes(gone)) == (
        False,
        True,
        ["delete nvidiadrivers.nvidia.com /training"],
    ), gone.result
    assert [one["name"] for one in gone["special_resource"]["nvidia_drivers"]] == ["inference"]
    assert gone["special_resource"]["nvidia_drivers_unlisted"] == []
    assert [one["metadata"]["name"] for one in cluster.client.list(*DRIVERS)] == ["inference"]


def test_ready_without_a_single_daemonset_is_seen_through(cluster: Cluster, playbook: Playbook) -> None:
    """Remove the label of the major version: the operator counts no node and calls the driver ready."""
    sandbox = cluster.needs_sandbox()
    lost = {"label": "system-os_release.VERSION_ID.major"}
    faults.add(sandbox, "nfd_label_lost", lost)
    try:
        made = playbook.module("special_resource", **WANTED, driver=driver(NEW))
        assert (made["code"], made["layer"]) == ("GPU-NVD-EMPTY", "gpu"), made.result
        assert "VERSION_ID.major is missing" in made["message"]
        assert {one["metadata"]["name"]: one["status"]["state"] for one in cluster.client.list(*DRIVERS)} == {
            "inference": "ready",
            "training": "ready",
        }
    finally:
        faults.clear(sandbox, "nfd_label_lost", lost)
    mended = playbook.module("special_resource", **WANTED, driver=driver(NEW))
    assert not mended.failed, mended.result
