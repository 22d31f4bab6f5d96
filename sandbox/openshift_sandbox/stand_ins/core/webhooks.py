# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Webhooks that components bring: registered while the component is there, answered by one process.

The stand-ins register them; the process `machine-webhook` answers the API server.
"""

from __future__ import annotations

import base64
import json
import typing as t
from dataclasses import dataclass

from openshift_sandbox.programs import admission
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

KIND: t.Final = "ValidatingWebhookConfiguration"
MUTATING: t.Final = "MutatingWebhookConfiguration"
# The real components have timeouts of 2 to 30 s; on a busy machine a short one lets a request pass.
TIMEOUT_SECONDS: t.Final = 10


@dataclass(frozen=True)
class Denial:
    """Why a webhook refuses a request. Without a reason the API server answers as the code alone says."""

    message: str
    code: int = 403
    reason: str = "Forbidden"

    def response(self) -> Object:
        """Return the part of an AdmissionReview's response."""
        reason = {"reason": self.reason} if self.reason else {}
        return {"allowed": False, "status": {"code": self.code, "message": self.message, **reason}}


@dataclass(frozen=True)
class Patch:
    """What a webhook changes about a new object, as a JSON patch."""

    operations: list[Object]

    def response(self) -> Object:
        """Return the part of an AdmissionReview's response."""
        encoded = base64.b64encode(json.dumps(self.operations).encode()).decode()
        return {"patchType": "JSONPatch", "patch": encoded}


def rule(group: str, resources: t.Sequence[str], operations: t.Sequence[str]) -> Object:
    """Return a rule for all versions of a group."""
    return {
        "apiGroups": [group],
        "apiVersions": ["*"],
        "resources": list(resources),
        "operations": list(operations),
    }


def webhook(name: str, path: str, rules: t.Sequence[Object], failure_policy: str = "Ignore") -> Object:
    """Return one webhook. `path` is where our process answers; `Webhooks` makes an address of it."""
    return {
        "name": name,
        "clientConfig": {"url": path},
        "rules": list(rules),
        "admissionReviewVersions": ["v1"],
        "failurePolicy": failure_policy,
        "sideEffects": "NoneOnDryRun",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }


class Webhooks:
    """The configurations of one kind that a stand-in has registered."""

    def __init__(self, kind: str = KIND) -> None:
        self._kind = kind
        self._sent: dict[str, list[Object]] = {}

    def keep(self, cluster: Cluster, name: str, webhooks: list[Object]) -> None:
        """Register webhooks under the name of a configuration; without webhooks, delete it."""
        live = cluster.find(self._kind, name)
        if not webhooks:
            self._sent.pop(name, None)
            if live is not None:
                cluster.delete(self._kind, name)
        elif live is None or self._sent.get(name) != webhooks:
            cluster.apply(configuration(cluster, name, webhooks, self._kind))
            self._sent[name] = webhooks


def configuration(cluster: Cluster, name: str, webhooks: list[Object], kind: str = KIND) -> Object:
    """Return the configuration whose webhooks our process answers."""
    sandbox = Sandbox(cluster.directory)
    address = f"https://127.0.0.1:{sandbox.port(admission.NAME)}"
    authority = base64.b64encode((sandbox.run / "pki" / "ca.crt").read_bytes()).decode()
    return {
        "apiVersion": admission.GROUP,
        "kind": kind,
        "metadata": {"name": name},
        "webhooks": [
            one | {"clientConfig": {"url": address + one["clientConfig"]["url"], "caBundle": authority}}
            for one in webhooks
        ],
    }
