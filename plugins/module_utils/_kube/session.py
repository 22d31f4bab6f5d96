# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""One task's session with its API server: what it has read, changed and warned of, and what it may do."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass, field

from .._core.objects import KubeObject
from .._core.ownership import has_purpose, is_rendered, owned
from .._core.run import NO_RUN, Run
from .deadline import Deadline
from .http import Http
from .kinds import Discovery, Kind

# A list that is older says too little about now: requests in between were retried, or the task slept.
FRESH_SECONDS: t.Final = 5.0
_EQUALITY: t.Final = re.compile(r"[^=!,() ]+=[^=,() ]*")


class Query(t.NamedTuple):
    """What a wait looks at: objects of one kind, by name or by labels, in one namespace or in all.

    fields: a field selector instead of a name.
    """

    kind: Kind
    namespace: str | None = None
    name: str | None = None
    labels: str | None = None
    fields: str | None = None


class Change(t.NamedTuple):
    """One write, with the fields that we own before (empty: created) and after it (empty: deleted).

    manager: the tool that keeps the object too, such as Argo CD, or empty.
    """

    object_name: str
    before: KubeObject
    after: KubeObject
    manager: str = ""


class Applied(t.NamedTuple):
    """An object as an apply asks for it. manager: who keeps the live object that is not ours, or empty."""

    manifest: KubeObject
    manager: str = ""


class Listed(t.NamedTuple):
    """The objects that a list had, and its resourceVersion, from which a watch goes on."""

    items: list[KubeObject]
    version: str


class _Remembered(t.NamedTuple):
    kind: Kind
    namespace: str | None
    labels: str | None
    found: Listed
    read_at: float

    def holds(self, query: Query) -> bool:
        """Whether this list has every object that the query is about."""
        same = query.fields is None and self.kind == query.kind and self.namespace in (None, query.namespace)
        return same and (
            self.labels == query.labels or (self.labels is None and _terms(query.labels) is not None)
        )


class ListCache:
    """Lists that the task has read, for the first wait that follows.

    A write empties the cache: the task must read again what it changed itself.
    """

    def __init__(self) -> None:
        self.lists: list[_Remembered] = []

    def remember(
        self, kind: Kind, namespace: str | None, labels: str | None, found: Listed, now: float
    ) -> None:
        self.lists.append(_Remembered(kind, namespace, labels, found, now))

    def forget(self) -> None:
        self.lists.clear()

    def find(self, query: Query, now: float) -> Listed | None:
        """Return what the query would have found when a fresh list was read, or None without such a list."""
        for listed in reversed(self.lists):
            if now - listed.read_at <= FRESH_SECONDS and listed.holds(query):
                items = [item for item in listed.found.items if _is_wanted(item, query)]
                return Listed(items, listed.found.version)
        return None


class Guard(t.Protocol):
    """What decides whether the task may write.

    The first two methods raise AcceleratorError if it may not.
    """

    def before_write(self) -> None:
        """Called before each write that is no dry run."""

    def on_wait(self) -> None:
        """Hook of each tick of a wait."""

    def is_over(self, run_id: str) -> bool:
        """Return True if the run of this id does not change the cluster any more."""


class Unguarded:
    """The guard of an Api that belongs to no run, for example in a lookup."""

    def before_write(self) -> None:
        return

    def on_wait(self) -> None:
        return

    def is_over(self, _run_id: str) -> bool:
        return True


@dataclass
class Session:
    """What reads, writes and waits of one task share.

    check_mode: writes become server-side dry runs. wait_wanted: the task's option wait.
    progress: shows one line at once. awaited: gets the lines of a wait whenever one changes.
    changes: writes, in order. kept: titles of objects that were as wanted.
    unchecked: kind and name of an object that the server could not check in check mode, to the reason.
    applied: if it is a list, gets each object that an apply asks for, whether or not it differs.
    waited: seconds that waits have taken. seen: lists for the next wait. discovery: kinds outside the table.
    guard: whether the task may write. run: what the task belongs to.
    """

    http: Http
    check_mode: bool = False
    wait_wanted: bool = True
    progress: t.Callable[[str], None] = lambda _line: None
    awaited: t.Callable[[list[str]], None] = lambda _lines: None
    changes: list[Change] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    unchecked: dict[str, str] = field(default_factory=dict)
    applied: list[Applied] | None = None
    waited: float = 0.0
    seen: ListCache = field(default_factory=ListCache)
    discovery: Discovery = field(default_factory=Discovery)
    guard: Guard = field(default_factory=Unguarded)
    run: Run = NO_RUN

    @property
    def deadline(self) -> Deadline:
        return self.http.deadline

    def clock(self) -> float:
        """Return monotonic seconds."""
        return self.deadline.clock()

    def hides(self, obj: KubeObject) -> bool:
        """Return True in a render for what this collection made: a second render gives the same files."""
        return self.applied is not None and (owned(obj) or is_rendered(obj) or has_purpose(obj))

    def note_applied(self, manifest: KubeObject, manager: str = "") -> None:
        """Keep the object of an apply if somebody wants them."""
        if self.applied is not None:
            self.applied.append(Applied(manifest, manager))

    def before_write(self) -> None:
        """Ask the guard whether the task may write, and forget the lists that the write makes old."""
        self.guard.before_write()
        self.seen.forget()

    def warn(self, text: str) -> None:
        """Add a warning to the task's result, once."""
        if text not in self.warnings:
            self.warnings.append(text)


def _terms(labels: str | None) -> dict[str, str] | None:
    """Return the labels of a selector of equalities, or None for one that only the server can evaluate."""
    terms = labels.split(",") if labels else []
    if not all(_EQUALITY.fullmatch(term) for term in terms):
        return None
    return {key: value for key, _equals, value in (term.partition("=") for term in terms)}


def _is_wanted(item: KubeObject, query: Query) -> bool:
    metadata = item["metadata"]
    labels, terms = metadata.get("labels") or {}, _terms(query.labels) or {}
    here = query.namespace in (None, metadata.get("namespace")) and query.name in (None, metadata["name"])
    return here and all(labels.get(key) == value for key, value in terms.items())
