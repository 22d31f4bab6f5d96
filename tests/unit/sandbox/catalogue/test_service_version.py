# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ClusterServiceVersions of the packages."""

from __future__ import annotations

import json
import re

import pytest
from unit.sandbox.catalogue.builders import PACKAGES, Data, bundle, csv_of, load

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


def test_a_release_has_the_driver_of_its_time() -> None:
    def driver(version: str) -> str:
        csv = csv_of(bundle("gpu-operator-certified", version))
        return next(
            str(one["image"]) for one in csv["spec"]["relatedImages"] if one["name"] == "driver-image"
        )

    assert driver("26.3.2") == driver("26.3.3") != driver("26.7.0")
