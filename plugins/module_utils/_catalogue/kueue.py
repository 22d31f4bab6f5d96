# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in Kueue's API that several packages read."""

from __future__ import annotations

import typing as t

GROUP: t.Final = "kueue.x-k8s.io"
# The newest first: older releases serve only the second, newer ones will serve only the first.
VERSIONS: t.Final = ("v1beta2", "v1beta1")
QUEUE, FLAVOR, WORKLOAD, LOCAL_QUEUE = "ClusterQueue", "ResourceFlavor", "Workload", "LocalQueue"
TOPOLOGY: t.Final = "Topology"
# Values of a ClusterQueue's stopPolicy.
OPEN, HOLD, HOLD_AND_DRAIN = "None", "Hold", "HoldAndDrain"
