# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A policy engine refuses the pod that proves a quota: the quota is set, and the run says how to go on."""

from __future__ import annotations

import typing as t

import pytest
from cluster import must_get
from integration.scenarios.place import Data, Place, warnings

pytestmark = pytest.mark.long("few webhooks answer before a quota; unit tests hold what is said")

SCENARIO: t.Final = "policy-engine"
POOLS: t.Final[list[Data]] = [
    {
        "name": "t4",
        "existing": {"node_selector": {"gpu": "t4"}, "expected": {"nvidia.com/gpu": 1}},
        "quota": [{"namespace": "team-a", "gpus": 2}],
    }
]


def test_the_quota_is_set_and_not_proven(place: Place) -> None:
    run = place.done("enable_gpus", "--tags gpu_policy", gpu_pools=POOLS)
    (warning,) = [one for one in warnings(run) if "proven" in one]
    assert 'admission webhook "validation.gatekeeper.sh" denied the request' in warning
    live = must_get(place.client, "v1", "resourcequotas", "gpu-quota", "team-a")
    assert live["spec"]["hard"]["requests.nvidia.com/gpu"] == "2"
    again = place.done("enable_gpus", "--tags gpu_policy", gpu_pools=POOLS, gpu_policy_prove=False)
    assert (place.writes(again), [one for one in warnings(again) if "proven" in one]) == ([], [])
