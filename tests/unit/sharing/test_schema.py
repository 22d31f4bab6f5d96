# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MPS serves fewer clients on old GPUs."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problems
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import schema


@pytest.mark.parametrize(
    ("way", "model", "replicas", "is_refused"),
    [
        ("mps", "V100", 17, True),
        ("mps", "V100", 16, False),
        ("mps", "T4", 48, False),
        ("time_slicing", "V100", 17, False),
    ],
)
def test_clients_of_an_mps_server(way: str, model: str, replicas: int, is_refused: bool) -> None:
    problems = Problems()
    schema.check_models({way: {"replicas": replicas}}, [model], "gpu_pools[0].sharing", problems)
    assert [one.path for one in problems.found] == (
        ["gpu_pools[0].sharing.mps.replicas"] if is_refused else []
    )


@pytest.mark.parametrize(
    ("ways", "why"),
    [
        (["mig"], ""),
        (["mig", "time_slicing"], ""),
        (["mig", "mps"], "by time-slicing alone"),
        (["mps", "time_slicing"], "mps and time_slicing"),
        (["mig", "mps", "time_slicing"], "mig and mps and time_slicing"),
        ([], "none"),
    ],
)
def test_ways_that_go_together(ways: list[str], why: str) -> None:
    found = schema.conflict(ways)
    assert (bool(found), why in found) == (bool(why), True)
