# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and states of the SR-IOV network operator, and the objects that several of its stand-ins look for."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

NAMESPACE: t.Final = "openshift-sriov-network-operator"
OPERATOR: t.Final = "sriov-network-operator"
API: t.Final = "sriovnetwork.openshift.io/v1"
DEFAULT: t.Final = "default"
PREFIX: t.Final = "openshift.io/"
# The annotation of a Node, which asks for a drain, and of a MachineConfigPool that the operator paused.
STATE: t.Final = "sriovnetwork.openshift.io/state"
DESIRED: t.Final = "sriovnetwork.openshift.io/desired-state"
CURRENT: t.Final = "sriovnetwork.openshift.io/current-state"
PLUGIN: t.Final = "sriovnetwork.openshift.io/device-plugin"
IDLE, DRAIN, REBOOT, DRAINING, COMPLETE = (
    "Idle",
    "Drain_Required",
    "Reboot_Required",
    "Draining",
    "DrainComplete",
)


def config_of(cluster: Cluster) -> Object | None:
    """Return the operator's configuration while the operator works, or None."""
    if not cluster.available(OPERATOR, NAMESPACE):
        return None
    return cluster.find("SriovOperatorConfig", DEFAULT, NAMESPACE)


def annotation(obj: Object, key: str) -> str:
    """Return an annotation, or an empty text."""
    return str((obj["metadata"].get("annotations") or {}).get(key, ""))
