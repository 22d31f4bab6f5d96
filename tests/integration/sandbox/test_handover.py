# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A control plane that is handed on: nothing of the cluster before is left, and nothing is missing."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from cluster import must_get
from integration.patience import until

from openshift_sandbox import audit, handover, lifecycle
from openshift_sandbox.sandbox import Sandbox

STARTS_CLUSTERS: t.Final = True

pytestmark = pytest.mark.long(
    "the sandbox itself: every other test uses its parts, these test them one by one"
)

CRDS: t.Final = "apiextensions.k8s.io/v1", "customresourcedefinitions"
SETS: t.Final = "machinesets.machine.openshift.io"
# What differs between two sandboxes of one scenario: names that are drawn, and what comes and goes.
CHANGING: t.Final = (
    "/registry/events/",
    "/registry/leases/",
    "/registry/secrets/",
    "/registry/ipaddresses/",
    "/registry/servicecidrs/",
)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Sandbox]:
    """Yield a sandbox of scenario node-tuning in which somebody worked, cleared."""
    sandbox = Sandbox(tmp_path_factory.mktemp("handover") / "sandbox")
    try:
        lifecycle.up(sandbox, "node-tuning")
        _work(sandbox)
        assert handover.can_clear(sandbox)
        handover.clear(sandbox)
        yield sandbox
    finally:
        lifecycle.down(sandbox)


def _work(sandbox: Sandbox) -> None:
    """Leave what tests leave: objects, a webhook without a server, and a CRD that is changed."""
    client, labels = sandbox.client("test"), {"app": "left"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "left"}]}}
    webhook = {
        "name": "left.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "clientConfig": {"url": "https://127.0.0.1:9/"},
        "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["nodes"], "operations": ["*"]}],
    }
    for version, kind, more in (
        ("v1", "Namespace", {}),
        ("apps/v1", "Deployment", {"spec": {"selector": {"matchLabels": labels}, "template": pod}}),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", {"rules": []}),
        ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", {"webhooks": [webhook]}),
    ):
        metadata = {"name": "left"} | ({"namespace": "left"} if kind == "Deployment" else {})
        client.apply({"apiVersion": version, "kind": kind, "metadata": metadata, **more})
    until(lambda: client.list("v1", "pods", "left"), "a pod of the Deployment")
    client.patch(*CRDS, SETS, None, {"spec": {"names": {"shortNames": ["left"]}}})


def keys(sandbox: Sandbox) -> set[str]:
    found = {key.decode() for key in handover.etcd(sandbox).read()}
    return {key for key in found if not key.startswith(CHANGING)}


def test_nothing_of_the_cluster_is_left(old: Sandbox) -> None:
    left = keys(old)
    assert [key for key in left if "left" in key or "/minions/" in key] == []
    assert handover.CRDS.decode() + SETS not in left
    assert audit.read(old.audit_log, 0, "test") == []
    assert {child.name for child in old.processes.all()} == {*handover.STORE, *handover.CONTROLLERS}


def test_another_scenario_is_as_if_it_were_new(old: Sandbox, tmp_path: Path) -> None:
    lifecycle.up(old, "gpu-nodes")
    new = Sandbox(tmp_path / "sandbox")
    try:
        lifecycle.up(new, "gpu-nodes")
        until(lambda: keys(old) == keys(new), "the same objects in both sandboxes", seconds=60)
    finally:
        lifecycle.down(new)
    assert audit.read(old.audit_log), "the log goes on"
    assert "left" not in must_get(old.client(), *CRDS, SETS)["spec"]["names"].get("shortNames", [])
