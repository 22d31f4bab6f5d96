# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of the monitoring: the exporter's list, its ServiceMonitor, the rules, the dashboard."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from . import dashboard

# Each object has this name.
NAME: t.Final = "accelerators-openshift-gpus"
# Where the console finds dashboards.
CONSOLE: t.Final = "openshift-config-managed"
# The DaemonSet, the Service and the ServiceMonitor of the exporter; the second is of the stack with DRA.
EXPORTERS: t.Final = ("nvidia-dcgm-exporter", "nvidia-dcgm-exporter-dra")
MONITORED: t.Final = "openshift.io/cluster-monitoring"
# On a namespace that got the label from us.
MARK: t.Final = "accelerators.openshift/cluster-monitoring"
_API: t.Final = "monitoring.coreos.com/v1"
_CSV: t.Final = "dcgm-metrics.csv"


def metric_list(namespace: str, csv: str) -> KubeObject:
    """Return the ConfigMap with the exporter's list."""
    return _object("v1", "ConfigMap", namespace, data={_CSV: csv})


def rule(namespace: str, groups: t.Sequence[t.Mapping[str, t.Any]]) -> KubeObject:
    """Return the PrometheusRule."""
    return _object(_API, "PrometheusRule", namespace, spec={"groups": list(groups)})


def service_monitor(namespace: str) -> KubeObject:
    """Return the ServiceMonitor for an exporter that has none of its own."""
    spec = {
        "endpoints": [{"port": "gpu-metrics", "path": "/metrics", "interval": "30s"}],
        "jobLabel": "app",
        "namespaceSelector": {"matchNames": [namespace]},
        "selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": [*EXPORTERS]}]},
    }
    return _object(_API, "ServiceMonitor", namespace, spec=spec)


def console_dashboard(*, for_developers: bool = False) -> KubeObject:
    """Return the ConfigMap with the dashboard. for_developers: the perspective of developers has it too."""
    found = _object("v1", "ConfigMap", CONSOLE, data={dashboard.KEY: dashboard.text()})
    kinds = ("dashboard", "odc-dashboard") if for_developers else ("dashboard",)
    found["metadata"]["labels"] = {f"console.openshift.io/{kind}": "true" for kind in kinds}
    return found


def labelled(is_labelled: bool) -> KubeObject:
    """Return the merge patch that gives a namespace the label and our mark, or takes both away."""
    label, mark = ("true", "true") if is_labelled else (None, None)
    return {"metadata": {"labels": {MONITORED: label}, "annotations": {MARK: mark}}}


def collecting(config: str) -> KubeObject:
    """Return the merge patch of the stack's object that gives the exporter its list; "" is its own list."""
    return {"spec": {"dcgmExporter": {"config": {"name": config}}}}


def _object(api_version: str, kind: str, namespace: str, **content: t.Any) -> KubeObject:
    metadata = {"name": NAME, "namespace": namespace}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}
