# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Lists that a task has read already: its next wait begins with them instead of asking the same again."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Query

Objects = list[dict[str, t.Any]]
# A list that is older says too little about now: requests in between were retried, or somebody slept.
FRESH_SECONDS: t.Final = 5.0
_EQUALITY: t.Final = re.compile(r"[^=!,() ]+=[^=,() ]*")


class _List(t.NamedTuple):
    kind: Kind
    namespace: str | None
    labels: str | None
    items: Objects
    version: str
    read_at: float

    def holds(self, query: Query) -> bool:
        """Whether everything that the query is about is in this list."""
        same = query.fields is None and self.kind == query.kind and self.namespace in (None, query.namespace)
        return same and (
            self.labels == query.labels or (self.labels is None and _terms(query.labels) is not None)
        )


class Seen:
    """Kept for the first wait that follows, and only until a write: what the task changed itself must be read again."""

    def __init__(self) -> None:
        self.lists: list[_List] = []

    def remember(
        self, kind: Kind, namespace: str | None, labels: str | None, found: tuple[Objects, str], now: float
    ) -> None:
        self.lists.append(_List(kind, namespace, labels, *found, now))

    def forget(self) -> None:
        self.lists.clear()

    def find(self, query: Query, now: float) -> tuple[Objects, str] | None:
        """What the query would have found when the list was read, and the resourceVersion from which a watch goes on."""
        for one in reversed(self.lists):
            if now - one.read_at <= FRESH_SECONDS and one.holds(query):
                return [item for item in one.items if _is_wanted(item, query)], one.version
        return None


def _terms(labels: str | None) -> dict[str, str] | None:
    """A selector of equalities; None is one that only the server can tell."""
    terms = labels.split(",") if labels else []
    if not all(_EQUALITY.fullmatch(term) for term in terms):
        return None
    return {key: value for key, _equals, value in (term.partition("=") for term in terms)}


def _is_wanted(item: dict[str, t.Any], query: Query) -> bool:
    metadata = item["metadata"]
    marks, terms = metadata.get("labels") or {}, _terms(query.labels) or {}
    here = query.namespace in (None, metadata.get("namespace")) and query.name in (None, metadata["name"])
    return here and all(marks.get(key) == value for key, value in terms.items())
