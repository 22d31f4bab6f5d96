# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The NFD instances of a cluster: those of OpenShift's operator, and one from upstream's Helm chart.

Upstream's has no operator; its configuration is in a ConfigMap.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object
from openshift_sandbox.stand_ins.nfd.operands import MASTER, WORKER, config_data

CHART: t.Final = {"app.kubernetes.io/name": "node-feature-discovery"}
CHART_CONFIG: t.Final = "nfd-worker.conf"


@dataclass(frozen=True)
class Instance:
    """One nfd-master with its workers.

    `is_openshift`: the labels of OpenShift's fork exist (OSTREE_VERSION and others).
    """

    namespace: str
    spec: Object
    config: str
    master: str = MASTER
    worker: str = WORKER
    is_openshift: bool = True


def instances(cluster: Cluster) -> list[Instance]:
    """Return the NFD instances of the cluster."""
    made = [
        Instance(cr["metadata"]["namespace"], cr["spec"], config_data(cr))
        for cr in cluster.objects("NodeFeatureDiscovery")
    ]
    return made + [_of_chart(cluster, one) for one in cluster.objects("Deployment") if _is_chart_master(one)]


def _is_chart_master(deployment: Object) -> bool:
    metadata = deployment["metadata"]
    return CHART.items() <= (metadata.get("labels") or {}).items() and metadata["name"].endswith("-master")


def _of_chart(cluster: Cluster, deployment: Object) -> Instance:
    namespace, stem = (
        deployment["metadata"]["namespace"],
        deployment["metadata"]["name"].removesuffix("-master"),
    )
    config = cluster.find("ConfigMap", f"{stem}-worker-conf", namespace) or {}
    return Instance(
        namespace,
        {},
        (config.get("data") or {}).get(CHART_CONFIG, ""),
        f"{stem}-master",
        f"{stem}-worker",
        is_openshift=False,
    )
