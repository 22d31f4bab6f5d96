# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What contradicts itself in the sharing of a pool."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problems
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import pool_rules

PATH: t.Final = "gpu_pools[0].sharing"


@pytest.mark.parametrize(
    ("mig", "code", "path"),
    [
        ({}, "POOL-EITHER", "mig"),
        ({"slices": 7, "profile": "1g.5gb"}, "POOL-EITHER", "mig"),
        ({"layout": {"1g.5gb": 7}, "strategy": "single"}, "POOL-CONFLICT", "mig.strategy"),
        ({"layout": {}}, "POOL-EMPTY", "mig.layout"),
        ({"config": []}, "POOL-EMPTY", "mig.config"),
        ({"profile": 7}, "POOL-TYPE", "mig.profile"),
    ],
)
def test_options_of_mig_that_contradict_each_other(mig: dict[str, t.Any], code: str, path: str) -> None:
    problems = Problems()
    pool_rules.check_mig(mig, f"{PATH}.mig", problems)
    assert [(one.code, one.path) for one in problems.found] == [(code, f"{PATH}.{path}")]


@pytest.mark.parametrize("sharing", [{"mig": {"layout": {"1g.5gb": 7}}}, {"time_slicing": {"replicas": 2}}])
def test_existing_nodes_are_described_by_their_whole_gpus(sharing: dict[str, t.Any]) -> None:
    problems = Problems()
    pool = {"sharing": sharing, "existing": {"expected": {"nvidia.com/mig-1g.5gb": 7}}}
    pool_rules.check_shares(pool, PATH, problems)
    (way,) = sharing
    assert [(one.code, one.path) for one in problems.found] == [("POOL-GEOMETRY", f"{PATH}.{way}")]


def test_partitions_that_existing_gpus_have_are_taken() -> None:
    problems = Problems()
    pool = {"sharing": {"mig": {"profile": "1g.5gb"}}, "existing": {"expected": {"nvidia.com/gpu": 2}}}
    pool_rules.check_shares(pool, PATH, problems)
    assert problems.found == []
