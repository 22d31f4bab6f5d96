# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod that a PodDisruptionBudget keeps on a node, so that the node cannot be drained."""

from __future__ import annotations

import contextlib
import typing as t

from cluster import Cluster
from integration.patience import until

KEEPER: t.Final = {"app": "keeper"}


@contextlib.contextmanager
def budget(cluster: Cluster) -> t.Iterator[None]:
    """Keep a pod on a node by a PodDisruptionBudget."""
    client = cluster.client
    place = {"name": "keeper", "namespace": "default"}
    spec = {
        "nodeName": "gpu-0",
        "containers": [{"name": "c", "image": "i"}],
        "terminationGracePeriodSeconds": 0,
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**place, "labels": KEEPER}, "spec": spec}
    client.apply(pod)
    rule = {"minAvailable": 1, "selector": {"matchLabels": KEEPER}}
    live = ("policy/v1", "poddisruptionbudgets", "keeper", "default")
    client.apply({"apiVersion": live[0], "kind": "PodDisruptionBudget", "metadata": place, "spec": rule})
    until(
        lambda: (client.get(*live) or {}).get("status", {}).get("currentHealthy") == 1,
        "a budget that counts its pod",
    )
    try:
        yield
    finally:
        client.delete(*live)
