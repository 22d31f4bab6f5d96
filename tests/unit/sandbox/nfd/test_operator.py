"""What the NFD operator makes: operands, conditions with its own reasons, removal, copied rules."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.nfd.operator import COPIED_RULES, NfdOperator

NAMESPACE = "openshift-nfd"
CR: t.Final[dict[str, t.Any]] = {
    "apiVersion": "nfd.openshift.io/v1",
    "kind": "NodeFeatureDiscovery",
    "metadata": {"name": "nfd-instance", "namespace": NAMESPACE},
}
AVAILABLE = {"conditions": [{"type": "Available", "status": "True"}]}
READY = {"observedGeneration": 1, "desiredNumberScheduled": 3, "numberReady": 3}


def deployment(name: str) -> dict[str, t.Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {},
        "status": AVAILABLE,
    }


def status(world: World, kind: str, name: str, body: dict[str, t.Any]) -> None:
    plural = {"DaemonSet": "daemonsets", "Deployment": "deployments"}[kind]
    world.api.patch("apps/v1", plural, name, NAMESPACE, {"status": body}, "status")


def conditions(world: World) -> dict[str, tuple[str, str]]:
    found = world.api.get("NodeFeatureDiscovery", "nfd-instance", NAMESPACE)["status"]["conditions"]
    return {one["type"]: (one["status"], one["reason"]) for one in found}


@pytest.fixture
def world() -> World:
    world = World(NfdOperator())
    world.api.create(deployment("nfd-controller-manager"))
    world.api.create(CR | {"spec": {"workerConfig": {"configData": "sources: {}"}, "operand": {}}})
    world.settle()
    return world


def operands_ready(world: World) -> None:
    status(world, "DaemonSet", "nfd-worker", READY)
    for name in ("nfd-master", "nfd-gc"):
        status(world, "Deployment", name, AVAILABLE)
    world.settle(1)


def test_nothing_happens_without_the_operator_s_deployment() -> None:
    world = World(NfdOperator())
    world.api.create(CR | {"spec": {}})
    world.settle(5)
    assert [write[0] for write in world.api.writes] == ["create"]


def test_the_operands(world: World) -> None:
    assert {one["metadata"]["name"] for one in world.api.all("Deployment")} == {
        "nfd-controller-manager",
        "nfd-master",
        "nfd-gc",
    }
    assert len(world.api.all("NetworkPolicy")) == 3
    assert world.api.get("ConfigMap", "nfd-worker", NAMESPACE)["data"] == {"nfd-worker-conf": "sources: {}"}
    worker = world.api.get("DaemonSet", "nfd-worker", NAMESPACE)["spec"]["template"]["spec"]
    assert worker["tolerations"] == [{"operator": "Exists", "effect": "NoSchedule"}]


@pytest.mark.parametrize(
    ("daemon_set", "masters", "reasons"),
    [
        (
            {},
            [],
            {"Progressing": ("True", "NFDWorkerDaemonSetProgressing"), "Degraded": ("False", "NotDegraded")},
        ),
        ({**READY, "numberReady": 2}, [], {"Available": ("False", "NFDWorkerDaemonSetProgressing")}),
        (
            {"observedGeneration": 1, "desiredNumberScheduled": 0},
            [],
            {
                "Degraded": ("True", "NFDWorkerDaemonSetDegraded"),
                "Available": ("False", "NFDWorkerDaemonSetDegraded"),
            },
        ),
        (READY, [], {"Progressing": ("True", "NFDMasterDeploymentProgressing")}),
        (READY, ["nfd-master"], {"Progressing": ("True", "NFDGCDeploymentProgressing")}),
        (
            READY,
            ["nfd-master", "nfd-gc"],
            {
                "Available": ("True", "AllInstanceComponentsAreDeployedSuccessfuly"),
                "Upgradeable": ("True", "CanBeUpgraded"),
                "Progressing": ("False", "NotProgressing"),
                "Degraded": ("False", "NotDegraded"),
                "OperandImagePinned": ("False", "OperandImageNotSet"),
            },
        ),
    ],
)
def test_conditions(
    world: World, daemon_set: dict[str, t.Any], masters: list[str], reasons: dict[str, tuple[str, str]]
) -> None:
    status(world, "DaemonSet", "nfd-worker", daemon_set)
    for name in masters:
        status(world, "Deployment", name, AVAILABLE)
    world.settle(1)
    assert reasons.items() <= conditions(world).items()


def test_a_changed_cr_and_an_edited_operand_are_brought_in_line(world: World) -> None:
    operands_ready(world)
    before = len(world.api.writes)
    world.settle(5)
    assert len(world.api.writes) == before
    world.api.patch(
        "nfd.openshift.io/v1",
        "nodefeaturediscoveries",
        "nfd-instance",
        NAMESPACE,
        {"spec": {"workerConfig": {"configData": "new"}}},
    )
    world.api.patch(
        "apps/v1",
        "daemonsets",
        "nfd-worker",
        NAMESPACE,
        {"spec": {"template": {"spec": {"tolerations": []}}}},
    )
    world.settle()
    assert world.api.get("ConfigMap", "nfd-worker", NAMESPACE)["data"] == {"nfd-worker-conf": "new"}
    assert world.api.get("DaemonSet", "nfd-worker", NAMESPACE)["spec"]["template"]["spec"]["tolerations"]


def test_removal_takes_the_operands_and_then_the_finalizer(world: World) -> None:
    operands_ready(world)
    world.api.delete("nfd.openshift.io/v1", "nodefeaturediscoveries", "nfd-instance", NAMESPACE)
    world.settle()
    assert (
        world.api.all("NodeFeatureDiscovery")
        == world.api.all("DaemonSet")
        == world.api.all("NetworkPolicy")
        == []
    )
    assert [one["metadata"]["name"] for one in world.api.all("Deployment")] == ["nfd-controller-manager"]


def test_rules_of_openshift_s_group_are_copied_without_their_labels(world: World) -> None:
    metadata = {"name": "rule", "namespace": NAMESPACE, "labels": {"mine": "yes"}}
    world.api.create(
        {
            "apiVersion": "nfd.openshift.io/v1alpha1",
            "kind": "NodeFeatureRule",
            "metadata": metadata,
            "spec": {"rules": [{"name": "a"}]},
        }
    )
    world.settle(1)
    copy = world.api.get("NodeFeatureRule", "rule", NAMESPACE)
    assert copy["spec"] == {"rules": [{"name": "a"}]}
    assert "labels" not in copy["metadata"]
    [owner] = copy["metadata"]["ownerReferences"]
    assert (owner["apiVersion"], owner["name"], owner["controller"]) == (
        "nfd.openshift.io/v1alpha1",
        "rule",
        True,
    )
    assert len(world.api.all(COPIED_RULES)) == 1
    # The operator looks only at the rule, not at its copy.
    world.api.patch(
        "nfd.k8s-sigs.io/v1alpha1", "nodefeaturerules", "rule", NAMESPACE, {"spec": {"rules": []}}
    )
    world.settle(2)
    assert world.api.get("NodeFeatureRule", "rule", NAMESPACE)["spec"] == {"rules": []}


def test_one_of_two_instances_can_go(world: World) -> None:
    world.api.create(
        CR | {"metadata": CR["metadata"] | {"name": "second", "finalizers": ["nfd-finalizer"]}, "spec": {}}
    )
    world.api.delete("nfd.openshift.io/v1", "nodefeaturediscoveries", "second", NAMESPACE)
    world.settle()
    assert [one["metadata"]["name"] for one in world.api.all("NodeFeatureDiscovery")] == ["nfd-instance"]
    assert world.api.get("DaemonSet", "nfd-worker", NAMESPACE)
