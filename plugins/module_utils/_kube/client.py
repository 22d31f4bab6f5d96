# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Api: objects in, objects out. It compares before it writes, and never takes an error for absence."""

from __future__ import annotations

import typing as t

from .._core.errors import KindNotServedError
from .._core.objects import KubeObject
from .._core.readiness import Readiness
from . import reads, writes
from .kinds import Kind
from .session import Query, Session

__all__ = ["Api", "Query"]

# Imports in methods are of what most tasks do not need: a task that runs as a module compiles all it loads.
Objects = list[KubeObject]


class Api(Session):
    """The one way to the API server for modules, lookups and steps. All methods raise ApiError."""

    def resolve(self, api_version: str, kind: str) -> Kind:
        """Return the kind: from the table, else from the server. Raises KindNotServedError."""
        return reads.resolve(self, api_version, kind)

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> KubeObject | None:
        """Return the newest state of one object, or None if the server says that it does not exist.

        Raises KindNotServedError without its CRD.
        """
        return reads.get(self, kind, name, namespace)

    def get_if_served(self, kind: Kind, name: str, namespace: str | None = None) -> KubeObject | None:
        """Return what `get` does; None too if the cluster does not serve the kind."""
        try:
            return self.get(kind, name, namespace)
        except KindNotServedError:
            return None

    def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        labels: str | None = None,
        fields: str | None = None,
        metadata_only: bool = False,
        keep: reads.Keep | None = None,
    ) -> Objects:
        """Return all objects of one moment not before the request, read in pages of 500.

        When pages expire, the list is read again from the start; it never returns a part.
        keep: returns what is wanted of an object, or None. The pages are then smaller, and a long list takes
        the memory of one page.
        """
        found = reads.list_all(self, kind, namespace, labels, fields, metadata_only, keep)
        if keep is None and fields is None and not metadata_only:
            self.seen.remember(kind, namespace, labels, found, self.clock())
        return found.items

    def list_if_served(self, kind: Kind, namespace: str | None = None, **query: t.Any) -> Objects:
        """Return what `list` does; an empty list if the cluster does not serve the kind."""
        try:
            return self.list(kind, namespace, **query)
        except KindNotServedError:
            return []

    def served(self, kind: Kind) -> bool:
        """Return True if the server has this kind now."""
        return reads.served(self, kind)

    def log(
        self,
        namespace: str,
        pod: str,
        container: str | None = None,
        tail_lines: int = 200,
        previous: bool = False,
        outage: float | None = None,
        since: int | None = None,
    ) -> str:
        """Return the last lines of a container's log. previous: of the container before its last restart.

        outage: for how many seconds it is tried: the server asks a kubelet, which may be away for long.
        since: only those of so many seconds.
        """
        return reads.log(self, namespace, pod, container, tail_lines, previous, outage, since)

    def apply(
        self,
        manifest: t.Mapping[str, t.Any],
        force_conflicts: bool = False,
        own: bool = True,
        live: KubeObject | None = None,
    ) -> KubeObject:
        """Apply on the server's side, only when a field that we own differs. Return the object as it is then.

        own: an object that is created here gets the ownership label; one that existed never gets it.
        live: the object as the task has just listed it, which saves a read. Raises ConflictError for fields
        of another manager unless force_conflicts is set.
        """
        return writes.apply(self, manifest, force_conflicts, own, live)

    def foresee(self, manifest: t.Mapping[str, t.Any]) -> None:
        """Record in check mode an object that the run would create once the cluster serves its kind."""
        writes.foresee(self, manifest)

    def merge_patch(
        self,
        kind: Kind,
        name: str,
        namespace: str | None,
        body: t.Mapping[str, t.Any],
        subresource: str | None = None,
    ) -> KubeObject:
        """Patch fields that other writers share. The caller has seen that something differs.

        Return the object as it is then.
        """
        return writes.merge_patch(self, kind, name, namespace, body, subresource)

    def create(self, manifest: t.Mapping[str, t.Any], record: bool = True) -> KubeObject:
        """Create an object and return it.

        If the answer got lost, an existing object of that name with our fields counts as the one that we
        made.
        record: the write counts as a change of the task.
        """
        return writes.create(self, manifest, record)

    def dry_run_create(self, manifest: t.Mapping[str, t.Any]) -> KubeObject:
        """Return what the server would make of a POST; it stores nothing."""
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
        """Delete an object and return True if there was something of ours to delete.

        owned_only: an object without our label stays, with a warning. wait: until the object is gone.
        grace: seconds for a pod to end. orphan: objects that it owns stay, without an owner.
        """
        from . import removals

        return removals.delete(self, kind, name, namespace, owned_only, wait, grace, orphan)

    def wait(
        self,
        queries: t.Mapping[str, Query],
        judge: t.Callable[[dict[str, Objects]], Readiness],
        stage: str,
        settle: float = 0.0,
        on_timeout_code: str = "WAIT-TIMEOUT",
        since: float | None = None,
    ) -> dict[str, Objects]:
        """List and watch until the judge says ready, for settle seconds. Return what each query found then.

        In check mode, or without the option wait, it looks once. A list that the task has read a moment ago,
        with no write since, is not read again. Raises NotReadyError on a failed verdict, WaitTimeoutError at
        the deadline. since: when the first of several waits for the same thing began, on `clock`.
        """
        from . import wait

        return wait.wait(self, queries, judge, stage, settle, on_timeout_code, since)
