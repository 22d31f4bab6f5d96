# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods hold NVIDIA devices."""

from __future__ import annotations

import typing as t

Object = dict[str, t.Any]

ENDED: t.Final = ("Succeeded", "Failed")


def devices_wanted(pod: Object) -> int:
    """Return how many NVIDIA devices of any kind a pod's containers request."""
    limits = [
        (container.get("resources") or {}).get("limits") or {} for container in pod["spec"]["containers"]
    ]
    return sum(int(value) for one in limits for name, value in one.items() if name.startswith("nvidia.com/"))


def requested(pod: Object) -> dict[str, int]:
    """Return how many NVIDIA devices of each resource the container with the largest request requests."""
    found: dict[str, int] = {}
    for container in pod["spec"]["containers"]:
        for name, value in ((container.get("resources") or {}).get("limits") or {}).items():
            if name.startswith("nvidia.com/"):
                found[name] = max(found.get(name, 0), int(value))
    return found


def holders(pods: t.Iterable[Object], node: str) -> list[Object]:
    """Return the pods on a node that hold a device; one that is being deleted holds it until it is gone."""
    return [
        pod
        for pod in pods
        if pod["spec"].get("nodeName") == node
        and devices_wanted(pod)
        and (pod.get("status") or {}).get("phase") not in ENDED
    ]
