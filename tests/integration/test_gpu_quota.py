# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpu_quota: the API server's refusal, keys that never count, the pods that hold the GPUs, missing rights."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.wire import Audit

GPU = "requests.nvidia.com/gpu"


@pytest.fixture(scope="module", autouse=True)
def _quotas(cluster: Cluster) -> t.Iterator[None]:
    """Delete the quotas of this file's namespaces, also those of others."""
    yield
    for one in cluster.client.list("v1", "resourcequotas"):
        name, namespace = one["metadata"]["name"], one["metadata"]["namespace"]
        if namespace.startswith("it-"):
            cluster.client.delete("v1", "resourcequotas", name, namespace)


def pod(name: str, gpus: int) -> dict[str, t.Any]:
    amounts = {"nvidia.com/gpu": str(gpus)}
    container = {
        "name": "c",
        "image": "example.com/none",
        "resources": {"requests": amounts, "limits": amounts},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "it-held"},
        "spec": {"containers": [container]},
    }


def test_the_refusal_is_the_servers_own(playbook: Playbook, audit: Audit) -> None:
    options: dict[str, t.Any] = {
        "namespace": "it-proof",
        "gpus": 1,
        "create_namespaces": True,
        "prove": True,
    }
    task = playbook.module("gpu_quota", **options)
    assert not task.failed, task.result
    expected = f"exceeded quota: gpu-quota, requested: {GPU}=2, used: {GPU}=0, limited: {GPU}=1"
    assert task["quota"]["proof"].endswith(f"is forbidden: {expected}")
    again = playbook.module("gpu_quota", **options)
    assert again["quota"]["proof"].endswith(expected)
    assert audit.writes(again) == []


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"hard": {"nvidia.com/gpu": 1}}, "QUOTA-KEY", "hard[nvidia.com/gpu]"),
        ({"gpus": 1, "hard": {GPU: 1}}, "INPUT-OPTION", "mutually exclusive"),
        ({"gpus": 1, "namespace": "kube-system"}, "QUOTA-NAMESPACE", "belongs to the platform"),
    ],
)
def test_bad_input_sends_no_request(
    options: dict[str, t.Any], code: str, words: str, playbook: Playbook, audit: Audit
) -> None:
    task = playbook.module("gpu_quota", **{"namespace": "it-input", **options})
    assert task.failed
    assert (task["code"], task["layer"]) == (code, "input")
    assert words in task["msg"]
    assert audit.of(task) == []


def test_a_missing_namespace_is_not_made_by_accident(playbook: Playbook) -> None:
    task = playbook.module("gpu_quota", namespace="it-typo", gpus=1)
    assert task["code"] == "QUOTA-NO-NAMESPACE"
    assert "create_namespaces: true" in task["remedy"]


def test_who_holds_what_and_two_quotas(cluster: Cluster, playbook: Playbook) -> None:
    common: dict[str, t.Any] = {"namespace": "it-held", "create_namespaces": True}
    assert playbook.module("gpu_quota", **common, gpus=4).changed
    cluster.client.create(pod("trainer", 3))
    held = playbook.module("gpu_quota", **common, gpus=4, prove=True)
    assert held["quota"]["resources"] == {GPU: {"hard": "4", "used": "3"}}
    assert held["quota"]["holders"] == [
        {"pod": "trainer", "owner": {"kind": "Pod", "name": "trainer"}, "requests": {"nvidia.com/gpu": 3}}
    ]
    assert held["quota"]["use"] == {
        "pods": 1,
        "requests": {"nvidia.com/gpu": 3},
        "owners": [{"kind": "Pod", "name": "trainer", "pods": 1, "requests": {"nvidia.com/gpu": 3}}],
        "more_owners": 0,
    }
    assert "requested: requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=3" in held["quota"]["proof"]

    second = playbook.tasks(
        {"accelerators.openshift.gpu_quota": {**common, "name": "loose", "gpus": 9}, "register": "loose"},
        {"ansible.builtin.debug": {"var": "loose.warnings"}},
    )
    assert any(
        "Quota gpu-quota (requests.nvidia.com/gpu: 4)" in text for text in second.tasks[-1]["loose.warnings"]
    )
    assert playbook.module("gpu_quota", namespace="it-held", state="absent").changed
    assert [
        quota["metadata"]["name"] for quota in cluster.client.list("v1", "resourcequotas", "it-held")
    ] == ["loose"]


def test_a_quota_of_a_priority_class_counts_only_its_pods(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "it-high"}}
    cluster.client.apply({**high, "value": 1000})
    try:
        options: dict[str, t.Any] = {
            "namespace": "it-scoped",
            "create_namespaces": True,
            "gpus": 1,
            "priority_classes": ["it-high"],
            "prove": True,
        }
        task = playbook.module("gpu_quota", **options)
        assert not task.failed, task.result
        assert "exceeded quota: gpu-quota" in task["quota"]["proof"]
        low = pod("low", 5)
        low["metadata"]["namespace"] = "it-scoped"
        cluster.client.create(low)
        again = playbook.module("gpu_quota", **options)
        assert again["quota"]["resources"] == {GPU: {"hard": "1", "used": "0"}}
        assert audit.writes(again) == []
        assert playbook.module("gpu_quota", **options, claims=True)["code"] == "QUOTA-SCOPE"
    finally:
        cluster.client.delete("scheduling.k8s.io/v1", "priorityclasses", "it-high")


def test_pods_without_requests_pass_a_quota_of_cpu_by_its_limit_range(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    options: dict[str, t.Any] = {
        "namespace": "it-forced",
        "create_namespaces": True,
        "hard": {GPU: 4, "requests.cpu": 4, "limits.memory": "16Gi"},
        "limit_range": {"cpu": "500m", "memory": "2Gi"},
    }
    task = playbook.module("gpu_quota", **options)
    assert not task.failed, task.result
    bare = pod("bare", 1)
    bare["metadata"]["namespace"] = "it-forced"
    made = cluster.client.create(bare)["spec"]["containers"][0]["resources"]
    assert made["requests"] | {"cpu": "500m"} == made["requests"]
    assert made["limits"]["memory"] == "2Gi"
    again = playbook.module("gpu_quota", **options)
    assert audit.writes(again) == []
    cluster.client.delete("v1", "pods", "bare", "it-forced")
    gone = playbook.module("gpu_quota", **{**options, "state": "absent"})
    assert not gone.failed, gone.result
    assert cluster.client.list("v1", "limitranges", "it-forced") == []


def test_one_limit_for_the_namespaces_of_a_department(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    cluster.needs_sandbox()
    for name in ("it-held", "it-research"):
        metadata = {"name": name, "labels": {"it-department": "research"}}
        cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    entry = {"name": "it-research", "labels": {"it-department": "research"}, "gpus": 8}
    task = playbook.module("gpu_quota", cluster_quotas=[entry])
    assert not task.failed, task.result
    assert [one["namespace"] for one in task["cluster_quotas"][0]["namespaces"]] == ["it-held", "it-research"]
    again = playbook.module("gpu_quota", cluster_quotas=[entry])
    assert audit.writes(again) == []
    assert len(audit.of(again)) == 1
    assert playbook.module("gpu_quota", cluster_quotas=[entry], state="absent").changed
    assert cluster.client.list("quota.openshift.io/v1", "clusterresourcequotas") == []


def test_quotas_that_count_nothing_are_told(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "it-void"}})
    terms = [{"scopeName": "PriorityClass", "operator": one} for one in ("Exists", "DoesNotExist")]
    specs: dict[str, dict[str, t.Any]] = {
        "void": {"hard": {GPU: "1"}, "scopeSelector": {"matchExpressions": terms}},
        "wrong-key": {"hard": {"nvidia.com/gpu": "1"}},
        "small": {"hard": {GPU: "2"}},
    }
    for name, spec in specs.items():
        metadata = {"name": name, "namespace": "it-void"}
        cluster.client.apply(
            {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": spec}
        )
    options: dict[str, t.Any] = {"namespace": "it-void", "gpus": 4, "nodes_exist": False}
    playbook.module("gpu_quota", **options)
    task = playbook.module("gpu_quota", **options)
    assert {(one["quota"], one["code"], one["ours"]) for one in task["quota"]["findings"]} == {
        ("void", "QUOTA-COUNTS-NOTHING", False),
        ("wrong-key", "QUOTA-COUNTS-NOTHING", False),
        ("small", "QUOTA-STRICTER", False),
    }
    assert audit.writes(task) == []
    assert len(audit.of(task)) == 1


def test_somebody_elses_quota_stays(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "it-theirs"}})
    metadata = {"name": "gpu-quota", "namespace": "it-theirs"}
    cluster.client.apply(
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {GPU: "1"}}}
    )
    task = playbook.module("gpu_quota", namespace="it-theirs", state="absent")
    assert (task.failed, task.changed) == (False, False)
    assert audit.writes(task) == []
    assert cluster.client.get("v1", "resourcequotas", "gpu-quota", "it-theirs")
