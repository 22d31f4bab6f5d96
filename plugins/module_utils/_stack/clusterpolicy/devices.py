# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What one node of a GPU pool offers, and why it may be less than promised."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    GPU,
    GPU_COUNT,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import FAILED, PENDING
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import devices
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import operands, stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part, on_node

MIG_CONFIG: t.Final = "nvidia.com/mig.config"
MIG_STATE: t.Final = "nvidia.com/mig.config.state"
# The reason of missing devices on a node whose device plugin runs: nothing is left to wait for but a moment.
WITHHELD: t.Final = "Withheld"


def judge_devices(
    node: dict[str, t.Any], pool: dict[str, t.Any], snapshot: Snapshot, is_upgrading: bool
) -> list[Part]:
    wanted = devices.expected(node, pool.get("expected") or {})
    short = [
        f"{name} {devices.offered(node, name)} of {number}"
        for name, number in wanted.items()
        if devices.offered(node, name) != number
    ]
    if cut := _judge_mig(node, short):
        return [cut]
    plugin = next((one for one in _running(node, snapshot) if one.component == "device-plugin"), None)
    if not wanted:
        remedy = "Look at the device plugin's pod on this node."
        return [
            on_node(
                PENDING,
                node,
                "NoDevices",
                "offers no device at all",
                "GPU-ALLOC",
                remedy,
                stage=stages.ALLOCATABLE,
                waits=plugin is None,
            )
        ]
    if not short:
        return []
    remedy = "Look at the log of the device plugin on this node (an Xid takes a GPU out), and at the sharing and MIG settings of the pool."
    reason = WITHHELD if plugin and not is_upgrading else "Allocatable"
    more: dict[str, t.Any] = {
        "stage": stages.ALLOCATABLE,
        "waits": plugin is None,
        "since": plugin.since if plugin else "",
    }
    return [
        on_node(
            PENDING, node, reason, f"offers {', '.join(short)}{_counted(node)}", "GPU-ALLOC", remedy, **more
        )
    ]


def _running(node: dict[str, t.Any], snapshot: Snapshot) -> list[operands.Operand]:
    found = operands.on_node(
        node, snapshot["daemonsets"], snapshot["pods"], operands.current_revisions(snapshot["revisions"])
    )
    return [one for one in found if one.ready]


def _counted(node: dict[str, t.Any]) -> str:
    """GPU feature discovery counts what is in the node, the device plugin what is healthy: the difference was withdrawn."""
    present = devices.count(labels(node).get(GPU_COUNT, 0))
    offered = devices.offered(node, GPU)
    withdrawn = present - offered if 0 < offered < present and not devices.is_shared(node) else 0
    return f" ({present} GPUs are in the node, {withdrawn} of them withdrawn)" if withdrawn else ""


def _judge_mig(node: dict[str, t.Any], short: t.Sequence[str]) -> Part | None:
    """The MIG manager tells its state by a label; the ClusterPolicy is ready all the same."""
    marks = labels(node)
    state, layout = marks.get(MIG_STATE), marks.get(MIG_CONFIG, "")
    offer = f", offers {', '.join(short)}" if short else ""
    if state in ("pending", "rebooting"):
        remedy = "Look at the log of the MIG manager on this node."
        what = f"is being repartitioned ({layout or 'no layout'}: {state}){offer}"
        return on_node(PENDING, node, "Mig", what, "GPU-MIG-RUNNING", remedy, stage=stages.ALLOCATABLE)
    if state == "failed":
        remedy = "Look at the log of the MIG manager on this node; the layout has to exist in its ConfigMap, and no pod may hold a GPU while it is cut."
        what = f"could not be repartitioned ({layout or 'no layout'}: {state}){offer}"
        return on_node(FAILED, node, "MigFailed", what, "GPU-MIG-FAILED", remedy, stage=stages.ALLOCATABLE)
    return None
