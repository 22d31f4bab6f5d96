# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights of a playbook: asked before its first write, and the ClusterRole in the answer is enough."""

from __future__ import annotations

import typing as t

import pytest
from cluster import ROOT, Cluster
from integration.playbook import Playbook, Run
from integration.wire import Audit

SCENARIO: t.Final = "aws"
USER: t.Final = "eva"
POOLS: t.Final = f"-e @{ROOT / 'examples/demo.yml'}"
DAY: t.Final[list[tuple[str, dict[str, t.Any]]]] = [
    ("enable_gpus", {}),
    ("resize_pool", {"gpu_pool": "demo", "gpu_replicas": 1}),
    ("remove_gpus", {"gpu_node_pool_on_busy": "drain"}),
]


def run_as_eva(playbook: Playbook, cluster: Cluster, name: str, **variables: t.Any) -> Run:
    connection = {"kubeconfig": str(cluster.kubeconfig), "impersonate_user": USER}
    return playbook.playbook(name, POOLS, gpu_cluster_connection=connection, **variables)


def grant(cluster: Cluster, role: dict[str, t.Any]) -> None:
    name = role["metadata"]["name"]
    cluster.client.apply(role)
    cluster.client.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}],
        }
    )


@pytest.fixture(scope="module")
def refusals(cluster: Cluster, playbook: Playbook, audit: Audit) -> dict[str, t.Any]:
    """Return what each playbook says to an identity that may only read the Infrastructure object."""
    reader = {"apiGroups": ["config.openshift.io"], "resources": ["infrastructures"], "verbs": ["get"]}
    kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    grant(cluster, {**kind, "metadata": {"name": "reads-infrastructure"}, "rules": [reader]})
    found = {}
    for name, variables in DAY:
        run = run_as_eva(playbook, cluster, name, **variables)
        assert run.rc != 0
        assert audit.writes(*run.tasks) == []
        found[name] = run.failure
    return found


def test_everything_that_is_missing_is_one_message(refusals: dict[str, t.Any]) -> None:
    failure = refusals["enable_gpus"]
    assert failure["code"] == "API-RIGHTS"
    told = failure["evidence"]
    assert "get, create, update leases.coordination.k8s.io in namespace default" in told
    assert "get, list, watch, patch installplans.operators.coreos.com in namespace openshift-nfd" in told
    assert "get pods/log in namespace gpu-validation" in told
    assert "get, create, patch priorityclasses.scheduling.k8s.io in the whole cluster" in told
    assert f"add-cluster-role-to-user accelerators-openshift-enable-gpus {USER}" in failure["remedy"]


def test_an_administrator_costs_one_request(playbook: Playbook, audit: Audit) -> None:
    task = playbook.module("access_review", playbook="enable_gpus")
    assert [f"{one.verb} {one.resource}" for one in audit.of(task)] == [
        "create selfsubjectaccessreviews.authorization.k8s.io"
    ]
