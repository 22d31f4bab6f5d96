# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Machine replace_node replaces: on bare metal the new node has the name of the old one."""

from __future__ import annotations

import typing as t

import pytest
from unit import engine
from unit.fake_server import FakeServer
from unit.machines.builders import NOW, SINCE, Data

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import nodes

MINUTE: t.Final = 60.0


def refusal(age: float, name: str = "host-1", uid: str | None = None) -> str:
    """Ask for the replacement of the Machine of node host-1. Return why it was replaced already, or ""."""
    machine: Data = {"metadata": {"name": "m-1", "uid": "new", "creationTimestamp": SINCE}}
    params = t.cast(nodes.GpuNodeParams, {"name": name, "machine_uid": uid})
    nodes.refuse_young(machine, "host-1", params, NOW + age)
    return nodes.was_replaced(machine, "host-1", uid)


def test_a_young_machine_is_not_replaced_by_the_name_of_its_node() -> None:
    with pytest.raises(AcceleratorError) as caught:
        refusal(9 * MINUTE)
    assert caught.value.code == "NODE-YOUNG"
    assert "gpu_machine_uid (module option machine_uid) to new" in caught.value.remedy


@pytest.mark.parametrize(
    ("age", "name", "uid"),
    [(10 * MINUTE, "host-1", None), (MINUTE, "m-1", None), (MINUTE, "host-1", "new")],
    ids=["old enough", "by the Machine's own name", "by its uid"],
)
def test_which_machine_is_replaced(age: float, name: str, uid: str | None) -> None:
    assert refusal(age, name, uid) == ""


def test_a_machine_that_was_replaced_already_is_no_reason_to_replace_the_next_one() -> None:
    remark = refusal(20 * MINUTE, uid="old")
    assert "m-1 with uid new" in remark
    assert "uid old" in remark


MACHINE_API: t.Final = "openshift-machine-api"


@pytest.mark.parametrize("state", ["replaced", "drained", "schedulable"])
def test_a_name_that_nothing_has_fails_and_names_the_nearest(state: str) -> None:
    server = FakeServer("Node", "Machine", "Namespace")
    server.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-node-1"}})
    server.put(
        {
            "apiVersion": "machine.openshift.io/v1beta1",
            "kind": "Machine",
            "metadata": {"name": "gpu-machine-1", "namespace": MACHINE_API},
        }
    )
    params = {
        "name": "gpu-nod-1",
        "namespace": MACHINE_API,
        "state": state,
        "machine_uid": None,
        "approve_csrs": False,
    }
    with pytest.raises(AcceleratorError) as caught:
        nodes.ensure(engine.api_on(server), t.cast(nodes.GpuNodeParams, params))
    assert caught.value.code == "NODE-ABSENT"
    assert "Did you mean gpu-node-1" in caught.value.message
    assert "gpu_node" in caught.value.remedy
    assert server.writes() == []
