# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of a PrometheusRule: alerts, and metrics that are recorded."""

from __future__ import annotations

import json
import typing as t

from . import metrics
from .alerts import ACTIVE, EXPECTED, RECORDED, Alert

Rule = dict[str, t.Any]
Pool = t.Mapping[str, t.Any]
# The GPU operator records accelerator_memory_used_bytes from the use of the memory's bandwidth in percent,
# and accelerator_memory_total_bytes from a field that the exporter does not collect. These two are right.
USED: t.Final = f"{RECORDED}gpu_memory_used:bytes"
TOTAL: t.Final = f"{RECORDED}gpu_memory_total:bytes"
_MIB: t.Final = 1048576
# The share of a GPU that is in use, from 0 to 1. A vGPU and a GPU without profiling have only the second
# metric, a MIG slice only the first.
ACTIVE_OF: t.Final = "DCGM_FI_PROF_GR_ENGINE_ACTIVE or DCGM_FI_DEV_GPU_UTIL / 100"


def recorded() -> list[Rule]:
    """Return the rules that record metrics of each GPU."""
    parts = " + ".join(f"DCGM_FI_DEV_FB_{part}" for part in ("USED", "FREE", "RESERVED"))
    return [
        {"record": USED, "expr": metrics.with_node(f"DCGM_FI_DEV_FB_USED * {_MIB}")},
        {"record": TOTAL, "expr": metrics.with_node(f"({parts}) * {_MIB}")},
        {"record": ACTIVE, "expr": metrics.with_node(ACTIVE_OF)},
    ]


def expected(pools: t.Sequence[Pool]) -> list[Rule]:
    """Return the rules that record how many devices each node of a pool has to offer."""
    return [
        {
            "record": EXPECTED,
            "expr": f"max by (node) (kube_node_labels{{{_matchers(pool)}}}) * {number}",
            "labels": {"pool": pool["name"], "resource": metrics.resource_label(resource)},
        }
        for pool in pools
        for resource, number in sorted((pool.get("expected") or {}).items())
        if "/" in resource and pool.get("node_selector")
    ]


def _matchers(pool: Pool) -> str:
    selector = pool["node_selector"].items()
    return ", ".join(f"{metrics.node_label(key)}={json.dumps(str(value))}" for key, value in sorted(selector))


def groups(alerts: t.Sequence[Alert], pools: t.Sequence[Pool]) -> list[dict[str, t.Any]]:
    """Return the groups of the PrometheusRule."""
    found = {"gpus": recorded(), "pools": expected(pools), "alerts": [alert.rule() for alert in alerts]}
    return [
        {"name": f"accelerators-openshift.{key}", "rules": rules} for key, rules in found.items() if rules
    ]
