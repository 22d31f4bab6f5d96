# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Delete objects: only exactly the object that was looked at, and until it is gone."""

from __future__ import annotations

import typing as t

from .._core import diff
from .._core.errors import ConflictError, KindNotServedError, text_of
from .._core.objects import KubeObject, Snapshot
from .._core.ownership import owned
from .._core.readiness import Readiness, pending, ready
from . import reads
from .kinds import Kind
from .session import Change, Query, Session
from .wait import wait as kube_wait
from .writes import write

_SHOWN_OF_DELETED: t.Final = {"metadata": {"name": None, "namespace": None, "labels": None}}
# A diff also shows the spec of a deleted object, if it is no longer than this.
_LONGEST_SPEC = 4000


def delete(
    session: Session,
    kind: Kind,
    name: str,
    namespace: str | None,
    owned_only: bool,
    wait: bool,
    grace: int | None,
    orphan: bool,
) -> bool:
    try:
        live = reads.get(session, kind, name, namespace)
    except KindNotServedError:
        return False
    if live is None:
        return False
    if owned_only and not owned(live):
        session.warn(f"{diff.object_name(live)} was not created by this collection and stays.")
        return False
    options, dry_run = _options(session, live, grace, orphan), session.check_mode
    try:
        write(session, "DELETE", kind, name, namespace, options, {}, dry_run=dry_run, absent_ok=True)
    except ConflictError:
        now = reads.get(session, kind, name, namespace)
        is_new = now is not None and now["metadata"]["uid"] != live["metadata"]["uid"]
        if is_new and not session.deadline.passed:
            # Another client deleted what we saw and made a new object, which must be judged by itself.
            return delete(session, kind, name, namespace, owned_only, wait, grace, orphan)
        if now is not None and "deletionTimestamp" not in now["metadata"]:
            raise
    session.changes.append(Change(diff.object_name(live), diff.owned_view(live, _shown_of_deleted(live)), {}))
    if wait:
        wait_gone(session, kind, live)
    return True


def _options(session: Session, live: KubeObject, grace: int | None, orphan: bool) -> KubeObject:
    options: KubeObject = {
        "propagationPolicy": "Orphan" if orphan else "Background",
        "preconditions": {"uid": live["metadata"]["uid"]},
    }
    if grace is not None:
        options["gracePeriodSeconds"] = grace
    if session.check_mode:
        # The server reads the options of a DELETE from its body alone: with `?dryRun=All` it would delete.
        options["dryRun"] = ["All"]
    return options


def _shown_of_deleted(live: KubeObject) -> KubeObject:
    is_short = len(str(live.get("spec", ""))) <= _LONGEST_SPEC
    return {**_SHOWN_OF_DELETED, "spec": None} if is_short else _SHOWN_OF_DELETED


def wait_gone(session: Session, kind: Kind, deleted: KubeObject) -> None:
    metadata = deleted["metadata"]
    query = Query(kind, metadata.get("namespace"), metadata["name"])
    stage = f"delete {deleted['kind']} {metadata['name']}"
    kube_wait(session, {"gone": query}, judge_gone(deleted), stage)


def judge_gone(deleted: KubeObject) -> t.Callable[[Snapshot], Readiness]:
    """Return a judge: ready when the deleted object is gone; a new one of the same name does not count."""

    def judge(snapshot: Snapshot) -> Readiness:
        left = [obj for obj in snapshot["gone"] if obj["metadata"]["uid"] == deleted["metadata"]["uid"]]
        if not left:
            return ready("Gone", "deleted")
        meta = left[0]["metadata"]
        finalizers = ", ".join(meta.get("finalizers", [])) or "none"
        named = f"{deleted['kind'].lower()} {meta['name']}"
        named += f" -n {meta['namespace']}" if meta.get("namespace") else ""
        text = text_of("WAIT-DELETE", object=diff.object_name(deleted), finalizers=finalizers, resource=named)
        return pending("Deleting", **text._asdict())

    return judge
