# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Taking an operator away: which CSVs go with its Subscription, and what is still in the way."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    failed,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import csv as olm_csv

Object = dict[str, t.Any]

_EVERYWHERE: t.Final = ("kube-root-ca.crt", "openshift-service-ca.crt")
# Of the name in a label's key.
_LONGEST: t.Final = 63
_HELD: t.Final = "See why these objects stay (their finalizers), and whether OLM runs: oc -n openshift-operator-lifecycle-manager get pods."
_CLEANUP: t.Final = "operators.coreos.com/csv-cleanup"
_OLM_LABELS: t.Final = ("olm.", "operators.coreos.com/")


def csvs(
    subscription: Object | None, namespace: Object | None, found: t.Sequence[Object], package: str
) -> list[Object]:
    """The CSVs of our Subscription; where that is gone already (a run that was interrupted), those of the package in our namespace, or that are going."""
    own = [one for one in found if not olm_csv.is_copied(one)]
    if subscription is not None:
        status = subscription.get("status") or {}
        names = {status.get("installedCSV"), status.get("currentCSV")}
        return [one for one in own if one["metadata"]["name"] in names]
    label = f"operators.coreos.com/{package}."
    return [
        one
        for one in own
        if (owned(namespace) or is_leaving(one))
        and any(key.startswith(label) for key in one["metadata"].get("labels") or {})
    ]


def is_leaving(csv: Object) -> bool:
    """Whether it was deleted already, and a finalizer holds it."""
    return "deletionTimestamp" in csv["metadata"]


def others(
    subscriptions: t.Iterable[Object], found: t.Iterable[Object], removed: t.Sequence[Object]
) -> list[str]:
    """Operators that go on living in the namespace."""
    gone = [one["metadata"]["uid"] for one in removed]
    left = [
        one
        for one in (*subscriptions, *found)
        if one["metadata"]["uid"] not in gone and not olm_csv.is_copied(one)
    ]
    return [f"{one['kind']} {one['metadata']['name']}" for one in left]


def check_unused(resources: t.Iterable[Object], package: str, with_crds: bool = False) -> None:
    """Custom resources that only this operator can clean up after go first."""
    lines = [f"{one['kind']} {one['metadata']['name']}" for one in resources if _stands_alone(one)]
    if lines:
        message = f"{len(lines)} custom resources of {package} still exist ({', '.join(lines[:5])}); without the operator their operands stay for ever."
        remedy = (
            "Delete them first; their CRDs would take them along."
            if with_crds
            else "Delete them first, or set force: true."
        )
        raise AcceleratorError("OLM-IN-USE", message, remedy, lines)


def judge_leaving(doomed: Object) -> t.Callable[[t.Mapping[str, t.Sequence[Object]]], Readiness]:
    """Judge: the CSV is gone. While OLM's finalizer holds it, OLM cleans up, and says what it waits for."""

    def judge(snapshot: t.Mapping[str, t.Sequence[Object]]) -> Readiness:
        left = next(
            (one for one in snapshot["csvs"] if one["metadata"]["uid"] == doomed["metadata"]["uid"]), None
        )
        if left is None:
            return ready("Gone", f"CSV {doomed['metadata']['name']} is deleted")
        finalizers, held = left["metadata"].get("finalizers") or [], _held_by(left)
        text = f"CSV {left['metadata']['name']} is still being deleted (finalizers: {', '.join(finalizers) or 'none'})"
        text += f"; OLM waits for {', '.join(held)}" if held else ""
        remedy = (
            _HELD
            if _CLEANUP in finalizers
            else f"OLM has done its part; whoever set {', '.join(finalizers) or 'the finalizers'} has to take it off."
        )
        return pending("CSVLeaves", text, code="OLM-CSV-HELD", remedy=remedy, details=tuple(held))

    return judge


def _held_by(csv: Object) -> list[str]:
    """Custom resources that OLM deletes with the operator (spec.cleanup), and that are not gone yet."""
    waiting = ((csv.get("status") or {}).get("cleanup") or {}).get("pendingDeletion") or []
    return [f"{one.get('kind')} {name.get('name')}" for one in waiting for name in one.get("instances") or []]


def crd_names(csvs: t.Iterable[Object], labelled: t.Iterable[Object]) -> list[str]:
    """CRDs that the operator brought: what its CSVs own, and what OLM has labelled with the package."""
    owned_ones = {
        f"{plural}.{version.partition('/')[0]}"
        for csv in csvs
        for version, _kind, plural in olm_csv.owned_kinds(csv)
    }
    return sorted(owned_ones | {str(one["metadata"]["name"]) for one in labelled})


def label(package: str, namespace: str) -> str | None:
    """What OLM puts on everything of a package; None where the name is so long that OLM writes a hash instead."""
    name = f"{package}.{namespace}"
    return f"operators.coreos.com/{name}" if len(name) <= _LONGEST else None


def shared_with(crd: Object, package: str) -> list[str]:
    """Other packages under OLM that the CRD belongs to as well."""
    marks = [
        key.partition("/")[2]
        for key in crd["metadata"].get("labels") or {}
        if key.startswith("operators.coreos.com/")
    ]
    return sorted(one for one in marks if not one.startswith(f"{package}."))


def judge_empty(snapshot: t.Mapping[str, t.Sequence[Object]]) -> Readiness:
    """Judge: the CRDs have no objects. What a controller made goes with its owner; the rest is somebody's."""
    lines = [f"{one['kind']} {_place(one)}" for objects in snapshot.values() for one in objects]
    if not lines:
        return ready("Empty", "no object is left")
    kept = [
        f"{one['kind']} {_place(one)}"
        for objects in snapshot.values()
        for one in objects
        if _stands_alone(one) and "deletionTimestamp" not in one["metadata"]
    ]
    text = f"{len(lines)} objects of the CRDs are left ({', '.join((kept or lines)[:5])}); deleting the CRDs would delete them. No CRD was deleted"
    make = failed if kept else pending
    return make(
        "ObjectsLeft",
        text,
        code="OLM-CRDS",
        remedy="Delete these objects first, or leave remove_crds out.",
        details=tuple(kept or lines),
    )


def check_empty(snapshot: t.Mapping[str, t.Sequence[Object]]) -> None:
    """The same, of one look: nobody may have waited."""
    verdict = judge_empty(snapshot)
    if not verdict.is_ready:
        raise NotReadyError(verdict.code, f"{verdict.message}.", verdict.remedy, verdict.details)


def served_as(crd: Object) -> tuple[str, str, str]:
    """API version, kind and plural under which the CRD's objects can be read."""
    spec = crd["spec"]
    version = next(one["name"] for one in spec["versions"] if one["served"])
    return f"{spec['group']}/{version}", str(spec["names"]["kind"]), str(spec["names"]["plural"])


def _place(obj: Object) -> str:
    metadata = obj["metadata"]
    return (
        f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else str(metadata["name"])
    )


def strangers(contents: t.Iterable[Object]) -> list[str]:
    """What somebody else keeps in the namespace: neither ours, nor OLM's, nor made by a controller."""
    return [
        f"{one['kind']} {one['metadata']['name']}"
        for one in contents
        if _stands_alone(one) and not owned(one) and not _is_furniture(one)
    ]


def _stands_alone(obj: Object) -> bool:
    return not obj["metadata"].get("ownerReferences")


def _is_furniture(obj: Object) -> bool:
    """What every namespace has, and what OLM puts beside an operator."""
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
