# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A privileged pod reboots its node once; other pods do not, and a host may refuse to start."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.container_runtime.reboots import Reboots
from openshift_sandbox.stand_ins.core.boots import has_restarted

Data = dict[str, t.Any]
FIRST = "00000000-0000-0000-0000-000000000000"
SCRIPT = f'[ "$(cat boot_id)" = {FIRST} ] || exit 0\nchroot /host systemctl reboot'


def add(world: World, command: str, privileged: bool = True, title: str = "p") -> None:
    container: Data = {"name": "c", "image": "i", "command": ["/bin/sh", "-c", command]}
    container["securityContext"] = {"privileged": privileged}
    metadata = {"name": title, "namespace": "default"}
    spec = {"nodeName": "n", "containers": [container]}
    world.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def make(*troubles: Data) -> World:
    world = World(Reboots(), troubles=list(troubles))
    status = {"nodeInfo": {"bootID": FIRST, "machineID": "0" * 32}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {}, "status": status}
    world.api.create(node)
    return world


def rebooted(world: World) -> bool:
    return has_restarted(world.api.get("Node", "n"))


@pytest.mark.parametrize(
    ("command", "privileged", "does"),
    [
        (SCRIPT, True, True),
        (SCRIPT, False, False),
        (SCRIPT.replace("0000-", "1111-"), True, False),
        ("sleep 3", True, False),
    ],
)
def test_which_pod_reboots_its_node(command: str, privileged: bool, does: bool) -> None:
    world = make()
    add(world, command, privileged)
    world.settle(5)
    assert rebooted(world) is does


def test_a_node_that_does_not_start_keeps_its_boot() -> None:
    world = make({"type": "no_reboot", "node": "n"})
    add(world, SCRIPT)
    world.settle(5)
    assert not rebooted(world)
