# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which exporters Prometheus reaches, and which of them have data: what it says itself."""

from __future__ import annotations

import typing as t

from .manifest import EXPORTERS

# One series for each exporter that has data.
DATA: t.Final = "count by (instance) (DCGM_FI_DEV_GPU_TEMP)"


class Labelled(t.Protocol):
    """A series of the monitoring API."""

    @property
    def labels(self) -> dict[str, str]: ...
    @property
    def last(self) -> float: ...


def up(namespace: str) -> str:
    """Return the query of the exporters in a namespace: 1 for those that Prometheus reaches."""
    return f'up{{namespace="{namespace}", pod=~"{EXPORTERS[0]}-.+"}}'


def not_asked(reason: str) -> dict[str, t.Any]:
    """Return the result of a task that could not ask Prometheus."""
    return {"asked": False, "reason": reason}


def judged(targets: t.Iterable[Labelled], data: t.Iterable[Labelled]) -> dict[str, t.Any]:
    """Return how many exporters Prometheus reaches, and the pods of those that fail or have no data."""
    full, listed = {target.labels.get("instance") for target in data}, list(targets)
    down = [target for target in listed if target.last != 1]
    empty = [target for target in listed if target.last == 1 and target.labels.get("instance") not in full]
    return {
        "asked": True,
        "targets": len(listed),
        "up": len(listed) - len(down),
        "down": sorted(target.labels.get("pod", "") for target in down),
        "without_data": sorted(target.labels.get("pod", "") for target in empty),
    }


def warnings(found: t.Mapping[str, t.Any], namespace: str, is_new: bool) -> list[str]:
    """Return what is wrong. is_new: the task changed something, so Prometheus may not know it yet."""
    if not found["asked"] or (is_new and not found["targets"]):
        return []
    if not found["targets"]:
        return [
            f"Prometheus has no DCGM exporter of namespace {namespace} among its targets (GPU-NO-METRICS). "
            "It reads a new ServiceMonitor within some minutes. Look at Observe, Targets in the console."
        ]
    texts = []
    for key, what in (("down", "cannot reach"), ("without_data", "gets no metrics of GPUs from")):
        if pods := found[key]:
            shown = ", ".join(pods[:5]) + (f" and {len(pods) - 5} more" if pods[5:] else "")
            texts.append(
                f"Prometheus {what} {shown} (GPU-NO-METRICS). Run `oc logs -n {namespace} {pods[0]}`."
            )
    return texts
