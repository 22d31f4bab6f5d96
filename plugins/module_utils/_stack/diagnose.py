# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explain a failed wait: choose logs, and add them, events of pods, and the state of OLM to the error.

A request that fails here must not hide the original failure.
"""

from __future__ import annotations

import contextlib
import re
import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, Snapshot, at, event_time, name, named, oldest
from .._kube.client import Api
from .._kube.kinds import by_name, known
from . import olm_stages, pointers, stages, table
from .judge import StackJudge
from .known_texts import EVENT, PULLS, SIGNATURES
from .operands import pod_is_ready
from .pods import EXPLAINED, IMAGES, add, add_log_end, refused, trouble
from .signatures import advice, recognise, reported_xids, telling
from .stages import Chain, Finding, is_consequence, late as late_of

MOST: t.Final = 4
TAIL: t.Final = 300
# For so long a log is tried: it hides no failure.
LOG_SECONDS: t.Final = 10.0
MOST_POINTERS: t.Final = 8
# Stages whose programs read what a label of the node names.
_BY_LABELS: t.Final = (stages.PLUGIN, stages.ALLOCATABLE, stages.VALIDATOR)
# Events that say no more than the state of a container.
_NO_NEWS: t.Final = re.compile(r"BackOff:|Failed: Error: \w+$")
# Codes of findings that no log explains further.
_NOT_IN_LOGS: t.Final = (
    "GPU-CP-CONFLICT",
    "GPU-CP-IGNORED",
    "GPU-MODE",
    "GPU-NODES",
    "GPU-NODE-NOT-READY",
    "GPU-NODE-UPDATING",
    "GPU-OPTED-OUT",
    "GPU-PAUSED",
    "GPU-TAINT",
    "GPU-UPG-HELD",
    "GPU-WORKLOAD",
    "NIC-IGNORED",
    "NIC-TAINT",
)


class Source(t.NamedTuple):
    """A container whose log is worth reading.

    container: empty if the pod never ran one; only its events say why. decides: its pod belongs to the
    decisive finding. node: where the pod is, or the node of the decisive finding. previous: read the log
    before the last restart. failed: there was such a restart, after an error.
    """

    namespace: str
    pod: str
    container: str
    decides: bool
    node: str = ""
    previous: bool = False
    failed: bool = False


def log_sources(
    findings: t.Sequence[Finding],
    pods: t.Sequence[KubeObject],
    decisive: Finding | None,
    known: t.Mapping[str, t.Sequence[str]],
) -> list[Source]:
    """Return the containers to read: those in trouble, then those of the decisive finding's stage.

    The decisive finding's node comes first; nodes without a finding are left out. known: stage -> prefixes of
    pod names.
    """
    if decisive is None or decisive.code in _NOT_IN_LOGS:
        return []
    nodes = {one.node for one in findings if one.node and not one.is_ready}
    names = known.get(decisive.stage, ())
    if decisive.code == "GPU-ALLOC":
        names = sorted(names, key=lambda start: "device-plugin" not in start)
    if decisive.stage in (stages.CRD, stages.LABELS):
        wanted = [pod for pod in pods if _rank(pod, names) < len(names)]
    else:
        here = [pod for pod in pods if pod["spec"].get("nodeName") in nodes]
        broken = [pod for pod in here if trouble(pod)]
        knowing = [pod for pod in here if pod not in broken and _rank(pod, names) < len(names)]
        wanted = broken + [pod for pod in knowing if _decides(pod, decisive) or not pod_is_ready(pod)]
    wanted.sort(
        key=lambda pod: (not _decides(pod, decisive), _rank(pod, names), trouble(pod) is None, name(pod))
    )
    return [
        Source(
            pod["metadata"]["namespace"],
            name(pod),
            container,
            _decides(pod, decisive),
            decisive.node or pod["spec"].get("nodeName") or "",
            _runs_again(pod, container),
            bool(at(_status(pod, container), "lastState.terminated.exitCode")),
        )
        for pod in wanted
        for container in _containers(pod)
    ][:MOST]


def _runs_again(pod: KubeObject, container: str) -> bool:
    """Return whether the container runs at the moment, although it is in trouble."""
    return "running" in (_status(pod, container).get("state") or {}) and trouble(pod) is not None


def _status(pod: KubeObject, container: str) -> KubeObject:
    status = pod.get("status", {})
    every = [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
    return next((one for one in every if one["name"] == container), {})


def _decides(pod: KubeObject, decisive: Finding) -> bool:
    return not decisive.node or pod["spec"].get("nodeName") == decisive.node


def _rank(pod: KubeObject, names: t.Sequence[str]) -> int:
    return next((index for index, start in enumerate(names) if name(pod).startswith(start)), len(names))


def _containers(pod: KubeObject) -> list[str]:
    """Return the container in trouble, else a running init container, else those that are not Ready.

    An empty name stands for a container that has no log.
    """
    if found := trouble(pod) or refused(pod):
        return [found.container if found.has_log else ""]
    status = pod.get("status", {})
    init = status.get("initContainerStatuses") or []
    running = [one["name"] for one in init if not (one.get("state") or {}).get("terminated")]
    if running:
        return running[:1]
    states = status.get("containerStatuses") or []
    late = [one["name"] for one in states if not one.get("ready")]
    return (late or [one["name"] for one in pod["spec"].get("containers") or states][:1])[:2]


def add_unreadable(error: AcceleratorError, source: Source, why: AcceleratorError) -> None:
    said = f"its log could not be read: {why.code}: {why.message}"
    error.evidence.append(f"{source.pod}/{source.container}: {said}")


def add_log(error: AcceleratorError, source: Source, log: str) -> None:
    """Add a log to the error; a known text of a deciding container sets code and remedy."""
    found = reported_xids(log)
    if found and source.decides and error.code == "GPU-ALLOC":
        said, remedy = advice(found, source.node)
        error.code, error.remedy = "GPU-HW-XID", remedy
        add(error, f"The device plugin took it out of service: {said}.")
        lines = [line.strip() for line in log.splitlines() if reported_xids(line)]
        error.evidence += [f"{source.pod}/{source.container}: {line}" for line in lines[-5:]]
    elif source.decides:
        add_log_end(error, source.pod, source.container, log, node=source.node, namespace=source.namespace)
    else:
        other = AcceleratorError("", "")
        add_log_end(other, source.pod, source.container, log)
        error.evidence += other.evidence[-3:]


def add_events(error: AcceleratorError, source: Source, events: t.Iterable[KubeObject]) -> None:
    """Add the first event with a known text; a failure before a container starts is in no log.

    Without one, the latest is quoted if no log is.
    """
    told = [one for one in events if one.get("type") != "Normal" and not _NO_NEWS.match(_told(one))]
    for event in told:
        text, reason = str(event.get("message") or ""), str(event.get("reason") or "event")
        table = PULLS if error.code in IMAGES and reason == "Failed" else SIGNATURES
        if known := recognise(text, table, EVENT):
            names = {"node": source.node, "pod": source.pod, "namespace": source.namespace}
            error.evidence.append(f"{source.pod}/{reason}: {text}")
            if table is PULLS or error.code in EXPLAINED:
                add(error, f"An event ({reason}) of pod {source.pod} says that {known.meaning}: {text}")
                error.code = error.code if table is PULLS else known.code
                error.remedy = known.advice(error.remedy, **names)
            return
    if told and "The log of container " not in error.message:
        last = max(told, key=event_time)
        error.evidence.append(f"{source.pod}/{_told(last)}")
        add(error, f"An event of pod {source.pod} says: {_told(last)}")


def _told(event: KubeObject) -> str:
    return f"{event.get('reason') or 'event'}: {event.get('message') or ''}"


def _pointers(
    api: Api, judge: StackJudge, decisive: Finding, namespace: str
) -> t.Iterator[tuple[pointers.Label | pointers.Name, KubeObject | None, str]]:
    """Yield the pointers of the decisive finding's node and of its pods that are not Ready.

    Each comes with the pod, None for a label of the node, and its namespace.
    """
    node, policies = named(judge.seen["nodes"], decisive.node), judge.seen.get("policies") or []
    if decisive.stage in _BY_LABELS and policies and not decisive.code.startswith("NIC-"):
        for label in pointers.of_node(node, oldest(policies)) if node else ():
            yield label, None, namespace
    here = [pod for pod in judge.seen["pods"] if pod["spec"].get("nodeName") == decisive.node]
    late = [pod for pod in here if decisive.node and not pod_is_ready(pod)]
    for pod in sorted(late, key=lambda pod: (trouble(pod) is None, name(pod))):
        more = pointers.pull_secrets(pod) if decisive.code in IMAGES else []
        for one in [*pointers.of_pod(pod), *more]:
            yield one, pod, pod["metadata"]["namespace"]


def _look_up(api: Api, one: pointers.Label | pointers.Name, namespace: str) -> KubeObject | None:
    """Return the object that a pointer names, or None; of Secrets only metadata is read."""
    if isinstance(one, pointers.Label):
        return api.get(known("ConfigMap"), one.config_map, namespace) if one.config_map else None
    if one.kind == "Secret":
        found = api.list(known("Secret"), namespace, fields=by_name(one.name), metadata_only=True)
        return next(iter(found), None)
    return api.get(known(one.kind), one.name, namespace)


def check_pointers(api: Api, judge: StackJudge, error: AcceleratorError, namespace: str) -> None:
    """Make a pointer to nothing the cause of the error, by at most MOST_POINTERS small requests."""
    decisive = _decisive(judge, error.code)
    if decisive is None or decisive.code in _NOT_IN_LOGS:
        return
    read: dict[tuple[str, str], KubeObject | None] = {}
    for one, pod, place in _pointers(api, judge, decisive, namespace):
        where = ("ConfigMap", one.config_map) if isinstance(one, pointers.Label) else (one.kind, one.name)
        if where not in read and len(read) == MOST_POINTERS:
            return
        try:
            live = read[where] if where in read else _look_up(api, one, place)
        except AcceleratorError as why:
            error.evidence.append(f"{where[0]} {where[1]} could not be read: {why.code}: {why.message}")
            continue
        read[where] = live
        if isinstance(one, pointers.Label):
            wrong = pointers.judge_label(one, live, place)
        else:
            wrong = pointers.judge_name(pod or {}, one, live)
        if wrong and not wrong.code:
            error.evidence.append(wrong.message)
        elif wrong:
            add(error, wrong.message)
            error.code, error.remedy = wrong.code, wrong.remedy
            return


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
    find_cause(api, judge, error, pods, namespace)
    seen = {**judge.seen, **operator(api, namespace, judge.chain.package)}
    error.facts["special_resource"] = summarize(seen, judge.findings)


def explain_look(
    api: Api,
    namespace: str,
    judge: StackJudge,
    snapshot: Snapshot,
    found: dict[str, t.Any],
    pods: t.Mapping[str, t.Sequence[str]],
) -> None:
    """Give the pools of a look the cause that a failed wait would give; found: the result so far.

    A look is a dry run that does not wait. Only the first trouble is explained.
    """
    if not api.check_mode or api.wait_wanted or (verdict := judge(snapshot)).is_ready:
        return
    error = AcceleratorError(verdict.code, verdict.message, verdict.remedy)
    find_cause(api, judge, error, pods, namespace)
    for pool in found["pools"]:
        if (pool["code"], pool["message"]) == (verdict.code, verdict.message):
            pool |= {"code": error.code, "message": error.message, "remedy": error.remedy}
    found["table"] += error.evidence


def explain_absent(api: Api, name: str, namespace: str, chain: Chain, error: AcceleratorError) -> None:
    """Add the state of OLM to the error that the cluster does not serve the custom resource."""
    snapshot = {"nodes": [], **operator(api, namespace, chain.package)}
    found = table.summarize(chain, snapshot, {}, [], [])
    error.facts["special_resource"] = {"name": name, "state": "", "reason": "", "nodes": [], **found}
    error.evidence += found["table"]


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
    places = late_of(late)
    if not is_consequence(first, places, judge.chain):
        return first
    here = (one for one in late if one.node == first.node)
    return next((one for one in here if not is_consequence(one, places, judge.chain)), first)


def find_cause(
    api: Api,
    judge: StackJudge,
    error: AcceleratorError,
    pods: t.Mapping[str, t.Sequence[str]],
    namespace: str,
) -> None:
    """Add to the error what pointers, logs and events say about its cause."""
    decisive = _decisive(judge, error.code)
    check_pointers(api, judge, error, namespace)
    read_logs(api, judge, error, pods, decisive)


def _log(api: Api, source: Source) -> str:
    """Return the log; the one before the last restart if that ended with an error, and this tells of none."""
    log = api.log(*source[:3], tail_lines=TAIL, previous=source.previous, outage=LOG_SECONDS)
    if source.failed and not source.previous and recognise(log) is None and not telling(log)[1]:
        with contextlib.suppress(AcceleratorError):
            before = api.log(*source[:3], tail_lines=TAIL, previous=True, outage=LOG_SECONDS)
            return before if telling(before)[1] else log
    return log


def read_logs(
    api: Api,
    judge: StackJudge,
    error: AcceleratorError,
    pods: t.Mapping[str, t.Sequence[str]],
    decisive: Finding | None,
) -> None:
    """Add to the error the logs that may say why, and the events of the pod of the decisive finding."""
    sources = log_sources(judge.findings, judge.seen["pods"], decisive, pods)
    logs = []
    for source in [one for one in sources if one.container]:
        try:
            log = _log(api, source)
        except AcceleratorError as why:
            add_unreadable(error, source, why)
        else:
            logs.append((source, log))
    # A known text says more than any other line, and an error more than progress, whoever prints it.
    for source, log in sorted(logs, key=lambda one: (recognise(one[1]) is None, not telling(one[1])[1])):
        add_log(error, source, log)
    if decisive is None or not sources or not sources[0].decides or error.code != decisive.code:
        return
    with contextlib.suppress(AcceleratorError):
        fields = by_name(sources[0].pod).replace("metadata.name", "involvedObject.name", 1)
        events = api.list(known("Event"), sources[0].namespace, fields=fields)
        add_events(error, sources[0], events)
