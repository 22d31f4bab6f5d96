# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The preflight of a cluster update on a live cluster: findings, what blocks the update, no writes."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Playbook, Run
from integration.stack.operators.updates import GPU, KERNEL, POOL, RHCOS, patched, said, trouble, verdicts
from integration.wire import Audit

from openshift_sandbox.client import Client

SCENARIO: t.Final = "before-update"
POOLS: t.Final = ("machineconfiguration.openshift.io/v1", "machineconfigpools", "worker", None)


def test_a_cluster_without_gpus(playbook: Playbook, audit: Audit) -> None:
    result = playbook.module("preflight_update", version="4.22.9")
    assert not result.failed, result.result
    assert (result["running"], result["version"], result["verdict"], result.changed) == (
        "4.22.5",
        "4.22.9",
        "ok",
        False,
    )
    assert verdicts(result)["driver"] == "ok"
    assert audit.writes(result) == []
    refused = playbook.module("preflight_update", version="4.22")
    assert (refused["code"], audit.of(refused)) == ("INPUT-VALUE", [])


@pytest.mark.parametrize(
    ("version", "code", "text"),
    [
        (
            "4.22.12",
            "UPDATE-RELEASE",
            "channel fast-4.22 does not lead from 4.22.5 to 4.22.12; it offers 4.23.1, 4.22.9",
        ),
        ("4.22.4", "UPDATE-RELEASE", "4.22.4 is older than 4.22.5"),
    ],
)
def test_a_release_that_is_not_offered(playbook: Playbook, version: str, code: str, text: str) -> None:
    failed = playbook.module("preflight_update", version=version)
    assert (failed["code"], failed["layer"], text in failed["message"]) == (code, "update", True)
    assert failed["table"][0].split() == ["CHECK", "VERDICT", "WHAT"]


def test_a_risk_is_quoted(playbook: Playbook) -> None:
    result = playbook.module("preflight_update", version="4.22.11")
    assert (result.failed, verdicts(result)["release"]) == (False, "warning")
    assert "Nodes of some instance types take an hour to boot." in said(result, "release")
    strict = playbook.module("preflight_update", version="4.22.11", fail_on="warning")
    assert (strict["code"], "--allow-not-recommended" in strict["remedy"]) == ("UPDATE-RELEASE", True)


def test_a_stack_that_can_follow(cluster: Cluster, playbook: Playbook, audit: Audit, stack: Run) -> None:
    patch = playbook.module("preflight_update", version="4.22.9")
    assert not patch.failed, patch.result
    (operator,) = [name for name in verdicts(patch) if name.startswith("operator gpu-operator-certified.v")]
    assert (
        verdicts(patch)[operator],
        verdicts(patch)["kernels of today"],
        verdicts(patch)["GPU workloads"],
    ) == ("ok", "ok", "ok")
    assert verdicts(patch)["driver (Driver Toolkit)"] == "unknown"
    assert "comes with the release itself" in said(patch, "driver (Driver Toolkit)")
    known = playbook.module("preflight_update", version="4.22.9", rhcos=RHCOS, kernel=KERNEL)
    assert (verdicts(known)["driver (Driver Toolkit)"], verdicts(known)["driver image"]) == ("ok", "ok")
    # GPU operator 26.7 leaves out the minor release of RHEL, so the tag is known without RHCOS.
    assert said(known, "driver image") == "nvcr.io/nvidia/driver:595.91.07-rhel9 is there"
    assert said(patch, "driver image") == said(known, "driver image")
    with trouble(cluster, "registry_image_missing", image="nvcr.io/nvidia/driver:595.91.07-rhel9"):
        missing = playbook.module("preflight_update", version="4.22.9", rhcos=RHCOS)
    assert (
        missing["code"],
        "no image for the RHCOS of 4.22.9: nvcr.io/nvidia/driver:595.91.07-rhel9" in missing["message"],
    ) == ("UPDATE-DRIVER", True)
    minor = playbook.module("preflight_update", version="4.23.1")
    assert (verdicts(minor)[operator], minor["verdict"]) == ("warning", "warning")
    assert "4.18 to 4.22 (as of 2026-08-31), not on 4.23" in said(minor, operator)
    assert audit.writes(patch, known, minor) == []


def create_workloads(client: Client) -> None:
    """Create a Deployment whose disruption budget never allows an eviction, and a pod that holds a GPU."""
    labels = {"app": "keeper"}
    metadata = {"name": "keeper", "namespace": "default"}
    pod = {
        "containers": [{"name": "c", "image": "example.com/none"}],
        "nodeSelector": POOL["node_selector"],
        "terminationGracePeriodSeconds": 0,
    }
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    client.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
    budget = {"minAvailable": 1, "selector": {"matchLabels": labels}}
    client.create(
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": budget}
    )
    limits = {"nvidia.com/gpu": "1"}
    job = {
        "containers": [{"name": "c", "image": "example.com/none", "resources": {"limits": limits}}],
        "volumes": [{"name": "v", "emptyDir": {}}],
    }
    client.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "trainer", "namespace": "default"},
            "spec": job | pod | {"containers": job["containers"]},
        }
    )


@contextlib.contextmanager
def workloads(cluster: Cluster) -> t.Iterator[None]:
    """Run two workloads that block a rollout."""
    client = cluster.client
    create_workloads(client)
    try:
        until(
            lambda: (
                must_get(client, "policy/v1", "poddisruptionbudgets", "keeper", "default")["status"].get(
                    "currentHealthy"
                )
                == 1
            ),
            "the budget counts",
        )
        until(
            lambda: must_get(client, "v1", "pods", "trainer", "default")["status"].get("phase") == "Running",
            "the trainer runs",
        )
        yield
    finally:
        client.delete("policy/v1", "poddisruptionbudgets", "keeper", "default")
        client.delete("apps/v1", "deployments", "keeper", "default")
        client.delete("v1", "pods", "trainer", "default")


def test_what_blocks_a_rollout(cluster: Cluster, playbook: Playbook, stack: Run) -> None:
    paused, back = {"spec": {"paused": True}}, {"spec": {"paused": False}}
    with workloads(cluster), patched(cluster, POOLS, paused, back):
        failed = playbook.module("preflight_update", version="4.22.9")
        playbook_run = playbook.playbook("preflight_update", gpu_update_version="4.22.9")
    assert (failed["code"], failed["verdict"]) == ("UPDATE-POOL", "blocking")
    assert "oc patch machineconfigpool worker" in failed["remedy"]
    found = verdicts(failed)
    assert (
        found["machine config pool worker"],
        found["disruption budget default/keeper"],
        found["GPU workloads"],
    ) == ("blocking", "blocking", "warning")
    assert "allows no disruption at any time (1 of 1 pods must be healthy, 1 are): gpu-" in said(
        failed, "disruption budget default/keeper"
    )
    assert any("default/trainer on gpu-" in line for check in failed["checks"] for line in check["evidence"])
    # The playbook shows the table and fails with the code of the module.
    assert (playbook_run.rc, playbook_run.failure["code"]) == (2, "UPDATE-POOL")
    assert "disruption budget default/keeper" in playbook_run.output
    mended = playbook.playbook("preflight_update", gpu_update_version="4.22.9")
    assert (mended.rc, mended.changed) == (0, 0), mended.output[-2000:]


def test_an_operator_that_is_not_made_for_the_release(
    cluster: Cluster, playbook: Playbook, stack: Run
) -> None:
    csvs = [
        one
        for one in cluster.client.list("operators.coreos.com/v1alpha1", "clusterserviceversions", GPU)
        if one["metadata"]["name"].startswith("gpu-")
    ]
    where = ("operators.coreos.com/v1alpha1", "clusterserviceversions", str(csvs[0]["metadata"]["name"]), GPU)
    limit = '[{"type":"olm.maxOpenShiftVersion","value":"4.22"}]'
    before = (csvs[0]["metadata"].get("annotations") or {}).get("olm.properties")
    with patched(
        cluster,
        where,
        {"metadata": {"annotations": {"olm.properties": limit}}},
        {"metadata": {"annotations": {"olm.properties": before}}},
    ):
        failed = playbook.module("preflight_update", version="4.23.1")
        patch = playbook.module("preflight_update", version="4.22.9")
    assert (failed["code"], "olm.maxOpenShiftVersion" in failed["message"]) == ("UPDATE-OPERATOR", True)
    assert not patch.failed
