# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words with which a real API server refuses a write, and how soon the client understands them."""

from __future__ import annotations

import time
import typing as t

import pytest
from cluster import Cluster

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ApiError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import connect
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

WEBHOOK: t.Final = "silent.contract.example.com"


def api(cluster: Cluster, seconds: float = 60.0) -> Api:
    return connect({"kubeconfig": str(cluster.kubeconfig), "wait_timeout": seconds}, "contract")


def configuration() -> dict[str, t.Any]:
    """Return a webhook for ConfigMaps with a label of the test, whose service does not exist."""
    kind = "ValidatingWebhookConfiguration"
    service = {"name": "nobody", "namespace": "default", "path": "/x"}
    rule = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    webhook = {
        "name": WEBHOOK,
        "clientConfig": {"service": service},
        "rules": [rule],
        "objectSelector": {"matchLabels": {"contract": "silent"}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 1,
    }
    version = "admissionregistration.k8s.io/v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "contract"}, "webhooks": [webhook]}


def test_a_secret_that_is_not_base64_is_refused_soon_in_the_servers_words(cluster: Cluster) -> None:
    wrong = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "contract-wrong", "namespace": "default"},
        "data": {"token": "this is not base64"},
    }
    started = time.monotonic()
    with pytest.raises(ApiError, match="base64") as caught:
        api(cluster).apply(wrong)
    assert caught.value.code == "API-INVALID"
    assert time.monotonic() - started < 5


def test_a_webhook_that_cannot_be_called_is_named(cluster: Cluster) -> None:
    cluster.needs_sandbox()
    admin = api(cluster)
    found = admin.apply(configuration())
    labelled = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "contract-silent", "namespace": "default", "labels": {"contract": "silent"}},
    }
    kind = admin.resolve(found["apiVersion"], found["kind"])
    try:
        time.sleep(2.0)  # the server reads its webhooks again about once a second
        with pytest.raises(ApiError) as caught:
            api(cluster, 5.0).apply(labelled)
        assert caught.value.code == "API-WEBHOOK"
        assert f"{WEBHOOK} (service nobody in namespace default)" in caught.value.message
    finally:
        admin.delete(kind, "contract")
