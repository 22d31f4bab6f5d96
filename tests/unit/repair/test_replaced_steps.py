# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After a replacement: the node of the new machine is validated once it offers what the old one had."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import FakeServer
from unit.repair.node_in_memory import node

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._repair import replaced_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._repair.replaced_steps import New
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import (
    steps as validation_steps,
)

PLACE: t.Final = "openshift-machine-api"
NEW: t.Final = New(["m-1"], {"nvidia.com/gpu": 8}, PLACE, replaced_steps.VARIABLE)


def machine(of: str) -> KubeObject:
    metadata = {"name": "m-1", "namespace": PLACE}
    status = {"nodeRef": {"name": of}} if of else {}
    return {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "Machine",
        "metadata": metadata,
        "status": status,
    }


@pytest.mark.parametrize(
    ("of", "gpus", "lacks"),
    [("", "8", "0 of 1 node there"), ("gpu-0", "0", "gpu-0: 0 of 8 nvidia.com/gpu"), ("gpu-0", "8", "")],
)
def test_the_devices_of_the_old_node_are_waited_for(of: str, gpus: str, lacks: str) -> None:
    seen = {"machines": [machine(of)], "nodes": [node(allocatable={"nvidia.com/gpu": gpus})]}
    verdict = replaced_steps.judge(seen, NEW)
    assert verdict.is_ready is (not lacks)
    assert lacks in verdict.message


def test_the_new_node_is_validated_with_the_given_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[t.Any] = []

    def present(_api: object, wishes: t.Any) -> dict[str, t.Any]:
        asked.append(wishes)
        return {"workload": {"nodes": []}}

    monkeypatch.setattr(validation_steps, "present", present)
    server = FakeServer("Node", "Machine")
    server.put(node(allocatable={"nvidia.com/gpu": "8"}))
    server.put(machine("gpu-0"))
    given = {"programs": [{"program": "dcgm", "level": 2}]}
    assert replaced_steps.validate(api_on(server, FakeClock()), NEW, given) == {"nodes": []}
    ((entry,),) = [wishes.pools for wishes in asked]
    assert (entry["name"], entry["programs"], entry["expected"]) == (
        "gpu-0",
        given["programs"],
        {"nvidia.com/gpu": 8},
    )


def test_wrong_programs_are_refused_before_anything_is_replaced() -> None:
    server = FakeServer("Node", "Machine")
    params = {"name": "gpu-0", "state": "replaced", "validation": {"programs": ["matmull"]}}
    with pytest.raises(InputError) as caught:
        replaced_steps.ensure(api_on(server), t.cast(replaced_steps.GpuNodeWithValidation, params))
    assert "gpu_replace_validation.programs[0]" in caught.value.message
    assert server.requests == []
