# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NicClusterPolicy: from options to manifest, what its status says in both forms, and the judgement of nodes."""

from __future__ import annotations

import copy
import json
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import (
    judge as nic_judge,
    manifest as nic_manifest,
    node as nic_node,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy.result import (
    summarize,
)

Data = dict[str, t.Any]

IMAGES = {
    "doca-driver": {"repository": "nvcr.io/nvidia/mellanox", "version": "doca3.5.0"},
    "k8s-rdma-shared-dev-plugin": {"repository": "nvcr.io/nvidia/mellanox", "version": "v26.7.0"},
}
RDMA: Data = {"resources": [{"name": "rdma_a", "hca_max": 63, "link_types": ["infiniband"]}]}
READY: list[Data] = [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-22T02:00:00Z"}]
POOL: Data = {"name": "ib", "node_selector": {"pool": "ib"}}


def params(**more: t.Any) -> Data:
    asked = {"ofed_driver": {}, "rdma_shared_device_plugin": RDMA}
    return {
        "name": nic_manifest.NAME,
        "state": "present",
        "spec": {},
        "tolerations": [],
        "nic_cluster_policy": asked,
        "pools": [POOL],
        "grace": 0,
        **more,
    }


def node(**labels: str) -> Data:
    marks = {"pool": "ib", nic_node.PRESENT: "true", nic_node.WAITS: "false", **labels}
    return {
        "metadata": {"name": "n1", "labels": marks},
        "spec": {},
        "status": {"conditions": READY, "allocatable": {"rdma/rdma_a": "63"}},
    }


def daemonset(name: str, selector: Data, **labels: str) -> Data:
    owner = {"kind": "NicClusterPolicy", "name": nic_manifest.NAME, "uid": "p"}
    metadata = {
        "name": name,
        "uid": name,
        "namespace": "nvidia-network-operator",
        "labels": labels,
        "ownerReferences": [owner],
        "generation": 1,
    }
    return {
        "metadata": metadata,
        "spec": {"template": {"spec": {"nodeSelector": selector}}},
        "status": {"observedGeneration": 1},
    }


def pod(of: str, is_ready: bool = True, **status: t.Any) -> Data:
    metadata = {
        "name": f"{of}-x",
        "namespace": "nvidia-network-operator",
        "labels": {},
        "ownerReferences": [{"kind": "DaemonSet", "name": of, "uid": of}],
    }
    return {
        "metadata": metadata,
        "spec": {"nodeName": "n1"},
        "status": {"conditions": [{"type": "Ready", "status": str(is_ready)}], **status},
    }


def policy(state: str = "ready", **status: t.Any) -> Data:
    spec = nic_manifest.wished(params(), IMAGES)
    return {
        "metadata": {"name": nic_manifest.NAME, "uid": "p", "generation": 2},
        "spec": spec,
        "status": {"state": state, **status},
    }


def world(**more: t.Any) -> dict[str, list[Data]]:
    driver = daemonset("mofed", {nic_node.PRESENT: "true"}, **{nic_node.DRIVER: ""})
    plugin = daemonset("rdma-shared-dp-ds", {nic_node.PRESENT: "true", nic_node.WAITS: "false"})
    found = {
        "policies": [policy()],
        "nodes": [node()],
        "daemonsets": [driver, plugin],
        "pods": [pod("mofed"), pod("rdma-shared-dp-ds")],
        "revisions": [],
    }
    return found | more


def verdict(snapshot: dict[str, list[Data]], **more: t.Any) -> t.Any:
    return nic_judge.judging(params(**more), lambda: 0.0)(snapshot)


def test_images_are_written_out() -> None:
    spec = nic_manifest.wished(params(), IMAGES)
    assert spec["ofedDriver"] == {
        "image": "doca-driver",
        "repository": "nvcr.io/nvidia/mellanox",
        "version": "doca3.5.0",
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
        "upgradePolicy": {"autoUpgrade": True},
    }
    (entry,) = json.loads(spec["sriovDevicePlugin"]["config"])["resourceList"]
    assert entry["selectors"] == {
        "vendors": ["15b3"],
        "deviceIDs": ["101e"],
        "pfNames": ["ens2f0"],
        "isRdma": True,
    }


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
            "rdma_shared_device_plugin.resources is empty",
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
        ("nvcr.io/nvidia/mellanox/doca-driver:1", {"repository": "nvcr.io/nvidia/mellanox", "version": "1"}),
        (
            "r.example.com:5000/x/doca-driver@sha256:ab",
            {"repository": "r.example.com:5000/x", "version": "sha256:ab"},
        ),
    ],
)
def test_images_of_the_installed_operator(image: str, expected: Data) -> None:
    assert nic_manifest.images_of([{"spec": {"relatedImages": [{"name": "any", "image": image}]}}]) == {
        "doca-driver": expected
    }


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
        ("ignore", {"reason": "Unsupported"}, ("failed", "NIC-IGNORED")),
        ("", {}, ("pending", "NIC-STATE")),
    ],
)
def test_what_the_policy_says_of_itself(state: str, status: Data, expected: tuple[str, str]) -> None:
    found = nic_manifest.judge(policy(state, **status))
    assert (found.verdict, found.code) == expected


def test_all_is_well() -> None:
    assert verdict(world()).is_ready


def crashing() -> Data:
    waiting = {"reason": "CrashLoopBackOff", "message": "back-off"}
    return pod(
        "mofed",
        False,
        containerStatuses=[{"name": "mofed-container", "restartCount": 4, "state": {"waiting": waiting}}],
    )


def offering(number: int) -> Data:
    made = copy.deepcopy(node())
    made["status"]["allocatable"]["rdma/rdma_a"] = str(number)
    return made


def unlabelled() -> Data:
    made = node()
    del made["metadata"]["labels"][nic_node.PRESENT]
    return made


def tainted() -> Data:
    return node() | {"spec": {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}}


# The policy says ready in each of them.
@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"nodes": [unlabelled()]}, "NIC-LABEL", "pci-15b3.present is missing"),
        ({"daemonsets": []}, "NIC-DRV", "no NIC driver's DaemonSet is made for its kernel"),
        ({"pods": [pod("mofed", False)]}, "NIC-DRV", "the NIC driver is not Ready"),
        ({"pods": [crashing(), pod("rdma-shared-dp-ds")]}, "NIC-DRV-CRASH", "CrashLoopBackOff"),
        ({"nodes": [node(**{nic_node.UPGRADE: "cordon-required"})]}, "NIC-UPG", "cordon-required"),
        ({"pods": [pod("mofed")]}, "NIC-OPERAND", "rdma-shared-dp-ds has no pod"),
        ({"nodes": [offering(0)]}, "NIC-ALLOC", "offers 0 of at least 1 rdma/rdma_a"),
        ({"nodes": [tainted()]}, "NIC-TAINT", "dedicated:NoSchedule"),
        ({"nodes": []}, "GPU-NODES", "0 of 1"),
        ({"policies": []}, "NIC-STATE", "not there yet"),
    ],
)
def test_a_ready_policy_proves_nothing(changes: dict[str, list[Data]], code: str, said: str) -> None:
    found = verdict(world(**changes), grace=60)
    assert (found.verdict, found.code) == ("pending", code)
    assert said in found.message


def test_a_pools_expectation_is_exact() -> None:
    assert verdict(world(), pools=[POOL | {"expected": {"rdma/rdma_a": 63, "nvidia.com/gpu": 8}}]).is_ready
    assert "63 of 64" in verdict(world(), pools=[POOL | {"expected": {"rdma/rdma_a": 64}}]).message


def test_a_gpu_driver_that_is_older_than_the_nic_driver() -> None:
    new, old = pod("mofed"), pod("gpu")
    new["metadata"] |= {"labels": {nic_node.DRIVER: ""}, "creationTimestamp": "2026-11-21T10:00:00Z"}
    old["metadata"]["creationTimestamp"] = "2026-11-21T09:00:00Z"
    assert nic_judge.outlived({"n1", "n2"}, [new], [old]) == ["n1"]
    old["metadata"]["creationTimestamp"] = "2026-11-21T11:00:00Z"
    assert nic_judge.outlived({"n1"}, [new], [old]) == []


def stages(snapshot: dict[str, list[Data]], *pools: Data, **more: t.Any) -> dict[str, tuple[str, str]]:
    """Stage -> verdict, and what it waits for, as a judge without patience leaves them."""
    found = told(snapshot, *pools, **more)["stages"]
    return {
        one["name"]: (one["verdict"], one["consequence_of"]) for one in found if one["verdict"] != "ready"
    }


def told(snapshot: dict[str, list[Data]], *pools: Data, **more: t.Any) -> Data:
    asked = params(pools=list(pools) or [POOL], **more)
    judge = nic_judge.judging(asked, lambda: 0.0)
    judge(snapshot)
    return summarize(snapshot, asked["pools"], nic_manifest.offered(asked), judge.findings)


def test_every_stage_is_told() -> None:
    found = told(world(pods=[pod("mofed", conditions=READY), pod("rdma-shared-dp-ds", conditions=READY)]))
    names = [
        "catalogue",
        "install plan",
        "csv",
        "crd",
        "nfd labels",
        "driver",
        "device plugin",
        "secondary",
        "allocatable",
    ]
    assert [(one["name"], one["verdict"]) for one in found["stages"]] == [(name, "ready") for name in names]
    assert found["lines"] == [f"ready: {', '.join(names)}"]
    by_name = {one["name"]: one for one in found["stages"]}
    assert by_name["driver"]["since"] == "2026-11-22T02:00:00Z"
    assert by_name["secondary"]["evidence"] == ["nothing of it is asked for"]
    assert by_name["csv"]["evidence"] == ["not looked at, since what it brings is there"]


NEWER: Data = {
    "metadata": {
        "labels": {"controller-revision-hash": "b"},
        "ownerReferences": [{"kind": "DaemonSet", "uid": "mofed"}],
    },
    "revision": 2,
}
BEHIND: Data = {"device plugin": ("waiting", "driver"), "allocatable": ("waiting", "driver")}


# Each of them with a policy that says ready.
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"pods": [crashing()], "nodes": [offering(0)]}, {"driver": ("failed", ""), **BEHIND}),
        ({"pods": [], "nodes": [offering(0)]}, {"driver": ("pending", ""), **BEHIND}),
        (
            {"nodes": [unlabelled()], "pods": []},
            {
                "nfd labels": ("failed", ""),
                "driver": ("waiting", "nfd labels"),
                "device plugin": ("waiting", "nfd labels"),
            },
        ),
        (
            {"pods": [pod("mofed")], "nodes": [offering(0)]},
            {"device plugin": ("pending", ""), "allocatable": ("waiting", "device plugin")},
        ),
        ({"nodes": [offering(0)]}, {"allocatable": ("failed", "")}),
        ({"nodes": [tainted()]}, {"driver": ("pending", "")}),
        ({"nodes": [node(**{nic_node.UPGRADE: "upgrade-failed"})]}, {"driver": ("failed", "")}),
        (
            {"nodes": [node(**{nic_node.UPGRADE: "pod-restart-required"})], "revisions": [NEWER]},
            {"driver": ("pending", "")},
        ),
        ({"revisions": [NEWER]}, {"driver": ("failed", "")}),
        (
            {"nodes": [node(**{nic_node.WAITS: "true"})]},
            {"driver": ("pending", ""), "device plugin": ("waiting", "driver")},
        ),
        (
            {"nodes": []},
            {
                "nfd labels": ("pending", ""),
                "driver": ("waiting", "nfd labels"),
                "device plugin": ("waiting", "nfd labels"),
                "secondary": ("waiting", "nfd labels"),
                "allocatable": ("waiting", "nfd labels"),
            },
        ),
        (
            {"policies": []},
            {
                "crd": ("pending", ""),
                "driver": ("waiting", "crd"),
                "device plugin": ("waiting", "crd"),
                "secondary": ("waiting", "crd"),
                "allocatable": ("waiting", "crd"),
            },
        ),
    ],
)
def test_the_cause_and_what_only_waits_for_it(changes: dict[str, list[Data]], expected: Data) -> None:
    assert stages(world(**changes)) == expected


def test_the_operators_own_error_is_a_cause() -> None:
    applied = [{"name": "state-OFED", "state": "error", "message": "no matches for kind"}]
    assert stages(world(policies=[policy("error", appliedStates=applied)]))["crd"] == ("failed", "")


def test_a_policy_that_alone_is_not_ready_is_the_trouble() -> None:
    assert stages(world(policies=[policy("notReady")])) == {"crd": ("pending", "")}


def elsewhere() -> dict[str, list[Data]]:
    """The driver of a node of nobody is not Ready."""
    other, late = node(pool="theirs"), pod("mofed", False)
    other["metadata"]["name"] = late["spec"]["nodeName"] = "n2"
    late["metadata"]["name"] += "-n2"
    found = world(policies=[policy("notReady", appliedStates=[{"name": "state-OFED", "state": "notReady"}])])
    return found | {"nodes": [*found["nodes"], other], "pods": [*found["pods"], late]}


def test_nodes_of_nobody_hold_nothing_up() -> None:
    judge = nic_judge.judging(params(), lambda: 0.0)
    assert judge(elsewhere()).is_ready
    assert "outside the pools alone: n2 (mofed is not Ready)" in judge.findings[-1].message
    found = told(elsewhere())
    assert [(one["name"], one["ready"]) for one in found["pools"]] == [("ib", True)]
    assert found["others"] == [{"name": "n2", "operands": [{"name": "mofed", "note": "is not Ready"}]}]


def test_pools_are_judged_each_by_itself() -> None:
    found = told(elsewhere(), POOL, {"name": "theirs", "node_selector": {"pool": "theirs"}})
    assert [(one["name"], one["ready"], one["code"]) for one in found["pools"]] == [
        ("ib", True, ""),
        ("theirs", False, "NIC-DRV"),
    ]


def test_ready_before_the_new_version_reached_its_daemonset() -> None:
    """The operator compares no generations."""
    old = world()
    old["daemonsets"][0]["spec"]["template"]["spec"]["containers"] = [
        {"name": "mofed-container", "image": "nvcr.io/nvidia/mellanox/doca-driver:doca3.4.0"}
    ]
    assert "version doca3.5.0" in verdict(old).message
    assert stages(old) == {"crd": ("pending", "")}
