# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools elsewhere than in the three big clouds: what is refused, and in which words."""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders
from unit.platforms.builders import CANDIDATES, GPUS, Data, lived, planned, single

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import drift


def problem(name: str, **changes: t.Any) -> tuple[str, str]:
    with pytest.raises(AcceleratorError) as caught:
        single(name, **changes)
    (found,) = caught.value.facts["problems"]
    return found["code"], found["path"]


def test_an_image_that_one_word_cannot_name_is_refused() -> None:
    with pytest.raises(AcceleratorError, match="image: rhcos") as caught:
        planned("baremetal", image="rhcos.raw")
    assert (caught.value.code, caught.value.layer) == ("POOL-CONFLICT", "input")
    assert "baremetal.image" in caught.value.remedy


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        (
            "baremetal",
            {"candidates": [{"instance_type": "any", **GPUS}]},
            ("POOL-REQUIRED", "candidates[0].baremetal.host_selector"),
        ),
        (
            "baremetal",
            {"candidates": [{"instance_type": "any", "baremetal": {"host_selector": {"gpu": "l40s"}}}]},
            ("POOL-REQUIRED", "candidates[0].gpus"),
        ),
        (
            "baremetal",
            {"candidates": [{**CANDIDATES["baremetal"], "zones": ["rack-1"]}]},
            ("POOL-ZONE", "candidates[0].zones"),
        ),
        ("baremetal", {"disk": {"size_gib": 200}}, ("POOL-DISK", "disk.size_gib")),
        (
            "baremetal",
            {"baremetal": {"host_expressions": [{"key": "a", "operator": "In"}]}},
            ("POOL-REQUIRED", "candidates[0].baremetal.host_expressions[0].values"),
        ),
        (
            "baremetal",
            {"baremetal": {"host_expressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}},
            ("POOL-CONFLICT", "candidates[0].baremetal.host_expressions[0].values"),
        ),
        (
            "vsphere",
            {"candidates": [{"instance_type": "gpu-template"}]},
            ("POOL-REQUIRED", "candidates[0].gpus"),
        ),
        ("vsphere", {"market": "spot"}, ("POOL-MARKET", "market.type")),
        (
            "vsphere",
            {"market": {"type": "on_demand", "reservation": "r"}},
            ("POOL-MARKET", "market.reservation"),
        ),
        ("vsphere", {"disk": {"type": "thin"}}, ("POOL-DISK", "disk.type")),
        (
            "vsphere",
            {"vsphere": {"cpus": 6, "cores_per_socket": 4}},
            ("POOL-CONFLICT", "vsphere.cores_per_socket"),
        ),
        (
            "vsphere",
            {"provider_spec_patch": {"pciDevices": []}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.pciDevices"),
        ),
        (
            "vsphere",
            {
                "mixed": True,
                "candidates": [
                    CANDIDATES["vsphere"],
                    {**CANDIDATES["vsphere"], "instance_type": "one", "gpus": 1},
                ],
            },
            ("POOL-MIXED", "mixed"),
        ),
        ("openstack", {"openstack": {"server_grp": "a"}}, ("POOL-UNKNOWN-KEY", "openstack.server_grp")),
        (
            "openstack",
            {"provider_spec_patch": {"flavour": "g1"}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.flavour"),
        ),
        (
            "nutanix",
            {"candidates": [{"instance_type": "two", **GPUS}]},
            ("POOL-REQUIRED", "candidates[0].nutanix.gpus"),
        ),
        (
            "nutanix",
            {"candidates": [{"instance_type": "two", **GPUS, "nutanix": {"gpus": [{"name": "a"}]}}]},
            ("POOL-GPUS", "candidates[0].nutanix.gpus"),
        ),
        (
            "nutanix",
            {"candidates": [{"instance_type": "two", **GPUS, "nutanix": {"gpus": [{"name": "a"}, {}]}}]},
            ("POOL-EITHER", "candidates[0].nutanix.gpus[1]"),
        ),
        ("nutanix", {"nutanix": {"cores_per_socket": 2}}, ("POOL-REQUIRED", "candidates[0].nutanix.cpus")),
        (
            "nutanix",
            {"provider_spec_patch": {"memorysize": "64Gi"}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.memorysize"),
        ),
        (
            "ibmcloud",
            {"candidates": [{"instance_type": "gx3-16x80x1l4"}]},
            ("POOL-REQUIRED", "candidates[0].zones"),
        ),
        ("ibmcloud", {"disk": {"size_gib": 200}}, ("POOL-DISK", "disk.size_gib")),
        (
            "ibmcloud",
            {
                "ibm": {"dedicated_host": "h"},
                "candidates": [{"instance_type": "gx3-16x80x1l4", "zones": ["us-east-1", "us-east-2"]}],
            },
            ("POOL-PLACEMENT", "ibm.dedicated_host"),
        ),
        (
            "ibmcloud",
            {"candidates": [{"instance_type": "gx3d-208x1792x8mi300x", "zones": ["us-east-1"]}]},
            ("POOL-VENDOR", "candidates[0].instance_type"),
        ),
        ("ibmcloud", {"vsphere": {"cpus": 4}}, ("POOL-PLATFORM", "vsphere")),
    ],
)
def test_what_is_refused(name: str, changes: Data, expected: tuple[str, str]) -> None:
    assert problem(name, **changes) == expected


def test_what_an_own_type_is_is_told_in_the_platforms_words() -> None:
    with pytest.raises(AcceleratorError, match="a template that has the GPUs"):
        single("vsphere", candidates=[{"instance_type": "gpu-template"}])


def test_a_zone_of_vsphere_is_a_failure_domain() -> None:
    with pytest.raises(AcceleratorError) as caught:
        planned("vsphere", candidates=[{**CANDIDATES["vsphere"], "zones": ["cluster-b"]}])
    assert caught.value.code == "MACH-NO-REFERENCE"
    assert "fd-cluster-a, fd-cluster-b" in caught.value.remedy


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        ("ClusterAPI", "ClusterAPI"),
        ("MachineAPI", "Migrating"),
        ("ClusterAPI", ""),
        ("MachineAPI", "ClusterAPI"),
    ],
)
def test_a_set_that_cluster_api_writes_is_not_ours_to_write(wanted: str, held: str) -> None:
    live = lived(planned("openstack"))[0]
    drift.check(live | {"spec": live["spec"] | {"authoritativeAPI": "MachineAPI"}})
    with pytest.raises(AcceleratorError) as caught:
        drift.check(
            live | {"spec": live["spec"] | {"authoritativeAPI": wanted}, "status": {"authoritativeAPI": held}}
        )
    assert caught.value.code == "MACH-MIRRORED"


@pytest.mark.parametrize(
    ("cloud", "candidate", "patch", "path"),
    [
        (
            "aws",
            {"instance_type": "p4d.24xlarge", "zones": ["a"]},
            {"instanceType": "g4dn.xlarge"},
            "instanceType",
        ),
        (
            "aws",
            {"instance_type": "p4d.24xlarge", "zones": ["a"]},
            {"placement": {"availabilityZone": "us-east-2b"}},
            "placement.availabilityZone",
        ),
        ("azure", {"instance_type": "Standard_NC4as_T4_v3", "zones": ["1"]}, {"vmSize": "x"}, "vmSize"),
        ("azure", {"instance_type": "Standard_NC4as_T4_v3", "zones": ["1"]}, {"zone": "2"}, "zone"),
        ("gcp", {"instance_type": "g2-standard-8", "zones": ["us-central1-a"]}, {"zone": "b"}, "zone"),
    ],
)
def test_what_the_pool_says_is_not_patched(cloud: str, candidate: Data, patch: Data, path: str) -> None:
    pool = {"name": "training", "replicas": 1, "candidates": [candidate], "provider_spec_patch": patch}
    assert pool_builders.problems(cloud, pool) == [("POOL-PROVIDER-VALUE", f"provider_spec_patch.{path}")]
