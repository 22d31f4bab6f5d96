# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""enable_gpus.yml in trouble before a node exists: each failure has a code and a remedy, and few writes."""

from __future__ import annotations

import pytest
from cluster import Cluster
from integration.troubles.demo import (
    GPU,
    MACHINE_SETS,
    MACHINES,
    OPERATORS,
    POOLS,
    QUICK,
    Data,
    Demo,
    gpu_nodes,
    pool,
    trouble,
    verdict,
)
from integration.wire import Audit

WRONG = [
    (pool(replica=2), "POOL-UNKNOWN-KEY", ["gpu_pools[0].replica"], "replicas"),
    (
        [
            *pool(replicas="two", market="cheap"),
            POOLS[0] | {"name": "b", "taints": [{"key": "x", "effect": "Never"}], "labels": "team=ml"},
        ],
        "POOL-INVALID",
        [
            "gpu_pools[0].replicas",
            "gpu_pools[0].market",
            "gpu_pools[1].taints[0].effect",
            "gpu_pools[1].labels",
        ],
        "NoExecute",
    ),
]


@pytest.mark.parametrize(("pools", "code", "paths", "hint"), WRONG, ids=[case[1] for case in WRONG])
def test_wrong_pools(
    demo: Demo, audit: Audit, pools: list[Data], code: str, paths: list[str], hint: str
) -> None:
    run = demo.enable(gpu_pools=pools)
    found = verdict(run, code, "input")
    assert [path for path in paths if path not in found["message"]] == []
    assert hint in found["message"] + found["remedy"]
    assert audit.of(*run.tasks) == []


def test_rights_are_missing(cluster: Cluster, demo: Demo, audit: Audit) -> None:
    run = demo.enable(
        gpu_cluster_connection={
            "kubeconfig": str(cluster.needs_sandbox().directory / "kubeconfig-restricted")
        }
    )
    found = verdict(run, "API-RIGHTS", "api")
    assert "create, patch, delete machinesets.machine.openshift.io" in found["message"]
    assert "oc adm policy add-cluster-role-to-user accelerators-openshift-enable-gpus" in found["remedy"]
    assert audit.writes(*run.tasks) == []


def test_the_operator_is_in_no_catalogue(cluster: Cluster, demo: Demo, audit: Audit) -> None:
    with trouble(cluster, "operator-missing"):
        run = demo.enable()
    found = verdict(run, "OLM-NO-PACKAGE", "olm")
    assert "gpu-operator-certified" in found["message"]
    assert "oc get packagemanifests" in found["remedy"]
    assert audit.writes(*run.tasks) == []
    assert gpu_nodes(cluster) == []


def writes_until_given_up(attempts: list[Data]) -> list[str]:
    """Return the writes on the pool's two sets and their Machines, without the names' ends.

    A zone may refuse before the other one: then its Machine goes, and the other zone is asked for both.
    """
    patched, deleted, machine = (
        f"{verb} {kind}.machine.openshift.io openshift-machine-api/demo-x7k2p"
        for verb, kind in (("patch", "machinesets"), ("delete", "machinesets"), ("patch", "machines"))
    )
    is_asked_again = [one["wanted"] for one in attempts] == [1, 2]
    return [patched] * 2 + [machine, patched, patched] * is_asked_again + [deleted] * 2


@pytest.mark.parametrize(
    ("name", "code", "text", "remedy"),
    [
        ("no-capacity", "MACH-CAPACITY", "InsufficientInstanceCapacity", "candidates"),
        (
            "quota-exceeded",
            "MACH-QUOTA",
            "You have requested more vCPU capacity than your current vCPU limit of 0 allows",
            "Service Quotas",
        ),
    ],
    ids=["capacity", "quota"],
)
def test_the_cloud_gives_no_machine(
    cluster: Cluster, demo: Demo, audit: Audit, name: str, code: str, text: str, remedy: str
) -> None:
    with demo.removed("gpu_node_pool"), trouble(cluster, name):
        run = demo.enable("gpu_node_pool")
        found = verdict(run, code, "machine")
        assert text in found["message"], found["message"]
        assert "g4dn.xlarge in us-east-2" in found["message"]
        assert remedy in found["remedy"]
        assert [line for line in found["evidence"] if text in line]
        assert (found["nodes"], found["attempts"][0]["obtained"]) == ([], 0)
        assert found["duration"] < QUICK["gpu_node_pool_wait_timeout"] / 2
        assert [line.partition("-demo-")[0] for line in audit.writes(*run.tasks)] == writes_until_given_up(
            found["attempts"]
        )
        assert cluster.client.list(*MACHINE_SETS) == []
    assert cluster.client.list(*MACHINES) == []


def test_a_plan_with_a_foreign_csv(cluster: Cluster, demo: Demo, audit: Audit) -> None:
    with trouble(cluster, "foreign-csv"), demo.removed("gpu_operator"):
        run = demo.enable("gpu_operator")
        found = verdict(run, "OLM-FOREIGN-CSV", "olm")
        assert "kernel-module-management" in found["message"]
        assert "allow_csvs" in found["remedy"]
        assert [
            line
            for line in found["evidence"]
            if line.startswith("gpu-operator-certified") and line.endswith(": asked for")
        ]
        plans = cluster.client.list(OPERATORS, "installplans", GPU)
        assert [(plan["spec"]["approved"], plan["status"]["phase"]) for plan in plans] == [
            (False, "RequiresApproval")
        ]
        assert [
            line for line in audit.writes(*run.tasks) if "installplans" in line or "clusterpolic" in line
        ] == []
    assert cluster.client.list(OPERATORS, "subscriptions", GPU) == []
