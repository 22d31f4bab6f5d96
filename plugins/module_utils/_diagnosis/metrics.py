# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layer metrics: whether the monitoring of the cluster can see the exporter's metrics."""

from __future__ import annotations

import typing as t

from .._core.objects import name, oldest
from .._core.readiness import FAILED
from .._kube.kinds import known
from .._kube.session import Query
from .._monitoring.judge import has_user_workload, scraper
from .._monitoring.manifest import NAME
from .._stack.clusterpolicy.result import MONITORED, judge_metrics
from . import model
from .model import Layer, Seen, Trouble

# Seconds in which the operator makes the ServiceMonitor of a new stack.
_STARTS: t.Final = 600.0


def _lacking(seen: Seen) -> tuple[str, ...]:
    """Return what keeps the metrics of the stack from Prometheus."""
    found = oldest(seen.of("policies"))
    if not found or not seen.of("nodes") or not seen.of("namespaces") or "monitors" not in seen.objects:
        return ()
    stage = judge_metrics(seen.objects, found)
    lines = stage.evidence if stage.verdict == FAILED else ()
    return tuple(one for one in lines if MONITORED in one or not _is_scraped(seen))


def _is_scraped(seen: Seen) -> bool:
    return any(name(one) == NAME for one in seen.of("monitors")) or bool(scraper(seen.of("monitors")))


def more(seen: Seen) -> dict[str, Query]:
    """Return the settings of the monitoring: the Prometheus of user workload needs no label."""
    query = Query(known("ConfigMap"), "openshift-monitoring", "cluster-monitoring-config")
    return {"monitoring": query} if _lacking(seen) else {}


def judge(seen: Seen) -> t.Iterator[Trouble]:
    """Yield a trouble if Prometheus does not look for the exporter."""
    lacking = _lacking(seen)
    if not lacking or (has_user_workload(next(iter(seen.of("monitoring")), None)) and _is_scraped(seen)):
        return
    place, policy = name(seen.of("namespaces")[0]), oldest(seen.of("policies"))
    todo = "Run `ansible-playbook playbooks/monitor_gpus.yml -e @FILE`."
    if _is_scraped(seen):
        todo = f"Run `oc label namespace {place} {MONITORED}=true --overwrite`."
    is_busy = seen.is_recent(policy["metadata"].get("creationTimestamp"), _STARTS)
    facts = {"why": "; ".join(lacking), "todo": todo}
    yield model.trouble(model.METRICS, "MON-UNSEEN", f"Namespace {place}", facts, is_busy=is_busy)


LAYER: t.Final = Layer(model.METRICS, ("monitors", "policies"), judge, more=more)
