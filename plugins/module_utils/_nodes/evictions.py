# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evictions: of exactly the pod that was looked at."""

from __future__ import annotations

import typing as t

from .._core import diff
from .._core.errors import ConflictError
from .._core.objects import KubeObject
from .._core.ownership import MANAGER
from .._kube import http_errors, reads
from .._kube.client import Api
from .._kube.kinds import known
from .._kube.session import Change

_SHOWN: t.Final = {"metadata": {"name": None, "namespace": None}, "spec": {"nodeName": None}}


def evict(api: Api, pod: KubeObject) -> str:
    """Ask the pod to end, in one request to the eviction API.

    Return what a disruption budget, a webhook or a busy server says against it (HTTP 429), in its own words,
    or "" if the pod ends or is gone. Raises ApiError.
    """
    metadata = pod["metadata"]
    name, namespace = metadata["name"], metadata["namespace"]
    body: KubeObject = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace},
        "deleteOptions": {"preconditions": {"uid": metadata["uid"]}},
    }
    query = {"fieldManager": MANAGER}
    if api.check_mode:
        query["dryRun"] = "All"
        body["deleteOptions"]["dryRun"] = ["All"]
    else:
        api.before_write()
    path = known("Pod").path(namespace, name, "eviction")
    answer = api.http.request("POST", path, query, body)
    if answer.status == 429:
        return "; ".join(_budgets(answer.body)) or http_errors.text_of(answer.body)
    if answer.status >= 300 and answer.status != 404:
        problem = reads.error(answer, "POST", path, known("Pod"), name, namespace)
        # Another pod of that name: this one is gone.
        if not (isinstance(problem, ConflictError) and "uid" in problem.message.lower()):
            raise problem
    # A pod that is gone after a try without an answer ended because of that try.
    if answer.status < 300 or (answer.repeated and not api.check_mode):
        api.changes.append(Change(diff.object_name(pod), diff.owned_view(pod, _SHOWN), {}))
    return ""


def _budgets(body: t.Any) -> list[str]:
    """Return what disruption budgets say against an eviction; its status is that of a busy server."""
    causes = ((body.get("details") or {}) if isinstance(body, dict) else {}).get("causes") or ()
    return [
        str(cause.get("message") or http_errors.text_of(body))
        for cause in causes
        if cause.get("reason") == "DisruptionBudget"
    ]
