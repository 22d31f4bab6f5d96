"""What a set says of a node that does not exist yet."""

from __future__ import annotations

import typing as t
from dataclasses import replace

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import registry
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import autoscale
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Candidate

NVIDIA: t.Final = Candidate(
    "any", gpus_per_node=2, arch="amd64", vcpus=16, memory_gib=64, expected={"nvidia.com/gpu": 2}
)
SHARED: t.Final = replace(NVIDIA, expected={"nvidia.com/gpu": 8})
RENAMED: t.Final = replace(NVIDIA, expected={"nvidia.com/gpu.shared": 8})
AMD: t.Final = replace(NVIDIA, vendor="amd", expected={"amd.com/gpu": 2})
GPUS: t.Final = {autoscale.GPUS: "2", autoscale.GPU_TYPE: "nvidia.com/gpu"}
ARCH: t.Final = {autoscale.LABELS: "kubernetes.io/arch=amd64"}
SIZE: t.Final = {autoscale.CPU: "16", autoscale.MEMORY: "65536Mi"}


@pytest.mark.parametrize(
    ("platform", "candidate", "told"),
    [
        ("aws", NVIDIA, {}),
        ("azure", NVIDIA, {}),
        ("gcp", NVIDIA, {}),
        ("aws", SHARED, {**GPUS, autoscale.GPUS: "8"}),
        ("vsphere", SHARED, {**GPUS, autoscale.GPUS: "8", **ARCH}),
        ("aws", RENAMED, {}),
        ("aws", AMD, {**GPUS, autoscale.GPU_TYPE: "amd.com/gpu", **SIZE}),
        ("vsphere", NVIDIA, {**GPUS, **ARCH}),
        (
            "nutanix",
            replace(NVIDIA, arch="arm64"),
            {**GPUS, autoscale.LABELS: "kubernetes.io/arch=arm64"},
        ),
        ("openstack", NVIDIA, {**GPUS, **ARCH}),
        ("ibm", NVIDIA, {**GPUS, **ARCH}),
        ("baremetal", NVIDIA, {**GPUS, **ARCH, **SIZE}),
        ("baremetal", replace(NVIDIA, vcpus=None), {**GPUS, **ARCH}),
    ],
)
def test_only_what_the_platform_does_not_say(
    platform: str, candidate: Candidate, told: dict[str, str]
) -> None:
    assert autoscale.capacity_annotations(registry.BY_KEY[platform].REPORTS, candidate) == told


def test_what_must_be_known() -> None:
    assert autoscale.lacks_size(registry.reports("baremetal"), replace(NVIDIA, vcpus=None)) == ["vcpus"]
    assert autoscale.lacks_size(registry.reports("vsphere"), replace(NVIDIA, vcpus=None)) == []
    assert autoscale.lacks_size(None, replace(NVIDIA, vcpus=None)) == []
    assert autoscale.lacks_size(registry.reports("oci"), replace(NVIDIA, memory_gib=None)) == ["memory_gib"]
