# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the server of the webhooks, and tell the API server to ask it.

It answers for the Machine API, for look-ups of images, and for the webhooks that stand-ins register.
"""

from __future__ import annotations

import base64
import sys
import typing as t

from openshift_sandbox.pki import Authority
from openshift_sandbox.programs import own_server
from openshift_sandbox.sandbox import Sandbox

NAME: t.Final = "machine-webhook"
DEFAULTING, VALIDATING, IMAGES = "/mutate", "/validate", "/images"
ATTACHMENTS, HOLD = "/multus/validate", "/multus/hold"
MACHINES, LOOK_UPS, NETWORKS = "machine.openshift.io", "image.openshift.io", "k8s.cni.cncf.io"
GROUP: t.Final = "admissionregistration.k8s.io/v1"
TIMEOUT_SECONDS: t.Final = 3
# A look-up of many images asks a registry many times.
LOOK_UP_SECONDS: t.Final = 30

Object = dict[str, t.Any]


def wanted(sandbox: Sandbox) -> list[str]:
    """Return the API groups of the cluster that have a webhook in the sandbox."""
    absent = sandbox.scenario.cluster.get("absent_groups", [])
    return [group for group in (MACHINES, LOOK_UPS, NETWORKS) if group not in absent]


def start(sandbox: Sandbox) -> None:
    """Start the server, and register it with the API server.

    Without it the API server still accepts Machines, as on a real cluster.
    """
    authority = Authority(sandbox.run / "pki")
    authority.server(NAME)
    sandbox.processes.start(
        NAME,
        [sys.executable, "-m", "openshift_sandbox.stand_ins.admission.server", "--dir", sandbox.directory],
    )
    own_server.wait_ready(sandbox, NAME, "the Machine API's webhook is silent")
    client, groups = sandbox.client("machine-api-operator"), wanted(sandbox)
    url, certificate = f"https://127.0.0.1:{sandbox.port(NAME)}", authority.certificate.read_bytes()
    for configuration in (
        *(configurations(url, certificate) if MACHINES in groups else ()),
        *([look_ups(url, certificate)] if LOOK_UPS in groups else ()),
        *(attachments(url, certificate) if NETWORKS in groups else ()),
    ):
        client.apply(configuration)


def configurations(url: str, certificate: bytes) -> list[Object]:
    """Return the configurations of the machine-api operator, with our address and a shorter timeout."""
    kinds = (
        ("Validating", "validation", VALIDATING, ["CREATE", "UPDATE"]),
        ("Mutating", "default", DEFAULTING, ["CREATE"]),
    )
    return [
        {
            "apiVersion": GROUP,
            "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": "machine-api"},
            "webhooks": [
                _webhook(f"{prefix}.{resource}", resource, f"{url}{path}", certificate, operations)
                for resource in ("machine", "machineset")
            ],
        }
        for kind, prefix, path, operations in kinds
    ]


def look_ups(url: str, certificate: bytes) -> Object:
    """Return the sandbox's own webhook for look-ups of images.

    With it a CRD answers as an aggregated API would; without its server the look-up fails, and says so.
    """
    name, resource = "image-look-ups.sandbox.openshift", "imagestreamimports"
    rule = {"apiGroups": [LOOK_UPS], "apiVersions": ["v1"], "resources": [resource], "operations": ["CREATE"]}
    webhook = _webhook("", resource, f"{url}{IMAGES}", certificate, ["CREATE"]) | {
        "name": name,
        "failurePolicy": "Fail",
        "timeoutSeconds": LOOK_UP_SECONDS,
        "rules": [rule],
    }
    return {
        "apiVersion": GROUP,
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [webhook],
    }


def attachments(url: str, certificate: bytes) -> list[Object]:
    """Return the webhook of Multus for its definitions, and the sandbox's own.

    The latter lets new pods that ask for networks wait until the stand-in of Multus has seen them.
    """
    definitions, pods, own = "network-attachment-definitions", "pods", "pod-networks.sandbox.openshift"
    rules = {
        resource: {"apiGroups": [group], "apiVersions": ["v1"], "resources": [resource], "operations": verbs}
        for group, resource, verbs in ((NETWORKS, definitions, ["CREATE", "UPDATE"]), ("", pods, ["CREATE"]))
    }
    asks = "has(object.metadata.annotations) && 'k8s.v1.cni.cncf.io/networks' in object.metadata.annotations"
    return [
        {
            "apiVersion": GROUP,
            "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": name},
            "webhooks": [_webhook("", resource, f"{url}{path}", certificate, []) | own | {"name": name}],
        }
        for kind, name, resource, path, own in (
            ("Validating", "multus.openshift.io", definitions, ATTACHMENTS, {"rules": [rules[definitions]]}),
            (
                "Mutating",
                own,
                pods,
                HOLD,
                {"rules": [rules[pods]], "matchConditions": [{"name": "networks", "expression": asks}]},
            ),
        )
    ]


def _webhook(name: str, resource: str, url: str, certificate: bytes, operations: list[str]) -> Object:
    rule = {
        "apiGroups": ["machine.openshift.io"],
        "apiVersions": ["v1beta1"],
        "resources": [f"{resource}s"],
        "operations": operations,
    }
    return {
        "name": f"{name}.machine.openshift.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": url, "caBundle": base64.b64encode(certificate).decode()},
        "failurePolicy": "Ignore",
        "rules": [rule],
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }
