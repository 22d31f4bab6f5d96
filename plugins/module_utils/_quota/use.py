# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Use of a quota: the sums of a namespace, and the owners of the pods that hold most."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, name

Entry = t.Mapping[str, t.Any]
# More owners than this are only counted.
MOST: t.Final = 10
_HASH: t.Final = "pod-template-hash"


def owner(pod: KubeObject) -> dict[str, str]:
    """Return kind and name of what made the pod: its controller, or the pod itself.

    The hash in the name of a ReplicaSet leads to its Deployment.
    """
    owners = pod["metadata"].get("ownerReferences") or []
    above = next((reference for reference in owners if reference.get("controller")), None)
    if above is None:
        return {"kind": "Pod", "name": name(pod)}
    kind, object_name = str(above["kind"]), str(above["name"])
    mark = f"-{(pod['metadata'].get('labels') or {}).get(_HASH)}"
    if kind == "ReplicaSet" and object_name.endswith(mark):
        return {"kind": "Deployment", "name": object_name.removesuffix(mark)}
    return {"kind": kind, "name": object_name}


def summarize(holders: t.Iterable[Entry]) -> dict[str, t.Any] | None:
    """Return the use of a namespace, or None if nothing is held.

    C(pods), C(requests), and C(owners), those with the most devices first. C(more_owners) counts the others.
    holders: entries with C(owner) and C(requests), one for each pod or claim.
    """
    entries = list(holders)
    if not entries:
        return None
    found: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        found.setdefault((entry["owner"]["kind"], entry["owner"]["name"]), []).append(entry)
    owners = sorted(
        ({"kind": kind, "name": object_name, **_sums(those)} for (kind, object_name), those in found.items()),
        key=lambda row: (-sum(row["requests"].values()), row["kind"], row["name"]),
    )
    return {**_sums(entries), "owners": owners[:MOST], "more_owners": max(0, len(owners) - MOST)}


def _sums(entries: t.Sequence[Entry]) -> dict[str, t.Any]:
    sums: dict[str, int] = {}
    for entry in entries:
        for resource, amount in entry["requests"].items():
            sums[resource] = sums.get(resource, 0) + int(amount)
    return {"pods": len(entries), "requests": sums}
