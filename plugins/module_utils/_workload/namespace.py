# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The namespace of validations: the object, and what other people put into it."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, name, number_of
from .._core.ownership import PURPOSE, VALIDATION, owned

# The kinds that people create in a namespace by hand or with their tools.
KINDS: t.Final = (
    "Pod",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
    "Service",
    "ServiceAccount",
    "Secret",
    "ConfigMap",
    "ResourceQuota",
)
# OpenShift and its add-ons put these into every namespace.
_EVERYWHERE: t.Final = {
    "ServiceAccount": ("default", "builder", "deployer", "pipeline"),
    "ConfigMap": (
        *("kube-root-ca.crt", "openshift-service-ca.crt", "istio-ca-root-cert", "odh-trusted-ca-bundle"),
        *("config-service-cabundle", "config-trusted-cabundle"),
    ),
}
_OF_ACCOUNT: t.Final = ("kubernetes.io/service-account.name", "openshift.io/internal-registry-auth-token")


def is_made_for_validation(place: KubeObject) -> bool:
    """Return whether this collection created the namespace for validations, and not for a team."""
    return owned(place) and (place["metadata"].get("labels") or {}).get(PURPOSE) == VALIDATION


def of_others(kind: str, found: t.Iterable[KubeObject]) -> list[str]:
    """Return `KIND NAME` of each object that neither this collection nor OpenShift itself created."""
    usual = _EVERYWHERE.get(kind, ())
    return [
        f"{kind} {name(one)}"
        for one in found
        if not owned(one) and name(one) not in usual and not _is_of_account(one) and not _is_of_listed(one)
    ]


def _is_of_listed(one: KubeObject) -> bool:
    """Return whether a controller made it for an object that is listed itself, as a CronJob has its Jobs."""
    owners = one["metadata"].get("ownerReferences") or []
    return any(owner.get("controller") and owner.get("kind") in KINDS for owner in owners)


def _is_of_account(one: KubeObject) -> bool:
    annotations = one["metadata"].get("annotations") or {}
    return any(key.startswith(_OF_ACCOUNT) for key in annotations)


def stays(place: str, found: t.Sequence[str]) -> str:
    """Return the warning about a namespace that holds objects of others. found: their kinds and names."""
    shown = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    return (
        f"Namespace {place} stays, because it holds {number_of(len(found), 'object')} that this task does "
        f"not delete ({shown}). Run `oc delete namespace {place}` when nobody needs them: all its pods end."
    )


def stays_for(place: str, nodes: t.Sequence[str]) -> str:
    """Return the warning about a namespace that remembers validated nodes of other pools."""
    shown = ", ".join(nodes[:5]) + (", …" if nodes[5:] else "")
    return (
        f"Namespace {place} stays, because it remembers the validation of {number_of(len(nodes), 'node')} in "
        f"no pool of this removal ({shown})."
    )
