# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Replicas of a machine set: whether a person, the autoscaler or the pool set them, by field ownership."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .machine_set import replicas_of

_FIELD: t.Final = ".spec.replicas"
# Field managers of people. A person's change is a conflict that a person has to settle.
_PEOPLE: t.Final = ("oc", "kubectl")


def is_about_them(conflict: str) -> bool:
    return conflict.partition(": ")[0] == _FIELD


def is_scaled_by_hand(live: KubeObject) -> bool:
    """Return whether a person scaled the set last, with oc or kubectl; True if no scaling is recorded."""
    for entry in live["metadata"].get("managedFields") or ():
        if entry.get("subresource") == "scale" and "f:replicas" in (entry.get("fieldsV1") or {}).get(
            "f:spec", {}
        ):
            return str(entry.get("manager") or "").startswith(_PEOPLE)
    return True


def settled(manifest: KubeObject, read: KubeObject, live: KubeObject) -> KubeObject:
    """Return the manifest for the live version. Replicas that differ from read are kept."""
    count = manifest["spec"]["replicas"] if replicas_of(read) == replicas_of(live) else replicas_of(live)
    metadata = {**manifest["metadata"], "resourceVersion": live["metadata"]["resourceVersion"]}
    return {**manifest, "metadata": metadata, "spec": {**manifest["spec"], "replicas": count}}
