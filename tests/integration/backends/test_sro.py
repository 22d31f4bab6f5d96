# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource, backend sro: existing SpecialResources, and the migration to Kernel Module Management."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from cluster import Cluster, must_get
from integration.backends.kmm_cards import KMM, KMM_ABSENT
from integration.killed import kill
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

from openshift_sandbox import faults
from openshift_sandbox.catalogue import crds

pytestmark = pytest.mark.long("the Special Resource Operator, which is only left over on old clusters")

Data = dict[str, t.Any]

SPACE: t.Final = "it-simple-kmod"
LABEL: t.Final = "it-kmod"
SPECIALS: t.Final = ("sro.openshift.io/v1beta1", "specialresources")
MODULES: t.Final = ("kmm.sigs.x-k8s.io/v1beta1", "modules")
REPOSITORY: t.Final = {"name": "charts", "url": "https://charts.example.com"}


def chart(version: str = "0.0.1") -> Data:
    return {"name": "simple-kmod", "version": version, "repository": REPOSITORY}


def driven(version: str = "0.0.1", **more: t.Any) -> Data:
    own = {"chart": chart(version), "node_selector": {LABEL: "true"}}
    return {
        "backend": "sro",
        "name": "it-kmod",
        "namespace": SPACE,
        "sro": own,
        "grace": 1,
        "wait_timeout": 90,
        **more,
    }


def migration(**more: t.Any) -> Data:
    mappings = [{"regexp": r"^5\.14\.", "container_image": "quay.io/acme/simple-kmod:${KERNEL_FULL_VERSION}"}]
    kmm = {"selector": {LABEL: "true"}, "module_name": "simple-kmod", "kernel_mappings": mappings}
    return {
        "backend": "sro",
        "name": "it-kmod",
        "namespace": "openshift-kmm",
        "kmm": kmm,
        "sro": {"migrate_to": "kmm", **more},
        "wait_timeout": 90,
    }


@pytest.fixture(scope="module")
def specials(cluster: Cluster, playbook: Playbook) -> t.Iterator[None]:
    """Serve the kind SpecialResource and label one worker.

    The sandbox's stand-in for the operator starts as soon as the CRD exists.
    """
    cluster.needs_sandbox()
    early = playbook.module("special_resource", **driven())
    assert (early["code"], early["layer"]) == ("GPU-SRO-NOT-SERVED", "api")
    assert all(
        word in early["msg"]
        for word in ("v1alpha1", "Kernel Module Management", "backend to kmm or clusterpolicy")
    )
    crds.load(cluster.client, crds.operator_crds("special-resource-operator"))
    (name, *_others) = sorted(
        node["metadata"]["name"]
        for node in cluster.client.list("v1", "nodes", labels="node-role.kubernetes.io/worker")
    )
    cluster.client.patch("v1", "nodes", name, None, {"metadata": {"labels": {LABEL: "true"}}})
    yield
    cluster.client.patch("v1", "nodes", name, None, {"metadata": {"labels": {LABEL: None}}})
    cluster.client.delete(
        "apiextensions.k8s.io/v1", "customresourcedefinitions", "specialresources.sro.openshift.io"
    )
    cluster.client.delete("v1", "namespaces", SPACE)
    assert playbook.tasks(KMM_ABSENT).rc == 0


def look_at_one(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    """Create a SpecialResource; read it first while it works and then while its operator fails."""
    spec = {"chart": chart(), "namespace": SPACE, "nodeSelector": {LABEL: "true"}}
    cluster.client.create(
        {"apiVersion": SPECIALS[0], "kind": "SpecialResource", "metadata": {"name": "it-kmod"}, "spec": spec}
    )
    plain: Data = {"backend": "sro", "name": "it-kmod", "grace": 1, "wait_timeout": 90}
    seen = playbook.module("special_resource", **plain)
    assert (seen["special_resource"]["state"], seen.changed, audit.writes(seen)) == ("ready", False, [])
    runs = seen["special_resource"]["runs"]
    assert (runs["chart"], runs["daemonsets"][0]["name"]) == (
        "simple-kmod 0.0.1",
        f"{SPACE}/simple-kmod-driver-container",
    )
    assert runs["daemonsets"][0]["images"] == ["registry.example.com/simple-kmod:v0.0.1"]
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, "sro_errored", {"text": "chart not found"})
    try:
        errored = playbook.module("special_resource", **plain, settle=3)
    finally:
        faults.clear(sandbox, "sro_errored", {})
    assert (errored["code"], "chart not found" in errored["msg"]) == ("GPU-SRO-ERRORED", True)
    assert [(one["name"], one["verdict"]) for one in errored["special_resource"]["stages"]] == [
        ("crd", "failed")
    ]


def plan_the_migration(playbook: Playbook, audit: Audit) -> None:
    """Install KMM and ask for the steps of the migration; assert that nothing is written."""
    assert playbook.tasks(KMM).rc == 0
    asked = playbook.module("special_resource", **migration())
    found = asked["special_resource"]
    assert (found["state"], asked.changed, audit.writes(asked)) == ("waiting", False, [])
    assert [one["done"] for one in found["steps"]] == [True, False, False, False]
    planned = playbook.module("special_resource", check=True, **migration(remove=True))
    assert (planned.changed, audit.writes(planned)) == (True, [])
    assert [one["done"] for one in planned["special_resource"]["steps"]] == [True, False, False, False]


def kill_the_removal(cluster: Cluster, playbook: Playbook, directory: Path) -> None:
    """Kill the migration while it waits for the old driver; return once that driver is gone."""
    client, driver = cluster.client, ("apps/v1", "daemonsets", "simple-kmod-driver-container", SPACE)
    client.patch(
        *driver, {"metadata": {"finalizers": ["example.com/kept"]}}
    )  # the driver's deletion must not end before the kill
    kill(
        playbook,
        directory,
        lambda: "deletionTimestamp" in must_get(client, *driver)["metadata"],
        "special_resource",
        **migration(remove=True),
    )
    assert (client.get(*SPECIALS, "it-kmod"), client.get(*MODULES, "it-kmod", "openshift-kmm")) == (
        None,
        None,
    )
    client.patch(*driver, {"metadata": {"finalizers": None}})
    until(lambda: not client.get(*driver), "the old DaemonSet is gone")


def test_from_a_special_resource_to_a_module(
    cluster: Cluster, playbook: Playbook, audit: Audit, specials: None, tmp_path: Path
) -> None:
    look_at_one(cluster, playbook, audit)
    plan_the_migration(playbook, audit)
    kill_the_removal(cluster, playbook, tmp_path)
    moved = playbook.module("special_resource", **migration(remove=True))
    assert not moved.failed, moved.result
    found = moved["special_resource"]
    assert (found["backend"], found["state"], [one["done"] for one in found["steps"]]) == (
        "kmm",
        "ready",
        [True] * 4,
    )
    assert found["numbers"]["moduleLoader"] == {
        "nodesMatchingSelectorNumber": 1,
        "desiredNumber": 1,
        "availableNumber": 1,
    }
    assert cluster.client.get(*SPECIALS, "it-kmod") is None
    assert cluster.client.list("apps/v1", "daemonsets", SPACE) == []
    again = playbook.module("special_resource", **migration(remove=True))
    assert (again.failed, again.changed, audit.writes(again)) == (False, False, [])
    assert playbook.module("special_resource", backend="kmm", name="it-kmod", state="absent").changed
