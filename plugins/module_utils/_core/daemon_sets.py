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
    return any(owner["kind"] == kind and object_name in ("", owner["name"]) for owner in owners)


def of_owner(daemonsets: t.Iterable[KubeObject], uid: str) -> list[KubeObject]:
    return [daemon_set for daemon_set in daemonsets if is_owned_by(daemon_set, (uid,))]


class Gone:
    """A judge that is ready when the DaemonSets and their pods are deleted."""

    def __init__(self, object_name: str, daemonsets: t.Iterable[KubeObject]) -> None:
        self._object_name = object_name
        self._uids = {daemon_set["metadata"]["uid"] for daemon_set in daemonsets}

    def __call__(self, snapshot: Snapshot) -> Readiness:
        sets = [owner for owner in snapshot["daemonsets"] if owner["metadata"]["uid"] in self._uids]
        pods = [pod for pod in snapshot["pods"] if is_owned_by(pod, self._uids)]
        names = [*(f"daemonset/{name(owner)}" for owner in sets), *(f"pod/{name(pod)}" for pod in pods)]
        if not names:
            return ready("Gone", "Its DaemonSets and pods are deleted.")
        line = f"{len(names)} left: {', '.join(names[:5])}{', …' if len(names) > 5 else ''}"
        namespace = (sets or pods)[0]["metadata"].get("namespace", "")
        text = text_of(
            "GPU-LEFT", what=f"DaemonSets and pods of {self._object_name}", left=line, namespace=namespace
        )
        return pending("Leaving", **text._asdict(), details=(line,))
