# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster with a GPU stack on a server in memory, and the options of gpu_monitoring."""

from __future__ import annotations

import typing as t

from unit.fake_server import Answer, FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.options import (
    GpuMonitoringParams,
)

Data = dict[str, t.Any]
SPACE: t.Final = "nvidia-gpu-operator"
MONITORED: t.Final = "openshift.io/cluster-monitoring"
KINDS: t.Final = (
    *("Namespace", "ConfigMap", "ClusterPolicy", "GPUCluster", "ServiceMonitor", "PrometheusRule", "Lease"),
)
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
        "console": False,
        "console_image": None,
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


def console(*plugins: str, **spec: t.Any) -> Data:
    """Return the object of the console's operator."""
    return {
        "apiVersion": "operator.openshift.io/v1",
        "kind": "Console",
        "metadata": {"name": "cluster"},
        "spec": {"managementState": "Managed", "plugins": [*plugins], **spec},
    }


def release(version: str) -> Data:
    """Return the ClusterVersion of a cluster that runs this version."""
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterVersion",
        "metadata": {"name": "version"},
        "status": {"history": [{"state": "Completed", "version": version}]},
    }


class WithConsole(FakeServer):
    """A cluster with a GPU stack and a console. works: whether the pods of a Deployment become ready."""

    def __init__(self, *objects: Data, works: bool = True) -> None:
        super().__init__(*KINDS, "Console", "ConsolePlugin", "ClusterVersion", "Deployment", "Service", "Pod")
        self.request, self.works = self.played, works
        given = objects or (console("monitoring-plugin"),)
        for one in (namespace("openshift-config-managed"), namespace(), policy(), release("4.22.5"), *given):
            self.put(one)

    def played(self, method: str, url: str, **more: t.Any) -> Answer:
        """Answer as the cluster does whose controllers have worked."""
        found = self.answer(method, url, **more)
        for key, one in self.objects.items():
            if key[1] == "deployments" and self.works:
                available = {"type": "Available", "status": "True"}
                one["status"] = {"updatedReplicas": 1, "conditions": [available]}
        return found


def cluster(*objects: Data) -> FakeServer:
    server = FakeServer(*KINDS)
    for one in (namespace("openshift-config-managed"), *objects):
        server.put(one)
    return server
