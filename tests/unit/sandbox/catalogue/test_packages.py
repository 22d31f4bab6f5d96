# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which packages the catalogues carry, in which versions and channels."""

from __future__ import annotations

import pytest
from unit.sandbox.catalogue.builders import CALM, PACKAGES, crds, csv_of, load

from openshift_sandbox.catalogue import file_based, packages
from openshift_sandbox.scenario import Scenario


def test_the_catalogues_carry_these_packages() -> None:
    assert {package.name for package in packages.load(crds, CALM)} == set(PACKAGES)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_says_where_it_belongs(name: str) -> None:
    source, namespace, modes, deployment = PACKAGES[name]
    package = load(name)
    csv = package.csv(package.versions[-1])
    assert package.catalog == source
    assert csv["metadata"]["annotations"]["operatorframework.io/suggested-namespace"] == namespace
    assert {mode["type"] for mode in csv["spec"]["installModes"] if mode["supported"]} == modes
    assert len(csv["spec"]["installModes"]) == 4
    assert [one["name"] for one in csv["spec"]["install"]["spec"]["deployments"]] == [deployment]
    assert all(image["image"] and "{" not in image["image"] for image in csv["spec"]["relatedImages"])


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_has_two_channels_and_an_upgrade_path(name: str) -> None:
    package = load(name)
    assert len(package.channels) >= 2
    assert package.data["default_channel"] in package.channels
    assert set().union(*package.channels.values()) == set(package.versions)
    assert any(len(versions) > 1 for versions in package.channels.values())
    for blob in file_based.entries(package, CALM):
        if blob["schema"] == "olm.channel":
            names = [edge["name"] for edge in blob["entries"]]
            assert [edge.get("replaces") for edge in blob["entries"]] == [None, *names[:-1]]


def test_a_channel_of_the_network_operator_has_no_way_in() -> None:
    """As in the certified catalogue: no release skips others, and a channel's first one replaces nothing."""
    blobs = file_based.entries(load("nvidia-network-operator"), CALM)
    channels = {blob["name"]: blob["entries"] for blob in blobs if blob["schema"] == "olm.channel"}
    name = "nvidia-network-operator.v"
    assert channels["v26.7"] == [
        {"name": f"{name}26.7.0"},
        {"name": f"{name}26.7.0-1", "replaces": f"{name}26.7.0"},
    ]
    assert channels["stable"][1] == {"name": f"{name}26.7.0", "replaces": f"{name}26.4.0"}


def test_package_missing() -> None:
    trouble = {"type": "package_missing", "package": "gpu-operator-certified"}
    assert {package.name for package in packages.load(crds, Scenario("x", troubles=[trouble]))} == set(
        PACKAGES
    ) - {"gpu-operator-certified"}


def test_a_scenario_has_versions_of_its_own_and_an_older_one_fewer_kinds() -> None:
    versions = {
        "versions": ["4.18.0", "4.19.0"],
        "channels": {"stable": ["4.18.0", "4.19.0"]},
        "crds_of": {"4.18.0": []},
    }
    (package,) = (
        one
        for one in packages.load(crds, Scenario("x", {"catalogue": {"nfd": versions}}))
        if one.name == "nfd"
    )
    assert (package.channels, package.replaces("4.19.0")) == ({"stable": ["4.18.0", "4.19.0"]}, "nfd.v4.18.0")
    owned = {
        version: csv_of(file_based.bundle(package, version, CALM))["spec"]["customresourcedefinitions"][
            "owned"
        ]
        for version in package.versions
    }
    assert {version: len(kinds) for version, kinds in owned.items()} == {"4.18.0": 0, "4.19.0": 1}
