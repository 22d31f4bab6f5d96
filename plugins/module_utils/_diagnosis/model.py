# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a diagnosis finds: the layers in order, troubles, and which trouble is the cause of which."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass, field, replace

from .._core.errors import AcceleratorError, text_of
from .._core.objects import KubeObject
from .._core.readiness import Readiness, kinds
from .._kube.session import Query
from .._machines.machine import seconds_since
from .._stack.params import StackPool
from .placement import Place

# The layers, from the machine up to the metrics. Each needs what NEEDS says.
MACHINE, TUNING, NODE, OPERATORS, NFD = "machine", "tuning", "node", "operators", "nfd"
DRIVER, TOOLKIT, PLUGIN, SHARING = "driver", "toolkit", "device plugin", "sharing"
DRA, NIC, QUOTA, SCHEDULING = "dra", "nic", "quota", "scheduling"
VALIDATION, METRICS = "validation", "metrics"
NEEDS: t.Final[dict[str, tuple[str, ...]]] = {
    MACHINE: (),
    TUNING: (MACHINE,),
    NODE: (MACHINE, TUNING),
    OPERATORS: (),
    NFD: (OPERATORS, NODE),
    NIC: (OPERATORS, NFD),
    DRIVER: (OPERATORS, NFD, NIC, TUNING),
    TOOLKIT: (DRIVER,),
    PLUGIN: (TOOLKIT,),
    SHARING: (PLUGIN,),
    DRA: (DRIVER,),
    QUOTA: (),
    SCHEDULING: (SHARING, DRA, QUOTA),
    VALIDATION: (SHARING, DRA, QUOTA),
    METRICS: (DRIVER,),
}
LAYERS: t.Final = tuple(NEEDS)
# Verdicts of a layer. BUSY: something is going on that ends by itself. ABSENT: nothing of it is there, and
# nothing needs it. UNREAD: the cluster did not let us look.
OK, TROUBLE, WAITS, BUSY, ABSENT, UNREAD = "ok", "trouble", "waits", "busy", "absent", "unread"
# What a remedy names where only the installation helps.
INSTALL: t.Final = "ansible-playbook playbooks/enable_gpus.yml -e @FILE"
_MOST_NODES: t.Final = 10
_MOST_EVIDENCE: t.Final = 8
_MOST_OTHERS: t.Final = 3
# Sentences of a remedy that say what it ends.
_ENDS: t.Final = re.compile(
    r"\b(?:[Ee]nds?|ending|is lost|are lost|loses?|go|goes|(?:which|then|task) (?:reboots?|drains|evicts))\b"
)
# Words that say that work does not end, or that it ends without us.
_NO_END: t.Final = re.compile(
    r"[Nn]o pod ends|ends no (?:pod|program)|[Ww]ait until a pod of the node ends|go by themselves"
)
_SENTENCE: t.Final = re.compile(r"(?<=[.;])\s+(?=[A-Z`])|(?<=:)\s+(?=`|[A-Z][a-z])")


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """One thing that is wrong, on one node or for the whole cluster.

    about: the object, such as C(Pod ns/name). node, pool: empty if it belongs to none. since: RFC 3339, or
    empty. evidence: lines, each with its object and, where known, its time. cause: the layer of which it is
    a consequence; empty for a root cause. is_busy: it ends by itself, such as an upgrade within its budget.
    is_broken: a container of it crashes or cannot start, for which no operator and no NIC is the cause.
    is_alone: nothing follows from it, such as from a cordon; without node and pool it has no cause either.
    explains: layers whose troubles follow from it; empty for all that need its own. log: namespace, pod and
    container whose last log says why.
    """

    layer: str
    code: str
    about: str
    message: str
    remedy: str
    node: str = ""
    pool: str = ""
    since: str = ""
    evidence: tuple[str, ...] = ()
    cause: str = ""
    is_busy: bool = False
    is_alone: bool = False
    is_broken: bool = False
    explains: tuple[str, ...] = ()
    log: tuple[str, str, str] | None = None

    def may_explain(self, other: Trouble) -> bool:
        if other.is_broken and self.layer in (OPERATORS, NIC) and other.layer != self.layer:
            return False
        return other.layer in self.explains if self.explains else self.layer != other.layer


def trouble(
    layer: str, code: str, about: str, /, facts: t.Mapping[str, object] | None = None, **more: t.Any
) -> Trouble:
    """Return a trouble with the text that the registry has for its code. more: other fields of Trouble."""
    text = text_of(code, **facts or {})
    return Trouble(layer=layer, code=code, about=about, message=text.message, remedy=text.remedy, **more)


def of_error(layer: str, about: str, error: AcceleratorError, **more: t.Any) -> Trouble:
    """Return an error that a judge raised as a trouble."""
    lines = tuple(error.evidence[:_MOST_EVIDENCE])
    found = {"code": error.code, "message": error.message, "remedy": error.remedy, "evidence": lines}
    return Trouble(layer=layer, about=about, **found | more)


def of_verdict(layer: str, about: str, verdict: Readiness, **more: t.Any) -> Trouble:
    """Return the verdict of a judge as a trouble."""
    found = {"code": verdict.code, "message": verdict.message, "remedy": verdict.remedy}
    return Trouble(layer=layer, about=about, **found | {"evidence": verdict.details} | more)


@dataclass
class Seen:
    """What the walk has read.

    objects: name of a query -> what it found. unread: name -> why it was not read. served: name -> whether
    the cluster serves the kind. now: epoch seconds. pools: as the stack sees them; without `gpu_pools` those
    of the nodes' labels. pod: of the option, or empty; log: the end of its log. places: nodes and their pods,
    where a pod waits.
    """

    objects: dict[str, list[KubeObject]] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    served: dict[str, bool] = field(default_factory=dict)
    now: float = 0.0
    pools: list[StackPool] = field(default_factory=list)
    pod: str = ""
    log: str = ""
    places: list[Place] = field(default_factory=list)

    def of(self, query: str) -> list[KubeObject]:
        return self.objects.get(query, [])

    def is_recent(self, stamp: object, seconds: float) -> bool:
        """Return whether an RFC 3339 time is known, and less than so many seconds ago."""
        return bool(stamp) and seconds_since(str(stamp), self.now) < seconds


class Layer(t.NamedTuple):
    """One layer of the walk.

    queries: names of what it reads; it is unread if none of them could be read, and absent if none of them is
    served. judge: pure. notes: what a person wants to know although nothing is wrong. more: what to read in
    addition, by what the walk has seen, asked twice; empty on a healthy cluster.
    """

    name: str
    queries: tuple[str, ...]
    judge: t.Callable[[Seen], t.Iterable[Trouble]]
    notes: t.Callable[[Seen], t.Iterable[str]] = lambda _seen: ()
    more: t.Callable[[Seen], t.Mapping[str, Query]] = lambda _seen: {}


# Layer, node and pool -> what it explains -> the first such trouble.
_Known = dict[tuple[str, str, str], dict[tuple[str, ...], Trouble]]


def with_causes(found: t.Iterable[Trouble]) -> list[Trouble]:
    """Return the troubles, root causes first; a consequence names the layer of its root cause.

    A trouble is the consequence of one in a layer that its own needs, on the same node or for all nodes.
    """
    known: _Known = {}
    done = []
    for one in sorted(found, key=lambda each: (LAYERS.index(each.layer), not each.explains)):
        below = () if one.is_alone and not one.node and not one.pool else (*_BELOW[one.layer], one.layer)
        first = next(filter(None, (_cause(one, layer, known) for layer in below)), None)
        root = one.cause or (first.cause or first.layer if first else "")
        done.append(replace(one, cause=root))
        if one.cause or one.is_alone:
            continue  # a judge has said so; the cause may be in a later layer
        places = {("", ""), (one.node, ""), ("", one.pool)} if one.node else {("*", one.pool), ("", one.pool)}
        for place in places:
            known.setdefault((one.layer, *place), {}).setdefault(one.explains, done[-1])
    return sorted(done, key=lambda one: (bool(one.cause), one.is_busy))


def _cause(one: Trouble, layer: str, known: _Known) -> Trouble | None:
    """Return the first trouble of the layer that explains this one."""
    wide = [("*", ""), *([("*", one.pool)] if one.pool else [])]
    places = [(one.node, "") if one.node else ("", one.pool), *wide]
    every = (each for place in places for each in known.get((layer, *place), {}).values())
    return next((each for each in every if each.may_explain(one)), None)


def _all_below(layer: str) -> tuple[str, ...]:
    below = {*NEEDS[layer]}.union(*(_all_below(one) for one in NEEDS[layer]))
    return tuple(one for one in LAYERS if one in below)


_BELOW: t.Final = {layer: _all_below(layer) for layer in LAYERS}


def above(layer: str, *but: str) -> tuple[str, ...]:
    """Return the layer and all that need it, except these."""
    return tuple(one for one in LAYERS if layer in (one, *_BELOW[one]) and one not in but)


def ends(remedy: str) -> str:
    """Return what a remedy says of what it ends; empty if it ends nothing."""
    every = _SENTENCE.split(remedy)
    return " ".join(one for one in every if _ENDS.search(_NO_END.sub("", one)))


class Group(t.NamedTuple):
    """Troubles of several nodes with one code and one cause. first: the one that is shown."""

    first: Trouble
    nodes: list[str]
    pools: list[str]

    def as_result(self) -> dict[str, t.Any]:
        one = self.first
        return {
            "layer": one.layer,
            "code": one.code,
            "about": one.about,
            "message": one.message,
            "remedy": one.remedy,
            "ends": ends(one.remedy),
            "since": one.since,
            "evidence": list(one.evidence[:_MOST_EVIDENCE]),
            "cause": one.cause,
            "busy": one.is_busy,
            "pools": self.pools[:_MOST_NODES],
            "nodes": self.nodes[:_MOST_NODES],
            "number": len(self.nodes),
        }


def groups(found: t.Iterable[Trouble]) -> list[Group]:
    """Return the troubles by layer, code and cause, in their order; those of no node stay alone.

    Messages that differ by more than names and numbers become evidence of the first.
    """
    by_kind: dict[tuple[t.Any, ...], list[Trouble]] = {}
    for one in found:
        alone = "" if one.node else one.about
        by_kind.setdefault((one.layer, one.code, one.cause, one.is_busy, alone), []).append(one)
    return [
        Group(
            replace(every[0], evidence=(*every[0].evidence, *_others(every))),
            list(dict.fromkeys(one.node for one in every if one.node)),
            list(dict.fromkeys(one.pool for one in every if one.pool)),
        )
        for every in by_kind.values()
    ]


def _others(every: t.Sequence[Trouble]) -> list[str]:
    return [lines[0] for lines in kinds(one.message for one in every).values()][1:_MOST_OTHERS]
