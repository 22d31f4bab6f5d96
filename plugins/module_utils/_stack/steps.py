# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of several backends: report or take over a foreign object, wait, and explain a failed wait."""

from __future__ import annotations

import typing as t

from .._core import fields
from .._core.adoption import difference, foreign
from .._core.errors import NotReadyError, WaitTimeoutError
from .._core.objects import KubeObject, Snapshot, name
from .._core.ownership import owned, selector
from .._impact import consent, driver
from .._impact.impact import Question
from .._kube.client import Api, Query
from .._kube.kinds import Kind, known
from .._nodes import drain
from .._nodes.labels import common_selector
from .._olm.catalogue import newest_csv
from .._olm.versions import PACKAGE
from .judge import GoOn, StackJudge
from .params import LookParams, StackParams, StackPool
from .stages import Finding
from .upgrade import HELD_BACK, Budget, blocked

# Seconds until the operator's status reflects a change.
REACTION: t.Final = 5.0
BUSY: t.Final = "GPU-BUSY"


def installed_csvs(api: Api, namespace: str) -> list[KubeObject]:
    """Return the ClusterServiceVersions of the namespace; empty without OLM."""
    return api.list_if_served(known("ClusterServiceVersion"), namespace)


def example_csvs(
    api: Api, namespace: str, live: KubeObject | None, package: str = PACKAGE
) -> list[KubeObject]:
    """Return the ClusterServiceVersions whose examples a new object starts from.

    live: the object. In check mode an earlier task would install the operator: if there is neither the object
    nor an operator, return the newest CSV of the package in the catalogue.
    """
    found = installed_csvs(api, namespace)
    kind = known("PackageManifest")
    if found or live is not None or not api.check_mode or not api.served(kind):
        return found
    offer = api.get(kind, package, "openshift-marketplace")
    return [newest_csv(offer)] if offer else []


def settle_seconds(api: Api, settle: float) -> float:
    """Return how many seconds a verdict has to hold; the status of a changed object may still be old."""
    return float(max(settle, REACTION if any(one.before for one in api.changes) else 0))


def settle_foreign(
    api: Api, adopt: str, kind: Kind, wanted: KubeObject, live: KubeObject
) -> list[dict[str, t.Any]]:
    """Report or take over (adopt) the fields of a foreign object; return the remaining differences."""
    found = foreign(live, wanted, f"{kind.kind} {name(live)}")
    if adopt == "take":
        if found.differs:
            changes = {"spec": difference(wanted, live.get("spec") or {})}
            api.merge_patch(kind, name(live), None, changes)
        return []
    if found.warning:
        api.warn(found.warning)
    return found.differs


def ask_change(
    api: Api,
    params: StackParams,
    live: KubeObject | None,
    wanted: KubeObject | None,
    *,
    nodes: str = "",
    harmless: tuple[str, ...] = (),
) -> list[dict[str, t.Any]]:
    """Return what a change may end of an object whose operator we do not know, as the result's key `ends`.

    Raise AcceleratorError before the first write if pods end and on_busy does not let them. wanted: None for
    a deletion. nodes: the selector of the object's nodes; without it those of the pools, or all. harmless:
    paths below spec whose change ends nothing.
    """
    if live is None or (wanted and not (owned(live) or params.adopt == "take")):
        return []
    object_name = f"{live['kind']} {name(live)}"
    cause = f"{object_name} is deleted, and its operator may take the devices away"
    if wanted is not None:
        before, after = (one.get("spec") or {} for one in (live, fields.applied(live, wanted)))
        paths = [one for one in driver.differences(before, after) if not one.startswith(harmless)]
        if not paths:
            return []
        said = ", ".join(f"spec.{one}" for one in paths[:5]) + (" and more" if paths[5:] else "")
        cause = (
            f"{said} of {object_name} changes, and its operator may restart or remove what pods with devices "
            "need"
        )
    selectors = [nodes] if nodes else [selector(one["node_selector"]) for one in params.pools]
    by = f"the operator of {object_name}"
    # Such an operator may bring any device, so it need not be a GPU.
    asked = [
        Question(cause, by, one, is_certain=False, counts=drain.uses_devices)
        for one in dict.fromkeys(selectors or [""])
    ]
    return consent.ask(api, asked, params.on_busy, BUSY)


def nodes_query(pools: t.Sequence[StackPool]) -> Query:
    return Query(known("Node"), labels=common_selector([pool["node_selector"] for pool in pools]))


def stack_queries(params: LookParams) -> dict[str, Query]:
    """Return the queries that every operator's stack needs besides its custom resource."""
    namespace = params.namespace
    return {
        "nodes": nodes_query(params.pools),
        "daemonsets": Query(known("DaemonSet"), namespace),
        "pods": Query(known("Pod"), namespace),
        "revisions": Query(known("ControllerRevision"), namespace),
    }


def toolkit_query() -> Query:
    return Query(known("ImageStream"), "openshift", "driver-toolkit")


class Wait(t.NamedTuple):
    """The queries and the judge of a backend's wait.

    pods: stage -> name prefixes of the pods whose logs say why it is not ready.
    """

    object_name: str
    queries: dict[str, Query]
    judge: StackJudge
    pods: t.Mapping[str, t.Sequence[str]]
    summarize: t.Callable[[Snapshot, list[Finding]], dict[str, t.Any]]


def observe(
    api: Api, params: LookParams, wait: Wait, verdict: t.Callable[[Snapshot], t.Any] | None = None
) -> dict[str, list[KubeObject]]:
    """Wait until the judge says ready, and return the last snapshot; warn of nodes outside the pools.

    verdict: used in place of wait.judge. Each node whose driver an operator replaces makes the wait longer.
    Raise NotReadyError or WaitTimeoutError with logs, events and the state of OLM as evidence.
    """
    judge, budget = verdict or wait.judge, Budget(api.deadline.seconds, params.node_timeout)
    settle = settle_seconds(api, params.settle)
    go_on = GoOn(params.given_up if verdict is None else (), settle, api.clock)

    def judged(seen: Snapshot) -> t.Any:
        api.deadline.grow(budget.seconds(seen["nodes"]))
        found = judge(seen)
        return go_on(found, wait.judge.findings, blocked(seen)) if params.go_on else found

    try:
        snapshot = api.wait(wait.queries, judged, wait.object_name, settle)
    except (NotReadyError, WaitTimeoutError) as exc:
        from . import diagnose

        diagnose.explain(api, params.namespace, wait.judge, exc, wait.pods, wait.summarize)
        raise
    if api.check_mode:
        # A dry run waits for nothing. What would fail the real run at once is said.
        wait.judge(snapshot)
        for one in wait.judge.findings:
            if one.code == HELD_BACK:
                api.warn(f"{one.message}. {one.remedy}")
        return snapshot
    if note := next((one for one in wait.judge.findings if one.reason == "OthersNotReady"), None):
        api.warn(note.message)
    return snapshot
