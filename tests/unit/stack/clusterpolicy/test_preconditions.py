# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets and ConfigMaps that options name."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.stack.clusterpolicy.test_manifest import NEWEST, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    preconditions,
    steps,
)

SPACE: t.Final = "nvidia-gpu-operator"


def made(kind: str = "ClusterPolicy", **spec: t.Any) -> KubeObject:
    return {"kind": kind, "metadata": {"name": "one"}, "spec": spec}


@pytest.mark.parametrize(
    "path",
    [
        "driver.kernelModuleConfig.name",
        "driver.repoConfig.configMapName",
        "driver.certConfig.name",
        "driver.virtualTopology.config",
        "driver.licensingConfig.configMapName",
        "dcgmExporter.config.name",
        "devicePlugin.config.name",
        "migManager.config.name",
        "migManager.gpuClientsConfig.name",
        "vgpuDeviceManager.config.name",
        "vgpuManager.kernelModuleConfig.name",
    ],
)
def test_config_maps_that_the_final_object_names(path: str) -> None:
    spec: t.Any = "a"
    for key in reversed(path.split(".")):
        spec = {key: spec}
    found = preconditions.references(made(**spec, sandboxWorkloads={"enabled": True}))
    assert found == [(path, "ConfigMap", "a")]


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"driver": {"licensingConfig": {"secretName": "a"}}}, "driver.licensingConfig.secretName"),
        ({"driver": {"secretEnv": "a"}}, "driver.secretEnv"),
        ({"driver": {"imagePullSecrets": ["a"]}}, "driver.imagePullSecrets"),
        ({"driver": {"manager": {"imagePullSecrets": ["a"]}}}, "driver.manager.imagePullSecrets"),
        ({"gds": {"enabled": True, "imagePullSecrets": ["a"]}}, "gds.imagePullSecrets"),
    ],
)
def test_secrets_that_the_final_object_names(spec: t.Any, path: str) -> None:
    assert preconditions.references(made(**spec)) == [(path, "Secret", "a")]


def test_what_is_off_or_made_by_the_operator_needs_nothing() -> None:
    maps = {"kernelModuleConfig": {"name": "a"}, "imagePullSecrets": ["b"]}
    for spec in (
        {"driver": {"enabled": False, **maps}},
        {"driver": {"useNvidiaDriverCRD": True, **maps}},
        {"vgpuManager": {"enabled": True, **maps}},
        {"migManager": {"config": {"name": "default-mig-parted-config"}}},
        {"dcgmExporter": {"config": {"name": ""}}},
    ):
        assert preconditions.references(made(**spec)) == []
    twice = made(gfd={"imagePullSecrets": ["a"]}, dcgm={"imagePullSecrets": ["a"]})
    assert preconditions.references(twice) == [("gfd.imagePullSecrets", "Secret", "a")]


def test_other_objects_name_some_too() -> None:
    driver = {
        "repoConfig": {"name": "a"},
        "virtualTopologyConfig": {"name": "b"},
        "manager": {"imagePullSecrets": ["c"]},
    }
    assert [one.name for one in preconditions.references(made("NVIDIADriver", **driver))] == ["a", "b", "c"]
    nic = {
        "ofedDriver": {"certConfig": {"name": "a"}, "repoConfig": {"name": "b"}},
        "nvIpam": {"imagePullSecrets": ["c"]},
    }
    assert [one.name for one in preconditions.references(made("NicClusterPolicy", **nic))] == ["a", "b", "c"]
    cluster = {"draDriver": {"imagePullSecrets": ["a"]}}
    assert [one.name for one in preconditions.references(made("GPUCluster", **cluster))] == ["a"]


def check(
    after: KubeObject, live: KubeObject | None = None, check_mode: bool = False, **options: t.Any
) -> t.Any:
    server = FakeServer("ConfigMap", "Secret")
    metadata = {"name": "there", "namespace": SPACE}
    server.put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    api = api_on(server, check_mode=check_mode)
    preconditions.check_references(api, params(namespace=SPACE, **options), live, after)
    return api


def test_a_missing_pull_secret_is_made_as_one() -> None:
    with pytest.raises(AcceleratorError) as caught:
        check(made(driver={"imagePullSecrets": ["gone"]}), driver={"image_pull_secrets": ["gone"]})
    assert caught.value.remedy.startswith("Run `oc create secret docker-registry gone -n ")


def test_a_missing_one_is_refused_whoever_named_it() -> None:
    after = made(driver={"kernelModuleConfig": {"name": "gone"}})
    with pytest.raises(AcceleratorError) as caught:
        check(after, spec={"driver": {"kernelModuleConfig": {"name": "gone"}}})
    assert caught.value.code == "GPU-CP-REFERENCE"
    assert (
        "spec.driver.kernelModuleConfig.name of ClusterPolicy one names ConfigMap gone"
        in caught.value.message
    )
    assert f"`oc create configmap gone -n {SPACE} --from-file=FILE`" in caught.value.remedy
    assert "gpu_operator_spec.driver.kernelModuleConfig.name" in caught.value.remedy
    with pytest.raises(AcceleratorError) as caught:
        check(after, driver={"kernel_module_config": {"name": "gone"}})
    assert "or correct driver.kernel_module_config.name." in caught.value.remedy
    with pytest.raises(AcceleratorError) as caught:
        check(made(dcgm={"imagePullSecrets": ["pull"]}))
    assert "`oc create secret docker-registry pull" in caught.value.remedy
    check(made(driver={"kernelModuleConfig": {"name": "there"}}))


def test_check_mode_refuses_what_no_earlier_task_can_make() -> None:
    after = made(driver={"kernelModuleConfig": {"name": "gone"}})
    with pytest.raises(AcceleratorError):
        check(after, live=made(), check_mode=True)
    (warning,) = check(after, check_mode=True).warnings
    assert "names ConfigMap gone" in warning
    shared = made(devicePlugin={"config": {"name": "gpu-sharing"}})
    assert check(shared, live=made(), check_mode=True).warnings == []
    with pytest.raises(AcceleratorError):
        check(shared, live=made())


V100: t.Any = {"name": "old", "node_selector": {}, "gpu_models": ["V100"]}
H100: t.Final = {"name": "new", "node_selector": {}, "gpu_models": ["H100"]}


@pytest.mark.parametrize(
    ("spec", "pool", "says"),
    [
        ({"driver": {"version": "595.91.07"}}, H100, "without spec.driver.repository"),
        ({"driver": {"manager": {"repository": "a"}}}, H100, "spec.driver.manager.repository"),
        ({"toolkit": {"version": "1"}}, H100, "spec.toolkit.version is given without"),
        ({"gdrcopy": {"enabled": True, "version": "1"}}, H100, "spec.gdrcopy.version"),
        (
            {"driver": {"repository": "a", "image": "b", "version": "595.1"}},
            V100,
            "spec.driver.version is 595.1",
        ),
        ({"driver": {"kernelModuleType": "open"}}, V100, "kernel_module_type is open"),
    ],
)
def test_driver_and_images_are_checked_as_the_object_will_be(spec: t.Any, pool: t.Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        preconditions.check_final([pool], made(**spec), ())
    off: dict[str, t.Any] = {key: {**part, "enabled": False} for key, part in spec.items()}
    preconditions.check_final([pool], made(**off), ())
    if "driver" in spec and "manager" not in spec["driver"]:
        with pytest.raises(InputError):
            preconditions.check_final_driver(
                [pool],
                {"kind": "NVIDIADriver", "metadata": {"name": pool["name"]}, "spec": spec["driver"]},
                (),
            )


@pytest.mark.parametrize(
    ("driver", "installed", "said"),
    [
        ({}, (26, 7), "is not given, and the operator's own is of branch 595, and 580 is the last branch"),
        ({}, (26, 3), ""),
        ({}, (), ""),
        (NEWEST, (26, 3), f"is {NEWEST['version']}, and 580 is the last branch with a driver for V100 GPUs"),
        (NEWEST | {"version": "580.126.20"}, (26, 7), ""),
        ({"useNvidiaDriverCRD": True}, (26, 7), ""),
        ({"enabled": False}, (26, 7), ""),
    ],
)
def test_the_policy_as_it_will_be_has_to_fit_old_gpus(
    driver: dict[str, t.Any], installed: tuple[int, ...], said: str
) -> None:
    with pytest.raises(InputError, match=said) if said else contextlib.nullcontext():
        preconditions.check_final([V100], made(driver=driver), installed)


def test_gpus_of_existing_nodes_are_read_from_their_labels() -> None:
    server = FakeServer("Node")
    marks = {"pool": "old", "nvidia.com/gpu.product": "Tesla-V100-SXM2-16GB"}
    for name in ("a", "b"):
        server.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": marks}})
    given: t.Any = [{"name": "old", "node_selector": {"pool": "old"}}, H100]
    pools = steps.with_models(api_on(server), given)
    assert [pool["gpu_models"] for pool in pools] == [["Tesla-V100-SXM2-16GB"], ["H100"]]
    with pytest.raises(InputError, match="with a driver for Tesla-V100-SXM2-16GB GPUs"):
        preconditions.check_final(pools, made(driver={}), (26, 7))
    assert steps.with_models(api_on(FakeServer()), given[1:]) == [H100]


def test_an_image_alone_is_a_whole_path() -> None:
    preconditions.check_final([], made(toolkit={"image": "mirror.example.com/toolkit@sha256:1"}), ())
