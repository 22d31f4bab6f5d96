# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Explain a failed wait: read logs and events of the pods in question, and the state of OLM.

A request that fails here must not hide the original failure.
"""

from __future__ import annotations

import contextlib
import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, Snapshot
from .._kube.client import Api
from .._kube.kinds import by_name, known
from . import logs, olm_stages, table
from .finding import Finding, is_consequence
from .judge import StackJudge
from .stages import Chain


def explain(
    api: Api,
    namespace: str,
    judge: StackJudge,
    error: AcceleratorError,
    pods: t.Mapping[str, t.Sequence[str]],
    summarize: t.Callable[[Snapshot, list[Finding]], dict[str, t.Any]],
) -> None:
    """Add logs, events and the state of OLM to the error of a failed wait.

    pods: stage -> name prefixes of the pods whose logs say why it is not ready.
    """
    if not judge.seen:
        return
    read_logs(api, judge, error, pods)
    seen = {**judge.seen, **operator(api, namespace, judge.chain.package)}
    error.facts["special_resource"] = summarize(seen, judge.findings)


def explain_absent(api: Api, name: str, namespace: str, chain: Chain, error: AcceleratorError) -> None:
    """Add the state of OLM to the error that the cluster does not serve the custom resource."""
    snapshot = {"nodes": [], **operator(api, namespace, chain.package)}
    found = table.summarize(chain, snapshot, {}, [], [])
    error.facts["special_resource"] = {"name": name, "state": "", "reason": "", "nodes": [], **found}
    error.evidence += found["lines"]


def operator(api: Api, namespace: str, package: str) -> dict[str, list[KubeObject]]:
    """Return OLM's objects of the operator, or why they could not be read, by four small requests."""
    found: dict[str, list[KubeObject]] = {"subscriptions": [], "plans": [], "csvs": [], "catalogs": []}
    try:
        found["subscriptions"] = api.list(known("Subscription"), namespace)
        live = olm_stages.subscription(found["subscriptions"], package)
        spec = (live or {}).get("spec") or {}
        if spec.get("source"):
            catalog = api.get(known("CatalogSource"), spec["source"], spec["sourceNamespace"])
            found["catalogs"] = [catalog] if catalog else []
        found["plans"] = api.list(known("InstallPlan"), namespace) if live else []
        found["csvs"] = api.list(known("ClusterServiceVersion"), namespace)
    except AcceleratorError as why:
        return {**found, "unread": [{"message": f"{why.code}: {why.message}"}]}
    return found


def _decisive(judge: StackJudge, code: str) -> Finding | None:
    """Return the finding that gave the verdict, or the cause that it waits for; None if neither is known."""
    late = [one for one in judge.findings if not one.is_ready]
    first = next((one for one in late if one.is_failed), next(iter(late), None))
    if first is None or first.code != code:
        return None
    if not is_consequence(first, late, judge.chain):
        return first
    here = (one for one in late if one.node == first.node)
    return next((one for one in here if not is_consequence(one, late, judge.chain)), first)


def read_logs(
    api: Api, judge: StackJudge, error: AcceleratorError, pods: t.Mapping[str, t.Sequence[str]]
) -> None:
    """Add to the error the logs that may say why, and the events of the pod of the decisive finding."""
    decisive = _decisive(judge, error.code)
    sources = logs.sources(judge.findings, judge.seen["pods"], decisive, pods)
    for source in sources:
        try:
            log = api.log(source.namespace, source.pod, source.container, tail_lines=logs.TAIL)
        except AcceleratorError as why:
            logs.unreadable(error, source, why)
        else:
            logs.read(error, source, log)
    if decisive is None or not sources or not sources[0].decides or error.code != decisive.code:
        return
    with contextlib.suppress(AcceleratorError):
        fields = by_name(sources[0].pod).replace("metadata.name", "involvedObject.name", 1)
        events = api.list(known("Event"), sources[0].namespace, fields=fields)
        logs.read_events(error, sources[0].pod, events)
