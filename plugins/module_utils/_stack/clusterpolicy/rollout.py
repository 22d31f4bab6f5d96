# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Whether the operator has acted on the policy as it is now: its conditions carry no generation, so its DaemonSets are compared with the spec."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness, pending
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import operands
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.manifest import (
    effective_tolerations,
)

Toleration = tuple[str, str, str, str]
# The operator sees a change at once; what cannot be compared has shown itself in its status after this many seconds.
REACTION: t.Final = 5.0


def judge_rollout(policy: dict[str, t.Any], daemonsets: t.Iterable[dict[str, t.Any]]) -> list[Readiness]:
    spec, name = policy.get("spec") or {}, policy["metadata"]["name"]
    tolerated = {_plain(entry) for entry in effective_tolerations(policy)}
    late = []
    for one in daemonsets:
        owners = one["metadata"].get("ownerReferences") or []
        if any(owner["kind"] == "ClusterPolicy" and owner["name"] == name for owner in owners):
            late += [f"{operands.component(one)} ({what})" for what in _behind(one, spec, tolerated)]
    if not late:
        return []
    shown = ", ".join(sorted(late)[:3]) + (f" and {len(late) - 3} more" if len(late) > 3 else "")
    message = f"The operator has not yet brought the policy to {shown}."
    return [
        pending("Rollout", message, code="GPU-CP-NOTREADY", remedy="Look at the log of the GPU operator.")
    ]


def _behind(daemonset: dict[str, t.Any], spec: dict[str, t.Any], tolerated: set[Toleration]) -> list[str]:
    behind = (
        [] if tolerated <= {_plain(entry) for entry in operands.tolerations(daemonset)} else ["tolerations"]
    )
    key = operands.COMPONENTS.get(operands.component(daemonset))
    version = (spec.get(key) or {}).get("version") if key else None
    images = [
        container.get("image", "")
        for container in daemonset["spec"]["template"]["spec"].get("containers") or []
    ]
    if version and not any(str(version) in image for image in images):
        behind.append(f"version {version}")
    return behind


def _plain(entry: dict[str, t.Any]) -> Toleration:
    return (
        entry.get("key") or "",
        entry.get("operator") or "Equal",
        entry.get("value") or "",
        entry.get("effect") or "",
    )
