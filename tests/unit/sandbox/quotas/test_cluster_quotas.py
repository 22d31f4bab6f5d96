# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ClusterResourceQuotas are counted over the namespaces that they select."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.quotas.cluster_quotas import ClusterQuotas, is_selected, used

GPU: t.Final = "requests.nvidia.com/gpu"


def pod(namespace: str, name: str, gpus: str, phase: str = "Running") -> dict[str, t.Any]:
    container = {"name": "c", "resources": {"requests": {"nvidia.com/gpu": gpus, "cpu": "500m"}}}
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container]},
        "status": {"phase": phase},
    }


def test_a_namespace_needs_all_labels_and_annotations() -> None:
    namespace = {"metadata": {"name": "a", "labels": {"team": "x"}, "annotations": {"by": "y"}}}
    assert is_selected({"labels": {"matchLabels": {"team": "x"}}, "annotations": {"by": "y"}}, namespace)
    assert not is_selected({"labels": {"matchLabels": {"team": "z"}}}, namespace)
    assert not is_selected({"annotations": {"by": "z"}}, namespace)


def test_pods_that_ended_use_nothing() -> None:
    pods = [pod("a", "one", "2"), pod("a", "two", "4", "Succeeded")]
    assert used([GPU, "pods", "cpu", "limits.memory"], pods) == {
        GPU: "2",
        "pods": "1",
        "cpu": "0.5",
        "limits.memory": "0",
    }


def test_the_status_has_the_total_and_each_namespace() -> None:
    world = World(ClusterQuotas())
    for name, labels in (("a", {"team": "x"}), ("b", {"team": "x"}), ("c", {})):
        metadata = {"name": name, "labels": labels}
        world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        world.api.create(pod(name, "one", "2"))
    spec = {"selector": {"labels": {"matchLabels": {"team": "x"}}}, "quota": {"hard": {GPU: "8"}}}
    kind = {"apiVersion": "quota.openshift.io/v1", "kind": "ClusterResourceQuota"}
    world.api.create({**kind, "metadata": {"name": "q"}, "spec": spec})
    world.settle(2)
    status = world.api.get("ClusterResourceQuota", "q")["status"]
    assert status["total"] == {"hard": {GPU: "8"}, "used": {GPU: "4"}}
    assert [one["namespace"] for one in status["namespaces"]] == ["a", "b"]
