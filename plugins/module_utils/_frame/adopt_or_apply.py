# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply an object or adopt a foreign one; delete an object with the DaemonSets that it owns."""

from __future__ import annotations

import contextlib
import typing as t

from .._core import daemon_sets, fields
from .._core.adoption import Foreign, foreign, taking
from .._core.errors import KindNotServedError, NotReadyError, WaitTimeoutError
from .._core.objects import KubeObject
from .._core.ownership import owned
from .._kube.client import Api, Query
from .._kube.kinds import Kind, known


def refuse_conflicts(live: KubeObject | None, wanted: KubeObject, adopt: str) -> None:
    """Raise ConflictError if another manager set a field that the task asks for, unless adopt is "take".

    The message has the old value, the new value and the manager of each field.
    """
    if live is not None and adopt != "take":
        object_name = f"{wanted['kind']} {wanted['metadata']['name']}"
        remedy = f"Set {taking(object_name)} to set these fields, or give the task their live values."
        fields.refuse(fields.conflicts(live, wanted.get("spec") or {}), object_name, remedy)


def live_object(api: Api, kind: Kind, wanted: KubeObject) -> KubeObject | None:
    """Return the live object, or None if it does not exist.

    Raises KindNotServedError, but not in check mode: an earlier task would perhaps install the operator.
    """
    try:
        return api.get(kind, wanted["metadata"]["name"], wanted["metadata"].get("namespace"))
    except KindNotServedError:
        if not api.check_mode:
            raise
        return None


def adopt_or_apply(
    api: Api, kind: Kind, wanted: KubeObject, adopt: str, live: KubeObject | None
) -> Foreign | None:
    """Apply the wanted object if it is absent or ours; change a foreign object only if adopt is "take".

    Return a foreign object with the fields that still differ, or None. Raise ConflictError if another
    manager set a field of our object that the task asks for.
    """
    if live is None or owned(live):
        refuse_conflicts(live, wanted, adopt)
        for field in fields.extended(live, wanted.get("spec") or {}) if live else ():
            api.warn(
                f"{wanted['kind']} {wanted['metadata']['name']}: {field.manager} applies {field.path} too, "
                "and may take away what this task adds. Add it there as well."
            )
        api.apply(wanted, force_conflicts=live is not None, live=live)
        return None
    theirs = foreign(live, wanted.get("spec") or {}, f"{kind.kind} {wanted['metadata']['name']}")
    if adopt == "take":
        api.apply(wanted, force_conflicts=True, live=live)
        return theirs._replace(differs=[])
    if theirs.warning:
        api.warn(theirs.warning)
    return theirs


@contextlib.contextmanager
def naming_differences(theirs: Foreign | None, causes: t.Mapping[str, t.Sequence[str]]) -> t.Iterator[None]:
    """Add the differences of a foreign object to the error of a failed wait, and raise the error again.

    causes: the start of an error code to the starts of the paths that can cause it.
    """
    try:
        yield
    except (NotReadyError, WaitTimeoutError) as exc:
        if theirs:
            theirs.blame(exc, causes)
        raise


def as_result(theirs: Foreign | None) -> dict[str, t.Any]:
    """Return the keys of a backend's result about a foreign object: differs and manager."""
    return {"differs": theirs.differs if theirs else [], "manager": theirs.manager if theirs else ""}


def remove(api: Api, kind: Kind, name: str, namespace: str | None, owned_only: bool = True) -> bool:
    """Delete the object, then wait until its DaemonSets and their pods are gone.

    Return True if the object was deleted. owned_only: do not delete a foreign object.
    """
    live = api.get(kind, name, namespace)
    if live is None:
        return False
    held = daemon_sets.of_owner(api.list(known("DaemonSet"), namespace), live["metadata"]["uid"])
    deleted = api.delete(kind, name, namespace, owned_only)
    if deleted and held:
        object_name = f"{kind.kind} {name}"
        queries = {"daemonsets": Query(known("DaemonSet"), namespace), "pods": Query(known("Pod"), namespace)}
        api.wait(queries, daemon_sets.Gone(object_name, held), f"{object_name} leaves")
    return deleted
