# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge and result of backend sro: conditions, devices, what a SpecialResource runs, steps of a migration."""

from __future__ import annotations

import typing as t

from ..._core import conditions
from ..._core.daemon_sets import is_made_by
from ..._core.errors import text_of
from ..._core.objects import KubeObject, Snapshot
from ..._core.readiness import Grace, Readiness, first_own, pending, ready
from ..._nodes.pool_nodes import judge_devices, judge_size, summarize_nodes
from ..custom import judge as custom_judge
from ..params import StackParams, StackPool

_CONDITIONS: t.Final = {"Errored": "GPU-SRO-ERRORED", "Progressing": "GPU-SRO-NOT-READY"}
# Backend that takes over -> the kind that it needs, and the package of its operator.
_NEEDS: t.Final = {
    "kmm": ("Module", "kernel-module-management"),
    "clusterpolicy": ("ClusterPolicy", "gpu-operator-certified"),
}


def judge(live: KubeObject) -> Readiness:
    """Return what the conditions say; Errored and Progressing count before Ready."""
    name, status = live["metadata"]["name"], live.get("status") or {}
    for kind, code in _CONDITIONS.items():
        if conditions.is_true(live, kind):
            found = conditions.find(live, kind)
            said = found.get("message") or found.get("reason") or ""
            line = f"{kind}: {said}" if said else kind
            return pending(kind, **text_of(code, name=name, state=line)._asdict(), details=(line,))
    if conditions.is_true(live, "Ready"):
        return ready("Ready", "The Special Resource Operator says so.")
    line = f"state {status.get('state') or 'unknown'}"
    text = text_of("GPU-SRO-NOT-READY", name=name, state=f"in {line}")
    return pending("NotReady", **text._asdict(), details=(line,))


class Judge:
    """Judge the SpecialResource, then the nodes of the pools. seen: the last snapshot."""

    def __init__(self, params: StackParams, clock: t.Callable[[], float]) -> None:
        self._pools = params.pools
        self._grace = Grace(clock, params.grace, ("GPU-SRO-ERRORED", "GPU-ALLOC"))
        self.seen: Snapshot = {}

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self.seen = snapshot
        if not snapshot["specials"]:
            return pending("Missing", **text_of("GPU-DELETED", object="The SpecialResource")._asdict())
        own, nodes = judge(snapshot["specials"][0]), snapshot.get("nodes", ())
        others = [judge_size(nodes, pool) for pool in self._pools]
        others += [one for pool in self._pools for one in judge_devices(nodes, pool)]
        return first_own(self._grace, [own], others)


def summarize(
    name: str,
    pools: t.Sequence[StackPool],
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
        **custom_judge.summarize(live, verdict, nodes, pools, failed),
        "runs": runs(live, name, daemonsets),
    }


def owned_by(name: str, daemonsets: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Return the SpecialResource's DaemonSets, by their owner's kind and name: it may be gone already."""
    return [one for one in daemonsets if is_made_by(one, "SpecialResource", name)]


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
