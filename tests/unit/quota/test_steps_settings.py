# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A quota that is refused is set once the variable of its remedy has the value that the remedy says."""

from __future__ import annotations

import pytest
from unit.quota.builders import GPU
from unit.quota.test_steps import PLAIN, World, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import steps


def test_a_namespace_is_created_only_where_that_is_allowed() -> None:
    world = World()
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(), params("team-a"))
    assert caught.value.code == "QUOTA-NO-NAMESPACE"
    assert "gpu_policy_create_namespaces: true" in caught.value.remedy
    steps.present(world.api(), params("team-a", create_namespaces=True))
    assert world.hard("team-a") == {GPU: "1"}


def test_a_quota_that_limits_no_device_is_set_without_a_proof() -> None:
    world = World("team-a")
    one = {**PLAIN, "namespace": "team-a", "name": "gpu-quota", "hard": {"pods": "4"}}
    with pytest.raises(InputError) as caught:
        steps.present(world.api(), params(quotas=[one], prove=True))
    assert caught.value.code == "QUOTA-PROOF"
    assert "gpu_policy_prove: false" in caught.value.remedy
    steps.present(world.api(), params(quotas=[one], prove=False))
    assert world.hard("team-a") == {"pods": "4"}
