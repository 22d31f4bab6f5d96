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
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

_WRITTEN: t.Final[weakref.WeakKeyDictionary[Cluster, set[str]]] = weakref.WeakKeyDictionary()


def record(
    cluster: Cluster, about: Object, component: str, reason: str, message: str, kind: str = "Normal"
) -> None:
    """Create an Event about an object, in its namespace (`default` for an object without one)."""
    digest = hashlib.sha256(
        "/".join((about["metadata"].get("uid") or "", component, reason, message)).encode()
    ).hexdigest()[:16]
    written = _WRITTEN.setdefault(cluster, set())
    if digest in written:
        return
    try:
        cluster.create(
            _about(about, digest)
            | {"reason": reason, "message": message, "type": kind}
            | {"source": {"component": component}, "reportingComponent": component, "reportingInstance": ""}
        )
    except ApiError as error:
        if error.status not in {404, 409}:  # the event exists already, or its namespace is being deleted
            raise
    written.add(digest)


def _about(obj: Object, digest: str) -> Object:
    metadata, now = obj["metadata"], timestamp()
    reference = {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": metadata["name"],
        "namespace": metadata.get("namespace"),
        "uid": metadata.get("uid"),
    }
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{metadata['name'][:200]}.{digest}",
            "namespace": metadata.get("namespace") or "default",
        },
        "involvedObject": {key: value for key, value in reference.items() if value},
        "count": 1,
        "firstTimestamp": now,
        "lastTimestamp": now,
    }
