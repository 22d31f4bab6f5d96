# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""DaemonSets that an object owns, and their pods: judge whether they are gone."""

from __future__ import annotations

import typing as t

from .errors import text_of
from .objects import KubeObject, Snapshot, name
from .readiness import Readiness, pending, ready


def is_owned_by(obj: KubeObject, uids: t.Collection[str]) -> bool:
    """Return True if an owner of the object has one of these uids."""
    return any(owner["uid"] in uids for owner in obj["metadata"].get("ownerReferences") or [])


def is_made_by(obj: KubeObject, kind: str, object_name: str = "") -> bool:
    """Return True if an owner of the object is of this kind, and has this name unless it is empty."""
    owners = obj["metadata"].get("ownerReferences") or []
    return any(one["kind"] == kind and object_name in ("", one["name"]) for one in owners)


def of_owner(daemonsets: t.Iterable[KubeObject], uid: str) -> list[KubeObject]:
    return [one for one in daemonsets if is_owned_by(one, (uid,))]


class Gone:
    """A judge that is ready when the DaemonSets and their pods are deleted."""

    def __init__(self, object_name: str, daemonsets: t.Iterable[KubeObject]) -> None:
        self._title = object_name
        self._uids = {one["metadata"]["uid"] for one in daemonsets}

    def __call__(self, snapshot: Snapshot) -> Readiness:
        sets = [one for one in snapshot["daemonsets"] if one["metadata"]["uid"] in self._uids]
        pods = [one for one in snapshot["pods"] if is_owned_by(one, self._uids)]
        names = [*(f"daemonset/{name(one)}" for one in sets), *(f"pod/{name(one)}" for one in pods)]
        if not names:
            return ready("Gone", "Its DaemonSets and pods are deleted.")
        line = f"{len(names)} left: {', '.join(names[:5])}{', …' if len(names) > 5 else ''}"
        namespace = (sets or pods)[0]["metadata"].get("namespace", "")
        text = text_of(
            "GPU-LEFTOVER", what=f"DaemonSets and pods of {self._title}", left=line, namespace=namespace
        )
        return pending("Leaving", **text._asdict(), details=(line,))
