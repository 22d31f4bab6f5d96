# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""One node of a network adapters' pool: its labels, driver, plugins and what it offers, each judged, causes first."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import FEATURE
from ansible_collections.accelerators.openshift.plugins.module_utils._core.daemon_sets import of_owner
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import FAILED, PENDING
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import devices, update
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import matches, untolerated
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import operands, stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.node import (
    judge_alive,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import (
    Part,
    on_node,
    placed,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import (
    manifest as nic_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.pods import IMAGE_REASONS, trouble
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.signatures import recognise

Data = dict[str, t.Any]

PRESENT: t.Final = f"{FEATURE}pci-{nic_manifest.VENDOR}.present"
WAITS: t.Final = "network.nvidia.com/operator.mofed.wait"
UPGRADE: t.Final = "nvidia.com/ofed-driver-upgrade-state"
DRIVER: t.Final = "nvidia.com/ofed-driver"
SECONDARY: t.Final = "secondary"
# Beginning of a DaemonSet's name -> key of the policy's spec that asks for it; everything else of the operator is secondary.
PLUGINS: t.Final = {
    "rdma-shared-dp": "rdmaSharedDevicePlugin",
    "network-operator-sriov-device-plugin": "sriovDevicePlugin",
}


def is_driver(daemonset: Data) -> bool:
    return DRIVER in (daemonset["metadata"].get("labels") or {})


def key_of(daemonset: Data) -> str:
    """Which part of the policy asks for it, as far as it matters here."""
    if is_driver(daemonset):
        return "ofedDriver"
    return next(
        (key for start, key in PLUGINS.items() if daemonset["metadata"]["name"].startswith(start)), ""
    )


def stage_of(key: str) -> str:
    return stages.DRIVER if key == "ofedDriver" else stages.PLUGIN if key else SECONDARY


class Here(t.NamedTuple):
    """What of the operator is for a node: DaemonSets that select it, the driver's first, their pods, and keys that none of them serves."""

    daemonsets: list[Data]
    found: list[operands.Operand]
    pods: list[Data]
    lacking: list[str]


def here(node: Data, policy: Data, snapshot: Snapshot) -> Here:
    ours = of_owner(snapshot["daemonsets"], str(policy["metadata"].get("uid")))
    wanted = [one for one in ours if matches(operands.selector(one), labels(node))]
    wanted.sort(key=lambda one: (not is_driver(one), one["metadata"]["name"]))
    pods = [pod for pod in snapshot["pods"] if pod["spec"].get("nodeName") == node["metadata"]["name"]]
    revisions, served = operands.current_revisions(snapshot["revisions"]), {key_of(one) for one in wanted}
    asked = [key for key in ("ofedDriver", *PLUGINS.values()) if (policy.get("spec") or {}).get(key)]
    return Here(
        wanted,
        [operands.of_daemonset(one, pods, revisions) for one in wanted],
        pods,
        [key for key in asked if key not in served],
    )


def judge_node(
    node: Data, pool: Data, policy: Data, snapshot: Snapshot, wanted: t.Mapping[str, int]
) -> list[Part]:
    """wanted: resource -> number; 0 where any number will do."""
    name = str(node["metadata"]["name"])
    if updating := update.judge(node):
        return [placed(updating, pool["name"], name)]
    of_node, upgrade = here(node, policy, snapshot), _judge_upgrade(node)
    late = [
        one for one in _judge_operands(node, of_node) if upgrade is None or one.code != "NIC-DRV-OUTDATED"
    ]
    found: list[Part | None] = [
        judge_alive(node),
        _judge_label(node),
        upgrade,
        _judge_taints(node, of_node),
        *late,
    ]
    if labels(node).get(WAITS) == "true" and not any(one and one.stage == stages.DRIVER for one in found):
        remedy = "Look at the log of the node's mofed pod."
        found.append(
            on_node(
                PENDING,
                node,
                "Driver",
                "its NIC driver is not loaded yet",
                "NIC-DRV",
                remedy,
                stage=stages.DRIVER,
            )
        )
    found += [
        _devices(node, resource, number)
        for resource, number in wanted.items()
        if not _enough(node, resource, number)
    ]
    return [placed(one, pool["name"], name) for one in found if one is not None]


def _judge_label(node: Data) -> Part | None:
    if labels(node).get(PRESENT) == "true":
        return None
    remedy = "Run nfd_labels with pci_classes that hold 02 (0200 misses InfiniBand) and label_fields [vendor]; the adapter has to be in the machine."
    what = f"label {PRESENT} is missing, so the operator leaves the node out"
    return on_node(PENDING, node, "Label", what, "NIC-LABEL", remedy, stage=stages.LABELS)


def _judge_upgrade(node: Data) -> Part | None:
    name, state = node["metadata"]["name"], labels(node).get(UPGRADE, "")
    if state in ("", "upgrade-done"):
        return None
    if state == "upgrade-failed":
        what = "the upgrade of its NIC driver failed, the node stays cordoned"
        remedy = f"Look at its mofed pod, then `oc label node {name} {UPGRADE}=upgrade-required --overwrite`."
        return on_node(FAILED, node, "Upgrade", what, "NIC-UPG", remedy, stage=stages.DRIVER)
    remedy = f"Look at the pods on the node: `oc adm drain {name} --dry-run=client`."
    return on_node(
        PENDING,
        node,
        "Upgrade",
        f"the upgrade of its NIC driver is at {state}",
        "NIC-UPG",
        remedy,
        stage=stages.DRIVER,
    )


def _judge_taints(node: Data, of_node: Here) -> Part | None:
    """The operator's DaemonSets want no pod there, and are ready without it."""
    blocked = sorted(
        {taint for one in of_node.daemonsets for taint in untolerated(node, operands.tolerations(one))}
    )
    if not blocked:
        return None
    first = stage_of(key_of(of_node.daemonsets[0]))
    what = f"taint {', '.join(blocked)} is not tolerated by the operator's pods"
    return on_node(
        PENDING, node, "Taint", what, "NIC-TAINT", "Add it to tolerations of special_resource.", stage=first
    )


def _judge_operands(node: Data, of_node: Here) -> list[Part]:
    """Components that should run on the node and do not, the driver first: the others wait for it."""
    parts = []
    if "ofedDriver" in of_node.lacking:
        remedy = "Look at the node's labels kernel-version.full and system-os_release.*, and at the operator's log."
        what = "no NIC driver's DaemonSet is made for its kernel"
        parts.append(
            on_node(PENDING, node, "Driver", what, "NIC-DRV", remedy, stage=stages.DRIVER, waits=True)
        )
    for one, found in zip(of_node.daemonsets, of_node.found, strict=True):
        if not found.ready:
            pod = next((entry for entry in of_node.pods if entry["metadata"]["name"] == found.pod), None)
            parts.append(_operand(node, one, found, pod))
    for key in of_node.lacking:
        if key != "ofedDriver":
            what = f"no DaemonSet selects it for {key}"
            remedy = (
                f"The plugins wait for label {WAITS}=false; look at node_affinity and at the operator's log."
            )
            parts.append(
                on_node(
                    PENDING,
                    node,
                    f"Lacking:{key}",
                    what,
                    "NIC-OPERAND",
                    remedy,
                    stage=stages.PLUGIN,
                    waits=True,
                )
            )
    return parts


def _operand(node: Data, daemonset: Data, found: operands.Operand, pod: Data | None) -> Part:
    wrong, driver, name = trouble(pod) if pod else None, is_driver(daemonset), node["metadata"]["name"]
    title, reason = "the NIC driver" if driver else found.daemonset, f"Operand:{found.daemonset}"
    more: Data = {"stage": stage_of(key_of(daemonset)), "since": found.since}
    if driver and found.note == operands.OUTDATED:
        remedy = f"Set ofed_driver.upgrade_policy to {{autoUpgrade: true}}, or `oc label node {name} {UPGRADE}=upgrade-required --overwrite`."
        return on_node(
            PENDING,
            node,
            reason,
            f"pod {found.pod} of the NIC driver is of an older revision",
            "NIC-DRV-OUTDATED",
            remedy,
            **more,
        )
    if pod is None or wrong is None:
        code, remedy = "NIC-DRV" if driver else "NIC-OPERAND", "Look at the events of that pod."
        return on_node(PENDING, node, reason, f"{title} {found.note}", code, remedy, waits=True, **more)
    code = (
        "NIC-IMAGE" if wrong.reason in IMAGE_REASONS else "NIC-DRV-CRASH" if driver else "NIC-OPERAND-CRASH"
    )
    known = recognise(wrong.message)
    remedy = (
        known.remedy
        if known
        else f"oc logs -n {pod['metadata']['namespace']} {found.pod} -c {wrong.container} --previous"
    )
    what = f"{title}: container {wrong.container} of pod {found.pod} is in {wrong.reason} ({wrong.restarts} restarts)"
    return on_node(PENDING, node, reason, what, code, remedy, **more)


def _enough(node: Data, resource: str, number: int) -> bool:
    found = devices.offered(node, resource)
    return found == number if number else found > 0


def _devices(node: Data, resource: str, number: int) -> Part:
    what = f"it offers {devices.offered(node, resource)} of {number or 'at least 1'} {resource}"
    remedy = "Compare the resource's selectors (vendors, device_ids, link_types, if_names) with the adapters of the node; the plugin's log says what it found."
    return on_node(
        PENDING, node, f"Devices:{resource}", what, "NIC-ALLOC", remedy, stage=stages.ALLOCATABLE, waits=True
    )
