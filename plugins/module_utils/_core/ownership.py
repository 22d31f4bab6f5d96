# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ownership: the label that this collection gives the objects that it creates, and the label of a pool."""

from __future__ import annotations

import typing as t

from .objects import KubeObject

MANAGER: t.Final = "accelerators.openshift"
MANAGED_BY: t.Final[dict[str, str]] = {"app.kubernetes.io/managed-by": MANAGER}
POOL: t.Final = "accelerators.openshift/pool"
# Annotation on a machine set with the key of the candidate that the set is made for. A later run stays with
# this candidate, even if the providerSpec does not name the instance type.
CANDIDATE: t.Final = "accelerators.openshift/candidate"
# The label of what a tenant has in its namespaces.
TENANT: t.Final = "accelerators.openshift/tenant"
# The label that says what a namespace was created for.
PURPOSE: t.Final = "accelerators.openshift/purpose"
# Annotation of an object that render.yml wrote for Git: its own namespace and name.
RENDERED: t.Final = "accelerators.openshift/rendered"
VALIDATION: t.Final = "validation"
TEAM: t.Final = "team"


def pool_label(name: str) -> dict[str, str]:
    """Return the label that assigns nodes, machines and machine sets to their pool."""
    return {POOL: name}


def owned(obj: t.Mapping[str, t.Any] | None) -> bool:
    """Return True if this collection gave the object its label. None is not owned.

    People copy objects with their labels. The API server knows who set the label of such a copy: it is
    foreign. Without a record in managedFields the label alone counts. What render.yml wrote is ours whoever
    applied it; a copy has another name.
    """
    if obj is None or not has_label(obj):
        return False
    (label,) = MANAGED_BY
    managers = managers_of_label(obj, label)
    return not managers or MANAGER in managers or is_rendered(obj)


def mark(manifest: KubeObject) -> None:
    """Give the manifest the label of this collection."""
    metadata = manifest["metadata"]
    metadata["labels"] = {**metadata.get("labels", {}), **MANAGED_BY}


def rendered_mark(metadata: t.Mapping[str, t.Any]) -> dict[str, str]:
    """Return the annotation of an object with this metadata that render.yml writes for Git."""
    return {RENDERED: "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))}


def is_rendered(obj: t.Mapping[str, t.Any]) -> bool:
    """Return True if the object is one that render.yml wrote for Git, and no copy under another name."""
    metadata = obj.get("metadata") or {}
    mark = (metadata.get("annotations") or {}).get(RENDERED)
    return bool(mark) and rendered_mark(metadata) == {RENDERED: mark}


def has_purpose(obj: t.Mapping[str, t.Any]) -> bool:
    """Return True for a namespace that this collection created."""
    return PURPOSE in ((obj.get("metadata") or {}).get("labels") or {})


def has_label(obj: t.Mapping[str, t.Any] | None) -> bool:
    """Return True if the object has the label of this collection, whoever set it."""
    labels = ((obj or {}).get("metadata") or {}).get("labels") or {}
    return all(labels.get(key) == value for key, value in MANAGED_BY.items())


def managers_of_label(obj: t.Mapping[str, t.Any], label: str) -> set[str]:
    """Return the field managers that set the label, as far as the API server knows."""
    return {
        str(entry.get("manager"))
        for entry in (obj.get("metadata") or {}).get("managedFields") or []
        if f"f:{label}" in _labels_of(entry.get("fieldsV1") or {})
    }


def setter(obj: t.Mapping[str, t.Any], field: str) -> tuple[str, str]:
    """Return the manager that set the field of the spec, and when (RFC 3339); empty texts if nobody knows."""
    for entry in (obj.get("metadata") or {}).get("managedFields") or []:
        if f"f:{field}" in ((entry.get("fieldsV1") or {}).get("f:spec") or {}):
            return str(entry.get("manager")), str(entry.get("time") or "")
    return "", ""


def written(obj: t.Mapping[str, t.Any], label: str) -> str:
    """Return when the writer of the label last changed one of its fields (RFC 3339), or an empty text."""
    entries = (obj.get("metadata") or {}).get("managedFields") or []
    own = (one for one in entries if f"f:{label}" in _labels_of(one.get("fieldsV1") or {}))
    return max((str(one.get("time") or "") for one in own), default="")


def _labels_of(fields: t.Mapping[str, t.Any]) -> t.Mapping[str, t.Any]:
    found: t.Mapping[str, t.Any] = (fields.get("f:metadata") or {}).get("f:labels") or {}
    return found


def pool_of(obj: t.Mapping[str, t.Any]) -> str:
    """Return the name of the pool that the object belongs to, or ""."""
    return str((obj.get("metadata", {}).get("labels") or {}).get(POOL, ""))


def selector(labels: t.Mapping[str, str]) -> str:
    """Return the labels as the text of the API's query parameter labelSelector."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def validation_namespace(place: str, live: KubeObject | None = None) -> KubeObject:
    """Return the namespace of validations, which takes only restricted pods.

    A level that an administrator changed stays.
    """
    levels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
    there = ((live or {}).get("metadata") or {}).get("labels") or {}
    levels = {key: level for key, level in levels.items() if there.get(key, level) == level}
    metadata = {"name": place, "labels": {**levels, PURPOSE: VALIDATION}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
