# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The validation of chosen nodes: what its pods tolerate, and which options it takes."""

from __future__ import annotations

import pytest
from unit.workload.builders import node

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes import registry
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import chosen, obstacles, turns


def tainted(*keys: str) -> KubeObject:
    return {**node(), "spec": {"taints": [{"key": key, "effect": "NoSchedule"} for key in keys]}}


def test_taints_of_kubernetes_are_not_tolerated() -> None:
    taints = [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]
    assert chosen.tolerations_of({"metadata": {"name": "n"}, "spec": {"taints": taints}}) == []


@pytest.mark.parametrize("cordoned", [True, False])
def test_a_cordon_is_tolerated_where_it_is_asked_for(cordoned: bool) -> None:
    found = chosen.validation([tainted("team")], {"gpu-0": None}, 60, {}, cordoned)
    (entry,) = found.pools or []
    keys = [one["key"] for one in entry["tolerations"]]
    assert keys == (["team", "node.kubernetes.io/unschedulable"] if cordoned else ["team"])


def test_an_unknown_key_names_the_variable() -> None:
    with pytest.raises(InputError) as caught:
        chosen.check({"pools": []}, "gpu_repair_validation")
    assert caught.value.message.startswith("validation.pools: ")
    assert "gpu_repair_validation" in caught.value.remedy


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"benchmark": "nosuch"}, "validation.benchmark is nosuch"),
        ({"benchmark": ["vectoradd"]}, "validation.benchmark is ['vectoradd'], and has to be text"),
        ({"hold": "3"}, "validation.hold is '3', and has to be a whole number"),
        ({"hold": True}, "validation.hold is True"),
        ({"claims": "no"}, "validation.claims is 'no', and has to be true or false"),
        ({"grace": None}, "validation.grace is None, and has to be a number"),
    ],
)
def test_a_validation_that_cannot_run_is_refused_early(given: dict[str, object], text: str) -> None:
    with pytest.raises(InputError) as caught:
        chosen.check(given, "gpu_upgrade_validation")
    assert text in caught.value.message
    assert "gpu_upgrade_validation" in caught.value.remedy
    chosen.check({"hold": 1, "grace": 2, "claims": True, "benchmark": "vectoradd"}, "gpu_upgrade_validation")


def test_programs_reach_the_turns_of_each_node() -> None:
    given = {"programs": [{"program": "dcgm", "level": 2}, "matmul"], "tolerance": 0.2}
    chosen.check(given, "gpu_upgrade_validation")
    found = turns.begin(chosen.validation([tainted()], {"gpu-0": {"nvidia.com/gpu": 2}}, 60, given))
    assert [(turn.pool, turn.params.program.label) for turn in found] == [
        ("gpu-0", "matmul"),
        ("gpu-0", "dcgm:2"),
    ]
    assert {turn.params.program.tolerance for turn in found} == {0.2}
    (short,) = turns.begin(chosen.validation([tainted()], {"gpu-0": None}, 60, {}))
    assert short.params.program.program == "vectoradd"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"programs": ["matmull"]}, "gpu_repair_validation.programs[0]"),
        ({"programs": [{"program": "dcgm", "level": 9}]}, "gpu_repair_validation.programs[0].level"),
        ({"programs": ["matmul"], "image": "r.example.com/i:1"}, "gpu_repair_validation.image"),
        (
            {"programs": [{"program": "nccl", "nodes": 2}]},
            "gpu_repair_validation.programs[0].nodes",
        ),
        ({"tolerance": 2}, "gpu_repair_validation.tolerance"),
    ],
)
def test_wrong_programs_are_refused_with_the_variable_of_the_playbook(
    given: dict[str, object], path: str
) -> None:
    with pytest.raises(InputError) as caught:
        chosen.check(given, "gpu_repair_validation")
    assert path in caught.value.message


@pytest.mark.parametrize("code", ["WORK-LOW", "WORK-ARCH", "WORK-PEER"])
def test_a_remedy_of_a_figure_names_the_variable(code: str) -> None:
    with pytest.raises(NotReadyError) as caught, chosen.remedies("gpu_upgrade_validation"):
        raise NotReadyError(code, "too low", registry.CODES[code].remedy)
    assert "gpu_upgrade_validation (module option validation)" in caught.value.remedy
    assert "gpu_pools" not in caught.value.remedy


@pytest.mark.parametrize(
    "said",
    ["exceeded quota: gpus", 'admission webhook "images.example.com" denied the request: no'],
    ids=["quota", "webhook"],
)
def test_a_failure_names_the_variable_of_the_playbook(said: str) -> None:
    refused = obstacles.refused(ApiError("API-ERROR", said), "gpu-validation")
    with pytest.raises(type(refused)) as caught, chosen.remedies("gpu_repair_validation"):
        raise refused
    assert "in gpu_repair_validation (module option validation)" in caught.value.remedy
    assert "gpu_pools" not in caught.value.remedy
    assert "gpu_validation_" not in caught.value.remedy


def test_a_failure_of_the_image_names_the_key() -> None:
    with pytest.raises(NotReadyError) as caught, chosen.remedies("gpu_upgrade_validation"):
        raise NotReadyError("WORK-IMAGE", pod="p", node="n", answer="ErrImagePull")
    wanted = "Mirror the image, or set `image` in gpu_upgrade_validation (module option validation)."
    assert caught.value.remedy == wanted
