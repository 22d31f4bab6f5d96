# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events as controllers record them. The real ones count repetitions; here the same event is written once."""

from __future__ import annotations

import hashlib
import typing as t
import weakref

from openshift_sandbox.client import ApiError
from openshift_sandbox.stand_ins.core.conditions import timestamp
from openshift_sandbox.stand_ins.core.loop import Cluster, Object

_WRITTEN: t.Final[weakref.WeakKeyDictionary[Cluster, set[str]]] = weakref.WeakKeyDictionary()


def record(
    cluster: Cluster, about: Object, component: str, reason: str, message: str, kind: str = "Normal"
) -> None:
    """Create an Event about an object, in its namespace (`default` for an object without one)."""
    metadata = about["metadata"]
    digest = hashlib.sha256(
        "/".join((metadata.get("uid") or "", component, reason, message)).encode()
    ).hexdigest()[:16]
    written = _WRITTEN.setdefault(cluster, set())
    if digest in written:
        return
    namespace = metadata.get("namespace") or "default"
    reference = {
        "apiVersion": about["apiVersion"],
        "kind": about["kind"],
        "name": metadata["name"],
        "namespace": metadata.get("namespace"),
    }
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name'][:200]}.{digest}", "namespace": namespace},
        "involvedObject": {
            key: value for key, value in (reference | {"uid": metadata.get("uid")}).items() if value
        },
        "reason": reason,
        "message": message,
        "type": kind,
        "count": 1,
        "firstTimestamp": timestamp(),
        "lastTimestamp": timestamp(),
        "source": {"component": component},
        "reportingComponent": component,
        "reportingInstance": "",
    }
    try:
        cluster.create(event)
    except ApiError as error:
        if error.status not in {404, 409}:  # the event exists already, or its namespace is being deleted
            raise
    written.add(digest)
