# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The PackageManifests that stand for the packages."""

from __future__ import annotations

from pathlib import Path

from unit.sandbox.catalogue.builders import CALM, crds, load

from openshift_sandbox.catalogue import file_based, package_manifests, packages
from openshift_sandbox.scenario import Scenario


def test_a_package_manifest_has_the_shape_that_clients_read() -> None:
    manifest = package_manifests.manifest(load("gpu-operator-certified"), CALM)
    assert manifest["metadata"]["namespace"] == "openshift-marketplace"
    assert manifest["metadata"]["labels"]["catalog"] == "certified-operators"
    status = manifest["status"]
    assert (status["catalogSource"], status["catalogSourceNamespace"], status["defaultChannel"]) == (
        "certified-operators",
        "openshift-marketplace",
        "v26.7",
    )
    channels = {channel["name"]: channel for channel in status["channels"]}
    assert channels["v26.3"]["currentCSV"] == "gpu-operator-certified.v26.3.3"
    assert channels["v26.3"]["entries"][0] == {"name": "gpu-operator-certified.v26.3.3", "version": "26.3.3"}
    description = channels["v26.7"]["currentCSVDesc"]
    assert description["version"] == "26.7.1"
    assert {"type": "AllNamespaces", "supported": False} in description["installModes"]
    assert "ClusterPolicy" in description["annotations"]["alm-examples"]


def test_a_package_in_two_catalogues_has_two_manifests(tmp_path: Path) -> None:
    both = Scenario(
        "x", troubles=[{"type": "package_twice", "package": "nfd", "catalog": "certified-operators"}]
    )
    found = packages.load(crds, both)
    assert sorted(package.catalog for package in found if package.name == "nfd") == [
        "certified-operators",
        "redhat-operators",
    ]
    folders = file_based.write(tmp_path, found, both)
    assert all((folder / "nfd.json").exists() for folder in folders.values())


def test_a_deprecation_is_told_by_catalogue_and_manifest() -> None:
    old = Scenario(
        "x", troubles=[{"type": "deprecated", "package": "nfd", "channel": "stable", "message": "use 4.22"}]
    )
    nfd = load("nfd")
    (blob,) = (one for one in file_based.entries(nfd, old) if one["schema"] == "olm.deprecations")
    assert blob["entries"] == [
        {"reference": {"schema": "olm.channel", "name": "stable"}, "message": "use 4.22"}
    ]
    channels = {one["name"]: one for one in package_manifests.manifest(nfd, old)["status"]["channels"]}
    assert channels["stable"]["deprecation"] == {"message": "use 4.22"}
    assert "deprecation" not in channels["4.22"]
