# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a driver upgrade refuses, and what it says about clusters where no object brings the driver."""

from __future__ import annotations

import typing as t

import pytest
from unit.fake_server import status
from unit.killed_run import KilledError
from unit.upgrade.in_memory.builders import NEW, gpu_pod, params
from unit.upgrade.in_memory.controller import Operator

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import options, steps

NOTHING: t.Final = {"version": None, "repository": None, "image": None}


def without_owner(operator: Operator, *nodes: str) -> None:
    """Take the label of its NVIDIADriver from these nodes."""
    for object_name in nodes:
        del operator.node(object_name)["metadata"]["labels"]["nvidia.com/gpu-operator.driver.owner"]


@pytest.mark.parametrize(("version", "is_refused"), [("580.173.02", False), ("610.57.04", True)])
def test_a_branch_without_a_gpu_of_a_node_is_refused_before_the_first_write(
    version: str, *, is_refused: bool
) -> None:
    operator = Operator(("gpu-0", "gpu-1"))
    operator.node("gpu-1")["metadata"]["labels"]["nvidia.com/gpu.product"] = "Tesla-V100-SXM2-16GB"
    if not is_refused:
        steps.ensure(operator.api(), params(version=version))
        return
    with pytest.raises(InputError) as caught:
        steps.ensure(operator.api(), params(version=version))
    assert caught.value.code == "UPGRADE-OLD-GPU"
    assert "gpu-1: 580 is the last branch" in caught.value.message
    assert not operator.server.writes()


def test_status_of_nodes_without_an_nvidiadriver() -> None:
    operator = Operator(("gpu-0", "gpu-1"), **{"gpu-0": "a", "gpu-1": "a"})
    without_owner(operator, "gpu-1")
    found = steps.ensure(operator.api(), params(action="status", **NOTHING))["driver_upgrade"]
    assert {one["name"] for one in found["nodes"]} == {"gpu-0", "gpu-1"}
    without_owner(operator, "gpu-0")
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params(action="status", **NOTHING))
    assert caught.value.code == "UPGRADE-NO-OBJECT"


def test_status_without_a_node_and_without_an_nvidiadriver() -> None:
    operator = Operator(("gpu-0",), **{"gpu-0": "a"})
    operator.node("gpu-0")["metadata"]["labels"]["nvidia.com/gpu.deploy.driver"] = "false"
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params(action="status", **NOTHING))
    assert caught.value.code == "UPGRADE-NO-NODE"


def test_an_upgrade_is_not_done_where_no_object_brings_the_driver() -> None:
    operator = Operator(("gpu-0", "gpu-1"), **{"gpu-0": "a", "gpu-1": "a"})
    without_owner(operator, "gpu-1")
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params())
    assert caught.value.code == "UPGRADE-NO-OBJECT"
    assert "gpu-1" in caught.value.message
    assert operator.server.writes() == []


def test_the_plan_is_shown_before_the_question_about_pods() -> None:
    operator = Operator(("gpu-0", "gpu-1"), gpu_pod("train", "gpu-1"))
    lines: list[str] = []
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(operator.api(check_mode=True, lines=lines), params())
    assert caught.value.code == "UPGRADE-BUSY"
    assert "canary: gpu-0" in lines


def test_the_refusal_of_another_driver_counts_each_node_once() -> None:
    operator = Operator()
    for writes in (6, 1):
        operator.writes_left = writes
        with pytest.raises(KilledError):
            steps.ensure(operator.api(), params())
    operator.writes_left = None
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params(version="580.173.02"))
    assert caught.value.code == "UPGRADE-OTHER"
    assert "1 of 3 nodes" in caught.value.message
    assert "gpu_upgrade_action=resume" in caught.value.remedy
    api = operator.api()
    found = steps.ensure(api, params(version="580.173.02", action="resume"))["driver_upgrade"]
    assert (found["phase"], set(operator.versions().values())) == ("done", {NEW})
    assert any("not one to nvcr.io/nvidia/driver:580.173.02" in text for text in api.warnings)


def test_a_probe_that_the_server_refuses_is_refused_before_the_first_write() -> None:
    operator = Operator()
    inner = operator.server.request

    def request(method: str, url: str, **more: t.Any) -> t.Any:
        if method == "POST" and "/jobs" in url:
            return status(404, "NotFound", 'namespaces "nowhere" not found', "nowhere")
        return inner(method, url, **more)

    operator.server.request = request
    probe = {"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "probe", "namespace": "nowhere"}}
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(operator.api(), params(probe=probe))
    assert "nowhere" in caught.value.message
    assert operator.server.writes() == []
    assert NEW not in operator.versions().values()


@pytest.mark.parametrize(
    "probe",
    [
        {"kind": "Job", "metadata": "probe"},
        {"kind": "Job", "metadata": {"name": 5}},
        {"kind": "Job", "metadata": {"name": "probe", "labels": ["a"]}},
        {"kind": "Job", "metadata": {"name": "probe"}, "spec": "sleep"},
        {"kind": "Job", "metadata": {"name": "probe"}, "spec": {"template": []}},
        {"kind": "Job", "metadata": {"name": "probe"}, "spec": {"template": {"spec": {"tolerations": {}}}}},
    ],
)
def test_a_probe_of_the_wrong_form_is_refused(probe: t.Any) -> None:
    with pytest.raises(InputError) as caught:
        options.check(params(probe=probe))
    assert caught.value.code == "UPGRADE-JOB"
