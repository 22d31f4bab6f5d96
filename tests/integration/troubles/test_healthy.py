# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""diagnose.yml on healthy clusters: no alarm, also while something goes on, and few requests."""

from __future__ import annotations

import contextlib
import typing as t

import own_cluster
import pytest
from cluster import must_get
from integration.patience import until
from integration.troubles.diagnosed import Data, Diagnosis
from integration.wire import Audit

SCENARIO = "gpu-nodes"
cluster = own_cluster.cluster
pytestmark = [
    pytest.mark.story("a stack, and what people do with it"),
    pytest.mark.long("the unit tests of _diagnosis have a healthy cluster: this is each kind of it"),
]

POLICY: t.Final = ("nvidia.com/v1", "clusterpolicies", "gpu-cluster-policy")
T4, A100 = "t4-0", "a100-0"
UPGRADE: t.Final = "nvidia.com/gpu-driver-upgrade-state"
MIG: t.Final = "nvidia.com/mig.config"


def test_a_working_stack(working: Diagnosis, audit: Audit) -> None:
    working.is_quiet(audit)


@contextlib.contextmanager
def patched(diagnosis: Diagnosis, part: Data, undo: Data, node: str = T4) -> t.Iterator[None]:
    client = diagnosis.cluster.client
    client.patch("v1", "nodes", node, None, part)
    try:
        yield
    finally:
        client.patch("v1", "nodes", node, None, undo)


def test_a_node_that_an_administrator_cordoned(working: Diagnosis, audit: Audit) -> None:
    with patched(working, {"spec": {"unschedulable": True}}, {"spec": {"unschedulable": None}}):
        seen = working.is_quiet(audit)
    assert any(T4 in one and "cordon" in one for one in seen["diagnosis"]["notes"]), seen["table"]


def test_a_node_that_a_task_drained(working: Diagnosis, audit: Audit) -> None:
    drained = working.playbook.module("gpu_node", name=T4, state="drained", on_busy="drain")
    assert not drained.failed, drained.result
    seen = working.is_quiet(audit)
    assert any(T4 in one for one in seen["diagnosis"]["notes"]), seen["table"]
    assert not working.playbook.module("gpu_node", name=T4, state="schedulable").failed


def test_gpus_that_are_cut_while_and_after(working: Diagnosis, audit: Audit) -> None:
    with patched(
        working,
        {"metadata": {"labels": {MIG: "all-1g.5gb"}}},
        {"metadata": {"labels": {MIG: "all-disabled"}}},
        A100,
    ):
        working.is_quiet_until(lambda: label(working, A100, f"{MIG}.state") == "success")
        working.is_healthy()
        working.is_quiet(audit)
    working.is_healthy()


def test_a_tuned_pool(working: Diagnosis, audit: Audit) -> None:
    pool = {"name": "inference", "node_selector": {"accelerators.openshift/pool": "inference"}}
    pools = [pool | {"tuning": {"profile": "accelerator"}}]
    made = working.playbook.module("node_tuning", pools=pools)
    assert not made.failed, made.result
    working.is_quiet(audit)
    assert not working.playbook.module("node_tuning", pools=pools, state="absent").failed


def test_a_pool_that_is_autoscaled_from_zero(working: Diagnosis, audit: Audit) -> None:
    candidate = {"instance_type": "g5.2xlarge", "zones": ["us-east-2a"]}
    pool = {"name": "burst", "candidates": [candidate], "autoscale": {"min": 0, "max": 2}}
    made = working.playbook.module("gpu_machineset", pool=pool)
    assert not made.failed, made.result
    working.is_quiet(audit)
    assert not working.playbook.module("gpu_machineset", pool=pool, state="absent").failed


def test_a_driver_upgrade_within_its_budget(working: Diagnosis) -> None:
    client = working.cluster.client
    wanted = {"version": "580.105.08", "repository": "nvcr.io/nvidia", "image": "driver"}

    def is_done() -> bool:
        pods = client.list(
            "v1", "pods", "nvidia-gpu-operator", labels="app.kubernetes.io/component=nvidia-driver"
        )
        return all("580.105.08" in one["spec"]["containers"][0]["image"] for one in pods) and all(
            label(working, node, UPGRADE) == "upgrade-done" for node in (T4, "t4-1", A100)
        )

    client.patch(*POLICY, None, {"spec": {"driver": wanted}})
    working.is_quiet_until(is_done)
    working.is_healthy()


def test_an_operator_that_olm_does_not_manage(working: Diagnosis, audit: Audit) -> None:
    """Take Subscription and CSV away, and leave the operator, as Helm installs it."""
    client, api = working.cluster.client, "operators.coreos.com/v1alpha1"
    for kind in ("subscriptions", "clusterserviceversions", "installplans"):
        for one in client.list(api, kind, "nvidia-gpu-operator"):
            client.delete(api, kind, one["metadata"]["name"], "nvidia-gpu-operator", orphan=True)
    until(lambda: not client.list(api, "clusterserviceversions", "nvidia-gpu-operator"), "no CSV")
    assert client.list("apps/v1", "deployments", "nvidia-gpu-operator")
    working.is_quiet(audit)


def label(diagnosis: Diagnosis, node: str, key: str) -> str:
    live = must_get(diagnosis.cluster.client, "v1", "nodes", node)
    return str(live["metadata"]["labels"].get(key) or "")
