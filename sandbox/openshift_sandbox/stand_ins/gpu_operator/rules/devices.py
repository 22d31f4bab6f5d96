# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods hold NVIDIA devices."""

from __future__ import annotations

import typing as t

Object = dict[str, t.Any]

ENDED: t.Final = ("Succeeded", "Failed")


def limits(pod: Object) -> list[dict[str, int]]:
    """Return how many NVIDIA devices of each resource the containers of a pod request, by container."""
    found = [(one.get("resources") or {}).get("limits") or {} for one in pod["spec"]["containers"]]
    return [
        {name: int(value) for name, value in one.items() if name.startswith("nvidia.com/")} for one in found
    ]


def devices_wanted(pod: Object) -> int:
    """Return how many NVIDIA devices of any kind a pod's containers request."""
    return sum(sum(one.values()) for one in limits(pod))


def wanted_by_name(pod: Object) -> dict[str, int]:
    """Return how many NVIDIA devices of each resource a pod's containers request together."""
    found: dict[str, int] = {}
    for one in limits(pod):
        found |= {name: found.get(name, 0) + count for name, count in one.items()}
    return found


def requested(pod: Object) -> dict[str, int]:
    """Return how many NVIDIA devices of each resource the container with the largest request requests."""
    found: dict[str, int] = {}
    for one in limits(pod):
        found |= {name: max(found.get(name, 0), count) for name, count in one.items()}
    return found


def counted(pods: t.Iterable[Object], node: str) -> list[Object]:
    """Return the pods on a node that the upgrade controller deletes: those that name a GPU or a partition.

    The name alone counts, also with the number 0. Init containers do not count (v26.3.3, v26.7.0).
    """
    return [
        pod
        for pod in pods
        if pod["spec"].get("nodeName") == node
        and (pod.get("status") or {}).get("phase") in ("Running", "Pending")
        and any(map(_names_gpu, pod["spec"]["containers"]))
    ]


def _names_gpu(container: Object) -> bool:
    resources = container.get("resources") or {}
    names = [*(resources.get("limits") or {}), *(resources.get("requests") or {})]
    return any(name.startswith(("nvidia.com/gpu", "nvidia.com/mig-")) for name in names)


def holders(pods: t.Iterable[Object], node: str) -> list[Object]:
    """Return the pods on a node that hold a device; one that is being deleted holds it until it is gone."""
    return [
        pod
        for pod in pods
        if pod["spec"].get("nodeName") == node
        and devices_wanted(pod)
        and (pod.get("status") or {}).get("phase") not in ENDED
    ]
