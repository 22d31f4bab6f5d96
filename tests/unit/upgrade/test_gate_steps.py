# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The validation after a wave: of the nodes of the wave alone."""

from __future__ import annotations

import pytest
from unit.stack.builders import FIXTURE, POOL
from unit.upgrade.in_memory.builders import params
from unit.upgrade.in_memory.controller import Operator

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import gate_steps, steps


def test_each_node_is_validated_by_itself() -> None:
    (node,) = FIXTURE["nodes"]
    given = params(validation={"image": "registry.example.com/i", "namespace": "v"})
    found = gate_steps.wishes(given, [node], {"gpu-0": POOL})
    assert found.namespace == "v"
    assert found.image == "registry.example.com/i"
    assert found.pools == [
        {
            "name": "gpu-0",
            "node_selector": {"kubernetes.io/hostname": "gpu-0"},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "expected": {"nvidia.com/gpu": 4},
        }
    ]


def test_an_unknown_key_is_refused_with_its_path() -> None:
    with pytest.raises(InputError) as caught:
        steps.ensure(Operator().api(), params(validation={"pools": []}))
    assert caught.value.message.startswith("validation.pools: ")
