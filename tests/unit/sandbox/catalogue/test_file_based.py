# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators' catalogues: what the data files promise, and what troubles make of them."""

from __future__ import annotations

import base64
import json
import re
import typing as t
from pathlib import Path

import pytest
import yaml

from openshift_sandbox.catalogue import bundles, file_based, package_manifests, packages
from openshift_sandbox.catalogue.crds import read
from openshift_sandbox.catalogue.packages import Package
from openshift_sandbox.scenario import Scenario

Data = dict[str, t.Any]

CALM = Scenario("calm")
PACKAGES = {
    "fpga-operator": (
        "certified-operators",
        "fpga-operator",
        {"OwnNamespace", "SingleNamespace"},
        "fpga-operator",
    ),
    "nfd": (
        "redhat-operators",
        "openshift-nfd",
        {"OwnNamespace", "SingleNamespace"},
        "nfd-controller-manager",
    ),
    "gpu-operator-certified": (
        "certified-operators",
        "nvidia-gpu-operator",
        {"OwnNamespace", "SingleNamespace"},
        "gpu-operator",
    ),
    "nvidia-network-operator": (
        "certified-operators",
        "nvidia-network-operator",
        {"OwnNamespace", "SingleNamespace"},
        "nvidia-network-operator-controller-manager",
    ),
    "sriov-network-operator": (
        "redhat-operators",
        "openshift-sriov-network-operator",
        {"OwnNamespace", "SingleNamespace", "AllNamespaces"},
        "sriov-network-operator",
    ),
    "kernel-module-management": (
        "redhat-operators",
        "openshift-kmm",
        {"AllNamespaces"},
        "kmm-operator-controller",
    ),
    "kubevirt-hyperconverged": ("redhat-operators", "openshift-cnv", {"OwnNamespace"}, "hco-operator"),
    "kueue-operator": (
        "redhat-operators",
        "openshift-kueue-operator",
        {"AllNamespaces"},
        "openshift-kueue-operator",
    ),
}
CLUSTER_POLICY_REQUIRED = {
    "operator",
    "daemonsets",
    "driver",
    "toolkit",
    "devicePlugin",
    "dcgmExporter",
    "dcgm",
    "nodeStatusExporter",
    "gfd",
}


def crds(package: str) -> list[Data]:
    names = {"kind": "Thing", "plural": f"{package}-things"}
    versions = [
        {"name": "v1alpha1", "served": False, "storage": False},
        {"name": "v1", "served": True, "storage": True},
    ]
    return [
        {
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{package}-things.example.com"},
            "spec": {"group": "example.com", "names": names, "versions": versions},
        }
    ]


def load(name: str, *troubles: Data) -> Package:
    return next(
        package
        for package in packages.load(crds, Scenario("x", troubles=list(troubles)))
        if package.name == name
    )


def bundle(name: str, version: str | None = None, *troubles: Data) -> Data:
    package = load(name, *troubles)
    return file_based.bundle(package, version or package.versions[-1], Scenario("x", troubles=list(troubles)))


def values(blob: Data, kind: str) -> list[Data]:
    return [one["value"] for one in blob["properties"] if one["type"] == kind]


def csv_of(blob: Data) -> Data:
    objects = [json.loads(base64.b64decode(value["data"])) for value in values(blob, "olm.bundle.object")]
    return t.cast("Data", next(obj for obj in objects if obj["kind"] == "ClusterServiceVersion"))


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
    edges = {
        edge["name"]: edge.get("replaces")
        for blob in file_based.entries(package, CALM)
        if blob["schema"] == "olm.channel"
        for edge in blob["entries"]
    }
    names = [package.csv(version)["metadata"]["name"] for version in package.versions]
    assert [edges[name] for name in names] == [None, *names[:-1]]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_csv_is_a_valid_object_of_its_version(name: str) -> None:
    package = load(name)
    for version in package.versions:
        csv = package.csv(version)
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", csv["metadata"]["name"])
        assert csv["spec"]["version"] == version
        deployment = csv["spec"]["install"]["spec"]["deployments"][0]["spec"]
        assert deployment["selector"]["matchLabels"] == deployment["template"]["metadata"]["labels"]
        accounts = {
            entry["serviceAccountName"]
            for key in ("permissions", "clusterPermissions")
            for entry in csv["spec"]["install"]["spec"][key]
        }
        assert accounts == {deployment["template"]["spec"]["serviceAccountName"]}


def test_a_bundle_is_inline_and_provides_its_served_kinds() -> None:
    blob = bundle("nfd")
    assert blob["image"] == ""
    assert values(blob, "olm.package") == [{"packageName": "nfd", "version": "4.22.0-202608111344"}]
    assert values(blob, "olm.gvk") == [{"group": "example.com", "kind": "Thing", "version": "v1"}]
    assert len(values(blob, "olm.bundle.object")) == 2
    assert csv_of(blob)["spec"]["customresourcedefinitions"]["owned"][0]["version"] == "v1"


def test_a_bundle_in_an_image_is_named_by_its_digest_and_laid_out(tmp_path: Path) -> None:
    trouble = {"type": "bundle_image", "package": "nfd"}
    blob, nfd = bundle("nfd", None, trouble), load("nfd", trouble)
    assert values(blob, "olm.bundle.object") == []
    assert re.fullmatch(r"registry\.example\.com/bundles/nfd@sha256:[0-9a-f]{64}", blob["image"])
    bundles.lay_out(tmp_path, [nfd, load("kueue-operator", trouble)], Scenario("x", troubles=[trouble]))
    assert len(list((tmp_path / "bundles").iterdir())) == len(nfd.versions)
    folder = bundles.folder(tmp_path, blob["image"])
    (csv,) = read(folder / "manifests" / "nfd.clusterserviceversion.yaml")
    assert csv == nfd.csv(nfd.versions[-1])
    assert (
        yaml.safe_load((folder / "metadata" / "annotations.yaml").read_text())["annotations"][
            "operators.operatorframework.io.bundle.package.v1"
        ]
        == "nfd"
    )
    bundles.lay_out(tmp_path, [nfd], Scenario("x", troubles=[trouble | {"missing": True}]))
    assert not folder.exists()


def test_the_sample_cluster_policy_has_every_required_part() -> None:
    csv = csv_of(bundle("gpu-operator-certified"))
    samples = {
        sample["kind"]: sample for sample in json.loads(csv["metadata"]["annotations"]["alm-examples"])
    }
    assert samples["ClusterPolicy"]["metadata"] == {"name": "gpu-cluster-policy"}
    assert set(samples["ClusterPolicy"]["spec"]) >= CLUSTER_POLICY_REQUIRED


def test_gpu_operator_moves_between_release_channels() -> None:
    package = load("gpu-operator-certified")
    assert package.data["default_channel"] == "v26.7"
    assert package.replaces("26.7.0") == "gpu-operator-certified.v26.3.3"


def test_package_missing() -> None:
    trouble = {"type": "package_missing", "package": "gpu-operator-certified"}
    assert {package.name for package in packages.load(crds, Scenario("x", troubles=[trouble]))} == set(
        PACKAGES
    ) - {"gpu-operator-certified"}


@pytest.mark.parametrize(
    ("trouble", "version", "fails"),
    [({}, "26.7.0", True), ({"version": "26.7.0"}, "26.7.0", True), ({"version": "26.7.0"}, "26.3.3", False)],
)
def test_csv_failed(trouble: Data, version: str, fails: bool) -> None:
    blob = bundle(
        "gpu-operator-certified",
        version,
        {"type": "csv_failed", "package": "gpu-operator-certified"} | trouble,
    )
    deployment = csv_of(blob)["spec"]["install"]["spec"]["deployments"][0]["spec"]
    assert ("progressDeadlineSeconds" in deployment) is fails
    assert ("nodeSelector" in deployment["template"]["spec"]) is fails


@pytest.mark.parametrize(
    ("trouble", "required"),
    [
        ({"type": "foreign_csv", "package": "nfd", "with_package": "kueue-operator"}, ["kueue-operator"]),
        ({"type": "foreign_csv", "package": "nfd"}, [file_based.FOREIGN_PACKAGE]),
        ({"type": "resolution_failed", "package": "nfd"}, [file_based.ABSENT_PACKAGE]),
        ({"type": "resolution_failed", "package": "gpu-operator-certified"}, []),
    ],
)
def test_troubles_that_add_a_dependency(trouble: Data, required: list[str]) -> None:
    assert [
        value["packageName"] for value in values(bundle("nfd", None, trouble), "olm.package.required")
    ] == required


def test_written_catalogues_lose_what_is_no_longer_carried(tmp_path: Path) -> None:
    folders = file_based.write(tmp_path, packages.load(crds, CALM), CALM)
    assert {path.stem for folder in folders.values() for path in folder.iterdir()} == set(PACKAGES)
    blobs = [json.loads(line) for line in (folders["redhat-operators"] / "nfd.json").read_text().splitlines()]
    assert [blob["schema"] for blob in blobs] == [
        "olm.package",
        "olm.channel",
        "olm.channel",
        "olm.bundle",
        "olm.bundle",
    ]
    less = Scenario("x", troubles=[{"type": "package_missing", "package": "nfd"}])
    file_based.write(tmp_path, packages.load(crds, less), less)
    assert {path.stem for folder in folders.values() for path in folder.iterdir()} == set(PACKAGES) - {"nfd"}


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
    assert description["version"] == "26.7.0"
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


def test_a_release_has_the_driver_of_its_time() -> None:
    def driver(version: str) -> str:
        csv = csv_of(bundle("gpu-operator-certified", version))
        return next(
            str(one["image"]) for one in csv["spec"]["relatedImages"] if one["name"] == "driver-image"
        )

    assert driver("26.3.2") == driver("26.3.3") != driver("26.7.0")


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
