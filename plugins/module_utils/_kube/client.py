# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The Api: dicts in, dicts out; compares before it writes, remembers what it wrote, and never calls an error absence."""

from __future__ import annotations

import functools
import typing as t
from dataclasses import dataclass, field

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import reads, writes
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.http import Http
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.list_cache import Seen

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube.discovery import Discovery

# What most tasks do without is imported where it is used: as a module of its own a task compiles whatever it loads.
Manifest = dict[str, t.Any]
Snapshot = dict[str, list[Manifest]]
Manifests = list[Manifest]
Texts = list[str]
Changes = list[writes.Change]


class Query(t.NamedTuple):
    """What a wait looks at: objects of one kind, by name or by labels, in one namespace or in all. fields: a field selector instead of a name."""

    kind: Kind
    namespace: str | None = None
    name: str | None = None
    labels: str | None = None
    fields: str | None = None


@dataclass
class Api:
    """check_mode: writes become server-side dry runs. wait_wanted: the task's option wait. progress: shows one line at once. kept: what was as wanted."""

    http: Http
    check_mode: bool = False
    wait_wanted: bool = True
    progress: t.Callable[[str], None] = lambda _line: None
    changes: Changes = field(default_factory=list)
    warnings: Texts = field(default_factory=list)
    kept: Texts = field(default_factory=list)
    seen: Seen = field(default_factory=Seen)

    @functools.cached_property
    def discovery(self) -> Discovery:
        from ansible_collections.accelerators.openshift.plugins.module_utils._kube.discovery import Discovery

        return Discovery()

    @property
    def deadline(self) -> Deadline:
        return self.http.deadline

    def clock(self) -> float:
        """Monotonic seconds."""
        return self.deadline.clock()

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)

    def resolve(self, api_version: str, kind: str) -> Kind:
        """The kind's path: from the table, else asked of the server, with one request for the first group and one more for all others."""
        return reads.resolve(self, api_version, kind)

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Manifest | None:
        """The newest state of one object, or None when the server says that this object does not exist. Raises KindNotServedError without its CRD."""
        return reads.get(self, kind, name, namespace)

    def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        labels: str | None = None,
        fields: str | None = None,
        metadata_only: bool = False,
        keep: reads.Keep | None = None,
    ) -> Manifests:
        """All objects of one moment not before the request, in pages of 500; when pages expire it is read again from the start, never returned in part.

        keep: what is wanted of one object, or None; a long list is then sifted in smaller pages and takes the memory of one.
        It does not see what images a node has.
        """
        found = reads.list_all(self, kind, namespace, labels, fields, metadata_only, keep)
        if keep is None and fields is None and not metadata_only:
            self.seen.remember(kind, namespace, labels, found, self.clock())
        return found[0]

    def served(self, kind: Kind) -> bool:
        return reads.served(self, kind)

    def log(
        self,
        namespace: str,
        pod: str,
        container: str | None = None,
        tail_lines: int = 200,
        previous: bool = False,
    ) -> str:
        return reads.log(self, namespace, pod, container, tail_lines, previous)

    def apply(
        self,
        manifest: t.Mapping[str, t.Any],
        force_conflicts: bool = False,
        own: bool = True,
        live: Manifest | None = None,
    ) -> Manifest:
        """Server-side apply, only when a field that we own differs.

        own: objects that are created here carry the ownership label; one that existed is never given it.
        live: the object as the task has just listed it, which saves reading it again.
        """
        return writes.apply(self, manifest, force_conflicts, own, live)

    def merge_patch(
        self,
        kind: Kind,
        name: str,
        namespace: str | None,
        body: t.Mapping[str, t.Any],
        subresource: str | None = None,
    ) -> Manifest:
        """A merge patch of fields that are shared with other writers; the caller has seen that something differs."""
        return writes.merge_patch(self, kind, name, namespace, body, subresource)

    def create(self, manifest: t.Mapping[str, t.Any], record: bool = True) -> Manifest:
        """POST. After an answer that got lost, an object of that name is the one that we made."""
        return writes.create(self, manifest, record)

    def dry_run_create(self, manifest: t.Mapping[str, t.Any]) -> Manifest:
        """What the server would say to a POST; nothing is stored."""
        return writes.dry_run_create(self, manifest)

    def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str | None = None,
        owned_only: bool = True,
        wait: bool = True,
        grace: int | None = None,
        orphan: bool = False,
    ) -> bool:
        """Whether there was something of ours to delete. owned_only: without our label it stays, with a warning. wait: until it is gone.

        orphan: what it owns stays, without an owner.
        """
        from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
            deletes as kube_deletes,
        )

        return kube_deletes.delete(self, kind, name, namespace, owned_only, wait, grace, orphan)

    def evict(self, pod: Manifest) -> str:
        """Asks the pod to end, as a drain does. What a disruption budget says against it, in its own words; empty when it ends or is gone."""
        from ansible_collections.accelerators.openshift.plugins.module_utils._kube import evictions

        return evictions.evict(self, pod)

    def wait(
        self,
        queries: t.Mapping[str, Query],
        judge: t.Callable[[Snapshot], Readiness],
        stage: str,
        settle: float = 0.0,
        on_timeout_code: str = "WAIT-TIMEOUT",
    ) -> Snapshot:
        """List and watch until the judge says ready (for settle seconds) or failed; in check mode, or when waiting is not wanted, one look.

        What the task has listed a moment ago, with no write since, is not listed again; a watch goes on from there.
        """
        lists = reads.first_look(self, queries)
        if self.check_mode or not self.wait_wanted:
            return {key: items for key, (items, _version) in lists.items()}
        from ansible_collections.accelerators.openshift.plugins.module_utils._kube import wait as kube_wait

        return kube_wait.wait(self, queries, lists, judge, stage, settle, on_timeout_code)

    def wait_gone(self, kind: Kind, deleted: Manifest) -> None:
        """Waits until the object that was deleted has disappeared."""
        from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
            deletes as kube_deletes,
        )

        metadata = deleted["metadata"]
        query = Query(kind, metadata.get("namespace"), metadata["name"])
        self.wait(
            {"gone": query}, kube_deletes.judge_gone(deleted), f"delete {deleted['kind']} {metadata['name']}"
        )
