# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controllers of the Machine API leave a MachineSet of Cluster API alone, and say so."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox import scenario
from openshift_sandbox.seed import installer
from openshift_sandbox.stand_ins.machine_api.machine_sets import MachineSets
from openshift_sandbox.stand_ins.machine_api.machines import Machines
from openshift_sandbox.stand_ins.machine_api.nodelink import Nodelink

NAMESPACE = "openshift-machine-api"
SHAPE = scenario.load("aws").cluster


def make(**authority: str | None) -> tuple[World, dict[str, t.Any]]:
    """Return a world with a set whose spec and status name these authorities."""
    world = World(MachineSets(), Machines(), Nodelink(), cluster=SHAPE)
    infrastructure = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
    }
    world.api.create(infrastructure | {"status": {"platformStatus": {"type": "AWS"}}})
    made = installer.machine_sets(SHAPE)[0]
    for part, value in authority.items():
        made[part] |= {"authoritativeAPI": value} if value else {}
    world.api.create(made)
    world.settle(6)
    return world, world.api.get("MachineSet", made["metadata"]["name"], NAMESPACE)


@pytest.mark.parametrize(
    ("spec", "status", "machines", "told"),
    [
        (None, None, 1, None),
        ("MachineAPI", None, 1, ("MachineAPI", "False", "AuthoritativeAPIMachineAPI")),
        ("ClusterAPI", "MachineAPI", 1, ("MachineAPI", "False", "AuthoritativeAPIMachineAPI")),
        ("ClusterAPI", "ClusterAPI", 0, ("ClusterAPI", "True", "AuthoritativeAPINotMachineAPI")),
        ("MachineAPI", "Migrating", 0, ("Migrating", "True", "AuthoritativeAPINotMachineAPI")),
    ],
)
def test_the_status_decides_who_works(
    spec: str | None, status: str | None, machines: int, told: tuple[str, str, str] | None
) -> None:
    world, found = make(spec=spec, status=status)
    assert len(world.api.all("Machine")) == machines
    paused = [one for one in found["status"].get("conditions") or [] if one["type"] == "Paused"]
    assert [(found["status"]["authoritativeAPI"], one["status"], one["reason"]) for one in paused] == (
        [told] if told else []
    )
    assert [one["message"] for one in paused] == (
        [f"The AuthoritativeAPI status is set to '{told[0]}'"] if told else []
    )
    before = len(world.api.writes)
    world.settle(5)
    assert len(world.api.writes) == before
