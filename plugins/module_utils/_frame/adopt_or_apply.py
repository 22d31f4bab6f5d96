# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""One object that is kept as it is asked for, whoever made it; and its removal with the DaemonSets that its operator made for it."""

from __future__ import annotations

import contextlib
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import daemon_sets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.adoption import Foreign, foreign
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    KindNotServedError,
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind, known

Data = dict[str, t.Any]


def look(api: Api, kind: Kind, wanted: Data) -> Data | None:
    """The live object. In check mode its operator may be one that an earlier task would have installed."""
    try:
        return api.get(kind, wanted["metadata"]["name"], wanted["metadata"].get("namespace"))
    except KindNotServedError:
        if not api.check_mode:
            raise
        return None


def keep(api: Api, kind: Kind, wanted: Data, adopt: str, live: Data | None) -> Foreign | None:
    """Somebody else's comes back with what differs, and is changed only when its fields are to be taken."""
    if live is None or owned(live):
        api.apply(wanted, force_conflicts=live is not None, live=live)
        return None
    stranger = foreign(live, wanted.get("spec") or {}, f"{kind.kind} {wanted['metadata']['name']}")
    if adopt == "take":
        api.apply(wanted, force_conflicts=True, live=live)
        return stranger._replace(differs=[])
    if stranger.warning:
        api.warn(stranger.warning)
    return stranger


@contextlib.contextmanager
def blamed(stranger: Foreign | None, causes: t.Mapping[str, t.Sequence[str]]) -> t.Iterator[None]:
    """A failed wait says when it is somebody else's object that keeps it from succeeding. causes: start of a code -> starts of paths."""
    try:
        yield
    except (NotReadyError, WaitTimeoutError) as exc:
        if stranger:
            stranger.blame(exc, causes)
        raise


def told(stranger: Foreign | None) -> Data:
    """The part of every backend's result that is about somebody else."""
    return {"differs": stranger.differs if stranger else [], "manager": stranger.manager if stranger else ""}


def remove(api: Api, kind: Kind, name: str, namespace: str | None, owned_only: bool = True) -> bool:
    """Until the object, its DaemonSets and their pods are gone. Whether there was something to remove."""
    live = api.get(kind, name, namespace)
    if live is None:
        return False
    held = daemon_sets.of_owner(api.list(known("DaemonSet"), namespace), live["metadata"]["uid"])
    deleted = api.delete(kind, name, namespace, owned_only)
    if deleted and held:
        title = f"{kind.kind} {name}"
        queries = {"daemonsets": Query(known("DaemonSet"), namespace), "pods": Query(known("Pod"), namespace)}
        api.wait(queries, daemon_sets.Gone(title, held), f"{title} leaves")
    return deleted
