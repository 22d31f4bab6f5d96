# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices of a KMM Module: what a DRA driver offers, and claims in use."""

from __future__ import annotations

import pytest
from unit.engine import FakeClock
from unit.stack.kmm.builders import DRA, POOL, params, published, snapshot

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    devices,
    judge as kmm_judge,
    manifest as kmm_manifest,
)


@pytest.mark.parametrize(
    ("expected", "slices", "said"),
    [
        ({}, [published(1)], ""),
        ({}, [], "driver card.example.com offers no device in ResourceSlices"),
        ({"card.example.com": 2}, [published()], ""),
        (
            {"card.example.com": 2},
            [published(), published(1, generation=2)],
            "driver card.example.com offers 1 of 2 devices in ResourceSlices",
        ),
        (
            {"card.example.com": 2},
            [published(of=2)],
            "the ResourceSlices of driver card.example.com are incomplete",
        ),
        ({"card.example.com": 2, "example.com/card": 3}, [published()], "offers example.com/card 2 of 3"),
    ],
)
def test_a_dra_driver_is_judged_by_its_slices(
    expected: KubeObject, slices: list[KubeObject], said: str
) -> None:
    module = kmm_manifest.build(params(kmm=DRA))
    numbers = {"nodesMatchingSelectorNumber": 1, "desiredNumber": 1, "availableNumber": 1}
    seen = snapshot(slices=slices, modules=[module | {"status": {"moduleLoader": numbers, "dra": numbers}}])
    asked = params(kmm=DRA, pools=[POOL | {"expected": expected}])
    judge = kmm_judge.Judge(asked, FakeClock())
    found = judge(seen)
    assert (said in found.message, found.is_ready) == (True, not said)
    (told,) = judge.summarize(seen)["nodes"]
    if slices:
        assert told["offered"] == {"card.example.com": len(told["devices"])}
        assert told["devices"][0] == {"name": "card-0", "attributes": {"serial": "s0"}}


def test_what_a_pool_expects_is_a_resource_or_the_driver() -> None:
    with pytest.raises(
        InputError,
        match=r"pools\[0\].expected has 'card', which is neither a device resource nor the driver "
        r"of kmm.dra \(card.example.com\)",
    ):
        kmm_manifest.check(params(kmm=DRA, pools=[POOL | {"expected": {"card": 2}}]))
    kmm_manifest.check(params(kmm=DRA, pools=[POOL | {"expected": {"card.example.com": 2}}]))


def test_claims_in_use_are_found_by_the_pools_of_the_node() -> None:
    results = [{"driver": "card.example.com", "pool": "n1"}]
    used = {
        "metadata": {"namespace": "a", "name": "c"},
        "status": {"allocation": {"devices": {"results": results}}, "reservedFor": [{"name": "p"}]},
    }
    idle = {
        "metadata": {"namespace": "a", "name": "d"},
        "status": {"allocation": {"devices": {"results": results}}},
    }
    assert devices.claims_on("n1", "card.example.com", [published()], [used, idle]) == ["a/c"]
    assert devices.claims_on("n2", "card.example.com", [published()], [used, idle]) == []
