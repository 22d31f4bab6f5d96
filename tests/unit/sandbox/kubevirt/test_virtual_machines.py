# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What virtual machines become: they run, they wait with KubeVirt's words, and evictions are answered."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.seed.virtualization import machine, objects
from openshift_sandbox.stand_ins.kubevirt import evictions
from openshift_sandbox.stand_ins.kubevirt.conversion import converted, respond
from openshift_sandbox.stand_ins.kubevirt.hyperconverged import KUBEVIRT, HyperConvergeds
from openshift_sandbox.stand_ins.kubevirt.virt_controller import VirtController, refusal

Object = dict[str, t.Any]
V1, V1BETA1 = "hco.kubevirt.io/v1", "hco.kubevirt.io/v1beta1"
CNV, TEAM = "openshift-cnv", "people"
T4: t.Final = "nvidia.com/TU104GL_TESLA_T4"
QAT: t.Final = {"pciDeviceSelector": "8086:37C8", "resourceName": "intel.com/qat"}
ENTRY: t.Final = {"pciDeviceSelector": "10DE:1EB8", "resourceName": T4, "externalResourceProvider": True}
REFUSED: t.Final = (
    f"failed to render launch manifest: GPU {T4} is not permitted in permittedHostDevices configuration"
)


def world_of(*entries: Object, gpus: t.Sequence[str] = (T4,)) -> World:
    """Return a cluster with these entries in HyperConverged, and a machine that wants these GPUs."""
    world = World(HyperConvergeds(), VirtController(), delays={"hyperconverged": 0})
    found = {"permittedHostDevices": {"pciHostDevices": list(entries)}}
    deployment, hyperconverged = objects({"virtualization": {"hyperconverged": found}})
    deployment["status"] = {"conditions": [{"type": "Available", "status": "True"}]}
    for obj in (deployment, hyperconverged, machine("desktop", TEAM, gpus)):
        world.api.create(obj)
    world.settle()
    return world


def status_of(world: World, kind: str = "VirtualMachine") -> Object:
    return t.cast(Object, world.api.get(kind, "desktop", TEAM)["status"])


def conditions(world: World, kind: str = "VirtualMachine") -> dict[str, tuple[str, str]]:
    return {
        one["type"]: (one["status"], one.get("message", "")) for one in status_of(world, kind)["conditions"]
    }


def pod(world: World) -> Object:
    [found] = world.api.all("Pod")
    return found


def run(world: World) -> None:
    """Have the pod of the machine scheduled and Ready."""
    metadata = pod(world)["metadata"]
    ready = {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running"}
    world.api.patch("v1", "pods", metadata["name"], TEAM, {"spec": {"nodeName": "gpu-0"}})
    world.api.patch("v1", "pods", metadata["name"], TEAM, {"status": ready}, "status")
    world.settle()


def test_a_machine_runs_where_its_device_is_listed() -> None:
    world = world_of(QAT, ENTRY)
    limits = pod(world)["spec"]["containers"][0]["resources"]["limits"]
    assert (limits, status_of(world)["printableStatus"]) == ({T4: "1"}, "Starting")
    run(world)
    assert (status_of(world)["printableStatus"], status_of(world)["ready"]) == ("Running", True)
    found = status_of(world, "VirtualMachineInstance")
    assert (found["phase"], found["nodeName"]) == ("Running", "gpu-0")
    assert conditions(world)["LiveMigratable"] == ("False", "VMI uses a PCI host devices")


def test_a_machine_waits_with_the_words_of_kubevirt_until_its_device_is_listed() -> None:
    world = world_of(QAT)
    assert conditions(world)["Synchronized"] == ("False", REFUSED)
    assert (world.api.all("Pod"), status_of(world)["printableStatus"]) == ([], "Starting")
    body = {"spec": {"permittedHostDevices": {"pciHostDevices": [QAT, ENTRY]}}}
    world.api.patch(V1BETA1, "hyperconvergeds", "kubevirt-hyperconverged", CNV, body)
    world.settle(1)
    run(world)
    assert "Synchronized" not in conditions(world)
    assert status_of(world)["printableStatus"] == "Running"


def test_a_machine_that_lost_its_pod_starts_again_and_one_that_is_halted_ends() -> None:
    world = world_of(ENTRY)
    run(world)
    before = pod(world)["metadata"]["name"]
    world.api.delete("v1", "pods", before, TEAM)
    world.settle(1)
    assert status_of(world)["printableStatus"] == "Starting"
    world.api.patch("kubevirt.io/v1", "virtualmachines", "desktop", TEAM, {"spec": {"runStrategy": "Halted"}})
    world.settle(1)
    assert status_of(world)["printableStatus"] == "Stopped"
    assert world.api.all("VirtualMachineInstance") == []


def test_kubevirt_gets_what_hyperconverged_asks_for() -> None:
    world = world_of(QAT | {"disabled": True}, ENTRY)
    spec = world.api.get("KubeVirt", KUBEVIRT, CNV)["spec"]["configuration"]
    theirs = {"pciVendorSelector": "10DE:1EB8", "resourceName": T4, "externalResourceProvider": True}
    assert spec == {
        "evictionStrategy": "LiveMigrate",
        "permittedHostDevices": {"pciHostDevices": [theirs]},
    }
    body = {"spec": {"featureGates": {"disableMDevConfiguration": True}}}
    world.api.patch(V1BETA1, "hyperconvergeds", "kubevirt-hyperconverged", CNV, body)
    world.settle(1)
    spec = world.api.get("KubeVirt", KUBEVIRT, CNV)["spec"]["configuration"]
    assert spec["mediatedDevicesConfiguration"] == {"enabled": False}


def test_without_any_list_nothing_is_refused() -> None:
    spec = machine("desktop", TEAM, [T4])["spec"]["template"]["spec"]
    assert refusal(spec, {}) == ""
    assert refusal(spec, {"permittedHostDevices": {}}) == REFUSED


def test_both_versions_of_hyperconverged_hold_the_same() -> None:
    lists = {"pciHostDevices": [QAT], "mediatedDevices": []}
    spec: Object = {
        "permittedHostDevices": lists,
        "evictionStrategy": "None",
        "featureGates": {"disableMDevConfiguration": True, "downwardMetrics": True},
        "mediatedDevicesConfiguration": {"mediatedDevicesTypes": ["nvidia-222"]},
    }
    old = {"apiVersion": V1BETA1, "kind": "HyperConverged", "metadata": {"name": "x"}, "spec": spec}
    new = converted(old, V1)
    assert new["spec"] == {
        "virtualization": {
            "permittedHostDevices": lists,
            "evictionStrategy": "None",
            "mediatedDevicesConfiguration": {"mediatedDeviceTypes": ["nvidia-222"], "enabled": False},
        },
        "featureGates": [{"name": "downwardMetrics", "state": "Enabled"}],
    }
    back = converted(new, V1BETA1)
    spec["featureGates"] |= {"deployKubeSecondaryDNS": False}
    assert back["spec"] == spec | {"mediatedDevicesConfiguration": {"mediatedDeviceTypes": ["nvidia-222"]}}
    answer = respond({"uid": "u", "desiredAPIVersion": V1BETA1, "objects": [new, old]})
    assert answer["convertedObjects"] == [back, old]


class Answers:
    """Take the place of the API client of the webhook."""

    def __init__(self, strategy: str | None, gpus: t.Sequence[str]) -> None:
        own = machine("desktop", TEAM, gpus)["spec"]["template"]["spec"]
        strategies = {"evictionStrategy": strategy} if strategy else {}
        metadata = {"name": "desktop", "namespace": TEAM}
        self.instance: Object = {"metadata": metadata, "spec": own | strategies, "status": {}}
        self.marks: list[str] = []

    def get(self, _api: str, plural: str, name: str, namespace: str) -> Object:
        if plural == evictions.INSTANCES:
            return self.instance
        labels = evictions.LAUNCHER | {evictions.CREATED_BY: "u"}
        metadata = {"name": name, "namespace": namespace, "labels": labels}
        annotations = {"annotations": {evictions.DOMAIN: "desktop"}}
        return {"metadata": metadata | annotations, "spec": {"nodeName": "gpu-0"}}

    def list(self, _api: str, _plural: str) -> list[Object]:
        return [{"spec": {"configuration": {"evictionStrategy": "LiveMigrate"}}}]

    def request(self, _method: str, _path: str, _body: Object, _kind: str) -> None:
        self.marks.append("pod")

    def patch(self, _api: str, plural: str, _name: str, _space: str, body: Object, _sub: str) -> None:
        self.marks.append(plural)
        self.instance["status"] |= body["status"]


STAYS: t.Final = "VMI desktop is configured with an eviction strategy but is not live-migratable"
LEAVES: t.Final = f'Eviction triggered evacuation of VMI "{TEAM}/desktop"'


@pytest.mark.parametrize(
    ("strategy", "gpus", "answer", "marks"),
    [
        (None, [T4], STAYS, []),
        ("LiveMigrate", [T4], STAYS, []),
        ("LiveMigrateIfPossible", [T4], None, []),
        ("None", [T4], None, []),
        ("External", [T4], LEAVES, [evictions.INSTANCES]),
        (None, [], LEAVES, ["pod", evictions.INSTANCES]),
    ],
)
def test_an_eviction_is_answered_by_the_strategy(
    strategy: str | None, gpus: list[str], answer: str | None, marks: list[str]
) -> None:
    client = Answers(strategy, gpus)
    request = {"namespace": TEAM, "name": "virt-launcher-desktop-x"}
    found = evictions.review(request, t.cast(t.Any, client))
    assert ((found.message, found.code) if found else None) == ((answer, 429) if answer else None)
    assert client.marks == marks
    if answer == LEAVES:
        again = evictions.review(request, t.cast(t.Any, client))
        assert again is not None
        assert again.message == f"Evacuation in progress: {LEAVES}"
