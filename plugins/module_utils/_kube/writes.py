# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The writing half of the Api: compare, write what differs, record it. Check mode is a dry run there."""

from __future__ import annotations

import typing as t

from .._core import diff
from .._core.adoption import keeper, other_manager
from .._core.errors import ApiError, InputError, KindNotServedError
from .._core.objects import KubeObject, merge
from .._core.ownership import MANAGER, is_rendered, mark, owned
from . import reads
from .kinds import Kind
from .session import Change, Session

_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
_STRICT = {"fieldManager": MANAGER, "fieldValidation": "Strict"}


def apply(
    session: Session, manifest: t.Mapping[str, t.Any], force: bool, own: bool, live: KubeObject | None
) -> KubeObject:
    wanted: KubeObject = diff.plain(manifest)
    metadata = wanted["metadata"]
    try:
        kind = kind_of(session, wanted)
        live = live or reads.get(session, kind, metadata["name"], metadata.get("namespace"))
    except KindNotServedError as exc:
        if not session.check_mode:
            raise
        session.unchecked[diff.object_name(wanted)] = exc.message
        if own:
            mark(wanted)
        session.note_applied(wanted)
        return _record(session, None, wanted, wanted)
    if (own and live is None) or (live is not None and owned(live)):
        mark(wanted)
    session.note_applied(wanted, keeper(live) if live is not None and not owned(live) else "")
    fields = diff.managed_fields(live) if live else {}
    outcome: KubeObject = {}
    if live is not None:
        is_kept = diff.covers(live, wanted) and not diff.has_stale_fields(fields, wanted)
        outcome = live if is_kept else send_apply(session, kind, wanted, force, dry_run=True)
        if is_kept or diff.same(outcome, live):
            session.kept.append(diff.object_name(live))
            return live
    if not session.check_mode:
        outcome = send_apply(session, kind, wanted, force, dry_run=False, creates=live is None)
    elif live is None:
        outcome = _first_dry_run(session, kind, wanted, force)
    return _record(session, live, outcome, diff.merge_shapes(wanted, diff.shape_of(fields)))


def foresee(session: Session, manifest: t.Mapping[str, t.Any]) -> None:
    wanted: KubeObject = diff.plain(manifest)
    mark(wanted)
    session.note_applied(wanted)
    _record(session, None, wanted, wanted)


def _first_dry_run(session: Session, kind: Kind, wanted: KubeObject, force: bool) -> KubeObject:
    try:
        return send_apply(session, kind, wanted, force, dry_run=True, creates=True)
    except ApiError as exc:
        namespace = wanted["metadata"].get("namespace")
        if exc.status == 404 and namespace and f'namespaces "{namespace}" not found' in exc.message:
            session.unchecked[diff.object_name(wanted)] = f"Namespace {namespace} does not exist yet."
            return wanted
        raise


def send_apply(
    session: Session, kind: Kind, wanted: KubeObject, force: bool, dry_run: bool, creates: bool = False
) -> KubeObject:
    name, namespace = wanted["metadata"]["name"], wanted["metadata"].get("namespace")
    query = {**_STRICT, "force": str(force).lower()}
    verb = "create" if creates else "patch"
    return write(session, "PATCH", kind, name, namespace, wanted, query, _APPLY, dry_run, verb=verb)


def merge_patch(
    session: Session,
    kind: Kind,
    name: str,
    namespace: str | None,
    body: t.Mapping[str, t.Any],
    subresource: str | None,
) -> KubeObject:
    before = reads.get(session, kind, name, namespace)
    how = (_STRICT, _MERGE, session.check_mode, subresource)
    after = write(session, "PATCH", kind, name, namespace, body, *how, before=before)
    if before is not None and diff.same(before, after):
        return after
    return _record(session, before, after, body)


def create(session: Session, manifest: t.Mapping[str, t.Any], record: bool) -> KubeObject:
    wanted = diff.plain(manifest)
    outcome = _post(session, wanted, dry_run=session.check_mode)
    return _record(session, None, outcome, wanted) if record else outcome


def dry_run_create(session: Session, manifest: t.Mapping[str, t.Any]) -> KubeObject:
    return _post(session, diff.plain(manifest), dry_run=True)


def _post(session: Session, wanted: KubeObject, *, dry_run: bool) -> KubeObject:
    """Create the object and return it as the server has it; a dry run stores nothing."""
    namespace = wanted["metadata"].get("namespace")
    return write(session, "POST", kind_of(session, wanted), None, namespace, wanted, _STRICT, dry_run=dry_run)


def write(
    session: Session,
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
    before: KubeObject | None = None,
    verb: str = "",
) -> KubeObject:
    """Send one write, or its dry run, and return the object that the server answers with.

    absent_ok: a 404 is a success, with an empty object. before: the object as it was, for the record of a
    write that the server stored although it had an unknown field. verb: as RBAC names it, if it is not that
    of the method. Raises ApiError.
    """
    if session.applied is not None:  # a render asks the server for no write, and no dry run
        return t.cast(KubeObject, merge(before or {}, body))
    path = kind.path(namespace, name, subresource)
    if not dry_run:
        session.before_write()
    query = {**query, "dryRun": "All"} if dry_run else query
    answer = session.http.request(method, path, query, body, content_type)
    if unknown := _unknown_fields(session, answer.warnings):
        is_stored = answer.status < 300 and not dry_run
        if is_stored:
            _record(session, before, answer.body, body)
        raise _unknown_error(f"{kind.resource} {name or ''}", unknown, is_stored)
    if answer.status < 300:
        return t.cast(KubeObject, answer.body)
    if absent_ok and answer.status == 404:
        return {}
    name = name or body["metadata"].get("name")
    is_again = method == "POST" and answer.repeated and not dry_run
    if is_again and name and (live := _made_before(session, kind, name, namespace, body)):
        return live
    raise reads.error(answer, method, path, kind, name, namespace, verb)


def _made_before(
    session: Session, kind: Kind, name: str, namespace: str | None, body: t.Any
) -> KubeObject | None:
    """Return our own object that is in the way of the second try, by its name or by what a quota counts."""
    live = reads.get(session, kind, name, namespace)
    is_ours = live is not None and diff.is_written_by_us(live) and diff.covers(live, body)
    return live if is_ours else None


def _unknown_fields(session: Session, warnings: t.Iterable[str]) -> list[str]:
    """Return the warnings about unknown fields; the others become warnings of the task."""
    unknown = []
    for text in warnings:
        if "unknown field" in text.lower():
            unknown.append(text)
        else:
            session.warn(text)
    return unknown


def _unknown_error(object_name: str, unknown: list[str], is_stored: bool) -> ApiError:
    stored = "; the rest has been stored" if is_stored else ""
    return ApiError(
        "API-UNKNOWN-FIELD", object=object_name, unknown_fields=", ".join(unknown), also=stored, status=400
    )


def kind_of(session: Session, manifest: KubeObject) -> Kind:
    kind = reads.resolve(session, manifest["apiVersion"], manifest["kind"])
    if kind.namespaced and not manifest["metadata"].get("namespace"):
        raise InputError("INPUT-NAMESPACE", object=diff.object_name(manifest), resource=kind.resource)
    return kind


def _record(
    session: Session, before: KubeObject | None, after: KubeObject, shape: t.Mapping[str, t.Any]
) -> KubeObject:
    views = diff.owned_view(before, shape), diff.owned_view(after, shape)
    manager = other_manager(before) if before else ""
    session.changes.append(Change(diff.object_name(after), *views, manager))
    if before and is_rendered(before):
        session.warn(
            f"{diff.object_name(after)} comes from Git: {manager or 'the next apply of its file'} takes this "
            "change back. Run render.yml with these gpu_pools, and commit the files."
        )
    return after
