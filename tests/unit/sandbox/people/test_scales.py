"""A colleague who scales MachineSets by hand."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import FakeApi, World

from openshift_sandbox.stand_ins.people.scales import GPUS, ForeignScales

Object = dict[str, t.Any]
SPACE = "openshift-machine-api"
PATH = f"/apis/machine.openshift.io/v1beta1/namespaces/{SPACE}/machinesets/gpu"


def world(ready: int, gpus: str = "1", **trouble: t.Any) -> tuple[World, list[tuple[t.Any, ...]]]:
    made, sent = World(ForeignScales(), troubles=[{"type": "scaled_by_hand"} | trouble]), []
    metadata = {"name": "gpu", "namespace": SPACE, "annotations": {GPUS: gpus}}
    made.api.create(
        {
            "apiVersion": "machine.openshift.io/v1beta1",
            "kind": "MachineSet",
            "metadata": metadata,
            "spec": {"replicas": 1},
            "status": {"readyReplicas": ready},
        }
    )

    def checked(_api: FakeApi, *request: t.Any) -> Object:
        sent.append(request)
        return {}

    made.api.checked = checked.__get__(made.api)  # type: ignore[attr-defined]
    return made, sent


@pytest.mark.parametrize(("manager", "path"), [("kubectl", f"{PATH}/scale"), ("Mozilla", PATH)])
def test_a_ready_gpu_set_is_scaled_once_in_the_manner_of_the_tool(manager: str, path: str) -> None:
    made, sent = world(1, manager=manager, replicas=3)
    made.settle(2)
    assert sent == []
    made.settle(20)
    (request,) = sent
    assert request[:3] == ("PATCH", path, {"spec": {"replicas": 3}})
    assert request[4] == {"fieldManager": manager}


def test_another_trouble_scales_it_again() -> None:
    made, sent = world(1, replicas=2)
    made.settle(10)
    made.scenario.now.troubles[:] = [{"type": "scaled_by_hand", "replicas": 1}]
    made.settle(10)
    assert [one[2]["spec"]["replicas"] for one in sent] == [2, 1]


def test_a_set_that_is_not_ready_or_has_no_gpus_is_left_alone() -> None:
    for made, sent in (world(0, replicas=3), world(1, gpus="0", replicas=3)):
        made.settle(20)
        assert sent == []


def test_a_named_set_needs_no_gpus() -> None:
    made, sent = world(1, gpus="0", replicas=0, machine_set="gpu")
    made.settle(20)
    assert len(sent) == 1
