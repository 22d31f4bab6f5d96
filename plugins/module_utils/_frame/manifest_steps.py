# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply manifests in order, or delete them in reverse order."""

from __future__ import annotations

import contextlib
import typing as t

from .._core.errors import AcceleratorError, KindNotServedError
from .._kube.client import Api, Query
from .._kube.kinds import find, known
from .._kube.retry import Pause
from . import manifest as manifests
from .argspec import StateParams
from .manifest import Entry

# One entry of the module's result for each object.
Results = list[dict[str, t.Any]]


class ManifestsParams(StateParams):
    """The options of the module `manifests`. objects: maps, YAML texts, or one YAML text."""

    objects: t.Any
    namespace: str | None
    force_conflicts: bool


def read(objects: t.Any, namespace: str | None) -> list[Entry]:
    """Return the objects in the order of application. Set the namespace of those whose kind is known.

    Sends no request. Raises InputError.
    """
    return [_placed(entry, namespace) for entry in manifests.read(objects)]


def apply(api: Api, entries: t.Sequence[Entry], namespace: str | None, force_conflicts: bool) -> Results:
    """Apply the objects. Wait for CustomResourceDefinitions before the objects that may need them.

    namespace: for namespaced objects that have none. Raises AcceleratorError with the path of the object.
    """

    new: set[tuple[str, str]] = set()

    def act(entry: Entry) -> None:
        if (entry.api_version, entry.kind) in new:
            _until_served(api, entry)
        api.apply(_placed_by_server(api, entry, namespace).manifest, force_conflicts=force_conflicts)

    results = [_done(api, entry, act) for entry in entries if entry.is_ground]
    crd = known(manifests.CRD)
    crds = {entry.name: Query(crd, name=entry.name) for entry in entries if entry.kind == manifests.CRD}
    if crds:
        api.wait(crds, manifests.judge_established, "custom resource definitions")
        new = {kind for entry in entries for kind in manifests.defined(entry)}
    return results + [_done(api, entry, act) for entry in entries if not entry.is_ground]


def remove(api: Api, entries: t.Sequence[Entry], namespace: str | None) -> Results:
    """Delete the objects in reverse order. Raises AcceleratorError with the path of the object."""

    def act(entry: Entry) -> None:
        try:
            kind = api.resolve(entry.api_version, entry.kind)
        except KindNotServedError:
            return
        api.delete(kind, entry.name, manifests.place(entry, kind.namespaced, namespace).namespace)

    return [_done(api, entry, act) for entry in reversed(entries)]


def _until_served(api: Api, entry: Entry) -> None:
    """Wait until the server names the kind: it does so some seconds after the definition is Established."""
    pause = Pause(api.http.limits)
    while api.wait_wanted and not api.check_mode and not api.deadline.passed:
        with contextlib.suppress(KindNotServedError):
            api.resolve(entry.api_version, entry.kind)
            return
        api.deadline.sleep(pause.next())


def _placed(entry: Entry, namespace: str | None) -> Entry:
    kind = find(entry.api_version, entry.kind)
    return manifests.place(entry, kind.namespaced, namespace) if kind else entry


def _placed_by_server(api: Api, entry: Entry, namespace: str | None) -> Entry:
    """Return the entry with its namespace. The server says whether its kind is namespaced.

    In check mode the kind may not be served yet: an earlier task would create its CRD.
    """
    try:
        kind = api.resolve(entry.api_version, entry.kind)
    except KindNotServedError:
        if api.check_mode:
            return entry
        raise
    return manifests.place(entry, kind.namespaced, namespace)


def _done(api: Api, entry: Entry, act: t.Callable[[Entry], None]) -> dict[str, t.Any]:
    """Act on an object and return its result. Put the object's path in front of an error's message."""
    before = len(api.changes)
    try:
        act(entry)
    except AcceleratorError as exc:
        if entry.path not in exc.message:
            exc.message = f"{entry.path} ({entry.kind} {entry.name}): {exc.message}"
        raise
    return entry.summarize(len(api.changes) > before)
