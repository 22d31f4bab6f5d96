# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profiles that pools and queues make, and their objects in each kind that OpenShift AI has had."""

from __future__ import annotations

import re
import typing as t

from .._catalogue.well_known import VENDORS
from .._core.objects import KubeObject
from .._core.ownership import owned
from .._nodes import taints
from .._pools.model import Candidate, Pool
from .._pools.plan import given_away
from .._queue.options import devices
from .._sharing.schema import WAYS

HARDWARE: t.Final = "HardwareProfile"
# The group whose profiles know queues.
GROUP: t.Final = "infrastructure.opendatahub.io"
# apiVersion, kind and plural, the newest first.
KINDS: t.Final = (
    (f"{GROUP}/v1", HARDWARE, "hardwareprofiles"),
    (f"{GROUP}/v1alpha1", HARDWARE, "hardwareprofiles"),
    ("dashboard.opendatahub.io/v1alpha1", HARDWARE, "hardwareprofiles"),
    ("dashboard.opendatahub.io/v1", "AcceleratorProfile", "acceleratorprofiles"),
)
# What runs with a profile: apiVersion, kind and plural. Its annotations name the profile.
USERS: t.Final = (
    ("kubeflow.org/v1", "Notebook", "notebooks"),
    ("serving.kserve.io/v1beta1", "InferenceService", "inferenceservices"),
)
_NAMED: t.Final = tuple(
    f"opendatahub.io/{key}"
    for key in ("hardware-profile-name", "legacy-hardware-profile-name", "accelerator-name")
)
_STOPPED: t.Final = ("kubeflow-resource-stopped", "serving.kserve.io/stop")
# Annotations: names of the pools that the profile offers, and of all pools of the list that it comes from.
OFFERS: t.Final = "accelerators.openshift/pools"
LIST: t.Final = "accelerators.openshift/list-of-pools"


class Profile(t.NamedTuple):
    """What a user of OpenShift AI can choose. queue: name of the LocalQueue, or "" for nodes of one pool."""

    name: str
    title: str
    description: str
    resource: str
    identifiers: list[dict[str, t.Any]]
    pools: list[Pool]
    queue: str


def profiles(pools: t.Sequence[Pool], queues: t.Iterable[t.Mapping[str, t.Any]]) -> list[Profile]:
    """Return a profile for each device of a pool, and of a queue. A pool in a queue has none of its own.

    queues: as gpu_queue takes them. Pools of virtual machines have no profile.
    """
    offering = {pool.name: pool for pool in pools if not pool.runs_machines}
    queued = []
    for queue in queues:
        members = [pool for name, pool in offering.items() if name in given_away([queue])]
        queued.append((str(queue.get("name")), members, str(queue.get("local_queue") or queue.get("name"))))
    given = {pool.name for _name, members, _local in queued for pool in members}
    plain = [(pool.name, [pool], "") for pool in offering.values() if pool.name not in given]
    found: list[Profile] = []
    for name, members, local in [*plain, *queued]:
        resources = list(dict.fromkeys(resource for pool in members for resource in devices(pool)))
        for resource in resources:
            end = re.sub(r"[^a-z0-9]+", "-", resource.partition("/")[2].lower())
            full = name if len(resources) == 1 else f"{name}-{end}"
            full += "-queue" if full in [profile.name for profile in found] else ""
            having = [pool for pool in members if resource in devices(pool)]
            found.append(_profile(full, resource, having, local))
    return found


def _profile(name: str, resource: str, pools: list[Pool], queue: str) -> Profile:
    """Return the profile. Its highest amounts fit on each node of the pools."""
    kinds = [node for pool in pools for node in pool.candidates or (Candidate("", expected=pool.expected),)]
    nodes = [node for node in kinds if resource in node.expected]
    is_shared = any(way in pool.sharing for pool in pools for way in WAYS)
    # A second share of a GPU gives a pod nothing.
    most = 1 if is_shared else min(node.expected[resource] for node in nodes)
    models = " or ".join(dict.fromkeys(node.gpu_model for node in nodes if node.gpu_model)) or "GPU"
    device = resource.partition("/")[2]
    where = f"queue {queue}" if queue else pools[0].name
    text = f"Up to {most} {resource} for a pod, on nodes of pool {' or '.join(pool.name for pool in pools)}."
    return Profile(
        name,
        f"{models}{'' if device == 'gpu' else f' {device}'} ({where})",
        f"{text} Several pods share each GPU." if is_shared else text,
        resource,
        [
            _identifier("CPU", "cpu", _amount(nodes, "vcpus", 2)),
            _identifier("Memory", "memory", _amount(nodes, "memory_gib", 4), "Gi"),
            _identifier("Accelerator", resource, (1, most)),
        ],
        pools,
        queue,
    )


def _amount(nodes: t.Sequence[Candidate], fact: str, usual: int) -> tuple[int, int | None]:
    """Return the default and the highest amount of a pod: a device's part of it, three quarters of a node.

    usual: the default if nobody knows the size of the nodes.
    """
    if any(getattr(node, fact) is None for node in nodes):
        return usual, None
    wholes = [max(1, int(getattr(node, fact) * 3 / 4)) for node in nodes]
    counts = [sum(n for name, n in node.expected.items() if name.startswith(VENDORS)) for node in nodes]
    return max(1, min(whole // count for whole, count in zip(wholes, counts, strict=True))), min(wholes)


def _identifier(kind: str, name: str, amount: tuple[int, int | None], unit: str = "") -> dict[str, t.Any]:
    counts = {"minCount": 1, "defaultCount": amount[0], "maxCount": amount[1]}
    known = {key: f"{number}{unit}" if unit else number for key, number in counts.items() if number}
    return {"displayName": kind, "identifier": name, "resourceType": kind, **known}


def build(
    profile: Profile, kind: tuple[str, str], namespace: str, pools: t.Iterable[str], is_enabled: bool
) -> KubeObject:
    """Return the object of a profile. pools: all names of the list. is_enabled: users may choose it."""
    offered = sorted(pool.name for pool in profile.pools)
    notes = {OFFERS: ",".join(offered), LIST: ",".join(sorted(pools))}
    hard = [taint for taint in profile.pools[0].taints if taint.effect != "PreferNoSchedule"]
    tolerations = [taints.tolerating(taint.as_result()) for taint in hard]
    tolerated: dict[str, t.Any] = {"tolerations": tolerations} if tolerations else {}
    nodes = {"nodeSelector": dict(profile.pools[0].node_selector), **tolerated}
    texts = {"displayName": profile.title, "description": profile.description, "enabled": is_enabled}
    if kind[0].startswith(GROUP):
        notes["opendatahub.io/display-name"] = profile.title
        notes["opendatahub.io/description"] = profile.description
        queue = {"type": "Queue", "kueue": {"localQueueName": profile.queue}}
        way = queue if profile.queue else {"type": "Node", "node": nodes}
        spec: dict[str, t.Any] = {"identifiers": profile.identifiers, "scheduling": way}
    elif kind[1] == HARDWARE:
        spec = {**texts, "identifiers": profile.identifiers, **nodes}
    else:
        spec = {**texts, "identifier": profile.resource, **tolerated}
    metadata = {"name": profile.name, "namespace": namespace, "annotations": notes}
    return {"apiVersion": kind[0], "kind": kind[1], "metadata": metadata, "spec": spec}


def of_list(live: KubeObject, pools: t.Collection[str]) -> bool:
    """Return True for our profile from this list of pools, or from an older state of it.

    Lists that share a pool are one: so two files of pools can share one cluster.
    """
    return owned(live) and not _noted(live, LIST).isdisjoint(pools)


def offers_only(live: KubeObject, pools: t.Collection[str]) -> bool:
    """Return True for our profile that offers nothing but these pools."""
    return owned(live) and bool(_noted(live, OFFERS)) and _noted(live, OFFERS) <= set(pools)


def named(user: KubeObject) -> set[str]:
    """Return the names of the profiles with which a workbench or a model runs."""
    notes = user["metadata"].get("annotations") or {}
    is_stopped = any(notes.get(key) not in (None, "false") for key in _STOPPED)
    return set() if is_stopped else {str(notes[key]) for key in _NAMED if notes.get(key)}


def _noted(live: KubeObject, key: str) -> set[str]:
    return set(str((live["metadata"].get("annotations") or {}).get(key) or "").split(",")) - {""}
