# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why queues cannot be made, given what is on the cluster: errors to raise before the first write."""

from __future__ import annotations

import typing as t

from .._catalogue import kueue
from .._core import fields
from .._core.adoption import difference, keeper
from .._core.errors import AcceleratorError, InputError
from .._core.objects import KubeObject, name, number_of
from .._core.ownership import owned
from . import judge, manifest
from .options import Queue, Share

_TAKE: t.Final = "set gpu_policy_adopt: take (module option adopt)"
UNCHANGED: t.Final = "Nothing was changed."


def fixed(live: KubeObject | None, wanted: KubeObject) -> None:
    """Raise AcceleratorError for what Kueue lets nobody change: a Topology, and a flavor that has one."""
    now, spec = (live or {}).get("spec") or {}, wanted["spec"]
    if wanted["kind"] == kueue.TOPOLOGY and live:
        differs = ["levels"] if now.get("levels") != spec["levels"] else []
    elif wanted["kind"] == kueue.FLAVOR and now.get("topologyName"):
        keys = ("topologyName", "nodeLabels", "tolerations")
        differs = [key for key in keys if (now.get(key) or None) != (spec.get(key) or None)]
    else:
        return
    if differs:
        object_name = f"{wanted['kind']} {name(wanted)}"
        raise AcceleratorError("QUEUE-TOPOLOGY-FIXED", object=object_name, fields=", ".join(differs))


def foreign(live: KubeObject | None, wanted: KubeObject, adopt: str) -> None:
    """Raise AcceleratorError for an object of others that differs, or for fields of ours that others set."""
    if live is None or adopt == "take":
        return
    object_name, spec = f"{wanted['kind']} {name(wanted)}", wanted["spec"]
    if owned(live):
        remedy = f"{_TAKE[0].upper()}{_TAKE[1:]}, or give the fields their values back."
        fields.refuse(fields.conflicts(live, spec), object_name, remedy)
        return
    differs = sorted(difference(spec, live.get("spec") or {}))
    if differs:
        raise AcceleratorError(
            "QUEUE-FOREIGN", object=object_name, owner=keeper(live), fields=", ".join(differs)
        )


def moved(live: KubeObject | None, wanted: KubeObject, path: str) -> None:
    """Raise AcceleratorError for a LocalQueue that leads to another ClusterQueue: it cannot be changed."""
    now = ((live or {}).get("spec") or {}).get("clusterQueue")
    if now and now != wanted["spec"]["clusterQueue"]:
        space = wanted["metadata"]["namespace"]
        raise AcceleratorError("QUEUE-LOCAL-QUEUE", path=path, namespace=space, name=name(wanted), queue=now)


def two_flavors(queues: t.Sequence[Queue], nodes: t.Iterable[KubeObject]) -> None:
    """Raise InputError for a node that belongs to two pools of the queues: its GPUs would be given twice."""
    flavors = {share.pool.name: share.pool.node_selector for queue in queues for share in queue.shares}
    for node in nodes:
        if found := judge.two_flavors(node, flavors):
            raise InputError("QUEUE-TWO-FLAVORS", node=name(node), pools=" and ".join(found), pool=found[1])


def borrowing_from_itself(
    queues: t.Sequence[Queue], live: t.Iterable[KubeObject], cohorts: t.Collection[str]
) -> None:
    """Raise InputError for a queue that may borrow in a cohort where no other queue has GPUs of the pool.

    live: the ClusterQueues. cohorts: names of Cohort objects, which may have GPUs of their own.
    """
    wanted = {candidate.name for candidate in queues}
    others = [other for other in live if name(other) not in wanted]
    for queue in queues:
        for share in queue.shares:
            is_borrowing = queue.cohort and share.borrow and queue.cohort not in cohorts
            if is_borrowing and not _lenders(queue, share, queues, others):
                raise InputError(
                    "QUEUE-NO-LENDER",
                    path=f"{share.path}.borrow",
                    cohort=queue.cohort,
                    pool=share.pool.name,
                    queue=queue.name,
                )


def _lenders(
    queue: Queue, share: Share, queues: t.Iterable[Queue], others: t.Iterable[KubeObject]
) -> list[str]:
    flavor = share.pool.name
    found = [
        lender.name
        for lender in queues
        if lender.name != queue.name
        and lender.cohort == queue.cohort
        and any(part.pool.name == flavor and any(part.devices.values()) for part in lender.shares)
    ]
    return found + [
        name(other)
        for other in others
        if manifest.cohort_of(other) == queue.cohort and flavor in kueue.flavors_of(other)
    ]


def kept_flavor(flavor: str, queues: t.Sequence[str]) -> str:
    """Return the warning about a flavor that stays, because queues that stay give its nodes away."""
    return (
        f"ResourceFlavor {flavor} stays: ClusterQueue {' and '.join(sorted(queues))} gives its nodes away. "
        f"Without these nodes Jobs would be admitted, and their pods would wait for ever. Take pool {flavor} "
        "out of gpu_queues and run enable_gpus.yml, or delete the ClusterQueue."
    )


def busy(workloads: t.Sequence[str]) -> AcceleratorError:
    """Return the error for a removal that would end Workloads."""
    shown = ", ".join(workloads[:10]) + (f" and {len(workloads) - 10} more" if len(workloads) > 10 else "")
    count = number_of(len(workloads), "Workload")
    return AcceleratorError(
        "QUEUE-BUSY",
        count=count,
        names=shown,
        also=f" They would end with the queues. {UNCHANGED}",
        evidence=workloads,
    )
