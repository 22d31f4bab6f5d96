# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines on bare metal claim a host, wait for it, and give it back.

Without a free host a Machine waits with an error that is not final.
"""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox import scenario
from openshift_sandbox.hardware import instance_types
from openshift_sandbox.seed import installer
from openshift_sandbox.seed.platforms import baremetal
from openshift_sandbox.stand_ins.clouds.bare_metal_hosts import BareMetalHosts, hosts_for, selects
from openshift_sandbox.stand_ins.machine_api.machine_sets import MachineSets
from openshift_sandbox.stand_ins.machine_api.machines import Machines
from openshift_sandbox.stand_ins.machine_api.nodelink import Nodelink

Data = dict[str, t.Any]

NAMESPACE = "openshift-machine-api"
API = "machine.openshift.io/v1beta1"
SHAPE = scenario.load("baremetal").cluster
H100 = {"matchLabels": {"gpu": "h100"}}


def make(*troubles: Data, **delays: float) -> World:
    stand_ins = (MachineSets(), Machines(), BareMetalHosts(), Nodelink())
    world = World(*stand_ins, cluster=SHAPE, troubles=list(troubles), delays=delays)
    infrastructure = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
    }
    world.api.create(infrastructure | {"status": {"platformStatus": {"type": "BareMetal"}}})
    for one in baremetal.hosts(SHAPE):
        world.api.create(one)
    return world


def value(selector: Data | None = None) -> Data:
    return baremetal.provider_spec(SHAPE, "worker", "", "") | {"hostSelector": selector or H100}


def add(world: World, name: str = "gpu-a", provider: Data | None = None) -> None:
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {"pool": "gpu"}}
    world.api.create(
        {
            "apiVersion": API,
            "kind": "Machine",
            "metadata": metadata,
            "spec": {"providerSpec": {"value": provider or value()}},
        }
    )


def machine(world: World, name: str = "gpu-a") -> Data:
    return world.api.get("Machine", name, NAMESPACE)


def host(world: World, name: str) -> Data:
    return world.api.get("BareMetalHost", name, NAMESPACE)


def state(world: World, name: str) -> str:
    found: str = host(world, name)["status"]["provisioning"]["state"]
    return found


def test_a_host_is_claimed_provisioned_and_becomes_a_node() -> None:
    world = make(host_provisioning=3)
    add(world)
    world.settle(2)
    claimed, waiting = host(world, "gpu-0"), machine(world)
    assert (
        claimed["spec"]["consumerRef"]["name"],
        claimed["spec"]["online"],
        claimed["spec"]["customDeploy"],
    ) == ("gpu-a", True, {"method": "install_coreos"})
    assert claimed["spec"]["userData"] == {"name": "worker-user-data-managed", "namespace": NAMESPACE}
    assert waiting["status"]["phase"] == "Provisioning"
    world.settle(6)
    found = machine(world)
    assert found["status"]["phase"] == "Running"
    assert found["spec"]["providerID"] == f"baremetalhost:///{NAMESPACE}/gpu-0/{claimed['metadata']['uid']}"
    assert found["metadata"]["annotations"] == {
        "metal3.io/BareMetalHost": f"{NAMESPACE}/gpu-0",
        "machine.openshift.io/instance-state": "provisioned",
    }
    assert found["metadata"]["labels"] == {"pool": "gpu"}
    assert "providerStatus" not in found["status"]
    node = world.api.get("Node", "gpu-0")
    made_of = instance_types.of_node(node)
    assert made_of is not None
    assert (made_of.gpus, node["status"]["capacity"]["cpu"]) == (8, "112")
    assert "node.kubernetes.io/instance-type" not in node["metadata"]["labels"]
    assert host(world, "gpu-0")["status"]["poweredOn"] is True
    before = len(world.api.writes)
    world.settle(10)
    assert len(world.api.writes) == before


def test_provisioning_takes_as_long_as_it_takes() -> None:
    world = make(host_provisioning=60)
    add(world)
    world.settle(30)
    assert (machine(world)["status"]["phase"], state(world, "gpu-0")) == ("Provisioning", "provisioning")
    assert machine(world)["metadata"]["annotations"]["machine.openshift.io/instance-state"] == "provisioning"
    world.settle(40)
    assert machine(world)["status"]["phase"] == "Running"


def test_a_machine_without_a_host_has_an_error_and_is_not_failed() -> None:
    world = make()
    for name in ("gpu-a", "gpu-b", "gpu-c"):
        add(world, name)
    world.settle(8)
    phases = {name: machine(world, name)["status"]["phase"] for name in ("gpu-a", "gpu-b", "gpu-c")}
    assert phases == {"gpu-a": "Running", "gpu-b": "Running", "gpu-c": "Provisioning"}
    status = machine(world, "gpu-c")["status"]
    assert (status["errorReason"], status["errorMessage"]) == (
        "InsufficientResources",
        "No available BareMetalHost found",
    )
    world.api.delete(API, "machines", "gpu-a", NAMESPACE)
    world.settle(12)
    status = machine(world, "gpu-c")["status"]
    assert (status["phase"], status.get("errorReason"), status.get("errorMessage")) == ("Running", None, None)


@pytest.mark.parametrize("kind", ["registration error", "inspection error"])
def test_a_broken_host_is_never_chosen_until_it_is_repaired(kind: str) -> None:
    world = make(
        *(
            {"type": "host_error", "host": name, "error_type": kind, "message": "no BMC"}
            for name in ("gpu-0", "gpu-1")
        )
    )
    world.settle(1)
    add(world)
    world.settle(6)
    assert machine(world)["status"]["errorReason"] == "InsufficientResources"
    status = host(world, "gpu-0")["status"]
    assert (status["errorType"], status["errorMessage"], status["operationalStatus"]) == (
        kind,
        "no BMC",
        "error",
    )
    assert (
        status["provisioning"]["state"]
        == {"registration error": "registering", "inspection error": "inspecting"}[kind]
    )
    world.scenario.now.troubles.clear()
    world.settle(8)
    assert machine(world)["status"]["phase"] == "Running"


def test_broken_hosts_speak_as_ironic_does() -> None:
    kinds = {"gpu-0": "registration error", "gpu-1": "inspection error"}
    world = make(*({"type": "host_error", "host": name, "error_type": kinds[name]} for name in kinds))
    world.settle(2)
    assert host(world, "gpu-0")["status"]["errorMessage"].startswith("Failed to get power state for node ")
    assert host(world, "gpu-1")["status"]["errorMessage"] == "timeout reached while inspecting the node"


def test_a_host_that_fails_while_it_is_provisioned_keeps_its_machine_waiting_without_a_word() -> None:
    world = make(
        {
            "type": "host_error",
            "host": "gpu-0",
            "error_type": "provisioning error",
            "message": "Image provisioning failed",
        }
    )
    add(world)
    world.settle(10)
    status = host(world, "gpu-0")["status"]
    assert (status["provisioning"]["state"], status["errorType"]) == ("provisioning", "provisioning error")
    assert machine(world)["status"]["phase"] == "Provisioning"
    assert machine(world)["status"].get("errorMessage") is None
    world.scenario.now.troubles.clear()
    world.settle(8)
    assert machine(world)["status"]["phase"] == "Running"


def test_a_deleted_machine_gives_its_host_back_and_the_next_one_takes_another() -> None:
    """A real host is cleaned for minutes, so the replacement of a broken node does not get it again."""
    world = make()
    add(world)
    world.settle(8)
    world.api.delete(API, "machines", "gpu-a", NAMESPACE)
    states = []
    for _time in range(12):
        world.settle()
        states.append(state(world, "gpu-0"))
        world.time += 0.25
    assert list(dict.fromkeys(states)) == ["deprovisioning", "available"]
    world.settle(4)
    assert not [one for one in world.api.all("Machine") if one["metadata"]["name"] == "gpu-a"]
    free = host(world, "gpu-0")
    assert not free["spec"].get("consumerRef")
    assert (free["spec"]["online"], free["status"]["poweredOn"]) == (False, False)
    assert not [node for node in world.api.all("Node") if node["metadata"]["name"] == "gpu-0"]
    add(world, "gpu-b")
    world.settle(8)
    assert host(world, "gpu-1")["spec"]["consumerRef"]["name"] == "gpu-b"


def test_a_host_that_is_taken_away_fails_its_machine() -> None:
    world = make()
    add(world)
    world.settle(8)
    world.api.delete("metal3.io/v1alpha1", "baremetalhosts", "gpu-0", NAMESPACE)
    world.settle(4)
    status = machine(world)["status"]
    assert (status["phase"], status["errorMessage"]) == ("Failed", "can't find created instance")


def test_a_specification_without_anything_to_install_is_an_error_that_is_not_final() -> None:
    world = make()
    add(world, provider=value() | {"customDeploy": {"method": ""}})
    world.settle(5)
    status = machine(world)["status"]
    assert (status["phase"], status["errorReason"]) == ("Provisioning", "InvalidConfiguration")
    assert status["errorMessage"] == "Missing fields from ProviderSpec: [Image.URL Image.Checksum]"


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ({}, {"worker-3", "gpu-0", "gpu-1", "gpu-2"}),
        ({"matchLabels": {"gpu": "l40s"}}, {"gpu-2"}),
        (
            {"matchExpressions": [{"key": "gpu", "operator": "in", "values": ["l40s", "h100"]}]},
            {"gpu-0", "gpu-1", "gpu-2"},
        ),
        ({"matchExpressions": [{"key": "gpu", "operator": "exists"}]}, {"gpu-0", "gpu-1", "gpu-2"}),
        ({"matchExpressions": [{"key": "gpu", "operator": "!"}]}, {"worker-3"}),
        (
            {"matchExpressions": [{"key": "gpu", "operator": "notin", "values": ["h100"]}]},
            {"worker-3", "gpu-2"},
        ),
    ],
)
def test_hosts_are_selected_by_their_labels(selector: Data, names: set[str]) -> None:
    free = [one for one in baremetal.hosts(SHAPE) if "consumerRef" not in one["spec"]]
    assert {one["metadata"]["name"] for one in free if selects(selector, one)} == names


class TestAutoscaleToHosts:
    def set_of(self, selector: Data) -> Data:
        made = installer.machine_sets(SHAPE)[0]
        made["spec"]["template"]["spec"]["providerSpec"]["value"]["hostSelector"] = selector
        return made

    def test_free_hosts_and_those_of_its_machines_count(self) -> None:
        name = installer.machine_sets(SHAPE)[0]["metadata"]["name"]
        owner = {"metadata": {"name": name, "uid": "u"}}
        machines = [one for _node, one in installer.machines(SHAPE, {name: owner})]
        assert hosts_for(self.set_of(H100), baremetal.hosts(SHAPE), machines) == 2 + 3
        assert hosts_for(self.set_of({}), baremetal.hosts(SHAPE), machines) == 4 + 3

    def test_an_unknown_consumer_stops_the_counting(self) -> None:
        assert hosts_for(self.set_of(H100), baremetal.hosts(SHAPE), []) is None

    def test_replicas_follow_the_hosts(self) -> None:
        world = make()
        for one in world.api.all("BareMetalHost"):
            if one["spec"].get("consumerRef"):
                world.api.delete("metal3.io/v1alpha1", "baremetalhosts", one["metadata"]["name"], NAMESPACE)
        made = self.set_of(H100)
        made["metadata"]["annotations"] = {"metal3.io/autoscale-to-hosts": ""}
        made["spec"]["replicas"] = 0
        world.api.create(made)
        world.settle(10)
        assert world.api.get("MachineSet", made["metadata"]["name"], NAMESPACE)["spec"]["replicas"] == 2
        assert [one["status"]["phase"] for one in world.api.all("Machine")] == ["Running", "Running"]


@pytest.mark.parametrize("does", [True, False])
def test_an_annotated_host_starts_again_once(does: bool) -> None:
    world = make(*([] if does else [{"type": "no_reboot"}]))
    add(world)
    world.settle(6)
    name = machine(world)["status"]["nodeRef"]["name"]
    before = world.api.get("Node", name)["status"]["nodeInfo"]["bootID"]
    notes = {"metadata": {"annotations": {"reboot.metal3.io": ""}}}
    world.api.patch("metal3.io/v1alpha1", "baremetalhosts", "gpu-0", NAMESPACE, notes)
    world.settle(6)
    assert (world.api.get("Node", name)["status"]["nodeInfo"]["bootID"] != before) is does
    assert ("reboot.metal3.io" in host(world, "gpu-0")["metadata"]["annotations"]) is not does
