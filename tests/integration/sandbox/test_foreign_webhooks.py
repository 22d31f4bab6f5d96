# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Webhooks of others: what the API server makes of their answers, and of one that takes no dry runs."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
from integration.patience import until

from openshift_sandbox import faults
from openshift_sandbox.client import Client
from openshift_sandbox.sandbox import Sandbox

SCENARIO = "rosa-classic"
pytestmark = pytest.mark.long(
    "the sandbox itself: the unit tests have what each webhook answers, the API server adds its own words"
)
Data = dict[str, t.Any]
MACHINE_SETS = "/apis/machine.openshift.io/v1beta1/namespaces/openshift-machine-api/machinesets"
PODS = "/api/v1/namespaces/default/pods"
DRY_RUN = {"dryRun": "All"}
LAUNCHERS = "virt-launcher-eviction-interceptor.kubevirt.io"


@contextlib.contextmanager
def staged(sandbox: Sandbox, kind: str, **fields: t.Any) -> t.Iterator[None]:
    """Cause a trouble; clear it at the end."""
    faults.add(sandbox, kind, fields)
    try:
        yield
    finally:
        faults.clear(sandbox, kind, {})


def asked(client: Client, **metadata: t.Any) -> tuple[int, str]:
    """Return code and message of the dry run of a pod."""
    containers = [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]
    pod = {"metadata": {"name": "asked"} | metadata, "spec": {"containers": containers}}
    code, answer = client.request("POST", PODS, pod, query=DRY_RUN)
    return code, str(answer.get("message"))


def refused(client: Client, code: int) -> str:
    """Wait until the dry run of a pod gets this code; return its message."""
    return until(lambda: (found := asked(client))[0] == code and found[1], f"a dry run refused with {code}")


def allowed(client: Client) -> None:
    """Wait until the dry run of a pod passes."""
    until(lambda: asked(client)[0] == 201, "a dry run that passes")


def test_a_customer_of_rosa_may_not_scale_with_cluster_admin(client: Client) -> None:
    name = client.list("machine.openshift.io/v1beta1", "machinesets")[0]["metadata"]["name"]
    path = f"{MACHINE_SETS}/{name}/scale"
    code, answer = client.request("PATCH", path, {"spec": {"replicas": 2}}, "application/merge-patch+json")
    assert (code, answer["reason"]) == (403, "Forbidden")
    assert answer["message"].startswith(
        'admission webhook "regular-user-validation.managed.openshift.io" denied the request: Prevented from '
    )
    assert client.request("DELETE", f"{MACHINE_SETS}/{name}")[0] == 403


def test_a_policy_engine_refuses_a_pod(sandbox: Sandbox, client: Client) -> None:
    with staged(sandbox, "policy_denies", image="registry.k8s.io/"):
        text = refused(client, 403)
        assert text.startswith(
            'admission webhook "validation.gatekeeper.sh" denied the request: [allowed-repos] container '
        )
    allowed(client)
    with staged(sandbox, "policy_denies", engine="kyverno"):
        text = refused(client, 400)
        assert text.startswith(
            'admission webhook "validate.kyverno.svc-fail" denied the request: \n\nresource Pod/default/asked'
        )
    allowed(client)


def test_a_webhook_of_an_older_release_takes_no_dry_run(sandbox: Sandbox, client: Client) -> None:
    with staged(sandbox, "webhook_without_dry_run"):
        text = refused(client, 400)
        assert text == 'admission webhook "pod-labels.example.com" does not support dry run'
    allowed(client)


def test_a_virtual_machine_is_not_evicted_and_leaves(sandbox: Sandbox, client: Client) -> None:
    marks = {"labels": {"kubevirt.io": "virt-launcher"}, "annotations": {"kubevirt.io/domain": "vm"}}
    pod = {
        "metadata": {"name": "virt-launcher-vm"} | marks,
        "spec": {"containers": [{"name": "compute", "image": "example.com/launcher:1"}]},
    }
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "virt-launcher-vm", "namespace": "default"},
    }
    with staged(sandbox, "virtual_machine"):
        until(lambda: registered(client), "the webhook")
        assert client.request("POST", PODS, pod)[0] == 201
        path = f"{PODS}/virt-launcher-vm"
        code, answer = until(lambda: denied(client, path, eviction), "an eviction that the webhook denies")
        message = 'denied the request: Eviction triggered evacuation of VMI "default/vm"'
        assert (code, answer["message"]) == (429, f'admission webhook "{LAUNCHERS}" {message}')
        assert "details" not in answer
        until(lambda: client.request("GET", path)[0] == 404, "the pod gone")


def registered(client: Client) -> bool:
    found = client.list("admissionregistration.k8s.io/v1", "validatingwebhookconfigurations")
    return any(hook["name"] == LAUNCHERS for one in found for hook in one["webhooks"])


def denied(client: Client, path: str, eviction: Data) -> tuple[int, Data] | None:
    """Return the answer to an eviction, once the webhook refuses its dry run."""
    if client.request("POST", f"{path}/eviction", eviction, query=DRY_RUN)[0] != 429:
        return None
    return client.request("POST", f"{path}/eviction", eviction)
