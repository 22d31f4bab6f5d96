# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that is to be replaced, and a name that nothing has."""

from __future__ import annotations

import typing as t

import pytest
from unit import engine
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import nodes

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
    params = {"name": "gpu-nod-1", "namespace": MACHINE_API, "state": state, "approve_csrs": False}
    with pytest.raises(AcceleratorError) as caught:
        nodes.ensure(engine.api_on(server), t.cast(nodes.GpuNodeParams, params))
    assert caught.value.code == "NODE-ABSENT"
    assert "Did you mean gpu-node-1" in caught.value.message
    assert "gpu_node" in caught.value.remedy
    assert server.writes() == []
