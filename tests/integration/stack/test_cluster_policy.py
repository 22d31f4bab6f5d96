# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource, backend clusterpolicy: findings before the first write, other owners, a mirror."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.wire import Audit

Data = dict[str, t.Any]
SCENARIO: t.Final = "gpu-nodes"
OPERATORS: t.Final = {"nfd": "openshift-nfd", "gpu-operator-certified": "nvidia-gpu-operator"}

POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")
NAME: t.Final = "gpu-cluster-policy"
POOL: t.Final = "accelerators.openshift/pool"
REQUIRED: t.Final = (
    "operator",
    "daemonsets",
    "driver",
    "toolkit",
    "devicePlugin",
    "dcgmExporter",
    "dcgm",
    "nodeStatusExporter",
    "gfd",
)
TAINT: t.Final[Data] = {"key": "dedicated", "value": "training", "effect": "NoSchedule"}
TOLERATION: t.Final[Data] = {
    "key": "dedicated",
    "operator": "Equal",
    "value": "training",
    "effect": "NoSchedule",
}
POOLS: t.Final[list[Data]] = [
    {
        "name": "inference",
        "node_selector": {POOL: "inference"},
        "expected": {"nvidia.com/gpu": 1},
        "min_nodes": 2,
    },
    {
        "name": "training",
        "node_selector": {POOL: "training"},
        "expected": {"nvidia.com/gpu": 8},
        "min_nodes": 1,
    },
]
WANTED: t.Final[Data] = {"pools": POOLS, "tolerations": [TOLERATION], "grace": 10, "wait_timeout": 180}


@pytest.fixture(scope="module", autouse=True)
def tainted(cluster: Cluster) -> None:
    """Taint a node of one pool; operands tolerate this taint only with an explicit toleration."""
    cluster.client.patch("v1", "nodes", "a100-0", None, {"spec": {"taints": [TAINT]}})


def test_a_secret_that_is_not_there_is_told_before_the_first_write(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    made = playbook.module(
        "special_resource", **WANTED, driver={"licensing_config": {"secret_name": "licence"}}
    )
    assert (made["code"], audit.writes(made)) == ("GPU-CP-REFERENCE", []), made.result
    assert "spec.driver.licensingConfig.secretName" in made["message"]
    assert "driver.licensing_config.secret_name" in made["remedy"]
    raw = {"driver": {"kernelModuleConfig": {"name": "nowhere"}}}
    by_spec = playbook.module("special_resource", **WANTED, spec=raw)
    assert (by_spec["code"], audit.writes(by_spec)) == ("GPU-CP-REFERENCE", []), by_spec.result
    assert "ConfigMap nowhere" in by_spec["message"]
    assert cluster.client.list(*POLICIES) == []


def create_theirs(cluster: Cluster) -> None:
    """Create a policy of Argo CD whose operands do not tolerate the taint of one pool."""
    tracked = {"argocd.argoproj.io/tracking-id": f"gpu:nvidia.com/ClusterPolicy:/{NAME}"}
    spec: Data = {key: {} for key in REQUIRED} | {
        "mig": {"strategy": "single"},
        "driver": {"upgradePolicy": {"autoUpgrade": True}},
    }
    cluster.client.create(
        {
            "apiVersion": POLICIES[0],
            "kind": "ClusterPolicy",
            "metadata": {"name": NAME, "annotations": tracked},
            "spec": spec,
        }
    )


def test_somebody_elses_policy_is_reported_and_taken_only_when_asked(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    create_theirs(cluster)
    try:
        made = playbook.module("special_resource", **WANTED, mig={"strategy": "single"})
        assert (made["code"], audit.writes(made)) == ("GPU-TAINT", []), made.result
        assert made["remedy"].startswith(
            "Set gpu_operator_adopt: take (module option adopt) to let this task change "
            "spec.daemonsets.tolerations of ClusterPolicy"
        )
        assert "Argo CD (gpu)" in made["remedy"]
        healthy = playbook.module(
            "special_resource", **WANTED | {"pools": POOLS[:1], "tolerations": []}, mig={"strategy": "mixed"}
        )
        assert (healthy.failed, healthy.changed, audit.writes(healthy)) == (False, False, []), healthy.result
        found = healthy["special_resource"]
        assert found["manager"] == "Argo CD (gpu)"
        assert {"field": "spec.mig.strategy", "live": "single", "wanted": "mixed"} in found["differs"]
        taken = playbook.module("special_resource", **WANTED, adopt="take")
        assert (taken.failed, taken.changed) == (False, True), taken.result
        assert audit.writes(taken) == [f"patch clusterpolicies.nvidia.com /{NAME}"]
        live = cluster.client.get(*POLICIES, NAME)
        assert live is not None
        assert TOLERATION in live["spec"]["daemonsets"]["tolerations"]
        assert "app.kubernetes.io/managed-by" not in (live["metadata"].get("labels") or {})
        gone = playbook.module("special_resource", state="absent")
        assert (gone.failed, gone.changed, audit.writes(gone)) == (False, False, []), gone.result
    finally:
        cluster.client.delete(*POLICIES, NAME)


def test_images_come_from_the_mirror_alike(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    made = playbook.module("special_resource", **WANTED, registry="mirror.example.com:5000/gpu")
    assert not made.failed, made.result
    live = cluster.client.get(*POLICIES, NAME)
    assert live is not None
    assert live["spec"]["driver"]["repository"] == "mirror.example.com:5000/gpu/nvidia"
    assert live["spec"]["driver"]["version"].startswith("sha256:")
    assert (
        live["spec"]["dcgm"]
        | {"repository": "mirror.example.com:5000/gpu/nvidia/cloud-native", "image": "dcgm"}
        == live["spec"]["dcgm"]
    )
    again = playbook.module("special_resource", **WANTED, registry="mirror.example.com:5000/gpu")
    assert (again.failed, again.changed, audit.writes(again)) == (False, False, []), again.result
    assert not playbook.module("special_resource", state="absent").failed


def test_a_gpu_cluster_is_told_before_the_first_write(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    other = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "GPUCluster",
        "metadata": {"name": "gpu-cluster"},
        "spec": {"draDriver": {}},
    }
    cluster.client.create(other)
    try:
        made = playbook.module("special_resource", **WANTED)
        assert (made["code"], audit.writes(made)) == ("GPU-CP-CONFLICT", []), made.result
        assert "GPUCluster gpu-cluster" in made["message"]
        assert "beside it stops both" in made["message"]
    finally:
        cluster.client.delete("nvidia.com/v1alpha1", "gpuclusters", "gpu-cluster")
