# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Evicting: a pod is asked to end, by the way on which disruption budgets are heard; exactly the pod that was looked at."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import diff
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ConflictError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGER
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import http_errors, reads
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.writes import Change

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

Manifest = dict[str, t.Any]
_SHOWN: t.Final = {"metadata": {"name": None, "namespace": None}, "spec": {"nodeName": None}}


def evict(api: Api, pod: Manifest) -> str:
    metadata = pod["metadata"]
    name, namespace = metadata["name"], metadata["namespace"]
    body: Manifest = {
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
        api.seen.forget()
    path = known("Pod").path(namespace, name, "eviction")
    answer = api.http.request("POST", path, query, body)
    if answer.status == 429:
        return "; ".join(http_errors.budgets(answer.body)) or http_errors.text_of(answer.body)
    if answer.status >= 300 and answer.status != 404:
        problem = reads.error(answer, "POST", path, known("Pod"), name, namespace)
        # Another pod of that name: this one is gone.
        if not (isinstance(problem, ConflictError) and "uid" in problem.message.lower()):
            raise problem
    # One that is gone after a try without an answer went by that try.
    if answer.status < 300 or (answer.repeated and not api.check_mode):
        api.changes.append(Change(diff.title(pod), diff.owned_view(pod, _SHOWN), {}))
    return ""
