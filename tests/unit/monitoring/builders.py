# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster with a GPU stack on a server in memory, and the options of gpu_monitoring."""

from __future__ import annotations

import typing as t

from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.options import (
    GpuMonitoringParams,
)

Data = dict[str, t.Any]
SPACE: t.Final = "nvidia-gpu-operator"
MONITORED: t.Final = "openshift.io/cluster-monitoring"
POOL: t.Final = {
    "name": "training",
    "node_selector": {"accelerators.openshift/pool": "training"},
    "expected": {"nvidia.com/gpu": 8},
}


def params(**given: t.Any) -> GpuMonitoringParams:
    plain: Data = {
        "state": "present",
        "wait": True,
        "wait_timeout": 60,
        "lock_timeout": 0,
        "namespace": SPACE,
        "prometheus": "platform",
        "metrics": [],
        "limits": None,
        "without": [],
        "pools": [],
        "dashboard": True,
        "url": None,
        "adopt": "report",
    }
    return t.cast(GpuMonitoringParams, plain | given)


def namespace(name: str = SPACE, **metadata: t.Any) -> Data:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **metadata}}


def policy(**exporter: t.Any) -> Data:
    return {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "gpu-cluster-policy"},
        "spec": {"dcgmExporter": {"enabled": True, "config": {"name": ""}, **exporter}},
    }


def monitor(name: str = "nvidia-dcgm-exporter", **endpoint: t.Any) -> Data:
    spec = {
        "endpoints": [{"port": "gpu-metrics", **endpoint}],
        "selector": {"matchLabels": {"app": "nvidia-dcgm-exporter"}},
    }
    metadata = {"name": name, "namespace": SPACE}
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": metadata,
        "spec": spec,
    }


def settings(text: str) -> Data:
    """Return the settings of the cluster's monitoring."""
    metadata = {"name": "cluster-monitoring-config", "namespace": "openshift-monitoring"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"config.yaml": text}}


def cluster(*objects: Data) -> FakeServer:
    kinds = ("Namespace", "ConfigMap", "ClusterPolicy", "GPUCluster", "ServiceMonitor", "PrometheusRule")
    server = FakeServer(*kinds, "Lease")
    for one in (namespace("openshift-config-managed"), *objects):
        server.put(one)
    return server
