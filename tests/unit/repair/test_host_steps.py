# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A replacement on bare metal needs another free host, and says how to keep the broken one out."""

from __future__ import annotations

import typing as t

import pytest
from unit.repair.node_in_memory import PLACE, Room, host, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import wait
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import (
    nodes as node_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._repair import host_steps, steps

SET: t.Final = "machine.openshift.io/cluster-api-machineset"


def machine_set(**selector: t.Any) -> KubeObject:
    """Return the node's machine set. selector: its hostSelector."""
    value = {"value": {"hostSelector": selector}}
    metadata = {"name": "set", "namespace": PLACE, "labels": dict(MANAGED_BY)}
    spec = {"replicas": 1, "template": {"spec": {"providerSpec": value}}}
    version = "machine.openshift.io/v1beta1"
    return {"apiVersion": version, "kind": "MachineSet", "metadata": metadata, "spec": spec}


def named(object_name: str, state: str, **spec: t.Any) -> KubeObject:
    """Return a host with an H100. state: of its provisioning."""
    found = host(state)
    found["metadata"] = {"name": object_name, "namespace": PLACE, "labels": {"gpu": "h100"}}
    return {**found, "spec": spec}


def room(*more: KubeObject) -> Room:
    """Return a node on bare metal whose machine set wants hosts with an H100."""
    made = Room(machine_set(matchLabels={"gpu": "h100"}), *more)
    made.server.put(named("host-0", "provisioned", consumerRef={"name": "m-0"}))
    (machine,) = made.all("Machine")
    machine["metadata"]["labels"] = {SET: "set"}
    made.server.put(machine)
    return made


@pytest.fixture(autouse=True)
def replaced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand in for the replacement of a machine; return the nodes that lost theirs."""
    found: list[str] = []

    def replace(_api: object, node: str, *_more: object) -> list[str]:
        found.append(node)
        return ["m-1"]

    monkeypatch.setattr(node_steps, "replace", replace)
    monkeypatch.setattr(wait, "LOOK_EVERY", 0.0)
    return found


@pytest.mark.parametrize("state", ["available", "deprovisioning"])
def test_a_host_that_is_free_or_soon_free_is_enough(state: str, replaced: list[str]) -> None:
    api = room(named("host-1", state)).api()
    found = steps.ensure(api, params(repair="replace"))
    assert (found["action"], found["new_machines"], replaced) == ("replaced", ["m-1"], ["gpu-0"])
    (remark,) = api.warnings
    assert "broken BareMetalHost host-0" in remark
    assert f"`oc label baremetalhost -n {PLACE} host-0 gpu-`" in remark


def test_without_another_host_the_machine_stays(replaced: list[str]) -> None:
    place = room(named("host-1", "provisioned", consumerRef={"name": "m-9"}))
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(place.api(), params(repair="replace"))
    assert caught.value.code == "MACH-HOST"
    assert "0 of 2 hosts that match gpu=h100 are free" in caught.value.message
    assert "host host-1: taken by m-9" in caught.value.evidence
    assert (place.server.writes(), replaced) == ([], [])


def test_a_reboot_is_tried_without_another_host(replaced: list[str]) -> None:
    place = room()
    place.cures = False
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(place.api(), params(replace=True))
    assert (caught.value.code, place.boots, replaced) == ("MACH-HOST", 1, [])
    assert place.node["spec"]["unschedulable"] is True


def test_a_set_without_labels_takes_any_host() -> None:
    assert host_steps.selector_of({"spec": {"replicas": 1}}) == {}
    assert f"`oc delete baremetalhost -n {PLACE} host-0`" in host_steps.keep_out(host(), machine_set())
