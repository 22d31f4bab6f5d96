# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Deleting: only what is ours, exactly the object that was looked at, and until it is gone."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import diff
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ConflictError,
    KindNotServedError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.writes import Change, write

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

Manifest = dict[str, t.Any]
_SHOWN_OF_DELETED = {"metadata": {"name": None, "namespace": None, "labels": None}}
# A diff shows the spec of what was deleted as well, unless it is a book.
_LONGEST_SPEC = 4000


def delete(
    api: Api,
    kind: Kind,
    name: str,
    namespace: str | None,
    owned_only: bool,
    wait: bool,
    grace: int | None,
    orphan: bool,
) -> bool:
    try:
        live = api.get(kind, name, namespace)
    except KindNotServedError:
        return False
    if live is None:
        return False
    if owned_only and not owned(live):
        api.warn(f"{diff.title(live)} was not created by this collection and stays.")
        return False
    options: Manifest = {
        "propagationPolicy": "Orphan" if orphan else "Background",
        "preconditions": {"uid": live["metadata"]["uid"]},
    }
    if grace is not None:
        options["gracePeriodSeconds"] = grace
    if api.check_mode:
        # A DELETE with a body is read from its body alone: `?dryRun=All` beside it would really delete.
        options["dryRun"] = ["All"]
    try:
        write(api, "DELETE", kind, name, namespace, options, {}, dry_run=api.check_mode, absent_ok=True)
    except ConflictError:
        now = api.get(kind, name, namespace)
        if now is not None and now["metadata"]["uid"] != live["metadata"]["uid"] and not api.deadline.passed:
            # Somebody else deleted what we saw and made a new one: that one is judged by itself.
            return delete(api, kind, name, namespace, owned_only, wait, grace, orphan)
        if now is not None and "deletionTimestamp" not in now["metadata"]:
            raise
    api.changes.append(Change(diff.title(live), diff.owned_view(live, _shown_of_deleted(live)), {}))
    if wait:
        api.wait_gone(kind, live)
    return True


def _shown_of_deleted(live: Manifest) -> Manifest:
    is_short = len(str(live.get("spec", ""))) <= _LONGEST_SPEC
    return {**_SHOWN_OF_DELETED, "spec": None} if is_short else _SHOWN_OF_DELETED


def judge_gone(deleted: Manifest) -> t.Callable[[dict[str, list[Manifest]]], Readiness]:
    """Judge: the object that was deleted is not there any more (a new one of the same name may be)."""

    def judge(snapshot: dict[str, list[Manifest]]) -> Readiness:
        left = [obj for obj in snapshot["gone"] if obj["metadata"]["uid"] == deleted["metadata"]["uid"]]
        if not left:
            return ready("Gone", "deleted")
        finalizers = ", ".join(left[0]["metadata"].get("finalizers", [])) or "none"
        message = f"{diff.title(deleted)} is still being deleted (finalizers: {finalizers})"
        return pending(
            "Deleting",
            message,
            code="WAIT-DELETE",
            remedy="See which controller owns the finalizers, and whether it runs.",
        )

    return judge
