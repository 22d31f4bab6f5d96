"""The DRA driver of a Module."""

from __future__ import annotations

from pathlib import Path

from unit.sandbox.fake_api import World
from unit.sandbox.kmm.builders import SPACE

from openshift_sandbox.stand_ins.kmm import modules
from openshift_sandbox.stand_ins.kmm.dra import KmmDra


def module_with_a_driver(directory: Path) -> World:
    made = World(KmmDra(), directory=directory, troubles=[])
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
    return made


def test_a_dra_driver_publishes_what_its_arguments_say_and_takes_it_back(tmp_path: Path) -> None:
    made = module_with_a_driver(tmp_path)
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
