"""Which platform a cluster runs on."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import (
    infrastructure,
    registry,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.platform import Platform


@pytest.mark.parametrize(
    ("platform", "external", "topology", "cloud", "words"),
    [
        ("AWS", "", "HighlyAvailable", "aws", ""),
        ("Azure", "", "SingleReplica", "azure", ""),
        ("IBMCloud", "", "HighlyAvailable", "ibm", ""),
        ("OpenStack", "", "HighlyAvailable", "openstack", ""),
        ("AWS", "", "External", "aws", "hosted elsewhere"),
        ("External", "OCI", "HighlyAvailable", "oci", "its platform is oci"),
        ("None", "", "HighlyAvailable", "", "its platform is None"),
        ("", "", "", "", "its platform is not set"),
    ],
)
def test_reading(platform: str, external: str, topology: str, cloud: str, words: str) -> None:
    status = {
        "infrastructureName": "demo",
        "controlPlaneTopology": topology,
        "platformStatus": {"type": platform},
    }
    found = infrastructure.read(
        {"spec": {"platformSpec": {"external": {"platformName": external}}}, "status": status}
    )
    assert (found.name, found.cloud) == ("demo", cloud)
    assert words in found.obstacle
    assert bool(words) == bool(found.obstacle)
    assert "existing.node_selector" in found.instead


@pytest.mark.parametrize("platform", registry.PLATFORMS.values(), ids=lambda platform: str(platform.KEY))
def test_the_name_of_each_platform_leads_to_its_key(platform: Platform) -> None:
    found = infrastructure.read({"status": {"platformStatus": {"type": platform.NAME}}})
    assert found.cloud == platform.KEY
