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


def env(version: str) -> dict[str, str]:
    csv = csv_of(bundle("gpu-operator-certified", version))
    pod = csv["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]["spec"]
    return {one["name"]: one["value"] for one in pod["containers"][0]["env"] if "value" in one}


def test_a_release_has_the_driver_of_its_time() -> None:
    def driver(version: str) -> str:
        csv = csv_of(bundle("gpu-operator-certified", version))
        return next(
            str(one["image"]) for one in csv["spec"]["relatedImages"] if one["name"] == "driver-image"
        )

    assert driver("26.3.0") == driver("26.3.3") != driver("26.7.0")
    assert driver("26.7.0") == driver("26.7.1")
    assert [driver(version) for version in ("26.3.0", "26.7.0")] == [
        env(version)["DRIVER_IMAGE"] for version in ("26.3.0", "26.7.0")
    ]


def test_each_release_of_the_gpu_operator_has_another_driver_manager() -> None:
    versions = load("gpu-operator-certified").versions
    assert len({env(version)["DRIVER_MANAGER_IMAGE"] for version in versions}) == len(versions) == 4


def test_the_env_of_the_gpu_operator_has_its_real_names() -> None:
    names = {
        "CC_MANAGER_IMAGE",
        "CONTAINER_TOOLKIT_IMAGE",
        "DCGM_EXPORTER_IMAGE",
        "DCGM_IMAGE",
        "DEVICE_PLUGIN_IMAGE",
        "DRIVER_IMAGE",
        "DRIVER_MANAGER_IMAGE",
        "GDRCOPY_IMAGE",
        "GFD_IMAGE",
        "KATA_SANDBOX_DEVICE_PLUGIN_IMAGE",
        "MIG_MANAGER_IMAGE",
        "SANDBOX_DEVICE_PLUGIN_IMAGE",
        "VALIDATOR_IMAGE",
        "VFIO_MANAGER_IMAGE",
        "VGPU_DEVICE_MANAGER_IMAGE",
    }
    assert set(env("26.3.0")) == names | {"DRIVER_IMAGE-535"}
    assert set(env("26.7.0")) == names | {"DRA_DRIVER_IMAGE", "DRIVER_IMAGE-580", "DRIVER_IMAGE-610"}
    assert set(env("26.7.1")) == set(env("26.7.0")) | {"DRIVER_IMAGE-615"}
    digests = {name for name, image in env("26.7.0").items() if "@sha256:" in image}
    assert digests == set(env("26.7.0")) - {"VALIDATOR_IMAGE"}


def test_the_samples_of_the_gpu_operator_have_the_fields_of_26_7() -> None:
    csv = csv_of(bundle("gpu-operator-certified"))
    samples = {
        sample["kind"]: sample["spec"]
        for sample in json.loads(csv["metadata"]["annotations"]["alm-examples"])
    }
    policy = samples["ClusterPolicy"]
    assert set(samples) == {"ClusterPolicy", "GPUCluster", "NVIDIADriver"}
    assert policy["cdi"] == {"enabled": True, "nriPluginEnabled": False}
    assert policy["sandboxWorkloads"]["mode"] == "kubevirt"
    assert policy["kataSandboxDevicePlugin"] == {"enabled": True}
    assert (policy["devicePlugin"]["config"], policy["mig"]) == (
        {"name": "", "default": ""},
        {"strategy": "single"},
    )
    assert samples["NVIDIADriver"]["upgradePolicy"]["autoUpgrade"] is True
    assert samples["GPUCluster"]["draDriver"]["image"] == "dra-driver-nvidia-gpu"
