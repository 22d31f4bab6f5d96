"""Kernel Module Management, device plugins and the FPGA operator as the sandbox plays them."""

from __future__ import annotations

import base64
import typing as t
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.device_plugins.any_vendor import DevicePlugins, offered
from openshift_sandbox.stand_ins.kmm import builds, modules, preflight
from openshift_sandbox.stand_ins.kmm.dra import KmmDra
from openshift_sandbox.stand_ins.kmm.images import REGISTRY
from openshift_sandbox.stand_ins.kmm.operator import FINALIZER, KmmOperator
from openshift_sandbox.stand_ins.kmm.preflight import KmmPreflight
from openshift_sandbox.stand_ins.kmm.worker import KmmWorkers

Object = dict[str, t.Any]

SPACE = "openshift-kmm"
KERNEL = "5.14.0-570.12.1.el9_6.x86_64"
READY = f"kmm.node.kubernetes.io/{SPACE}.card.ready"


def world(directory: Path, *troubles: Object, **spec: t.Any) -> World:
    made = World(
        KmmOperator(),
        KmmWorkers(),
        KmmPreflight(),
        DevicePlugins(),
        directory=directory,
        troubles=list(troubles),
    )
    status = {"nodeInfo": {"kernelVersion": KERNEL, "bootID": "b1"}}
    made.api.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n1", "labels": {"card": "true"}},
            "spec": {},
            "status": status,
        }
    )
    available = {"conditions": [{"type": "Available", "status": "True"}]}
    metadata = {"name": modules.OPERATOR, "namespace": SPACE}
    made.api.create(
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {}, "status": available}
    )
    container = {
        "modprobe": {"moduleName": "card"},
        "kernelMappings": [{"regexp": "^5", "containerImage": "card:${KERNEL_FULL_VERSION}"}],
    }
    body = {"selector": {"card": "true"}, "moduleLoader": {"container": container}} | spec
    made.api.create(
        {
            "apiVersion": modules.API,
            "kind": "Module",
            "metadata": {"name": "card", "namespace": SPACE},
            "spec": body,
        }
    )
    return made


def advance(made: World, phase: str = "Succeeded") -> list[str]:
    """Pods end as KWOK ends them; returns their names."""
    names = [
        pod["metadata"]["name"]
        for pod in made.api.all("Pod")
        if (pod.get("status") or {}).get("phase") != phase
    ]
    for name in names:
        made.api.patch("v1", "pods", name, SPACE, {"status": {"phase": phase}}, "status")
    made.settle(1.0)
    return names


def test_a_module_reaches_its_node_and_leaves_it_again(tmp_path: Path) -> None:
    made = world(
        tmp_path,
        devicePlugin={"container": {"image": "plugin:1", "args": ["--resource-name=a/b", "--devices=2"]}},
    )
    made.settle(1.0)
    (pull,) = advance(made)
    assert pull.startswith("card-pull-pod-")
    assert (
        made.api.get("NodeModulesConfig", "n1")["spec"]["modules"][0]["config"]["containerImage"]
        == f"card:{KERNEL}"
    )
    assert advance(made) == ["kmm-worker-n1-card"]
    assert READY in made.api.get("Node", "n1")["metadata"]["labels"]
    live = made.api.get("Module", "card", SPACE)
    assert live["status"]["moduleLoader"] == {
        "nodesMatchingSelectorNumber": 1,
        "desiredNumber": 1,
        "availableNumber": 1,
    }
    assert made.api.all("DaemonSet")[0]["spec"]["template"]["spec"]["nodeSelector"] == {READY: ""}

    made.cluster.delete("Module", "card", SPACE)
    made.settle(1.0)
    assert FINALIZER in made.api.get("Module", "card", SPACE)["metadata"]["finalizers"]
    assert advance(made) == ["kmm-worker-n1-card"]
    assert (made.api.all("Module"), READY in made.api.get("Node", "n1")["metadata"]["labels"]) == ([], False)


def test_a_tainted_node_does_not_exist_for_a_module(tmp_path: Path) -> None:
    made = world(tmp_path)
    made.api.patch(
        "v1", "nodes", "n1", "", {"spec": {"taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}}
    )
    made.settle(1.0)
    numbers = made.api.get("Module", "card", SPACE)["status"]["moduleLoader"]
    assert numbers == {"nodesMatchingSelectorNumber": 0, "desiredNumber": 0, "availableNumber": 0}


def test_an_image_that_is_missing_stays_in_back_off_until_it_is_there(tmp_path: Path) -> None:
    made = world(tmp_path, {"type": "kmm_image_missing"})
    made.settle(1.0)
    (pod,) = made.api.all("Pod")
    assert pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "ImagePullBackOff"
    made.scenario.now.troubles.clear()
    made.settle(1.0)
    (pod,) = made.api.all("Pod")
    assert "containerStatuses" not in (pod.get("status") or {})


def test_an_image_is_looked_for_then_built_then_signed(tmp_path: Path) -> None:
    REGISTRY.clear()
    sign = {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}, "filesToSign": ["/opt/a.ko"]}
    mapping = {
        "regexp": "^5",
        "containerImage": "card:1",
        "build": {"dockerfileConfigMap": {"name": "d"}},
        "sign": sign,
    }
    made = world(
        tmp_path,
        {"type": "kmm_secure_boot"},
        moduleLoader={"container": {"modprobe": {"moduleName": "card"}, "kernelMappings": [mapping]}},
    )
    for name, data in {"k": {"key": b"PRIVATE KEY"}, "c": {"cert": b"\x30"}}.items():
        encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
        made.api.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": name, "namespace": SPACE},
                "data": encoded,
            }
        )
    earlier = {
        "apiVersion": builds.API,
        "kind": "Build",
        "name": "card-build-5-14-0-570-12-1-el9-6-x86-64",
        "uid": "earlier",
    }
    left = {"name": f"{earlier['name']}-build", "namespace": SPACE, "ownerReferences": [earlier]}
    made.api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": left,
            "spec": {"containers": []},
            "status": {"phase": "Failed"},
        }
    )
    made.settle(2.0)
    made.cluster.delete("Pod", left["name"], SPACE)
    made.settle(1.0)
    assert [one["metadata"]["labels"][builds.TYPE] for one in made.api.all("Build")] == ["BuildImage"]
    advance(made)
    assert [one["metadata"]["name"] for one in made.api.all("Build")] == [
        "card-sign-5-14-0-570-12-1-el9-6-x86-64"
    ]
    advance(made)
    assert ({"card:1": "c"}, made.api.all("Build")) == (REGISTRY, [])
    assert "kmm-worker-n1-card" in advance(made)
    assert READY in made.api.get("Node", "n1")["metadata"]["labels"]


def test_a_dra_driver_publishes_what_its_arguments_say_and_takes_it_back(tmp_path: Path) -> None:
    made = World(KmmDra(), directory=tmp_path, troubles=[])
    made.api.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n1", "labels": {}},
            "spec": {},
            "status": {},
        }
    )
    dra = {
        "driverName": "card.example.com",
        "container": {"image": "i", "args": ["--devices=2"]},
        "deviceClasses": [{"name": "cards.example.com"}],
    }
    module = {
        "apiVersion": modules.API,
        "kind": "Module",
        "metadata": {"name": "card", "namespace": SPACE},
        "spec": {"selector": {}, "dra": dra},
    }
    made.api.create(module)
    labels = {modules.MODULE: "card", "kmm.node.kubernetes.io/role": "dra"}
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": SPACE, "labels": labels},
        "spec": {"nodeName": "n1"},
        "status": status,
    }
    made.api.create(pod)
    made.settle(1.0)
    (found,) = made.api.all("ResourceSlice")
    assert (found["spec"]["driver"], found["spec"]["nodeName"], len(found["spec"]["devices"])) == (
        "card.example.com",
        "n1",
        2,
    )
    assert made.api.all("DeviceClass")[0]["metadata"]["labels"] == {
        modules.MODULE: "card",
        "kmm.node.kubernetes.io/module.namespace": SPACE,
    }
    made.cluster.delete("Pod", "p", SPACE)
    made.settle(1.0)
    assert made.api.all("ResourceSlice") == []


@pytest.mark.parametrize(
    ("secrets", "text"),
    [
        ((b"x", b"\x30"), "/run/secrets/key/key"),
        ((b"PRIVATE KEY", b"x"), "/run/secrets/cert/cert"),
        ((b"PRIVATE KEY", b"BEGIN CERTIFICATE"), ""),
        ((), ""),
    ],
)
def test_what_signs_nothing(secrets: tuple[bytes, ...], text: str) -> None:
    assert builds.unusable(secrets).endswith(text)
    assert bool(builds.unusable(secrets)) == bool(text)


@pytest.mark.parametrize(
    ("kernel", "status", "reason"),
    [
        (KERNEL, "Success", "verified image exists"),
        ("6.1", "Failure", "mapping not found"),
    ],
)
def test_a_kernel_to_come(tmp_path: Path, kernel: str, status: str, reason: str) -> None:
    made = world(tmp_path)
    spec = {"kernelVersion": kernel}
    made.api.create(
        {
            "apiVersion": "kmm.sigs.x-k8s.io/v1beta2",
            "kind": "PreflightValidation",
            "metadata": {"name": "p"},
            "spec": spec,
        }
    )
    made.settle(2.0)
    (entry,) = made.api.get("PreflightValidation", "p")["status"]["modules"]
    assert (entry["verificationStatus"], entry["verificationStage"]) == (status, "Done")
    assert reason in entry["statusReason"]


@pytest.mark.parametrize(
    ("troubles", "status", "reason"),
    [
        ([], "Success", "verified image exists"),
        (["kmm_build_fails"], "Failure", "verified image does not exist and build/sign failed"),
    ],
)
def test_what_is_not_there_is_verified_by_building(
    tmp_path: Path, troubles: list[str], status: str, reason: str
) -> None:
    made = world(tmp_path, {"type": "kmm_image_missing"}, *({"type": one} for one in troubles))
    mapping = {"regexp": "^5", "containerImage": "i", "build": {"dockerfileConfigMap": {"name": "d"}}}
    module = {
        "metadata": {"name": "card", "namespace": SPACE},
        "spec": {"moduleLoader": {"container": {"modprobe": {}, "kernelMappings": [mapping]}}},
    }
    assert preflight.verdict(made.cluster, module, {"kernelVersion": KERNEL}) == (status, reason)


def test_what_a_plugin_offers_is_in_its_arguments() -> None:
    pod = {"spec": {"containers": [{"args": ["--resource-name=a/b", "--devices=3"]}]}}
    assert offered(pod) == ("a/b", 3)
    assert offered({"spec": {"containers": [{"args": ["--devices=3"]}, {}]}}) is None
