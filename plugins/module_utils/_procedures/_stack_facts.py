# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What is read of the stack besides what is watched, and only with cause: the operator and logs in trouble, how metrics are collected once a stack comes up."""

from __future__ import annotations

import contextlib
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _stack as stack
from ansible_collections.accelerators.openshift.plugins.module_utils import _stack_summary as summary
from ansible_collections.accelerators.openshift.plugins.module_utils._api import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._kinds import by_name, known
from ansible_collections.accelerators.openshift.plugins.module_utils._readiness import FAILED
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_part import Part, is_consequence

Data = dict[str, t.Any]
Snapshot = dict[str, list[Data]]


def look_further(api: Api, params: Data, judge: stack.Judge, snapshot: Snapshot) -> Snapshot:
    """After a wait that ended well; a stack that worked already is asked for nothing more."""
    if note := next((one for one in judge.parts if one.reason == "OthersNotReady"), None):
        api.warn(note.message)
    if judge.looks < 2:
        return snapshot
    seen = {**snapshot, **_monitoring(api, params)}
    if "monitors" in seen and (found := summary.metrics_of(seen, stack.policy_of(seen, params["name"]))).verdict == FAILED:
        api.warn(f"The GPUs' metrics do not reach the cluster's monitoring: {'; '.join(found.evidence)}.")
    return seen


def explain(api: Api, params: Data, judge: stack.Judge, error: AcceleratorError) -> None:
    """Adds to a failed wait what logs and OLM say; reading them is worth a try, and must not hide the failure."""
    if not judge.seen:
        return
    _read_logs(api, judge, error)
    seen = {**judge.seen, **_operator(api, params), **_monitoring(api, params)}
    error.facts["special_resource"] = stack.summarize(seen, params["name"], params["pools"], judge.parts)


def explain_absent(api: Api, params: Data, error: AcceleratorError) -> None:
    """The cluster does not serve the custom resource: how far is its operator?"""
    nothing: Snapshot = {key: [] for key in ("policies", "nodes", "daemonsets", "pods", "revisions")}
    told = stack.summarize({**nothing, **_operator(api, params)}, params["name"], [])
    error.facts["special_resource"] = told
    error.evidence += told["lines"]


def _decisive(parts: t.Sequence[Part], code: str) -> Part | None:
    """The part that the wait's verdict came from, or what it waits for: the first failed one, else the first that is not ready."""
    behind = [part for part in parts if not part.is_ready]
    first = next((part for part in behind if part.is_failed), next(iter(behind), None))
    if first is None or first.code != code:
        return None
    if not is_consequence(first, behind):
        return first
    return next((part for part in behind if part.node == first.node and not is_consequence(part, behind)), first)


def _read_logs(api: Api, judge: stack.Judge, error: AcceleratorError) -> None:
    from ansible_collections.accelerators.openshift.plugins.module_utils import _stack_logs as logs

    decisive = _decisive(judge.parts, error.code)
    sources = logs.sources(judge.parts, judge.seen["pods"], decisive)
    for source in sources:
        try:
            log = api.log(source.namespace, source.pod, source.container, tail_lines=logs.TAIL)
        except AcceleratorError as why:
            logs.unreadable(error, source, why)
        else:
            logs.read(error, source, log)
    before = error.code
    for pod in dict.fromkeys((source.namespace, source.pod) for source in sources[:1] if source.decides):
        if decisive is not None and before == decisive.code:
            with contextlib.suppress(AcceleratorError):
                logs.read_events(error, pod[1], api.list(known("Event"), pod[0], fields=by_name(pod[1]).replace("metadata.name", "involvedObject.name", 1)))


def _operator(api: Api, params: Data) -> Snapshot:
    """Four small requests."""
    from ansible_collections.accelerators.openshift.plugins.module_utils import _stage_olm as stage_olm

    namespace, empty = params["namespace"], list[Data]()
    found: Snapshot = {"subscriptions": empty, "plans": empty, "csvs": empty, "catalogs": empty}
    try:
        found["subscriptions"] = api.list(known("Subscription"), namespace)
        live = stage_olm.subscription(found["subscriptions"])
        spec = (live or {}).get("spec") or {}
        catalog = api.get(known("CatalogSource"), spec["source"], spec["sourceNamespace"]) if spec.get("source") else None
        found["catalogs"] = [catalog] if catalog else []
        found["plans"] = api.list(known("InstallPlan"), namespace) if live else []
        found["csvs"] = api.list(known("ClusterServiceVersion"), namespace)
    except AcceleratorError as why:
        return {**found, "unread": [{"message": f"{why.code}: {why.message}"}]}
    return found


def _monitoring(api: Api, params: Data) -> Snapshot:
    """Two small requests; who may not ask learns nothing of it."""
    with contextlib.suppress(AcceleratorError):
        namespace = api.get(known("Namespace"), params["namespace"])
        return {"namespaces": [namespace] if namespace else [], "monitors": api.list(known("ServiceMonitor"), params["namespace"])}
    return {}
