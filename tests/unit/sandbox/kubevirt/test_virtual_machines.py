"""Virtual machines on GPU nodes, and what happens when their pods are evicted."""

from __future__ import annotations

import typing as t
from pathlib import Path

from unit.sandbox.fake_api import FakeApi, World
from unit.sandbox.gpu_operator.builders import make
from unit.sandbox.webhooks import registered, served

from openshift_sandbox.programs.foreign_webhooks import LAUNCHERS
from openshift_sandbox.stand_ins.kubevirt.virtual_machines import (
    LEAVING,
    NAMESPACE,
    RESOURCE,
    VirtualMachines,
    launcher,
    review,
)

Object = dict[str, t.Any]
POD = "virt-launcher-vm-gpu-0-x7k2p"


class LaunchersApi:
    """An API with one pod, which keeps what is sent to it."""

    def __init__(self, pod: Object | None) -> None:
        self.pod = pod
        self.sent: list[Object] = []

    def get(self, *_place: str) -> Object | None:
        return self.pod

    def request(self, _method: str, _path: str, body: Object, _type: str) -> tuple[int, Object]:
        self.sent.append(body)
        return 200, {}


def evicted(pod: Object | None, dry_run: bool = False) -> tuple[Object, list[Object]]:
    api = LaunchersApi(pod)
    denial = review({"namespace": "vms", "name": "p", "dryRun": dry_run}, t.cast(t.Any, api))
    return (denial.response() if denial else {}), api.sent


def ready(world: World) -> World:
    conditions = [{"type": "Ready", "status": "True"}]
    world.api.patch("v1", "nodes", "gpu-0", None, {"status": {"conditions": conditions}}, "status")
    world.settle(1)
    return world


def test_an_eviction_only_makes_the_machine_leave() -> None:
    answer, sent = evicted(launcher("n1.example.com", "vms", RESOURCE))
    message = 'Eviction triggered evacuation of VMI "vms/vm-n1"'
    assert answer == {"allowed": False, "status": {"code": 429, "message": message}}
    assert [one["metadata"]["annotations"].keys() for one in sent] == [{LEAVING}]


def test_a_dry_run_marks_nothing() -> None:
    answer, sent = evicted(launcher("n1", "vms", RESOURCE), dry_run=True)
    assert (answer["status"]["code"], sent) == (429, [])


def test_other_pods_are_evicted() -> None:
    other = {"metadata": {"labels": {"app": "web"}}}
    assert evicted(other) == evicted(None) == ({}, [])


def test_a_gpu_node_gets_one_machine_which_leaves_once_and_for_good(tmp_path: Path) -> None:
    trouble = {"type": "virtual_machine"}
    world = ready(make(VirtualMachines(), directory=served(tmp_path), troubles=[trouble]))
    pod = world.api.get("Pod", POD, NAMESPACE)
    assert pod["spec"]["nodeName"] == "gpu-0"
    assert pod["spec"]["containers"][0]["resources"]["limits"] == {RESOURCE: "1"}
    webhook = registered(world, LAUNCHERS)
    assert webhook["rules"][0]["resources"] == ["pods/eviction"]
    world.settle(10)
    assert world.api.get("Pod", POD, NAMESPACE)
    mark = {"metadata": {"annotations": {LEAVING: "kubevirt"}}}
    world.api.patch("v1", "pods", POD, NAMESPACE, mark)
    world.settle(4)
    assert world.api.get("Pod", POD, NAMESPACE)
    world.settle(2)
    assert world.api.all("Pod") == []
    world.settle(10)
    assert world.api.all("Pod") == []


def test_a_cordoned_node_gets_none(tmp_path: Path) -> None:
    trouble = {"type": "virtual_machine"}
    world = make(VirtualMachines(), directory=served(tmp_path), troubles=[trouble])
    world.api.patch("v1", "nodes", "gpu-0", None, {"spec": {"unschedulable": True}})
    assert isinstance(ready(world).api, FakeApi)
    assert world.api.all("Pod") == []


def test_without_the_trouble_there_is_neither_machine_nor_webhook(tmp_path: Path) -> None:
    world = ready(make(VirtualMachines(), directory=served(tmp_path)))
    assert world.api.all("Pod") == world.api.all("ValidatingWebhookConfiguration") == []
