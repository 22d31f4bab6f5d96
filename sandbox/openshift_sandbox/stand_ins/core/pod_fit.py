# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a Pod fits on a node: taints, node selector and affinity, and resources."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from openshift_sandbox.stand_ins.core.quantities import added, amounts
from openshift_sandbox.stand_ins.core.selectors import expressed

Object = dict[str, t.Any]


@dataclass(frozen=True)
class Room:
    """A node as the scheduler sees it; `free` is what its pods leave."""

    labels: t.Mapping[str, str]
    taints: t.Sequence[Object]
    free: t.Mapping[str, float]

    def without(self, pod: Object) -> Room:
        """Return the room that is left when a Pod runs on the node too."""
        return Room(self.labels, self.taints, added(self.free, requests(pod), -1.0))

    def fits(self, pod: Object) -> bool:
        """Return whether the scheduler could place a Pod here."""
        tolerations = pod["spec"].get("tolerations") or []
        hard = [taint for taint in self.taints if taint["effect"] in {"NoSchedule", "NoExecute"}]
        return (
            all(tolerated(taint, tolerations) for taint in hard)
            and selected(pod["spec"], self.labels)
            and all(value <= self.free.get(name, 0.0) for name, value in requests(pod).items() if value)
        )


def requests(pod: Object) -> dict[str, float]:
    """Return the resources that the containers of a Pod request."""
    total: dict[str, float] = {"pods": 1.0}
    for container in pod["spec"]["containers"]:
        total = added(total, amounts((container.get("resources") or {}).get("requests")))
    return total


def tolerated(taint: Object, tolerations: t.Sequence[Object]) -> bool:
    """Return whether a toleration accepts a taint."""
    return any(
        one.get("effect") in (None, "", taint["effect"])
        and (
            (one.get("operator") == "Exists" and one.get("key") in (None, "", taint["key"]))
            or (
                one.get("operator") in (None, "Equal")
                and one.get("key") == taint["key"]
                and (one.get("value") or "") == (taint.get("value") or "")
            )
        )
        for one in tolerations
    )


def selected(spec: Object, labels: t.Mapping[str, str]) -> bool:
    """Return whether node selector and node affinity of a pod match labels."""
    if not (spec.get("nodeSelector") or {}).items() <= labels.items():
        return False
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    if not required:
        return True
    return any(
        all(expressed(one, labels) for one in term.get("matchExpressions") or [])
        for term in required["nodeSelectorTerms"]
    )
