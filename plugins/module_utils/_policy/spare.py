# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Spare devices: a Deployment of placeholder pods for each pool, which give way to pods that may preempt."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name
from .._core.ownership import PURPOSE, owned, pool_label, pool_of
from .._nodes.placeholders import LABEL, PRIORITY_CLASS
from .options import Partition

PURPOSE_SPARE: t.Final = "spare"
_PREFIX: t.Final = "gpu-spare-"
_SMALL: t.Final = {"cpu": "1m", "memory": "8Mi"}


def namespace(place: str) -> KubeObject:
    """Return the namespace of the placeholder pods, which takes only restricted pods."""
    levels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
    metadata = {"name": place, "labels": {**levels, PURPOSE: PURPOSE_SPARE}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def is_made_for_spare(place: KubeObject | None) -> bool:
    """Return True if this collection created the namespace for placeholder pods."""
    labels = ((place or {}).get("metadata") or {}).get("labels") or {}
    return owned(place) and labels.get(PURPOSE) == PURPOSE_SPARE


def is_spare(pod: KubeObject) -> bool:
    """Return True for a pod of one of the Deployments, by its label."""
    return LABEL in (pod["metadata"].get("labels") or {})


def object_name(pool: str) -> str:
    """Return the name of the pool's Deployment."""
    return _PREFIX + pool


def build(pool: Partition, place: str, image: str) -> KubeObject:
    """Return the Deployment: one pod for each spare device."""
    mine = {LABEL: pool.name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": object_name(pool.name), "namespace": place, "labels": pool_label(pool.name)},
        "spec": {
            "replicas": pool.spare,
            "revisionHistoryLimit": 0,
            # A surge would ask the autoscaler for nodes that nobody needs.
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": mine},
            "template": {"metadata": {"labels": mine}, "spec": _pod(pool, image)},
        },
    }


def _pod(pool: Partition, image: str) -> KubeObject:
    """Return the spec of a placeholder pod.

    The pods prefer one node, so that the devices that they give back are on one node, too.
    """
    amounts = {**_SMALL, pool.resources[0]: "1"}
    near = {"labelSelector": {"matchLabels": {LABEL: pool.name}}, "topologyKey": "kubernetes.io/hostname"}
    preferred = [{"weight": 100, "podAffinityTerm": near}]
    container = {
        "name": "spare",
        "image": image,
        "resources": {"requests": amounts, "limits": amounts},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    return {
        "priorityClassName": PRIORITY_CLASS,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
        "nodeSelector": dict(pool.label),
        "tolerations": pool.tolerations,
        "affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
    }


def ours(live: t.Iterable[KubeObject]) -> dict[str, KubeObject]:
    """Return the Deployments of placeholder pods that this collection made, by pool."""
    return {pool_of(obj): obj for obj in live if owned(obj) and name(obj) == object_name(pool_of(obj))}


def refuse_foreign(live: t.Iterable[KubeObject], pools: t.Iterable[Partition]) -> None:
    """Raise AcceleratorError if a Deployment of others has the name of one that a pool needs."""
    wanted = {object_name(pool.name) for pool in pools if pool.spare}
    for obj in live:
        if name(obj) in wanted and not owned(obj):
            place = f"{obj['metadata']['namespace']}/{name(obj)}"
            remedy = "Set gpu_policy_spare_namespace (module option spare_namespace) to another namespace."
            raise AcceleratorError("POLICY-FOREIGN", object=f"Deployment {place}", remedy=remedy)


def summarize(pool: Partition, live: KubeObject | None) -> dict[str, t.Any]:
    """Return the pool's entry of the result: how many placeholder pods it wants, and how many run."""
    status = (live or {}).get("status") or {}
    running = int(status.get("readyReplicas") or 0)
    return {"name": pool.name, "spare": pool.spare, "running": min(running, pool.spare)}
