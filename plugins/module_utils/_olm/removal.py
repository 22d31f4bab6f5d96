# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of an operator: which CSVs belong to its Subscription, and what blocks the removal."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError, NotReadyError, text_of
from .._core.objects import KubeObject, number_of
from .._core.ownership import owned
from .._core.readiness import Readiness, failed, pending, ready
from . import csv as olm_csv
from .custom_resources import owned_kinds

_EVERYWHERE: t.Final = ("kube-root-ca.crt", "openshift-service-ca.crt")
# Longest name in a label's key.
_LONGEST: t.Final = 63
_CLEANUP: t.Final = "operators.coreos.com/csv-cleanup"
_OLM_LABELS: t.Final = ("olm.", "operators.coreos.com/")


def csvs(
    subscription: KubeObject | None, namespace: KubeObject | None, found: t.Sequence[KubeObject], package: str
) -> list[KubeObject]:
    """Return the CSVs to delete: those of the Subscription.

    If an interrupted run has deleted that already, return those of the package that are being deleted, or
    that are
    in a namespace of this collection.
    """
    own = [csv for csv in found if not olm_csv.is_copied(csv)]
    if subscription is not None:
        status = subscription.get("status") or {}
        names = {status.get("installedCSV"), status.get("currentCSV")}
        return [csv for csv in own if csv["metadata"]["name"] in names]
    label = f"operators.coreos.com/{package}."
    return [
        csv
        for csv in own
        if (owned(namespace) or is_leaving(csv))
        and any(key.startswith(label) for key in csv["metadata"].get("labels") or {})
    ]


def is_leaving(csv: KubeObject) -> bool:
    """Return True if the CSV is being deleted and a finalizer holds it."""
    return "deletionTimestamp" in csv["metadata"]


def others(
    subscriptions: t.Iterable[KubeObject], found: t.Iterable[KubeObject], removed: t.Sequence[KubeObject]
) -> list[str]:
    """Return the Subscriptions and CSVs of other operators that stay in the namespace, as `Kind name`."""
    gone = [obj["metadata"]["uid"] for obj in removed]
    left = [
        obj
        for obj in (*subscriptions, *found)
        if obj["metadata"]["uid"] not in gone and not olm_csv.is_copied(obj)
    ]
    return [f"{obj['kind']} {obj['metadata']['name']}" for obj in left]


def check_unused(resources: t.Iterable[KubeObject], package: str) -> None:
    """Raise OLM-IN-USE if custom resources exist whose operands only this operator can remove."""
    lines = [f"{obj['kind']} {obj['metadata']['name']}" for obj in resources if _stands_alone(obj)]
    if lines:
        raise AcceleratorError(
            "OLM-IN-USE",
            resources=number_of(len(lines), "custom resource"),
            package=package,
            names=", ".join(lines[:5]),
            evidence=lines,
        )


def judge_leaving(doomed: KubeObject) -> t.Callable[[t.Mapping[str, t.Sequence[KubeObject]]], Readiness]:
    """Return a judge that is ready when the CSV is gone.

    While OLM's finalizer holds the CSV, OLM deletes custom resources, and its status names them.
    """

    def judge(snapshot: t.Mapping[str, t.Sequence[KubeObject]]) -> Readiness:
        left = next(
            (csv for csv in snapshot["csvs"] if csv["metadata"]["uid"] == doomed["metadata"]["uid"]), None
        )
        if left is None:
            return ready("Gone", f"CSV {doomed['metadata']['name']} is deleted")
        finalizers, held = left["metadata"].get("finalizers") or [], _held_by(left)
        text = text_of(
            "OLM-CSV-HELD",
            name=left["metadata"]["name"],
            finalizers=", ".join(finalizers) or "none",
            also=f"; OLM waits for {', '.join(held)}" if held else "",
        )
        if _CLEANUP not in finalizers:
            owner = ", ".join(finalizers) or "the finalizers"
            text = text._replace(remedy=f"OLM has done its part; the owner of {owner} has to remove it.")
        return pending("CSVLeaves", **text._asdict(), details=tuple(held))

    return judge


def _held_by(csv: KubeObject) -> list[str]:
    """Return the custom resources that OLM deletes with the operator (spec.cleanup) and that still exist."""
    waiting = ((csv.get("status") or {}).get("cleanup") or {}).get("pendingDeletion") or []
    return [
        f"{entry.get('kind')} {name.get('name')}"
        for entry in waiting
        for name in entry.get("instances") or []
    ]


def crd_names(csvs: t.Iterable[KubeObject], labelled: t.Iterable[KubeObject]) -> list[str]:
    """Return the CRDs of the operator: those that its CSVs own, and those that OLM has labelled."""
    owned_ones = {
        f"{plural}.{version.partition('/')[0]}" for csv in csvs for version, _kind, plural in owned_kinds(csv)
    }
    return sorted(owned_ones | {str(crd["metadata"]["name"]) for crd in labelled})


def label(package: str, namespace: str) -> str | None:
    """Return OLM's label for the objects of a package; None if it would be too long, OLM uses a hash then."""
    name = f"{package}.{namespace}"
    return f"operators.coreos.com/{name}" if len(name) <= _LONGEST else None


def shared_with(crd: KubeObject, package: str) -> list[str]:
    """Return the other packages to which the CRD belongs as well."""
    marks = [
        key.partition("/")[2]
        for key in crd["metadata"].get("labels") or {}
        if key.startswith("operators.coreos.com/")
    ]
    return sorted(mark for mark in marks if not mark.startswith(f"{package}."))


def judge_empty(snapshot: t.Mapping[str, t.Sequence[KubeObject]]) -> Readiness:
    """Return ready if the CRDs have no objects, pending if all left ones have an owner, else failed."""
    lines = [f"{obj['kind']} {_place(obj)}" for objects in snapshot.values() for obj in objects]
    if not lines:
        return ready("Empty", "no object is left")
    kept = [
        f"{obj['kind']} {_place(obj)}"
        for objects in snapshot.values()
        for obj in objects
        if _stands_alone(obj) and "deletionTimestamp" not in obj["metadata"]
    ]
    shown = ", ".join((kept or lines)[:5])
    text = text_of("OLM-CRDS", objects=number_of(len(lines), "object"), names=shown)
    return (failed if kept else pending)("ObjectsLeft", **text._asdict(), details=tuple(kept or lines))


def check_empty(snapshot: t.Mapping[str, t.Sequence[KubeObject]]) -> None:
    """Raise NotReadyError if the CRDs have objects; the task may not have waited."""
    verdict = judge_empty(snapshot)
    if not verdict.is_ready:
        raise NotReadyError(verdict.code, f"{verdict.message}.", verdict.remedy, verdict.details)


def served_as(crd: KubeObject) -> tuple[str, str, str]:
    """Return (API version, kind, plural) under which the CRD's objects can be read."""
    spec = crd["spec"]
    version = next(entry["name"] for entry in spec["versions"] if entry["served"])
    return f"{spec['group']}/{version}", str(spec["names"]["kind"]), str(spec["names"]["plural"])


def _place(obj: KubeObject) -> str:
    metadata = obj["metadata"]
    return (
        f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else str(metadata["name"])
    )


def foreign_objects(contents: t.Iterable[KubeObject]) -> list[str]:
    """Return the foreign objects in the namespace, without those of OLM and of controllers."""
    return [
        f"{obj['kind']} {obj['metadata']['name']}"
        for obj in contents
        if _stands_alone(obj) and not owned(obj) and not _is_furniture(obj)
    ]


def _stands_alone(obj: KubeObject) -> bool:
    return not obj["metadata"].get("ownerReferences")


def _is_furniture(obj: KubeObject) -> bool:
    """Return True for objects that every namespace has, or that OLM creates with an operator."""
    metadata = obj["metadata"]
    annotations, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
    return (
        metadata["name"] in _EVERYWHERE
        or any(
            key.startswith("kubernetes.io/service-account.")
            or key == "openshift.io/internal-registry-auth-token.service-account"
            for key in annotations
        )
        or any(key.startswith(_OLM_LABELS) for key in labels)
    )
