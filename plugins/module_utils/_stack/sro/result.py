# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Result of backend sro: the stages of a SpecialResource, what it runs, and the steps of a migration."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject, Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import pending
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import summarize_nodes
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.custom import (
    result as custom_result,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.sro.judge import judge

# Backend that takes over -> the kind that it needs, and the package of its operator.
_NEEDS: t.Final = {
    "kmm": ("Module", "kernel-module-management"),
    "clusterpolicy": ("ClusterPolicy", "gpu-operator-certified"),
}


def summarize(
    name: str,
    pools: t.Sequence[dict[str, t.Any]],
    snapshot: Snapshot,
    daemonsets: t.Iterable[KubeObject],
    failed: str = "",
) -> dict[str, t.Any]:
    """Return the result of a SpecialResource. failed: the code that ended the wait."""
    live, nodes = next(iter(snapshot.get("specials") or []), None), snapshot.get("nodes", ())
    verdict = judge(live) if live else pending("Missing")
    return {
        "name": name,
        "state": verdict.verdict,
        "reason": verdict.reason,
        "nodes": summarize_nodes(nodes, pools),
        **custom_result.summarize(live, verdict, nodes, pools, failed),
        "runs": runs(live, name, daemonsets),
    }


def owned_by(name: str, daemonsets: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Return the SpecialResource's DaemonSets, by their owner's kind and name: it may be gone already."""
    owners = [(one, owner) for one in daemonsets for owner in one["metadata"].get("ownerReferences") or []]
    return [one for one, owner in owners if owner["kind"] == "SpecialResource" and owner["name"] == name]


def runs(live: KubeObject | None, name: str, daemonsets: t.Iterable[KubeObject]) -> dict[str, t.Any]:
    """Return the chart and the DaemonSets that a migration removes."""
    spec = (live or {}).get("spec") or {}
    chart = spec.get("chart") or {}
    sets = [
        {
            "name": f"{one['metadata']['namespace']}/{one['metadata']['name']}",
            "images": [container["image"] for container in one["spec"]["template"]["spec"]["containers"]],
            "pods": (one.get("status") or {}).get("numberReady", 0),
        }
        for one in owned_by(name, daemonsets)
    ]
    return {
        "chart": f"{chart['name']} {chart['version']}" if chart else "",
        "namespace": spec.get("namespace", ""),
        "daemonsets": sets,
    }


def needs(target: str, is_served: t.Callable[[str], bool]) -> list[dict[str, t.Any]]:
    """Return what the backend that takes over needs, and whether it is there."""
    kind, package = _NEEDS[target]
    return [{"what": f"{kind} is served (olm_operator with name={package})", "met": is_served(kind)}]


def steps(
    name: str, target: str, is_there: bool, needed: t.Iterable[dict[str, t.Any]]
) -> list[dict[str, t.Any]]:
    """Return the steps of a migration, and which of them are done.

    is_there: anything of the old stack exists.
    """
    unloaded = "its DaemonSets and pods are gone, so that its kernel modules are unloaded"
    return [
        {"step": f"{target} finds what it needs", "done": all(one["met"] for one in needed)},
        {"step": f"SpecialResource {name} is removed", "done": not is_there},
        {"step": unloaded, "done": not is_there},
        {"step": f"{target} brings the driver", "done": False},
    ]
