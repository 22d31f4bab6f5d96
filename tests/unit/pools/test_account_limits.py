# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of the provider's account: what a plan needs of each, and how it is named."""

from __future__ import annotations

import typing as t

import pytest
from unit.pools.builders import Data, planned

from ansible_collections.accelerators.openshift.plugins.module_utils._pools.report import report

# Facts of a type that the catalogue does not have.
OWN: t.Final = {"gpus": 1, "vcpus": 4}


@pytest.mark.parametrize(
    ("cloud", "candidate", "market", "expected"),
    [
        (
            "aws",
            {"instance_type": "g4dn.xlarge", "zones": ["a"]},
            "spot",
            [("All G and VT Spot Instance Requests", "vCPUs", 8)],
        ),
        (
            "aws",
            {"instance_type": "g4dn.xlarge", "zones": ["a"], "market": "spot"},
            "on_demand",
            [("All G and VT Spot Instance Requests", "vCPUs", 8)],
        ),
        (
            "aws",
            {"instance_type": "p4d.24xlarge", "zones": ["a"]},
            {"type": "capacity_block", "reservation": "cr-0123456789abcdef0"},
            [],
        ),
        (
            "azure",
            {"instance_type": "Standard_NC4as_T4_v3", "zones": ["1"]},
            "on_demand",
            [
                ("Total Regional vCPUs", "vCPUs", 8),
                ("vCPUs of the family of Standard_NC4as_T4_v3", "vCPUs", 8),
            ],
        ),
        (
            "azure",
            {"instance_type": "Standard_NC4as_T4_v3", "zones": ["1"]},
            "spot",
            [("Total Regional Spot vCPUs", "vCPUs", 8)],
        ),
        *(
            (
                "gcp",
                {
                    "instance_type": "n1-standard-8",
                    "zones": ["us-central1-a"],
                    "gcp": {"gpus": {"type": f"nvidia-tesla-{model.lower()}", "count": 2}},
                },
                "spot",
                [
                    ("GPUS_ALL_REGIONS of the project", "GPUs", 4),
                    (f"PREEMPTIBLE_NVIDIA_{model}_GPUS of the region", "GPUs", 4),
                ],
            )
            for model in ("T4", "P4", "P100", "V100")
        ),
        (
            "gcp",
            {"instance_type": "a3-highgpu-8g", "zones": ["us-central1-a"]},
            "on_demand",
            [("GPUS_ALL_REGIONS of the project", "GPUs", 16), ...],
        ),
        ("other", {"instance_type": "gpu.large", "gpus": 1}, "on_demand", []),
        ("aws", {"instance_type": "p9.large", "zones": ["a"], "gpus": 1}, "on_demand", []),
        ("azure", {"instance_type": "Standard_NC9", "zones": ["1"], "gpus": 1}, "on_demand", []),
    ],
)
def test_limits_of_the_account(cloud: str, candidate: Data, market: t.Any, expected: list[t.Any]) -> None:
    pools = [{"name": "a", "candidates": [candidate], "replicas": 2, "market": market}]
    limits = planned(pools, cloud)["limits"]
    found = [(one["limit"], one["unit"], one["needs"]) for one in limits]
    assert cloud != "gcp" or all(one["is_name"] == ("_" in one["limit"]) for one in limits)
    if ... in expected:
        assert (found[0], len(found), "GPUs of the region" in found[1][0]) == (expected[0], 2, True)
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("cloud", "candidate", "market", "limit", "is_name"),
    [
        (
            "aws",
            {"instance_type": "p4d.24xlarge", "zones": ["a"]},
            "spot",
            "All P4, P3 and P2 Spot Instance Requests",
            True,
        ),
        (
            "aws",
            {"instance_type": "p5.48xlarge", "zones": ["a"]},
            "spot",
            "All P5 Spot Instance Requests",
            True,
        ),
        (
            "aws",
            {"instance_type": "p6-b200.48xlarge", "zones": ["a"]},
            "spot",
            "Spot vCPUs of p6-b200",
            False,
        ),
        (
            "aws",
            {"instance_type": "p6-b200.48xlarge", "zones": ["a"]},
            "on_demand",
            "Running On-Demand P instances",
            True,
        ),
        (
            "azure",
            {"instance_type": "Standard_NC4as_T4_v3", "zones": ["1"]},
            "on_demand",
            "vCPUs of the family of Standard_NC4as_T4_v3",
            False,
        ),
        (
            "gcp",
            {"instance_type": "a3-highgpu-8g", "zones": ["us-central1-a"]},
            "spot",
            "Spot H100 GPUs of the region",
            False,
        ),
        (
            "gcp",
            {"instance_type": "g2-standard-4", "zones": ["us-central1-a"]},
            "on_demand",
            "NVIDIA_L4_GPUS of the region",
            True,
        ),
        *(
            ("aws", {"instance_type": name, "zones": ["a"], **more}, market, limit, is_name)
            for name, market, limit, is_name, more in (
                ("p3.2xlarge", "spot", "All P4, P3 and P2 Spot Instance Requests", True, {}),
                ("p2.xlarge", "spot", "All P4, P3 and P2 Spot Instance Requests", True, OWN),
                ("vt1.3xlarge", "on_demand", "Running On-Demand G and VT instances", True, OWN),
                ("dl9.xlarge", "on_demand", "On-Demand vCPUs of DL instances", False, OWN),
                ("dl9.xlarge", "spot", "All DL Spot Instance Requests", True, OWN),
                ("trn9.xlarge", "on_demand", "On-Demand vCPUs of Trn instances", False, OWN),
                ("trn9.xlarge", "spot", "All Trn Spot Instance Requests", True, OWN),
                ("inf9.xlarge", "on_demand", "Running On-Demand Inf instances", True, OWN),
                ("inf9.xlarge", "spot", "All Inf Spot Instance Requests", True, OWN),
            )
        ),
    ],
)
def test_what_is_no_name_is_told_as_words(
    cloud: str, candidate: Data, market: str, limit: str, is_name: bool
) -> None:
    plan = planned([{"name": "a", "candidates": [candidate], "replicas": 1, "market": market}], cloud)
    found = {one["limit"]: one["is_name"] for one in plan["limits"]}
    assert found[limit] is is_name
    (line,) = [line for line in report(plan, {})["table"] if f" of {limit} (" in line]
    assert (" (in words) " in line) is not is_name


def test_two_pools_count_towards_one_limit() -> None:
    two = [
        {"name": name, "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["a"]}], "replicas": 3}
        for name in ("a", "b")
    ]
    assert planned(two)["limits"] == [
        {
            "limit": "Running On-Demand G and VT instances",
            "is_name": True,
            "unit": "vCPUs",
            "needs": 24,
            "pools": ["a", "b"],
        }
    ]
