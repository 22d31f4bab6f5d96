# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NicClusterPolicy: from options to a manifest, and what its status says."""

from __future__ import annotations

import json
import typing as t

import pytest
from unit import managed
from unit.stack.nicclusterpolicy.builders import IMAGES, RDMA, Data, params, policy

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import (
    manifest as nic_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackParams

NO_TAG: t.Final = (
    "ForcePrecompiled is enabled and precompiled tag was not found: doca3.5.0-5.14.0-rhcos4.20-amd64"
)
OFED_ERROR: t.Final[Data] = {
    "type": "OFEDDriverReady",
    "status": "False",
    "reason": "ComponentError",
    "message": NO_TAG,
    "observedGeneration": 2,
}
LATE: t.Final[Data] = {
    "type": "RDMASharedDevicePluginReady",
    "status": "False",
    "reason": "ComponentNotReady",
    "message": "",
    "observedGeneration": 2,
}
AGGREGATE: t.Final[Data] = {
    "type": "Ready",
    "status": "False",
    "reason": "ComponentError",
    "message": "One or more components are in error state",
    "observedGeneration": 2,
}


def test_images_are_written_out() -> None:
    spec = nic_manifest.wished(params(), IMAGES)
    assert spec["ofedDriver"] == {
        "image": "doca-driver",
        "repository": "nvcr.io/nvidia/mellanox",
        "version": "doca3.5.0",
        "upgradePolicy": {"drain": {"force": False, "deleteEmptyDir": False}},
    }
    config = json.loads(spec["rdmaSharedDevicePlugin"]["config"])
    assert config == {
        "configList": [
            {
                "resourceName": "rdma_a",
                "rdmaHcaMax": 63,
                "selectors": {"vendors": ["15b3"], "linkTypes": ["infiniband"]},
            }
        ]
    }


def test_a_live_image_stays_until_an_option_names_another_one() -> None:
    """The images of a newer operator would replace the NIC driver of all nodes unasked."""
    first = nic_manifest.build(params(), IMAGES, None)
    newer = {name: {**one, "version": "newer"} for name, one in IMAGES.items()}
    again = nic_manifest.build(params(), newer, managed.live(first))
    assert again == first
    asked = params(nic_cluster_policy={"ofed_driver": {"version": "doca3.6.0"}})
    assert nic_manifest.build(asked, newer, managed.live(first))["spec"]["ofedDriver"] == {
        **first["spec"]["ofedDriver"],
        "version": "doca3.6.0",
    }
    without = {key: one for key, one in first["spec"].items() if key != "ofedDriver"}
    added = nic_manifest.build(params(), newer, managed.live({**first, "spec": without}))["spec"]
    assert added["ofedDriver"]["version"] == "newer", "a new component gets the image of the operator"
    theirs = nic_manifest.build(params(), newer, {"metadata": {"name": "theirs"}, "spec": first["spec"]})
    assert theirs["spec"]["ofedDriver"]["version"] == "newer", "what adopt: take would write"


def test_options_reach_their_fields() -> None:
    driver = {
        "repository": "mirror.example.com/nvidia",
        "version": "1",
        "force_precompiled": True,
        "cert_config": "ca",
        "upgrade_policy": {"autoUpgrade": True},
    }
    sriov = {
        "image": "plugin",
        "repository": "r",
        "version": "v",
        "resources": [{"name": "vf", "pf_names": ["ens2f0"], "is_rdma": True, "device_ids": ["101e"]}],
    }
    spec = nic_manifest.wished(
        params(nic_cluster_policy={"ofed_driver": driver, "sriov_device_plugin": sriov}), IMAGES
    )
    assert spec["ofedDriver"] == {
        "image": "doca-driver",
        "repository": "mirror.example.com/nvidia",
        "version": "1",
        "forcePrecompiled": True,
        "certConfig": {"name": "ca"},
        "upgradePolicy": {"autoUpgrade": True, "drain": {"force": False, "deleteEmptyDir": False}},
    }
    (entry,) = json.loads(spec["sriovDevicePlugin"]["config"])["resourceList"]
    assert entry["selectors"] == {
        "vendors": ["15b3"],
        "deviceIDs": ["101e"],
        "pfNames": ["ens2f0"],
        "isRdma": True,
    }


def test_the_drain_ends_more_only_if_the_user_says_so() -> None:
    def drain(asked: StackParams) -> Data:
        return dict(nic_manifest.wished(asked, IMAGES)["ofedDriver"]["upgradePolicy"]["drain"])

    by_option = {"upgrade_policy": {"drain": {"force": True, "timeoutSeconds": 60}}}
    assert drain(params(nic_cluster_policy={"ofed_driver": by_option})) == {
        "force": True,
        "deleteEmptyDir": False,
        "timeoutSeconds": 60,
    }
    raw = {"ofedDriver": {"upgradePolicy": {"drain": {"deleteEmptyDir": True}}}}
    assert drain(params(spec=raw)) == {"force": False, "deleteEmptyDir": True}


@pytest.mark.parametrize("where", ["nic_cluster_policy", "spec"])
def test_a_global_version_serves_all_components_but_the_driver(where: str) -> None:
    components: Data = {"ofed_driver": {}, "rdma_shared_device_plugin": RDMA}
    shared = {"repository": "mirror.example.com/nvidia", "version": "network-operator-v26.7.0"}
    asked = (
        params(nic_cluster_policy={"global": shared, **components})
        if where == "nic_cluster_policy"
        else params(nic_cluster_policy=components, spec={"global": shared})
    )
    spec = nic_manifest.wished(asked, IMAGES)
    assert spec["global"] == shared
    plugin, driver = spec["rdmaSharedDevicePlugin"], spec["ofedDriver"]
    assert {key: plugin.get(key) for key in ("image", "repository", "version")} == {
        "image": "k8s-rdma-shared-dev-plugin",
        "repository": None,
        "version": None,
    }
    assert ("repository" in driver, driver["version"]) == (False, "doca3.5.0")
    with pytest.raises(InputError) as caught:
        nic_manifest.wished(asked, {})
    assert caught.value.message == (
        "nic_cluster_policy.ofed_driver.version must be given: global.version is no tag of the image "
        "doca-driver."
    )


def test_a_global_repository_leaves_the_versions_to_the_components() -> None:
    asked = params(nic_cluster_policy={"global": {"repository": "m/n"}, "nv_ipam": {"version": "v1"}})
    spec = nic_manifest.wished(asked, {})
    assert spec["nvIpam"] == {"image": "nvidia-k8s-ipam", "version": "v1"}
    with pytest.raises(InputError, match=r"nv_ipam\.version must be given"):
        nic_manifest.wished(params(nic_cluster_policy={"global": {"repository": "m/n"}, "nv_ipam": {}}), {})


def test_a_section_is_in_one_policy_or_in_others() -> None:
    """The operator serves neither of the two."""
    theirs = {"metadata": {"name": "training"}, "spec": {"ofedDriver": {"image": "doca-driver"}}}
    wanted = nic_manifest.build(params(), IMAGES, None)
    with pytest.raises(AcceleratorError) as caught:
        nic_manifest.refuse_twice(wanted, [theirs], {})
    assert caught.value.code == "NIC-TWICE"
    assert caught.value.message.startswith(
        "nic_cluster_policy.ofed_driver: NicNodePolicy training has ofedDriver"
    )
    assert "pods with its devices end" in caught.value.remedy
    with pytest.raises(AcceleratorError, match=r"spec\.ofedDriver: NicNodePolicy training"):
        nic_manifest.refuse_twice(wanted, [theirs], {"ofedDriver": {}})
    other = {"metadata": {"name": "training"}, "spec": {"sriovDevicePlugin": {"image": "x"}}}
    nic_manifest.refuse_twice(wanted, [other], {})


def test_the_raw_spec_has_the_last_word_and_tolerations_are_joined() -> None:
    mine, theirs = {"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}
    built = nic_manifest.build(
        params(spec={"ofedDriver": {"version": "raw"}}, tolerations=[mine]),
        IMAGES,
        {"spec": {"tolerations": [theirs]}},
    )
    assert built["spec"]["ofedDriver"]["version"] == "raw"
    assert built["spec"]["tolerations"] == [theirs, mine]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "mine"}, "name is 'mine'"),
        ({"nic_cluster_policy": {}}, "no component"),
        (
            {"nic_cluster_policy": {"rdma_shared_device_plugin": {}}},
            "rdma_shared_device_plugin.resources is missing",
        ),
        (
            {"nic_cluster_policy": {"sriov_device_plugin": {"resources": [{"name": "a-b"}]}}},
            "sriov_device_plugin.resources[0].name",
        ),
    ],
)
def test_bad_input_names_its_option(changes: Data, said: str) -> None:
    with pytest.raises(InputError) as caught:
        nic_manifest.check(params(**changes))
    assert said in caught.value.message


def test_an_image_from_nowhere_names_what_to_give() -> None:
    with pytest.raises(InputError) as caught:
        nic_manifest.wished(params(), {})
    assert caught.value.message.startswith(
        "nic_cluster_policy.ofed_driver.repository and nic_cluster_policy.ofed_driver.version must be given"
    )


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("nvcr.io/nvidia/mellanox/nvidia-k8s-ipam:1", ("nvcr.io/nvidia/mellanox", "1")),
        ("r.example.com:5000/x/nvidia-k8s-ipam@sha256:ab", ("r.example.com:5000/x", "sha256:ab")),
    ],
)
def test_images_of_the_installed_operator(image: str, expected: tuple[str, str]) -> None:
    assert nic_manifest.images_of([csv(image)]) == {
        "nvidia-k8s-ipam": dict(zip(("repository", "version"), expected, strict=True))
    }


def csv(*images: str, **driver: str) -> Data:
    sample = {"kind": "NicClusterPolicy", "spec": {"ofedDriver": driver}}
    return {
        "metadata": {"annotations": {"alm-examples": json.dumps([sample])}},
        "spec": {"relatedImages": [{"name": f"i-{at}", "image": image} for at, image in enumerate(images)]},
    }


def test_the_driver_gets_the_tag_of_the_example_and_never_a_digest() -> None:
    """A digest is a driver for one kernel, and the operator builds none then."""
    place = "nvcr.io/nvidia/mellanox"
    digests = [f"{place}/doca-driver@sha256:{number}" for number in (1, 2)]
    tag = {"repository": place, "version": "doca3.5.0-26.07-0.7.7.0-0"}
    found = nic_manifest.images_of([csv(*digests, image="doca-driver", **tag)])
    assert found == {"doca-driver": tag}
    asked = params(nic_cluster_policy={"ofed_driver": {}})
    assert nic_manifest.build(asked, found, None)["spec"]["ofedDriver"]["version"] == tag["version"]
    with pytest.raises(InputError, match=r"ofed_driver\.version must be given") as caught:
        nic_manifest.build(asked, nic_manifest.images_of([csv(*digests)]), None)
    assert caught.value.code == "INPUT-IMAGE"


@pytest.mark.parametrize(
    ("state", "status", "expected"),
    [
        ("ready", {}, ("ready", "")),
        ("ready", {"conditions": [{"type": "Ready", "status": "True"}]}, ("ready", "")),
        ("ready", {"conditions": [{"type": "Ready", "status": "False"}]}, ("pending", "NIC-STATE")),
        (
            "ready",
            {"conditions": [{"type": "Ready", "status": "True", "observedGeneration": 2}]},
            ("ready", ""),
        ),
        (
            "ready",
            {"conditions": [{"type": "Ready", "status": "True", "observedGeneration": 1}]},
            ("pending", "NIC-STATE"),
        ),
        (
            "notReady",
            {"appliedStates": [{"name": "state-OFED", "state": "notReady"}]},
            ("pending", "NIC-STATE"),
        ),
        (
            "error",
            {"appliedStates": [{"name": "state-OFED", "state": "error", "message": "no matches for kind"}]},
            ("failed", "NIC-STATE"),
        ),
        (
            "error",
            {"conditions": [{"type": "Ready", "status": "False", "observedGeneration": 1}]},
            ("pending", "NIC-STATE"),
        ),
        ("ready", {"conditions": [OFED_ERROR]}, ("failed", "NIC-STATE")),
        ("notReady", {"conditions": [LATE, OFED_ERROR, AGGREGATE]}, ("failed", "NIC-STATE")),
        ("notReady", {"conditions": [LATE, AGGREGATE]}, ("pending", "NIC-STATE")),
        ("ignore", {"reason": "Unsupported"}, ("failed", "NIC-IGNORED")),
        ("", {}, ("pending", "NIC-STATE")),
    ],
)
def test_what_the_policy_says_of_itself(state: str, status: Data, expected: tuple[str, str]) -> None:
    found = nic_manifest.judge(policy(state, **status))
    assert (found.verdict, found.code) == expected


def test_the_condition_of_a_component_says_more_than_appliedstates() -> None:
    applied = [
        {"name": "state-RDMA-device-plugin", "state": "notReady"},
        {"name": "state-OFED", "state": "error"},
    ]
    told = [LATE, OFED_ERROR, AGGREGATE]
    found = nic_manifest.judge(policy("error", conditions=told, appliedStates=applied))
    assert found.message == (
        f"NicClusterPolicy nic-cluster-policy is not ready: state error: OFEDDriver is error: {NO_TAG}; "
        "RDMASharedDevicePlugin is notReady."
    )
    assert "oc describe NicClusterPolicy nic-cluster-policy" in found.remedy
    older = nic_manifest.judge(policy("error", appliedStates=applied))
    assert "OFED is error; RDMA-device-plugin is notReady" in older.message


def test_a_component_without_an_image_names_what_to_set() -> None:
    lacking = {**OFED_ERROR, "message": "version is required"}
    found = nic_manifest.judge(policy("error", conditions=[lacking]))
    assert "ofed_driver needs a version of its own" in found.remedy


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ({"ofedDriver": {"repository": "https://nvcr.io"}}, "spec.ofedDriver.repository"),
        ({"secondaryNetwork": {"multus": {"image": "multus:4"}}}, "spec.secondaryNetwork.multus.image"),
        ({"ofedDriver": {"version": "doca 3"}}, "spec.ofedDriver.version"),
    ],
)
def test_a_raw_reference_that_no_registry_can_have_is_refused(part: Data, path: str) -> None:
    with pytest.raises(InputError, match=path) as caught:
        nic_manifest.check(params(spec=part))
    assert caught.value.code == "INPUT-IMAGE"
