# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels that nodes must have: present, missing, or lost and back again."""

from __future__ import annotations

import datetime
import email.utils
import typing as t

from .._catalogue.well_known import NVIDIA_PCI
from .._core import conditions
from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot
from .._core.ownership import written
from .._core.readiness import Grace, Readiness, failed, pending, ready, worst
from .._nodes.labels import has_nvidia_pci, labels, text
from .._nodes.taints import matches, untolerated
from . import instance as nfd_instance
from .params import Expectation, NfdLabelsParams

# Fails only after the grace period: the operator reports Degraded during the rollout of its DaemonSet.
PASSING: t.Final = ("NFD-DEGRADED",)
# Times have whole seconds, and the clocks of two API servers differ a little.
_DOUBT: t.Final = 3.0


class Judge:
    """Ready when the instance is Available and every expectation is met.

    Degraded and a missing label are failures only after the grace period. For a label it begins when the
    instance
    is Available: then every worker runs, and a worker publishes its features when it starts.
    """

    def __init__(self, params: NfdLabelsParams, clock: t.Callable[[], float]) -> None:
        self._params = params
        self._clock = clock
        self._patience = Grace(clock, params.grace, PASSING)
        self._labels = Grace(clock, params.grace, ("NFD-LABEL-MISSING",))
        self._met: set[tuple[str, str]] = set()
        self._gone: dict[tuple[str, str], float] = {}
        self.lost: list[dict[str, t.Any]] = []
        self.missing: dict[str, tuple[KubeObject, list[str]]] = {}
        # For each expectation, in order, whether no node lacked a label at the last look.
        self.met: list[bool] = []

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self._remember(snapshot)
        instance, *labels_of = self._patience.harden(judge(snapshot, self._params))
        lasting = self._labels.harden(labels_of if instance.is_ready else [])
        verdict = worst([instance, *(lasting if instance.is_ready else labels_of)])
        return ready("Labelled", "Every expected label is there.") if verdict.is_ready else verdict

    def _remember(self, snapshot: Snapshot) -> None:
        """Note which labels disappear and come back during the wait, and for how long."""
        now = self._clock()
        self.missing, self.met = {}, []
        for expectation in self._params.expect:
            nodes = selected(snapshot["nodes"], expectation)
            self.met.append(not any(unmet_keys(node, expectation["labels"]) for node in nodes))
            for node in nodes:
                missing = unmet_keys(node, expectation["labels"])
                if absent := [label for label in missing if expectation["labels"][label] is not None]:
                    self.missing[str(node["metadata"]["name"])] = (node, absent)
                for label in expectation["labels"]:
                    place = (str(node["metadata"]["name"]), label)
                    if label not in missing:
                        self._met.add(place)
                        if place in self._gone:
                            self.lost.append(
                                {
                                    "node": place[0],
                                    "label": label,
                                    "seconds": round(now - self._gone.pop(place), 1),
                                }
                            )
                    elif place in self._met:
                        self._gone.setdefault(place, now)


def judge(snapshot: Snapshot, params: NfdLabelsParams) -> list[Readiness]:
    """Return the state of the instance, then of every expectation that is not met."""
    name = params.name
    if "upstream" in snapshot:
        instance = None
        parts = [nfd_instance.judge_upstream(snapshot["upstream"])]
    else:
        instance = instance_of(snapshot, params)
        parts = [nfd_instance.judge(instance, name)]
    for expectation in params.expect:
        parts += _judge_expectation(snapshot["nodes"], expectation, nfd_instance.worker_tolerations(instance))
    return parts


def instance_of(snapshot: Snapshot, params: NfdLabelsParams) -> KubeObject | None:
    """Return the instance that the parameters name, or None."""
    place = (params.name, params.namespace)
    return next(
        (
            one
            for one in snapshot.get("instances", ())
            if (one["metadata"]["name"], one["metadata"]["namespace"]) == place
        ),
        None,
    )


def held(snapshot: Snapshot, params: NfdLabelsParams, date: str) -> float:
    """Return for how many seconds the instance and the labels have been as they are, or 0 if nobody knows.

    date: the API server's time, as a header has it. managedFields say when the writer of a label last changed
    one of its fields; of a label that is gone they say nothing.
    """
    since = [conditions.find(instance_of(snapshot, params), "Available").get("lastTransitionTime")]
    since += [
        written(node, key)
        for expectation in params.expect
        for node in selected(snapshot["nodes"], expectation)
        for key in (*expectation["labels"], *(expectation["node_selector"] or {}))
    ]
    try:
        last = max(datetime.datetime.fromisoformat(str(when)) for when in since)
        return max(0.0, (email.utils.parsedate_to_datetime(date) - last).total_seconds() - _DOUBT)
    except (TypeError, ValueError):
        # A time is missing, or is none.
        return 0.0


def expected_nodes(snapshot: Snapshot, params: NfdLabelsParams) -> list[KubeObject]:
    """Return the nodes that `expect` selects, sorted by name."""
    found = {
        node["metadata"]["name"]: node
        for expectation in params.expect
        for node in selected(snapshot["nodes"], expectation)
    }
    return [found[name] for name in sorted(found)]


def _judge_expectation(
    nodes: t.Sequence[KubeObject], expectation: Expectation, tolerations: list[dict[str, t.Any]]
) -> list[Readiness]:
    found = selected(nodes, expectation)
    names = {node["metadata"]["name"] for node in found}
    wanted = len(expectation.get("nodes") or []) or (
        1 if expectation.get("min_nodes") is None else expectation["min_nodes"]
    )
    parts = []
    if len(found) < wanted:
        missing = [name for name in expectation.get("nodes") or [] if name not in names]
        what = f"{len(found)} of {wanted} nodes exist ({', '.join(missing) or _selector(expectation)})"
        text = text_of("NFD-NODES", number=what)
        parts.append(pending("NodesMissing", **text._asdict(), details=(what,)))
    for node in found:
        phrases = unmet(node, expectation["labels"])
        if phrases:
            parts.append(_judge_missing(node, phrases, tolerations))
    return parts


def _judge_missing(node: KubeObject, phrases: list[str], tolerations: list[dict[str, t.Any]]) -> Readiness:
    name = node["metadata"]["name"]
    taints = [taint for taint in untolerated(node, tolerations) if taint.endswith(":NoExecute")]
    what = f"{name}: {'; '.join(phrases)}"
    if taints:
        text = text_of("NFD-TAINT", node=name, labels="; ".join(phrases), taints=", ".join(taints))
        return failed(f"NoWorker:{name}", **text._asdict(), details=(what,))
    text = text_of("NFD-LABEL-MISSING", node=name, labels="; ".join(phrases))
    return pending(f"Labels:{name}", **text._asdict(), details=(what,))


def _selector(expectation: Expectation) -> str:
    return (
        ",".join(f"{key}={text(value)}" for key, value in (expectation.get("node_selector") or {}).items())
        or "any node"
    )


def selected(nodes: t.Iterable[dict[str, t.Any]], choice: t.Mapping[str, t.Any]) -> list[dict[str, t.Any]]:
    """Return the nodes that `nodes` (names) or else `node_selector` of the choice select, sorted by name.

    A label of the selector with the value None must be absent.
    """
    names = choice.get("nodes") or []
    chosen = choice.get("node_selector") or {}
    wanted = {key: text(value) or "" for key, value in chosen.items() if value is not None}
    without = [key for key, value in chosen.items() if value is None]
    found = [
        node
        for node in nodes
        if (node["metadata"]["name"] in names if names else _fits(labels(node), wanted, without))
    ]
    return sorted(found, key=lambda node: str(node["metadata"]["name"]))


def _fits(marks: t.Mapping[str, str], wanted: t.Mapping[str, str], without: t.Iterable[str]) -> bool:
    return matches(wanted, marks) and not any(key in marks for key in without)


def unmet(node: dict[str, t.Any], wanted: t.Mapping[str, t.Any]) -> list[str]:
    """Return a phrase for each label that is not as expected."""
    marks, phrases = labels(node), []
    for key in unmet_keys(node, wanted):
        want, have = text(wanted[key]), marks.get(key)
        if want is None:
            phrases.append(f"has {key}={have}, which must be absent")
        else:
            phrases.append(f"lacks {key}={want}" if have is None else f"has {key}={have}, expected {want}")
    return phrases


def unmet_keys(node: dict[str, t.Any], wanted: t.Mapping[str, t.Any]) -> list[str]:
    """Return the keys of the labels that are not as expected, sorted."""
    marks = labels(node)
    return [key for key, value in sorted(wanted.items()) if not _is_met(key, text(value), marks)]


def _is_met(key: str, want: str | None, marks: t.Mapping[str, str]) -> bool:
    return want == marks.get(key) or (key == NVIDIA_PCI and want == "true" and has_nvidia_pci(marks))
