# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The validation after a wave: of the nodes of the wave alone."""

from __future__ import annotations

import pytest
from unit.stack.builders import FIXTURE, POOL
from unit.upgrade.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import gate
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.pods import GpuWorkloadParams


def test_each_node_is_validated_by_itself() -> None:
    (node,) = FIXTURE["nodes"]
    given = params(validation={"image": "registry.example.com/i", "namespace": "v"})
    found = gate.validation(given, [node], {"gpu-0": POOL})
    assert found["namespace"] == "v"
    assert found["image"] == "registry.example.com/i"
    assert found["pools"] == [
        {
            "pool": "gpu-0",
            "node_selector": {"kubernetes.io/hostname": "gpu-0"},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "expected": {"nvidia.com/gpu": 4},
        }
    ]


def test_a_validation_has_every_option_of_its_module() -> None:
    (node,) = FIXTURE["nodes"]
    assert set(gate.validation(params(), [node], {"gpu-0": POOL})) >= GpuWorkloadParams.__required_keys__


def test_taints_of_kubernetes_are_not_tolerated() -> None:
    taints = [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]
    assert gate.tolerations_of({"metadata": {"name": "n"}, "spec": {"taints": taints}}) == []


def test_an_unknown_key_is_refused_with_its_path() -> None:
    gate.check(params())
    with pytest.raises(InputError) as caught:
        gate.check(params(validation={"pools": []}))
    assert caught.value.message.startswith("validation.pools: ")


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
        gate.check(params(validation=given))
    assert text in caught.value.message
    assert "gpu_upgrade_validation" in caught.value.remedy
    gate.check(params(validation={"hold": 1, "grace": 2, "claims": True, "benchmark": "vectoradd"}))
