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


def test_the_refusal_is_the_servers_own(playbook: Playbook, audit: Audit, in_process: bool) -> None:
    options: dict[str, t.Any] = {
        "namespace": f"it-proof-{in_process}".lower(),
        "gpus": 1,
        "create_namespace": True,
        "prove": True,
    }
    task = playbook.module("gpu_quota", in_process, **options)
    assert not task.failed, task.result
    expected = f"exceeded quota: gpu-quota, requested: {GPU}=2, used: {GPU}=0, limited: {GPU}=1"
    assert task["quota"]["proof"].endswith(f"is forbidden: {expected}")
    again = playbook.module("gpu_quota", in_process, **options)
    assert again["quota"]["proof"].endswith(expected)
    assert audit.writes(again) == []


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"hard": {"nvidia.com/gpu": 1}}, "QUOTA-KEY", "hard[nvidia.com/gpu]"),
        ({"hard": {"limits.nvidia.com/gpu": 1}}, "QUOTA-KEY", "Write requests.nvidia.com/gpu instead"),
        ({"hard": {GPU: "1.5"}}, "QUOTA-QUANTITY", "whole number"),
        ({"hard": {"pods": 1}, "prove": True}, "QUOTA-PROOF", "extended resource"),
        ({"gpus": 1, "hard": {GPU: 1}}, "INPUT-OPTION", "mutually exclusive"),
        ({}, "INPUT-OPTION", "state is present but any of the following are missing: gpus, hard, quotas"),
        ({"gpus": 1, "namespace": "kube-system"}, "QUOTA-NAMESPACE", "belongs to the platform"),
    ],
)
def test_bad_input_sends_no_request(
    options: dict[str, t.Any], code: str, words: str, playbook: Playbook, audit: Audit, in_process: bool
) -> None:
    task = playbook.module("gpu_quota", in_process, **{"namespace": "it-input", **options})
    assert task.failed
    assert (task["code"], task["layer"]) == (code, "input")
    assert words in task["msg"]
    assert audit.of(task) == []


def test_a_missing_namespace_is_not_made_by_accident(playbook: Playbook) -> None:
    task = playbook.module("gpu_quota", namespace="it-typo", gpus=1)
    assert task["code"] == "QUOTA-NO-NAMESPACE"
    assert "create_namespace: true" in task["remedy"]


def test_who_holds_what_and_two_quotas(cluster: Cluster, playbook: Playbook) -> None:
    common: dict[str, t.Any] = {"namespace": "it-held", "create_namespace": True}
    assert playbook.module("gpu_quota", **common, gpus=4).changed
    cluster.client.create(pod("trainer", 3))
    held = playbook.module("gpu_quota", **common, gpus=4, prove=True)
    assert held["quota"]["resources"] == {GPU: {"hard": "4", "used": "3"}}
    assert held["quota"]["holders"] == [{"pod": "trainer", "requests": {"nvidia.com/gpu": 3}}]
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


def test_what_the_identity_may_not_do_is_named(cluster: Cluster, playbook: Playbook) -> None:
    sandbox = cluster.needs_sandbox()
    restricted = sandbox.directory / "kubeconfig-restricted"
    run = playbook.tasks(
        {"accelerators.openshift.gpu_quota": {"namespace": "it-held", "gpus": 1}}, kubeconfig=restricted
    )
    assert run.failure["code"] == "API-FORBIDDEN"
    assert "resourcequotas" in run.failure["message"] or "namespaces" in run.failure["message"]
    assert "oc auth can-i " in run.failure["remedy"]
