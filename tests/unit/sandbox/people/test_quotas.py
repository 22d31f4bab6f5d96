# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A colleague's quota: created once, also in a namespace that appears later, only where a scenario asks."""

from __future__ import annotations

from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.people.quotas import NAME, ForeignQuotas

HARD = {"requests.nvidia.com/gpu": "1"}


def test_a_namespace_is_capped_once() -> None:
    world = World(
        ForeignQuotas(), troubles=[{"type": "namespace_quota", "namespace": "gpu-validation", "hard": HARD}]
    )
    world.settle(2)
    assert world.api.get("ResourceQuota", NAME, "gpu-validation")["spec"] == {"hard": HARD}
    assert len(world.api.writes) == 2


def test_nothing_is_capped_without_trouble() -> None:
    world = World(ForeignQuotas())
    world.settle(2)
    assert world.api.writes == []
