# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""False claims of a ClusterPolicy in scenarios with trouble, and the failures that the module must report."""

from __future__ import annotations

import typing as t


class Lie(t.NamedTuple):
    """A scenario that breaks a working stack, the ClusterPolicy's claim, and the module's failure."""

    scenario: str
    claim: str
    code: str
    stage: str
    text: str
    since: bool = False
    remedy: str = ""
    # A trouble that may pass by itself is reported only when the time is over.
    wait: float = 30
    # Wait for a working stack first, since the trouble before may take long to recover.
    fresh: bool = True


LIES: t.Final = [
    Lie(
        "driver-upgrade-failed",
        "Reconciled",
        "GPU-UPG-FAILED",
        "driver",
        "the driver upgrade failed, and its",
        remedy="upgrade-required",
    ),
    Lie(
        "mig-failed",
        "Reconciled",
        "GPU-MIG-FAILED",
        "allocatable",
        "could not be repartitioned (all-1g.5gb: failed)",
        remedy="MIG manager",
    ),
    Lie(
        "gpu-xid",
        "Reconciled",
        "GPU-HW-XID",
        "allocatable",
        "(4 GPUs are in the node, 1 of them withdrawn)",
        since=True,
        remedy="to drain and reboot the node",
    ),
    Lie(
        "paused-left-over",
        "Reconciled",
        "GPU-PAUSED",
        "device plugin",
        "paused-for-driver-upgrade still keeps device-plugin away",
        remedy="=true",
    ),
    Lie(
        "operand-missing",
        "Reconciled",
        "GPU-OPERAND-LACKING",
        "metrics",
        "its labels require dcgm-exporter, but no DaemonSet selects it",
    ),
    Lie(
        "untolerated-taint",
        "Reconciled",
        "GPU-TAINT",
        "driver",
        "taint example.com/maintenance=disks:NoSchedule is not tolerated",
        remedy="oc adm taint",
    ),
    Lie(
        "no-gpu-nodes-ready",
        "NoGPUNodes",
        "GPU-NFD-EMPTY",
        "nfd labels",
        "is ready with reason NoGPUNodes: it sees no GPU",
    ),
]
