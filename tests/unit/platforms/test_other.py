# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A platform of which nothing is known: what is copied, and what is refused."""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders
from unit.platforms.builders import GPUS, PARAMS, Data, value

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    candidates,
    plan as machine_plan,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import infrastructure
from openshift_sandbox import scenario
from openshift_sandbox.seed import nodes


class TestAnyOther:
    """PowerVS stands for all platforms of which nothing is known."""

    POWER: t.Final = infrastructure.Infrastructure("demo-x7k2p", "PowerVS", "powervs", "HighlyAvailable")
    CANDIDATE: t.Final = {"instance_type": "big", **GPUS, "provider_spec_patch": {"processors": 16}}
    WORKER: t.Final = {
        "kind": "PowerVSMachineProviderConfig",
        "metadata": {"creationTimestamp": None},
        "processors": "0.5",
        "memoryGiB": 32,
        "loadBalancers": None,
    }

    def test_a_worker_set_is_copied_whole_and_patched(self) -> None:
        shape = scenario.load("openstack").cluster
        worker = nodes.machine_set(shape, "demo-x7k2p-worker", self.WORKER, "", 1)
        pool = pool_builders.single({"name": "gpu", "candidates": [self.CANDIDATE], "replicas": 1}, "powervs")
        plan = machine_plan.plan(self.POWER, pool, candidates.start(pool, []).shares, [worker], PARAMS)
        assert value(plan) == {"kind": "PowerVSMachineProviderConfig", "processors": 16, "memoryGiB": 32}
        assert "provider_spec_patch was not checked" in plan.warnings[0]

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            (
                {"candidates": [{"instance_type": "big", **GPUS}]},
                ("POOL-REQUIRED", "candidates[0].provider_spec_patch"),
            ),
            ({"candidates": [{**CANDIDATE, "zones": ["a"]}]}, ("POOL-ZONE", "candidates[0].zones")),
            ({"disk": {"size_gib": 200}}, ("POOL-DISK", "disk.size_gib")),
            ({"market": "spot"}, ("POOL-MARKET", "market.type")),
            ({"aws": {"efa": True}}, ("POOL-PLATFORM", "aws")),
        ],
    )
    def test_what_is_refused(self, changes: Data, expected: tuple[str, str]) -> None:
        with pytest.raises(AcceleratorError) as caught:
            pool_builders.single(
                {"name": "gpu", "candidates": [self.CANDIDATE], "replicas": 1, **changes}, "powervs"
            )
        assert [(one["code"], one["path"]) for one in caught.value.facts["problems"]] == [expected]
