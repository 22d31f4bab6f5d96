# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and labels that a pool may not have."""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders
from unit.pools.builders import NOBODY, Data, existing, pool, problems

MASTER: t.Final = "node-role.kubernetes.io/master"
CONTROL_PLANE: t.Final = "node-role.kubernetes.io/control-plane"


@pytest.mark.parametrize("name", ["worker", "infra", "master"])
def test_a_pool_has_no_name_of_the_installer(name: str) -> None:
    assert problems([pool(name=name)]) == [("POOL-NAME", "gpu_pools[0].name")]


def test_existing_nodes_may_be_called_workers() -> None:
    (found,) = pool_builders.plan([existing(1, gpu="x") | {"name": "worker"}])["pools"]
    assert found["name"] == "worker"


@pytest.mark.parametrize("key", [MASTER, CONTROL_PLANE])
@pytest.mark.parametrize("way", ["labels", "node_selector"])
def test_no_pool_gives_or_selects_a_role_of_the_control_plane(way: str, key: str) -> None:
    label = {key: ""}
    old: Data = {"node_selector": label, "expected": {"nvidia.com/gpu": 1}}
    wrong = pool(labels=label) if way == "labels" else pool(**NOBODY, existing=old)
    path = f"labels.{key}" if way == "labels" else f"existing.node_selector.{key}"
    assert problems([wrong]) == [("POOL-LABEL", f"gpu_pools[0].{path}")]
