# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in for the operator of Kueue: what its object brings, says, and takes away."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.catalogue import crds
from openshift_sandbox.client import ApiError
from openshift_sandbox.stand_ins.kueue.operator import (
    API_VERSION,
    CONTROLLER,
    FINALIZER,
    OPERATOR,
    KueueOperator,
)

Object = dict[str, t.Any]
PLACE: t.Final = "openshift-kueue-operator"
AVAILABLE: t.Final = {"conditions": [{"type": "Available", "status": "True"}]}


def with_operator(status: Object | None = None, **scenario: t.Any) -> World:
    """Return a cluster with the operator, whose Deployment has this status, and with its object."""
    world = World(KueueOperator(), **scenario)
    env = [{"name": "KUEUE", "value": "registry.redhat.io/kueue/kueue-rhel9:v1.3.0"}]
    pod = {"containers": [{"name": "operator", "env": env}]}
    world.api.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": OPERATOR, "namespace": PLACE},
            "spec": {"template": {"spec": pod}},
            "status": AVAILABLE if status is None else status,
        }
    )
    spec = {"managementState": "Managed", "config": {"integrations": {"frameworks": ["BatchJob"]}}}
    world.api.create(
        {"apiVersion": API_VERSION, "kind": "Kueue", "metadata": {"name": "cluster"}, "spec": spec}
    )
    return world


def said(world: World) -> dict[str, tuple[str, str]]:
    """Return status and reason of each condition of the object."""
    found = world.api.get("Kueue", "cluster").get("status", {}).get("conditions", [])
    return {one["type"]: (one["status"], one["reason"]) for one in found}


def test_the_object_brings_the_crds_and_the_deployment() -> None:
    world = with_operator()
    world.settle(2)
    names = {one["metadata"]["name"] for one in world.api.all("CustomResourceDefinition")}
    assert names == {crd["metadata"]["name"] for crd in crds.kueue_crds()}
    made = world.api.get("Deployment", CONTROLLER, PLACE)
    assert made["spec"]["template"]["spec"]["containers"][0]["image"].endswith("kueue-rhel9:v1.3.0")
    assert made["metadata"]["ownerReferences"][0]["kind"] == "Kueue"
    assert world.api.get("Kueue", "cluster")["metadata"]["finalizers"] == [FINALIZER]
    assert said(world)["Available"] == ("False", "NotEnoughReplicas")
    assert said(world)["CertManagerAvailable"] == ("True", "CertManagerInstalled")


def test_it_is_available_when_the_pods_of_kueue_are_ready() -> None:
    world = with_operator()
    world.settle(2)
    ready = {"status": {"readyReplicas": 1}}
    world.api.patch("apps/v1", "deployments", CONTROLLER, PLACE, ready, "status")
    world.settle(2)
    assert said(world)["Available"] == ("True", "AllReplicasReady")
    assert said(world)["Degraded"] == ("False", "AsExpected")
    before = len(world.api.writes)
    world.settle(5)
    assert len(world.api.writes) == before


def test_without_cert_manager_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = with_operator()
    listed = world.api.list

    def without(api_version: str, plural: str, **more: t.Any) -> list[Object]:
        if plural == "issuers":
            raise ApiError(404, "not found")
        return listed(api_version, plural, **more)

    monkeypatch.setattr(world.api, "list", without)
    world.settle(2)
    assert said(world)["Available"] == ("False", "MissingDependency")
    assert not world.api.all("CustomResourceDefinition")


def test_an_operator_that_does_not_run_does_nothing() -> None:
    world = with_operator(status={})
    world.settle(2)
    assert said(world) == {}


def test_the_object_goes_and_the_crds_stay() -> None:
    world = with_operator()
    world.settle(2)
    world.api.delete(API_VERSION, "kueues", "cluster")
    world.settle(2)
    assert not world.api.all("Kueue")
    assert world.api.all("CustomResourceDefinition")


def test_it_takes_the_delay_of_the_scenario() -> None:
    world = with_operator(delays={"kueue_operator": 10})
    world.settle(5)
    assert said(world) == {}
    world.settle(10)
    assert "Available" in said(world)
