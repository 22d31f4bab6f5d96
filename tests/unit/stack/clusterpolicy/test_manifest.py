# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ClusterPolicy: from options to a complete manifest, and what is refused."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
from unit import managed
from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.adoption import difference
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    default_spec,
    manifest as clusterpolicy_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackParams

GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


CRDS = Path(__file__).resolve().parents[4] / ".build/crds/gpu-operator-certified.json"


DIGEST = "sha256:" + "0" * 64
NEWEST = {"version": "595.91.07", "repository": "nvcr.io/nvidia", "image": "driver"}


GDS = {
    "enabled": True,
    "version": "2.20.5",
    "repository": "nvcr.io/nvidia/cloud-native",
    "image": "nvidia-fs",
}


REFERENCE = Path(__file__).resolve().parents[5] / "shared/crds/gpu-operator-clusterpolicies.yaml"


# Fields that no option stands for: what the API itself calls deprecated, or reads no more, and tolerations,
# which have an option of their own.
RAW = {
    "daemonsets.tolerations",
    "driver.licensingConfig.configMapName",
    "driver.useOpenKernelModules",
    "operator.defaultRuntime",
    "psa.enabled",
    "psp.enabled",
}


TEAM = {"key": "team", "operator": "Equal", "value": "a", "effect": "NoSchedule"}


def params(**given: t.Any) -> StackParams:
    return some_params(**{"backend": "nvidiadriver", **given})


def version(examples: t.Any) -> dict[str, t.Any]:
    return {
        "metadata": {
            "name": "gpu-operator-certified.v26.7.0",
            "annotations": {"alm-examples": examples if isinstance(examples, str) else json.dumps(examples)},
        }
    }


def test_options_become_camel_case_and_lose_to_the_raw_spec() -> None:
    given = params(
        driver={
            "enabled": None,
            "kernel_module_type": "open",
            "use_precompiled": True,
            "rdma": {"enabled": True, "use_host_mofed": None},
            "upgrade_policy": {"max_unavailable": "2", "auto_upgrade": None, "drain": {}},
            "use_nvidia_driver_crd": False,
        },
        operator={"use_ocp_driver_toolkit": False},
        host_paths={"root_fs": "/"},
        validator={"vfio_pci": {"env": [{"name": "some_name"}]}},
        dcgm_exporter={
            "service_monitor": {"enabled": False, "additional_labels": {"a_b": "c_d"}},
            "enable_pod_uid": True,
        },
        device_plugin={"config": {"name": "sharing", "default": None}},
        mig={"strategy": "single"},
        spec={"mig": {"strategy": "mixed"}, "validator": {"plugin": {"env": []}}},
    )
    spec = clusterpolicy_manifest.build(given, default_spec.DEFAULT, None)["spec"]
    assert spec["driver"]["kernelModuleType"] == "open"
    assert spec["driver"]["usePrecompiled"] is True
    assert spec["driver"]["rdma"] == {"enabled": True}
    assert spec["driver"]["upgradePolicy"] == default_spec.DEFAULT["driver"]["upgradePolicy"] | {
        "maxUnavailable": 2
    }
    assert spec["operator"]["use_ocp_driver_toolkit"] is False
    assert (spec["hostPaths"], spec["validator"]["vfioPCI"]) == (
        {"rootFS": "/"},
        {"env": [{"name": "some_name"}]},
    )
    assert spec["dcgmExporter"]["enablePodUID"] is True
    assert spec["devicePlugin"]["config"] == {"name": "sharing", "default": ""}
    assert spec["dcgmExporter"]["serviceMonitor"] == {"enabled": False, "additionalLabels": {"a_b": "c_d"}}
    assert spec["mig"]["strategy"] == "mixed"
    assert spec["validator"]["plugin"]["env"] == []


def test_tolerations_are_a_union() -> None:
    live = {"spec": {"daemonsets": {"tolerations": [{"key": "theirs", "operator": "Exists"}]}}}
    given = params(
        tolerations=[{**TEAM, "tolerationSeconds": None}, GPU],
        spec={"daemonsets": {"tolerations": [{"key": "raw", "operator": "Exists"}]}},
    )
    wanted = clusterpolicy_manifest.build(given, default_spec.DEFAULT, live)["spec"]["daemonsets"][
        "tolerations"
    ]
    assert wanted == [
        {"key": "theirs", "operator": "Exists"},
        GPU,
        TEAM,
        {"key": "raw", "operator": "Exists"},
    ]


def test_taints_of_pools_are_tolerated() -> None:
    pools = [{"name": "a", "taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}, {"name": "b"}]
    assert clusterpolicy_manifest.wanted_tolerations(params(pools=pools, tolerations=[TEAM]), None) == [
        GPU,
        TEAM,
    ]


def test_a_second_run_builds_the_same() -> None:
    first = clusterpolicy_manifest.build(params(tolerations=[TEAM]), default_spec.DEFAULT, None)
    there = managed.live(first)
    assert clusterpolicy_manifest.build(params(tolerations=[TEAM]), default_spec.DEFAULT, there) == first


def test_a_foreign_policy_gets_only_what_was_asked_and_differs() -> None:
    live = {
        "spec": {
            "driver": {"enabled": True, "version": "x"},
            "mig": {"strategy": "single"},
            "daemonsets": {"tolerations": [GPU]},
        }
    }

    def patch(**given: t.Any) -> dict[str, t.Any]:
        return difference(clusterpolicy_manifest.wished(params(**given), live), live["spec"])

    assert patch(mig={"strategy": "single"}) == {}
    assert patch(mig={"strategy": "mixed"}, driver={"enabled": True}) == {"mig": {"strategy": "mixed"}}
    assert patch(tolerations=[TEAM]) == {"daemonsets": {"tolerations": [GPU, TEAM]}}
    assert patch(spec={"gds": {}, "gdrcopy": {"enabled": False}}) == {"gdrcopy": {"enabled": False}}


@pytest.mark.parametrize(
    "given",
    [{"version": "595.91.07"}, {"version": "595.91.07", "repository": "nvcr.io/nvidia"}, {"image": "driver"}],
)
def test_half_a_driver_image_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(InputError) as caught:
        clusterpolicy_manifest.check(params(driver=given))
    assert caught.value.code == "INPUT-IMAGE"
    assert "driver." in caught.value.message


@pytest.mark.parametrize(
    ("given", "code", "path"),
    [
        ({"toolkit": {"version": "v1.20.0"}}, "INPUT-IMAGE", "toolkit.repository and toolkit.image"),
        ({"registry": "https://mirror.example.com"}, "INPUT-VALUE", "registry"),
        (
            {"driver": {"upgrade_policy": {"max_unavailable": "many"}}},
            "INPUT-VALUE",
            "driver.upgrade_policy.max_unavailable",
        ),
        (
            {"driver": {"use_precompiled": True, "version": DIGEST, "repository": "r", "image": "i"}},
            "INPUT-VALUE",
            "driver.version",
        ),
        (
            {"driver": {"kernel_module_type": "proprietary"}, "gds": GDS},
            "INPUT-VALUE",
            "gds.version 2.20.5 works with open kernel modules only",
        ),
        ({"driver": NEWEST | {"version": "v595.91.07"}}, "INPUT-IMAGE", "driver.version"),
        ({"driver": NEWEST | {"repository": "https://nvcr.io"}}, "INPUT-IMAGE", "driver.repository"),
        ({"driver": NEWEST | {"image": "driver:595"}}, "INPUT-IMAGE", "driver.image"),
        ({"toolkit": NEWEST | {"version": "v 1"}}, "INPUT-IMAGE", "toolkit.version"),
        ({"spec": {"driver": NEWEST | {"version": "v595"}}}, "INPUT-IMAGE", "spec.driver.version"),
        ({"spec": {"driver": {"manager": {"image": "a:b"}}}}, "INPUT-IMAGE", "spec.driver.manager.image"),
        ({"gds": GDS, "pools": [{"name": "old", "gpu_models": ["V100"]}]}, "INPUT-VALUE", "(pool old: V100)"),
        (
            {"driver": NEWEST, "pools": [{"name": "old", "gpu_models": ["T4", "P100"]}]},
            "INPUT-VALUE",
            "580 is the last branch with a driver for P100 GPUs",
        ),
    ],
)
def test_values_are_checked_by_their_path(given: dict[str, t.Any], code: str, path: str) -> None:
    with pytest.raises(InputError) as caught:
        clusterpolicy_manifest.check(params(**given))
    assert (caught.value.code, path in caught.value.message) == (code, True)


@pytest.mark.parametrize(
    ("kind", "model", "fits"),
    [("open", "V100", False), ("proprietary", "B200", False), ("auto", "V100", True), ("open", "T4", True)],
)
def test_modules_have_to_fit_the_gpus(kind: str, model: str, fits: bool) -> None:
    given = params(
        driver={"kernel_module_type": kind},
        pools=[{"name": "a", "gpu_models": ["A10"]}, {"name": "b", "gpu_models": [model]}],
    )
    if fits:
        clusterpolicy_manifest.check(given)
        return
    with pytest.raises(InputError) as caught:
        clusterpolicy_manifest.check(given)
    assert "driver.kernel_module_type" in caught.value.message
    assert "pool b" in caught.value.message
    assert "nvidiadriver" in caught.value.remedy


def test_the_switch_back_is_asked_for_by_name() -> None:
    live = {"spec": {"driver": {"useNvidiaDriverCRD": True}}}
    built = clusterpolicy_manifest.build(params(), default_spec.DEFAULT, live)
    with pytest.raises(NotReadyError) as caught:
        clusterpolicy_manifest.refuse_switch(params(), live, built)
    assert caught.value.code == "GPU-NVD-MODE"
    clusterpolicy_manifest.refuse_switch(params(driver={"use_nvidia_driver_crd": False}), live, built)
    of_spec = {"driver": {"useNvidiaDriverCRD": False}}
    clusterpolicy_manifest.refuse_switch(params(spec=of_spec), live, built)
    clusterpolicy_manifest.refuse_switch(params(), None, built)


@pytest.mark.parametrize(
    ("given", "installed", "said"),
    [
        ({"kata_manager": {"enabled": True}}, (26, 7), ["ignores kata_manager"]),
        ({"kata_manager": {"enabled": True}}, (26, 3), []),
    ],
)
def test_what_the_operator_makes_of_it(
    given: dict[str, t.Any], installed: tuple[int, ...], said: list[str]
) -> None:
    found = clusterpolicy_manifest.remarks(
        params(**given), clusterpolicy_manifest.asked(params(**given)), installed
    )
    assert len(found) == len(said)
    assert all(part in remark for part, remark in zip(said, found, strict=True))


def test_a_driver_of_the_pools_own_is_checked_where_all_pools_share_one() -> None:
    of_pool = {"name": "old", "gpu_models": ["V100"], "driver": NEWEST}
    with pytest.raises(InputError, match="580 is the last branch"):
        clusterpolicy_manifest.check(params(backend="clusterpolicy", driver=NEWEST, pools=[of_pool]))


def test_a_whole_driver_image_is_taken() -> None:
    clusterpolicy_manifest.check(
        params(driver={"version": "595.91.07", "repository": "nvcr.io/nvidia", "image": "driver"})
    )


def test_a_second_policy_is_refused() -> None:
    with pytest.raises(NotReadyError) as caught:
        clusterpolicy_manifest.refuse_second([{"metadata": {"name": "older"}}], "gpu-cluster-policy")
    assert (caught.value.code, "Set name to older" in caught.value.remedy) == ("GPU-CP-IGNORED", True)
    clusterpolicy_manifest.refuse_second([], "gpu-cluster-policy")
    clusterpolicy_manifest.refuse_second([{"metadata": {"name": "gpu-cluster-policy"}}], "gpu-cluster-policy")


def test_a_policy_that_is_the_younger_of_two_is_refused_by_its_age_whatever_its_status() -> None:
    older = {"metadata": {"name": "z-older", "creationTimestamp": "2026-11-21T08:00:00Z"}}
    younger = {"metadata": {"name": "gpu-cluster-policy", "creationTimestamp": "2026-11-21T09:00:00Z"}}
    with pytest.raises(NotReadyError) as caught:
        clusterpolicy_manifest.refuse_second([younger, older], "gpu-cluster-policy")
    assert caught.value.code == "GPU-CP-IGNORED"
    assert "`oc delete clusterpolicy z-older gpu-cluster-policy`" in caught.value.remedy
    clusterpolicy_manifest.refuse_second([younger, older], "z-older")
