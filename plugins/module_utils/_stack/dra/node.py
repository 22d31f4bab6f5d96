# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""One node of the DRA stack: its labels, taints, operands and what its ResourceSlices offer, each judged, causes first."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import NVIDIA_PCI
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import PENDING, Readiness
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import devices, slices, update
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import (
    has_nvidia_pci,
    labels,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import matches, untolerated
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import operands, stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    node as clusterpolicy_node,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import kernel
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import (
    Part,
    on_node,
    placed,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.pods import judge_pods

Data = dict[str, t.Any]

# Components without which a node offers nothing.
COMPONENTS: t.Final = ("dra-driver", "dra-validator")
# Causes before their consequences.
_ORDER: t.Final = ("driver", *COMPONENTS)
PLUGIN: t.Final = "nvidia-dra-driver-kubelet-plugin"
# A node's driver comes from an NVIDIADriver, and so do its kernel's facts.
_BY_OBJECTS: t.Final[Data] = {"spec": {"driver": {"useNvidiaDriverCRD": True}}}


def judge_node(node: Data, pool: Data, snapshot: Snapshot, is_driven: bool) -> list[Part]:
    """is_driven: what its NVIDIADriver lacks there has been said."""
    name = str(node["metadata"]["name"])
    if updating := update.judge(node):
        return [placed(updating, pool["name"], name)]
    here = on(node, snapshot)
    upgrade = clusterpolicy_node.judge_upgrade(node)
    found: list[Readiness | None] = [
        clusterpolicy_node.judge_alive(node),
        _judge_labels(node),
        _judge_taints(node, snapshot),
        kernel.judge(node, _BY_OBJECTS, snapshot),
        *_judge_operands(node, snapshot, here, is_driven),
        upgrade if upgrade and upgrade.is_failed else None,
        clusterpolicy_node.judge_paused(node, snapshot, upgrade),
        _judge_devices(name, node, pool, snapshot),
    ]
    return [placed(one, pool["name"], name) for one in found if one is not None]


def on(node: Data, snapshot: Snapshot) -> list[operands.Operand]:
    """What of the stack is for a node."""
    found = operands.on_node(
        node, snapshot["daemonsets"], snapshot["pods"], operands.current_revisions(snapshot["revisions"])
    )
    return sorted(
        found, key=lambda one: _ORDER.index(one.component) if one.component in _ORDER else len(_ORDER)
    )


def _judge_labels(node: Data) -> Part | None:
    name, marks = node["metadata"]["name"], labels(node)
    if not has_nvidia_pci(marks):
        remedy = "Look at nfd-worker on that node, and at the PCI classes of the NodeFeatureDiscovery."
        what = f"label {NVIDIA_PCI} is missing, so the operator leaves the node out"
        return on_node(PENDING, node, "Label", what, "GPU-NFD-EMPTY", remedy, stage=stages.LABELS)
    if marks.get(operands.MODE, "dra") != "dra":
        remedy = f"It is left over from the other stack: `oc label node {name} {operands.MODE}-`."
        return on_node(
            PENDING,
            node,
            "Mode",
            f"label {operands.MODE} is {marks[operands.MODE]}",
            "GPU-MODE",
            remedy,
            stage=stages.LABELS,
        )
    off = [one for one in COMPONENTS if marks.get(operands.DEPLOY + one) == "false"]
    if off:
        what = f"label {operands.DEPLOY}{off[0]}=false keeps {' and '.join(off)} away"
        remedy = f"oc label node {name} {' '.join(f'{operands.DEPLOY}{one}-' for one in off)}"
        return on_node(
            PENDING, node, "OptedOut", what, "GPU-OPTED-OUT", remedy, stage=stages.OF_COMPONENT[off[0]]
        )
    return None


def _judge_taints(node: Data, snapshot: Snapshot) -> Part | None:
    """A DaemonSet does not want a pod where it may not run, and is ready without it."""
    here = [
        one
        for one in snapshot["daemonsets"]
        if operands.is_operand(one) and matches(operands.selector(one), labels(node))
    ]
    blocked = sorted({taint for one in here for taint in untolerated(node, operands.tolerations(one))})
    if not blocked:
        return None
    what = f"taint {', '.join(blocked)} is not tolerated by the operator's pods"
    return on_node(PENDING, node, "Taint", what, "GPU-TAINT", "Add it to tolerations.", stage=stages.DRIVER)


def absent(node: Data, found: t.Iterable[operands.Operand]) -> list[str]:
    """Components that the node should have, and that no DaemonSet brings it."""
    served = {one.component for one in found}
    called = [one for one in _ORDER if labels(node).get(operands.DEPLOY + one) == "true"]
    if labels(node).get(operands.DEPLOY + COMPONENTS[0]) != "false":
        called.append(COMPONENTS[0])
    return [one for one in dict.fromkeys(called) if one not in served]


def _judge_operands(
    node: Data, snapshot: Snapshot, found: t.Sequence[operands.Operand], is_driven: bool
) -> list[Part]:
    pods = {pod["metadata"]["name"]: pod for pod in snapshot["pods"]}
    lacking = [one for one in absent(node, found) if one != "driver" or not is_driven]
    parts = judge_pods(node, [(one, pods.get(one.pod)) for one in found if not one.ready], lacking)
    for one in lacking:
        what = f"no DaemonSet selects it for {one}"
        remedy = "Compare its nvidia.com/gpu.deploy labels with the nodeSelectors of the DaemonSets, and look at the log of the GPU operator."
        parts.append(
            on_node(
                PENDING,
                node,
                f"Lacking:{one}",
                what,
                "GPU-OPERAND-LACKING",
                remedy,
                stage=stages.OF_COMPONENT[one],
                waits=True,
            )
        )
    return parts


def _judge_devices(name: str, node: Data, pool: Data, snapshot: Snapshot) -> Part | None:
    offer = slices.offer(name, snapshot["slices"])
    offered, wanted = (
        slices.resources(offer.devices),
        devices.expected(node, pool.get("expected") or {}),
    )
    wrong = [
        f"{offered.get(one, 0)} of {number} {one}"
        for one, number in wanted.items()
        if offered.get(one, 0) != number
    ]
    if offer.complete and offered and not wrong:
        return None
    what = (
        "its ResourceSlices are not all there"
        if not offer.complete
        else f"its ResourceSlices offer {', '.join(wrong) or 'no device'}"
    )
    remedy = f"Look at `oc get resourceslices --field-selector spec.nodeName={name} -o yaml` and at the log of its {PLUGIN} pod."
    return on_node(
        PENDING, node, "Slices", what, "GPU-DRA-SLICES", remedy, stage=stages.ALLOCATABLE, waits=True
    )
