# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What is read in trouble, of any operator: logs and events of the pods that know why, and how far OLM is. Reading them must not hide the failure."""

from __future__ import annotations

import contextlib
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import by_name, known
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import table
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import (
    Part,
    is_consequence,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import Chain

Data = dict[str, t.Any]
Snapshot = dict[str, list[Data]]


class Judged(t.Protocol):
    """What a judge remembers of its last look."""

    chain: Chain
    seen: Snapshot
    parts: list[Part]


def explain(
    api: Api,
    namespace: str,
    judge: Judged,
    error: AcceleratorError,
    names: t.Mapping[str, t.Sequence[str]],
    summarize: t.Callable[[Snapshot, list[Part]], Data],
) -> None:
    """Adds to a failed wait what logs and OLM say. names: stage -> beginnings of the names of pods that know why it is not ready."""
    if not judge.seen:
        return
    read_logs(api, judge, error, names)
    error.facts["special_resource"] = summarize(
        {**judge.seen, **operator(api, namespace, judge.chain.package)}, judge.parts
    )


def explain_absent(api: Api, name: str, namespace: str, chain: Chain, error: AcceleratorError) -> None:
    """The cluster does not serve the custom resource: how far is its operator?"""
    found = table.summarize(chain, {"nodes": [], **operator(api, namespace, chain.package)}, {}, [], [])
    error.facts["special_resource"] = {"name": name, "state": "", "reason": "", "nodes": [], **found}
    error.evidence += found["lines"]


def operator(api: Api, namespace: str, package: str) -> Snapshot:
    """Four small requests."""
    from ansible_collections.accelerators.openshift.plugins.module_utils._stack import olm_stages

    empty = list[Data]()
    found: Snapshot = {"subscriptions": empty, "plans": empty, "csvs": empty, "catalogs": empty}
    try:
        found["subscriptions"] = api.list(known("Subscription"), namespace)
        live = olm_stages.subscription(found["subscriptions"], package)
        spec = (live or {}).get("spec") or {}
        catalog = (
            api.get(known("CatalogSource"), spec["source"], spec["sourceNamespace"])
            if spec.get("source")
            else None
        )
        found["catalogs"] = [catalog] if catalog else []
        found["plans"] = api.list(known("InstallPlan"), namespace) if live else []
        found["csvs"] = api.list(known("ClusterServiceVersion"), namespace)
    except AcceleratorError as why:
        return {**found, "unread": [{"message": f"{why.code}: {why.message}"}]}
    return found


def _decisive(judge: Judged, code: str) -> Part | None:
    """The part that the wait's verdict came from, or what it waits for: the first failed one, else the first that is not ready."""
    behind = [part for part in judge.parts if not part.is_ready]
    first = next((part for part in behind if part.is_failed), next(iter(behind), None))
    if first is None or first.code != code:
        return None
    if not is_consequence(first, behind, judge.chain):
        return first
    return next(
        (
            part
            for part in behind
            if part.node == first.node and not is_consequence(part, behind, judge.chain)
        ),
        first,
    )


def read_logs(
    api: Api, judge: Judged, error: AcceleratorError, names: t.Mapping[str, t.Sequence[str]]
) -> None:
    from ansible_collections.accelerators.openshift.plugins.module_utils._stack import logs

    decisive = _decisive(judge, error.code)
    sources = logs.sources(judge.parts, judge.seen["pods"], decisive, names)
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
                logs.read_events(
                    error,
                    pod[1],
                    api.list(
                        known("Event"),
                        pod[0],
                        fields=by_name(pod[1]).replace("metadata.name", "involvedObject.name", 1),
                    ),
                )
