"""Policies of Gatekeeper and Kyverno about the images of pods."""

from __future__ import annotations

import typing as t
from pathlib import Path

from unit.sandbox.fake_api import World
from unit.sandbox.webhooks import registered, served

from openshift_sandbox.programs.foreign_webhooks import GATEKEEPER, KYVERNO
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.stand_ins.policy_engine.pods import PolicyEngines, review

Object = dict[str, t.Any]


def answered(image: str, engine: str = "gatekeeper", **trouble: str) -> Object:
    containers = [{"name": "side", "image": "quay.io/x:1"}, {"name": "main", "image": image}]
    pod = {"metadata": {"generateName": "train-"}, "spec": {"containers": containers}}
    scenario = Scenario("s", troubles=[{"type": "policy_denies", "image": "registry.k8s.io/"} | trouble])
    denial = review({"namespace": "team", "object": pod}, scenario, engine)
    return denial.response()["status"] if denial else {}


def test_gatekeeper_names_its_constraint_and_the_image() -> None:
    assert answered("registry.k8s.io/pause:3.10") == {
        "code": 403,
        "reason": "Forbidden",
        "message": (
            "[allowed-repos] container <main> has an invalid image repo <registry.k8s.io/pause:3.10>, "
            'allowed repos are ["registry.example.com/"]'
        ),
    }
    assert answered("registry.k8s.io/a:1", policy="ours", text="no")["message"] == "[ours] no"


def test_kyverno_answers_with_a_bad_request() -> None:
    assert answered("registry.k8s.io/pause:3.10", "kyverno") == {}
    kyverno = {"type": "policy_denies", "engine": "kyverno", "policy": "restrict-image-registries"}
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}}
    denial = review({"namespace": "team", "object": pod}, Scenario("s", troubles=[kyverno]), "kyverno")
    assert denial is not None
    assert (denial.code, denial.reason) == (400, "")
    assert denial.message.startswith("\n\nresource Pod/team/p was blocked due to the following policies")
    assert "restrict-image-registries:\n  validate-registries: 'validation error:" in denial.message


def test_other_images_and_other_namespaces_pass() -> None:
    assert answered("nvcr.io/nvidia/cuda:13") == {}
    scenario = Scenario("s", troubles=[{"type": "policy_denies", "namespace": "team"}])
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}}
    assert review({"namespace": "other", "object": pod}, scenario, "gatekeeper") is None
    assert review({"namespace": "team", "object": pod}, scenario, "gatekeeper") is not None


def test_only_the_engine_of_the_trouble_is_registered(tmp_path: Path) -> None:
    troubles = [{"type": "policy_denies"}]
    world = World(PolicyEngines(), directory=served(tmp_path), troubles=troubles)
    world.settle(1)
    assert registered(world, GATEKEEPER)["name"] == "validation.gatekeeper.sh"
    world.scenario.now.troubles[:] = [{"type": "policy_denies", "engine": "kyverno"}]
    world.settle(1)
    assert registered(world, KYVERNO)["name"] == "validate.kyverno.svc-fail"
    assert len(world.api.all("ValidatingWebhookConfiguration")) == 1
