# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What several packages read of Kueue's API: names, flavors of a queue, queue of a Workload."""

from __future__ import annotations

import typing as t

from .._core import conditions

GROUP: t.Final = "kueue.x-k8s.io"
# The newest first: older releases serve only the second, newer ones will serve only the first.
VERSIONS: t.Final = ("v1beta2", "v1beta1")
QUEUE, FLAVOR, WORKLOAD, LOCAL_QUEUE = "ClusterQueue", "ResourceFlavor", "Workload", "LocalQueue"
TOPOLOGY: t.Final = "Topology"
# Values of a ClusterQueue's stopPolicy.
OPEN, HOLD, HOLD_AND_DRAIN = "None", "Hold", "HoldAndDrain"
# The object of Red Hat's operator, which brings Kueue.
RED_HATS, INSTANCE, CLUSTER = "kueue.openshift.io/v1", "Kueue", "cluster"
PACKAGE: t.Final = "kueue-operator"


def flavors_of(queue: t.Mapping[str, t.Any]) -> list[str]:
    """Return the flavors of a live ClusterQueue."""
    groups = (queue.get("spec") or {}).get("resourceGroups") or []
    return [str(flavor["name"]) for group in groups for flavor in group.get("flavors") or []]


def holder(workload: t.Mapping[str, t.Any]) -> str:
    """Return the ClusterQueue whose quota the Workload holds, or ""."""
    if conditions.is_true(workload, "Finished"):
        return ""
    return str(((workload.get("status") or {}).get("admission") or {}).get("clusterQueue") or "")
