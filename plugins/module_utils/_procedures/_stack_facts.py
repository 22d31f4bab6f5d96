# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What a task tells of the stack: stages, pools, and in trouble the logs. What a stack that works does not need is not asked for."""

from __future__ import annotations

import contextlib
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _stack as stack
from ansible_collections.accelerators.openshift.plugins.module_utils import _stack_summary as summary
from ansible_collections.accelerators.openshift.plugins.module_utils import _stages as stages
from ansible_collections.accelerators.openshift.plugins.module_utils._api import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._kinds import by_name, known
from ansible_collections.accelerators.openshift.plugins.module_utils._readiness import FAILED
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_part import Part, is_consequence
from ansible_collections.accelerators.openshift.plugins.module_utils._stages import Stage

Data = dict[str, t.Any]
PACKAGE: t.Final = "gpu-operator"


def facts(api: Api, params: Data, judge: stack.Judge, snapshot: dict[str, list[Data]]) -> Data:
    """After a wait that ended well, or after one look in check mode or without waiting."""
    first_look = judge.looks <= 1
    if judge.seen is not snapshot:
        judge(snapshot)
    unready = any(not part.is_ready for part in judge.parts)
    metrics = None if first_look or api.check_mode else _metrics(api, params, snapshot)
    if metrics is not None and metrics.verdict == FAILED:
        api.warn(f"The GPUs' metrics do not reach the cluster's monitoring: {'; '.join(metrics.evidence)}.")
    if status := next((part for part in judge.parts if part.reason == "OthersNotReady"), None):
        api.warn(status.message)
    return _told(params, judge, snapshot, _operator(api, params) if unready and not api.check_mode else (), metrics)


def explain(api: Api, params: Data, judge: stack.Judge, error: AcceleratorError) -> None:
    """Adds to a failed wait what logs and OLM say; reading them is worth a try, and must not hide the failure."""
    if not judge.seen:
        return
    decisive = _decisive(judge.parts)
    _read_logs(api, judge, error, decisive)
    told = _told(params, judge, judge.seen, _operator(api, params), _metrics(api, params, judge.seen))
    error.facts["special_resource"] = told


def explain_absent(api: Api, params: Data, error: AcceleratorError) -> None:
    """The cluster does not serve the custom resource: how far is the operator?"""
    before = _operator(api, params)
    settled = stages.settle({stage.name: stage for stage in [*before, Stage(stages.CRD, stages.WAITING, evidence=(error.message,))]})
    table = [stages.told(stage) for stage in settled.values()]
    error.facts["special_resource"] = {"name": params["name"], "state": "absent", "reason": "", "nodes": [], "stages": table, "lines": stages.table(table)}
    error.evidence += stages.table(table)


def _told(params: Data, judge: stack.Judge, snapshot: dict[str, list[Data]], before: t.Sequence[Stage], metrics: Stage | None) -> Data:
    name, pools = params["name"], params["pools"]
    table = summary.stages_of(snapshot, name, pools, judge.parts, before, metrics)
    return {
        **summary.summarize(snapshot, name, pools),
        "pools": summary.pools_of(snapshot, pools, judge.parts),
        "others": summary.others(snapshot, pools),
        "stages": table,
        "lines": stages.table(table),
    }


def _decisive(parts: t.Sequence[Part]) -> Part | None:
    """The part that the wait's verdict came from: the first failed one, else the first that is not ready."""
    behind = [part for part in parts if not part.is_ready]
    first = next((part for part in behind if part.is_failed), next(iter(behind), None))
    if first is None or not is_consequence(first, behind):
        return first
    return next((part for part in behind if part.node == first.node and not is_consequence(part, behind)), first)


def _read_logs(api: Api, judge: stack.Judge, error: AcceleratorError, decisive: Part | None) -> None:
    from ansible_collections.accelerators.openshift.plugins.module_utils import _stack_logs as logs

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


def _operator(api: Api, params: Data) -> list[Stage]:
    """Read where something is not ready: four small requests."""
    from ansible_collections.accelerators.openshift.plugins.module_utils import _stage_olm as stage_olm

    namespace = params["namespace"]
    try:
        subscriptions = api.list(known("Subscription"), namespace)
        live = stage_olm.subscription(subscriptions, PACKAGE)
        spec = (live or {}).get("spec") or {}
        catalog = api.get(known("CatalogSource"), spec["source"], spec["sourceNamespace"]) if spec.get("source") else None
        plans = api.list(known("InstallPlan"), namespace) if live else []
        found = stage_olm.Found(namespace, subscriptions, plans, api.list(known("ClusterServiceVersion"), namespace), catalog)
    except AcceleratorError as why:
        found = stage_olm.Found(namespace, None, unread=f"{why.code}: {why.message}")
    return stage_olm.judge(found, PACKAGE)


def _metrics(api: Api, params: Data, snapshot: dict[str, list[Data]]) -> Stage | None:
    """Asked when the stack came up while we looked, or does not: not on every run over a stack that works."""
    policy = stack.policy_of(snapshot, params["name"])
    if not policy:
        return None
    from ansible_collections.accelerators.openshift.plugins.module_utils import _stage_metrics as stage_metrics

    namespace = params["namespace"]
    try:
        return stage_metrics.judge(policy, api.get(known("Namespace"), namespace), api.list(known("ServiceMonitor"), namespace))
    except AcceleratorError as why:
        return Stage(stages.METRICS, evidence=(f"not known how metrics are collected: {why.code}: {why.message}",))
