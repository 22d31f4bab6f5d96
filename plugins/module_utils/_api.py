# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The Api: dicts in, dicts out; compares before it writes, remembers what it wrote, and never calls an error absence."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from ansible_collections.accelerators.openshift.plugins.module_utils import _api_reads, _diff, _wait
from ansible_collections.accelerators.openshift.plugins.module_utils._deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import ApiError, KindNotServedError
from ansible_collections.accelerators.openshift.plugins.module_utils._http import Http, Response
from ansible_collections.accelerators.openshift.plugins.module_utils._kinds import Kind
from ansible_collections.accelerators.openshift.plugins.module_utils._ownership import MANAGED_BY, owned
from ansible_collections.accelerators.openshift.plugins.module_utils._readiness import Readiness, pending, ready

Manifest = dict[str, t.Any]
Snapshot = dict[str, list[Manifest]]
_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"


@dataclass(frozen=True)
class Query:
    """What a wait looks at: objects of one kind, by name or by labels, in one namespace or in all."""

    kind: Kind
    namespace: str | None = None
    name: str | None = None
    labels: str | None = None
    metadata_only: bool = False


@dataclass(frozen=True)
class Change:
    """One write: the object before (None: created) and after (None: deleted), both cut down to the fields that are ours."""

    title: str
    before: Manifest
    after: Manifest


@dataclass
class Api:
    """check_mode: writes become server-side dry runs. wait_wanted: the task's option wait. progress: shows one line at once."""

    http: Http
    check_mode: bool = False
    wait_wanted: bool = True
    progress: t.Callable[[str], None] = lambda _line: None
    changes: list[Change] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    resolved: dict[tuple[str, str], Kind] = field(default_factory=dict)

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
        """The kind's path: from the table, else asked of the server once."""
        return _api_reads.resolve(self, api_version, kind)

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Manifest | None:
        """One object, or None when the server says that this object does not exist. Raises KindNotServedError without its CRD."""
        return _api_reads.get(self, kind, name, namespace)

    def list(self, kind: Kind, namespace: str | None = None, labels: str | None = None, fields: str | None = None, metadata_only: bool = False) -> list[Manifest]:
        """All objects, read in pages of 500; a list whose pages expired is read again from the start, never returned in part."""
        return _api_reads.list_all(self, kind, namespace, labels, fields, metadata_only)[0]

    def served(self, kind: Kind) -> bool:
        return _api_reads.served(self, kind)

    def log(self, namespace: str, pod: str, container: str | None = None, tail_lines: int = 200, previous: bool = False) -> str:
        return _api_reads.log(self, namespace, pod, container, tail_lines, previous)

    def apply(self, manifest: t.Mapping[str, t.Any], force_conflicts: bool = False, own: bool = True) -> Manifest:
        """Server-side apply, only when a field that we own differs.

        own: objects that are created here carry the ownership label; one that existed is never given it.
        """
        wanted: Manifest = _diff.plain(manifest)
        kind = self._kind_of(wanted)
        metadata = wanted.setdefault("metadata", {})
        try:
            live = self.get(kind, metadata["name"], metadata.get("namespace"))
        except KindNotServedError:
            if not self.check_mode:
                raise
            self.warn(f"{_diff.title(wanted)}: {kind.resource} is not served yet, so the server could not check it.")
            return self._record(None, wanted, wanted)
        if (own and live is None) or (live is not None and owned(live)):
            metadata["labels"] = {**metadata.get("labels", {}), **MANAGED_BY}
        fields = _diff.managed_fields(live) if live else {}
        if live is not None:
            if _diff.covers(live, wanted) and not _diff.has_stale_fields(fields, wanted):
                return live
            outcome = self._apply(kind, wanted, force_conflicts, dry_run=True)
            if _diff.same(outcome, live):
                return live
        shape = _diff.merge_shapes(wanted, _diff.shape_of(fields))
        if not self.check_mode:
            outcome = self._apply(kind, wanted, force_conflicts, dry_run=False)
        elif live is None:
            outcome = self._first_dry_run(kind, wanted, force_conflicts)
        return self._record(live, outcome, shape)

    def _first_dry_run(self, kind: Kind, wanted: Manifest, force: bool) -> Manifest:
        try:
            return self._apply(kind, wanted, force, dry_run=True)
        except ApiError as exc:
            namespace = wanted["metadata"].get("namespace")
            if exc.status == 404 and namespace and f'namespaces "{namespace}" not found' in exc.message:
                self.warn(f"{_diff.title(wanted)}: namespace {namespace} does not exist yet, so the server could not check it.")
                return wanted
            raise

    def _apply(self, kind: Kind, wanted: Manifest, force: bool, dry_run: bool) -> Manifest:
        metadata = wanted["metadata"]
        query = {"fieldManager": _diff.MANAGER, "fieldValidation": "Strict", "force": str(force).lower()}
        return self.write("PATCH", kind, metadata["name"], metadata.get("namespace"), wanted, query, _APPLY, dry_run)

    def merge_patch(self, kind: Kind, name: str, namespace: str | None, body: t.Mapping[str, t.Any], subresource: str | None = None) -> Manifest:
        """A merge patch of fields that are shared with other writers; the caller has seen that something differs."""
        before = self.get(kind, name, namespace)
        query = {"fieldManager": _diff.MANAGER, "fieldValidation": "Strict"}
        after = self.write("PATCH", kind, name, namespace, body, query, _MERGE, self.check_mode, subresource)
        if before is not None and _diff.same(before, after):
            return after
        return self._record(before, after, body)

    def create(self, manifest: t.Mapping[str, t.Any], record: bool = True) -> Manifest:
        """POST. After an answer that got lost, an object of that name is the one that we made."""
        wanted = _diff.plain(manifest)
        kind = self._kind_of(wanted)
        outcome = self.write("POST", kind, None, wanted["metadata"].get("namespace"), wanted, {"fieldManager": _diff.MANAGER, "fieldValidation": "Strict"}, dry_run=self.check_mode)
        return self._record(None, outcome, wanted) if record else outcome

    def dry_run_create(self, manifest: t.Mapping[str, t.Any]) -> Manifest:
        """What the server would say to a POST; nothing is stored."""
        wanted = _diff.plain(manifest)
        return self.write("POST", self._kind_of(wanted), None, wanted["metadata"].get("namespace"), wanted, {"fieldValidation": "Strict"}, dry_run=True)

    def delete(self, kind: Kind, name: str, namespace: str | None = None, owned_only: bool = True, wait: bool = True, grace: int | None = None) -> bool:
        """Whether there was something of ours to delete. owned_only: without our label it stays, with a warning. wait: until it is gone."""
        try:
            live = self.get(kind, name, namespace)
        except KindNotServedError:
            return False
        if live is None:
            return False
        if owned_only and not owned(live):
            self.warn(f"{_diff.title(live)} was not created by this collection and stays.")
            return False
        options: Manifest = {"propagationPolicy": "Background", "preconditions": {"uid": live["metadata"]["uid"]}}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        self.write("DELETE", kind, name, namespace, options, {}, dry_run=self.check_mode, absent_ok=True)
        self.changes.append(Change(_diff.title(live), _diff.owned_view(live, {"metadata": {"name": None, "namespace": None, "labels": None}, "spec": None}), {}))
        if wait:
            self.wait({"gone": Query(kind, namespace, name)}, _Gone(live), f"delete {_diff.title(live)}")
        return True

    def wait(
        self,
        queries: t.Mapping[str, Query],
        judge: t.Callable[[Snapshot], Readiness],
        stage: str,
        settle: float = 0.0,
        on_timeout_code: str = "WAIT-TIMEOUT",
    ) -> Snapshot:
        """List and watch until the judge says ready (for settle seconds) or failed; in check mode, or when waiting is not wanted, one look."""
        if self.check_mode or not self.wait_wanted:
            return {key: _api_reads.query_once(self, query)[0] for key, query in queries.items()}
        return _wait.wait(self, queries, judge, stage, settle, on_timeout_code)

    def write(
        self,
        method: str,
        kind: Kind,
        name: str | None,
        namespace: str | None,
        body: t.Any,
        query: t.Mapping[str, str],
        content_type: str = "application/json",
        dry_run: bool = False,
        subresource: str | None = None,
        absent_ok: bool = False,
    ) -> Manifest:
        path = kind.path(namespace, name, subresource)
        answer = self.http.request(method, path, {**query, **({"dryRun": "All"} if dry_run else {})}, body, content_type)
        for text in answer.warnings:
            if "unknown field" in text.lower():
                raise ApiError("API-UNKNOWN-FIELD", f"{kind.resource} {name or ''}: {text}", "Correct or remove the field; the server would have ignored it.", status=400)
            self.warn(text)
        if answer.status < 300:
            return t.cast(Manifest, answer.body)
        if absent_ok and answer.status == 404:
            return {}
        if answer.status == 409 and method == "POST" and answer.repeated and not dry_run:
            ours = self.get(kind, body["metadata"]["name"], namespace)
            if ours is not None:
                return ours
        raise self.error(answer, method, path, kind, name or body.get("metadata", {}).get("name"), namespace)

    def error(self, answer: Response, method: str, path: str, kind: Kind, name: str | None, namespace: str | None) -> ApiError:
        return _api_reads.error(answer, method, path, kind, name, namespace)

    def _kind_of(self, manifest: Manifest) -> Kind:
        return self.resolve(manifest["apiVersion"], manifest["kind"])

    def _record(self, before: Manifest | None, after: Manifest, shape: t.Mapping[str, t.Any]) -> Manifest:
        self.changes.append(Change(_diff.title(after), _diff.owned_view(before, shape), _diff.owned_view(after, shape)))
        return after


@dataclass(frozen=True)
class _Gone:
    """Judge: the object that was deleted is not there any more (one of the same name may be)."""

    deleted: Manifest

    def __call__(self, snapshot: Snapshot) -> Readiness:
        left = [obj for obj in snapshot["gone"] if obj["metadata"]["uid"] == self.deleted["metadata"]["uid"]]
        if not left:
            return ready("Gone", "deleted")
        finalizers = ", ".join(left[0]["metadata"].get("finalizers", [])) or "none"
        return pending("Deleting", f"{_diff.title(self.deleted)} is still being deleted (finalizers: {finalizers})", code="WAIT-DELETE", remedy="See who owns the finalizers.")
