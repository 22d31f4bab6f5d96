# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nodes of a pool lose when the pool gets a kubelet configuration of its own.

The machine-config operator writes the whole file of the kubelet from its template and one KubeletConfig, and
that of a custom pool replaces that of the pool worker. `systemReserved` is in a file of its own, with the
switch by which a node sizes its reserve: workers of 4.21 and later do, and those whose KubeletConfig says so.
"""

from __future__ import annotations

import typing as t
from urllib.parse import unquote

from .._core.objects import KubeObject, name
from .._core.ownership import owned
from .._nodes.labels import labels
from . import machine_config
from .contradictions import Cluster
from .options import Tuning
from .selectors import selects

_SIZING: t.Final = "/etc/node-sizing-enabled.env"
_SKIPPED: t.Final = ("apiVersion", "kind", "featureGates")
_SYSTEM: t.Final = "systemReserved"


def values(wanted: t.Iterable[KubeObject]) -> KubeObject | None:
    """Return the values that the pool's own objects give the kubelet; None if they leave its file alone."""
    for one in wanted:
        if one["kind"] == "KubeletConfig":
            return t.cast(KubeObject, one["spec"]["kubeletConfig"])
        if one["kind"] == "PerformanceProfile":
            return machine_config.profile_kubelet(one)
    return None


def lost(cluster: Cluster, tuning: Tuning, wanted: t.Iterable[KubeObject]) -> str:
    """Return a sentence that names what KubeletConfigs of the pool worker set and this pool does not get."""
    own = values(wanted)
    worker = cluster.named("MachineConfigPool", machine_config.WORKER)
    if own is None or worker is None:
        return ""
    others = []
    for kubelet in sorted(cluster.kubelets, key=name):
        spec = kubelet.get("spec") or {}
        if owned(kubelet) or not selects(spec.get("machineConfigPoolSelector"), labels(worker)):
            continue
        theirs = {
            key: value for key, value in (spec.get("kubeletConfig") or {}).items() if key not in _SKIPPED
        }
        if _SYSTEM not in own:
            theirs.pop(_SYSTEM, None)
        if spec.get("tlsSecurityProfile"):
            theirs["tlsSecurityProfile"] = spec["tlsSecurityProfile"].get("type")
        fields = [f"{key}: {value}" for key, value in _leaves(theirs) if (key, value) not in _leaves(own)]
        others += [f"KubeletConfig {name(kubelet)}: {', '.join(fields)}"] if fields else []
    if not others:
        return ""
    return (
        f"{tuning.path}: the nodes of pool {tuning.name} do not get what these objects set for the pool "
        f"worker, or get another value: {'; '.join(others)}. With isolate or topology a pool has a kubelet "
        "configuration of its own."
    )


def _leaves(given: KubeObject, path: str = "") -> list[tuple[str, str]]:
    """Return each field with its value; the path has the names of the maps around it."""
    found = []
    for key, value in sorted(given.items()):
        inner = isinstance(value, dict) and bool(value)
        found += _leaves(value, f"{path}{key}.") if inner else [(f"{path}{key}", str(value))]
    return found


def sizes_itself(rendered: KubeObject | None) -> bool:
    """Return True if nodes with this rendered configuration size the reserve for the system by themselves."""
    config = ((rendered or {}).get("spec") or {}).get("config") or {}
    files = (config.get("storage") or {}).get("files") or []
    texts = [(one.get("contents") or {}).get("source") for one in files if one.get("path") == _SIZING]
    return any("NODE_SIZING_ENABLED=true" in unquote(str(one)) for one in texts)


def reserve(memory_gib: int) -> int:
    """Return the GiB that a node of this memory keeps for the system by its size."""
    first = min(max(memory_gib - 8, 0), 120)
    if memory_gib <= 128:
        return int(1 + first * 0.06 + 0.5)
    return int(1 + 6.72 + (memory_gib - 120) * 0.02 + 0.5)


def shrinks(tuning: Tuning, wanted: t.Iterable[KubeObject]) -> str:
    """Return a sentence about the reserve that gets a fixed size; "" if the pool's objects leave it alone.

    It holds only for nodes that size it by themselves.
    """
    own = values(wanted) or {}
    if _SYSTEM not in own:
        return ""
    size = tuning.memory_gib
    now = f"{reserve(size)} GiB of {size} GiB" if size else "more on large nodes"
    return (
        f"{tuning.path}: isolate gives nodes of pool {tuning.name} a fixed reserve of memory for the system "
        f"and the kubelet, {own[_SYSTEM]['memory']} each. Without it they size the reserve by themselves "
        f"({now}). Pods may use the difference, and the system lacks it when they do."
    )
