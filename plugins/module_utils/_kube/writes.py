# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The writing half of the Api: compare first, write what differs, remember it; check mode is the server's dry run."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import diff
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    InputError,
    KindNotServedError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import (
    MANAGED_BY,
    MANAGER,
    owned,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import reads
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

Manifest = dict[str, t.Any]
_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
_STRICT = {"fieldManager": MANAGER, "fieldValidation": "Strict"}


class Change(t.NamedTuple):
    """One write: the object before (empty: created) and after (empty: deleted), both cut down to the fields that are ours."""

    title: str
    before: Manifest
    after: Manifest


def apply(
    api: Api, manifest: t.Mapping[str, t.Any], force: bool, own: bool, live: Manifest | None
) -> Manifest:
    wanted: Manifest = diff.plain(manifest)
    metadata = wanted["metadata"]
    try:
        kind = _kind_of(api, wanted)
        live = live or api.get(kind, metadata["name"], metadata.get("namespace"))
    except KindNotServedError as exc:
        if not api.check_mode:
            raise
        api.warn(f"{diff.title(wanted)}: {exc.message} So the server could not check it.")
        return _record(api, None, wanted, wanted)
    if (own and live is None) or (live is not None and owned(live)):
        metadata["labels"] = {**metadata.get("labels", {}), **MANAGED_BY}
    fields = diff.managed_fields(live) if live else {}
    outcome: Manifest = {}
    if live is not None:
        is_kept = diff.covers(live, wanted) and not diff.has_stale_fields(fields, wanted)
        outcome = live if is_kept else _apply(api, kind, wanted, force, dry_run=True)
        if is_kept or diff.same(outcome, live):
            api.kept.append(diff.title(live))
            return live
    if not api.check_mode:
        outcome = _apply(api, kind, wanted, force, dry_run=False)
    elif live is None:
        outcome = _first_dry_run(api, kind, wanted, force)
    return _record(api, live, outcome, diff.merge_shapes(wanted, diff.shape_of(fields)))


def _first_dry_run(api: Api, kind: Kind, wanted: Manifest, force: bool) -> Manifest:
    try:
        return _apply(api, kind, wanted, force, dry_run=True)
    except ApiError as exc:
        namespace = wanted["metadata"].get("namespace")
        if exc.status == 404 and namespace and f'namespaces "{namespace}" not found' in exc.message:
            # A namespace that this very task would have created surprises nobody.
            if f"Namespace {namespace}" not in {one.title for one in api.changes}:
                api.warn(
                    f"{diff.title(wanted)}: namespace {namespace} does not exist yet, so the server could not check it."
                )
            return wanted
        raise


def _apply(api: Api, kind: Kind, wanted: Manifest, force: bool, dry_run: bool) -> Manifest:
    metadata = wanted["metadata"]
    query = {**_STRICT, "force": str(force).lower()}
    return write(
        api, "PATCH", kind, metadata["name"], metadata.get("namespace"), wanted, query, _APPLY, dry_run
    )


def merge_patch(
    api: Api,
    kind: Kind,
    name: str,
    namespace: str | None,
    body: t.Mapping[str, t.Any],
    subresource: str | None,
) -> Manifest:
    before = api.get(kind, name, namespace)
    after = write(
        api, "PATCH", kind, name, namespace, body, _STRICT, _MERGE, api.check_mode, subresource, before=before
    )
    if before is not None and diff.same(before, after):
        return after
    return _record(api, before, after, body)


def create(api: Api, manifest: t.Mapping[str, t.Any], record: bool) -> Manifest:
    wanted = diff.plain(manifest)
    outcome = write(
        api,
        "POST",
        _kind_of(api, wanted),
        None,
        wanted["metadata"].get("namespace"),
        wanted,
        _STRICT,
        dry_run=api.check_mode,
    )
    return _record(api, None, outcome, wanted) if record else outcome


def dry_run_create(api: Api, manifest: t.Mapping[str, t.Any]) -> Manifest:
    wanted = diff.plain(manifest)
    return write(
        api,
        "POST",
        _kind_of(api, wanted),
        None,
        wanted["metadata"].get("namespace"),
        wanted,
        _STRICT,
        dry_run=True,
    )


def write(
    api: Api,
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
    before: Manifest | None = None,
) -> Manifest:
    """One write, or its dry run. absent_ok: nothing to be found is a success. before: the object as it was, for the record of a write that ends in an error."""
    path = kind.path(namespace, name, subresource)
    if not dry_run:
        api.seen.forget()
    answer = api.http.request(
        method, path, {**query, **({"dryRun": "All"} if dry_run else {})}, body, content_type
    )
    for text in answer.warnings:
        if "unknown field" not in text.lower():
            api.warn(text)
    if unknown := [text for text in answer.warnings if "unknown field" in text.lower()]:
        message = f"{kind.resource} {name or ''}: {', '.join(unknown)}"
        if answer.status < 300 and not dry_run:
            _record(api, before, answer.body, body)
            message += "; the rest has been stored"
        raise ApiError(
            "API-UNKNOWN-FIELD",
            message,
            "Correct or remove the field; the server would have ignored it.",
            status=400,
        )
    if answer.status < 300:
        return t.cast(Manifest, answer.body)
    if absent_ok and answer.status == 404:
        return {}
    name = name or body["metadata"].get("name")
    if method == "POST" and name and answer.repeated and not dry_run:
        # Our own object may be in the way of the second try, by its name or by what it takes from a quota.
        live = api.get(kind, name, namespace)
        if live is not None and diff.is_written_by_us(live) and diff.covers(live, body):
            return live
    raise reads.error(answer, method, path, kind, name, namespace)


def _kind_of(api: Api, manifest: Manifest) -> Kind:
    kind = api.resolve(manifest["apiVersion"], manifest["kind"])
    if kind.namespaced and not manifest["metadata"].get("namespace"):
        message = f"{diff.title(manifest)} has no metadata.namespace, and {kind.resource} are namespaced."
        raise InputError("INPUT-NAMESPACE", message, "Set metadata.namespace.")
    return kind


def _record(api: Api, before: Manifest | None, after: Manifest, shape: t.Mapping[str, t.Any]) -> Manifest:
    api.changes.append(
        Change(diff.title(after), diff.owned_view(before, shape), diff.owned_view(after, shape))
    )
    return after
