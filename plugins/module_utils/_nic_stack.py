# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The network adapters' stack as a whole: policy, driver, plugins, and what each node offers; `ready` of the policy alone proves nothing."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ansible_collections.accelerators.openshift.plugins.module_utils import _geometry_live as geometry
from ansible_collections.accelerators.openshift.plugins.module_utils import _nic_cluster_policy as nic
from ansible_collections.accelerators.openshift.plugins.module_utils import _operands as operands
from ansible_collections.accelerators.openshift.plugins.module_utils._patience import Patience
from ansible_collections.accelerators.openshift.plugins.module_utils._pool_nodes import judge_size, nodes_of
from ansible_collections.accelerators.openshift.plugins.module_utils._readiness import Readiness, pending, ready, worst
from ansible_collections.accelerators.openshift.plugins.module_utils._signatures import recognise
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_pods import IMAGE_REASONS, trouble

Data = dict[str, t.Any]
Snapshot = t.Mapping[str, t.Sequence[Data]]

PRESENT: t.Final = f"feature.node.kubernetes.io/pci-{nic.VENDOR}.present"
WAITS: t.Final = "network.nvidia.com/operator.mofed.wait"
UPGRADE: t.Final = "nvidia.com/ofed-driver-upgrade-state"
DRIVER: t.Final = "nvidia.com/ofed-driver"
# Seen in the first moments of every healthy start, and final when they last.
PASSING: t.Final = ("NIC-LABEL", "NIC-DRV-CRASH", "NIC-OPERAND-CRASH", "NIC-IMAGE", "NIC-ALLOC", "NIC-DRV-OUTDATED")


class Judge:
    """The verdict on all nodes of the pools, with a memory of how long a trouble lasts and of what was seen last."""

    def __init__(self, params: Data, clock: t.Callable[[], float]) -> None:
        self._params = params
        self._patience = Patience(clock, params["grace"], PASSING)
        self.seen: dict[str, list[Data]] = {}

    def __call__(self, snapshot: dict[str, list[Data]]) -> Readiness:
        self.seen = snapshot
        parts = self._patience.harden(judge(snapshot, self._params["pools"], nic.offered(self._params)))
        verdict = worst(parts)
        lines = tuple(part.details[0] for part in parts if part.details and not part.is_ready)
        return ready("AllComponentsReady") if verdict.is_ready else replace(verdict, details=lines)


def judge(snapshot: Snapshot, pools: t.Sequence[Data], offered: t.Sequence[str]) -> list[Readiness]:
    """Causes come before consequences; the last part is what the operator says of itself."""
    policy = next((one for one in snapshot["policies"] if one["metadata"]["name"] == nic.NAME), None)
    if policy is None:
        return [pending("NoPolicy", f"NicClusterPolicy {nic.NAME} is not there yet.", code="NIC-STATE", remedy="Look at the events of the operator.")]
    parts = [judge_size(snapshot["nodes"], pool) for pool in pools]
    for pool in pools:
        wanted = {name: number for name, number in (pool.get("expected") or {}).items() if name in offered} or dict.fromkeys(offered, 0)
        for node in nodes_of(snapshot["nodes"], pool):
            parts += judge_node(node, policy, snapshot, wanted)
    return [*parts, nic.judge(policy)]


def judge_node(node: Data, policy: Data, snapshot: Snapshot, wanted: t.Mapping[str, int]) -> list[Readiness]:
    """wanted: resource -> number; 0 where any number will do."""
    name, marks = node["metadata"]["name"], geometry.labels(node)
    if marks.get(PRESENT) != "true":
        remedy = "Run nfd_labels with pci_classes that hold 02 (0200 misses InfiniBand) and label_fields [vendor]; the adapter has to be in the machine."
        return [_part(name, "Label", f"label {PRESENT} is missing, so the operator leaves the node out", "NIC-LABEL", remedy)]
    state = marks.get(UPGRADE, "")
    if state not in ("", "upgrade-done"):
        return [
            _part(
                name,
                "Upgrade",
                f"the upgrade of its NIC driver is at {state}",
                "NIC-UPG",
                f"Look at the pods on the node: `oc adm drain {name} --dry-run=client`.",
            )
        ]
    late = _late(node, policy, snapshot)
    if late:
        return late
    if marks.get(WAITS) == "true":
        return [_part(name, "Driver", "its NIC driver is not loaded yet", "NIC-DRV", "Look at the log of the node's mofed pod.")]
    return [_devices(name, node, resource, number) for resource, number in wanted.items() if not _enough(node, resource, number)]


def _enough(node: Data, resource: str, number: int) -> bool:
    found = geometry.offered(node, resource)
    return found == number if number else found > 0


def _devices(name: str, node: Data, resource: str, number: int) -> Readiness:
    what = f"it offers {geometry.offered(node, resource)} of {number or 'at least 1'} {resource}"
    remedy = "Compare the resource's selectors (vendors, device_ids, link_types, if_names) with the adapters of the node; the plugin's log says what it found."
    return _part(name, f"Devices:{resource}", what, "NIC-ALLOC", remedy)


def _late(node: Data, policy: Data, snapshot: Snapshot) -> list[Readiness]:
    """Components that should run on the node and do not, the driver first: the others wait for it."""
    name, spec = node["metadata"]["name"], policy.get("spec") or {}
    ours = [
        one for one in snapshot["daemonsets"] if any(owner["uid"] == policy["metadata"].get("uid") for owner in one["metadata"].get("ownerReferences") or [])
    ]
    drivers = [one for one in ours if is_driver(one)]
    here = [one for one in ours if operands.matches(operands.selector(one), geometry.labels(node))]
    if spec.get("ofedDriver") and not any(is_driver(one) for one in here):
        what = "no NIC driver's DaemonSet is made for its kernel" if drivers else "there is no NIC driver's DaemonSet yet"
        return [_part(name, "Driver", what, "NIC-DRV", "Look at the node's labels kernel-version.full and system-os_release.*, and at the operator's log.")]
    blocked = sorted({taint for one in here for taint in operands.untolerated(node, operands.tolerations(one))})
    if blocked:
        return [
            _part(
                name, "Taint", f"taint {', '.join(blocked)} is not tolerated by the operator's pods", "NIC-TAINT", "Add it to tolerations of special_resource."
            )
        ]
    revisions = operands.current_revisions(snapshot["revisions"])
    pods = [pod for pod in snapshot["pods"] if pod["spec"].get("nodeName") == name]
    for one in sorted(here, key=lambda found: not is_driver(found)):
        found = operands.of_daemonset(one, pods, revisions)
        if not found.ready:
            pod = next((entry for entry in pods if entry["metadata"]["name"] == found.pod), None)
            return [_operand(name, found, pod, is_driver(one))]
    return []


def is_driver(daemonset: Data) -> bool:
    return DRIVER in (daemonset["metadata"].get("labels") or {})


def _operand(node: str, found: operands.Operand, pod: Data | None, driver: bool) -> Readiness:
    wrong = trouble(pod) if pod else None
    title = "the NIC driver" if driver else found.daemonset
    if driver and found.note == operands.OUTDATED:
        remedy = f"Set ofed_driver.upgrade_policy to {{autoUpgrade: true}}, or `oc label node {node} {UPGRADE}=upgrade-required --overwrite`."
        return _part(node, f"Operand:{found.daemonset}", f"pod {found.pod} of the NIC driver is of an older revision", "NIC-DRV-OUTDATED", remedy)
    if pod is None or wrong is None:
        return _part(node, f"Operand:{found.daemonset}", f"{title} {found.note}", "NIC-DRV" if driver else "NIC-OPERAND", "Look at the events of that pod.")
    code = "NIC-IMAGE" if wrong.reason in IMAGE_REASONS else "NIC-DRV-CRASH" if driver else "NIC-OPERAND-CRASH"
    known = recognise(wrong.message)
    remedy = known.remedy if known else f"oc logs -n {pod['metadata']['namespace']} {found.pod} -c {wrong.container} --previous"
    what = f"{title}: container {wrong.container} of pod {found.pod} is in {wrong.reason} ({wrong.restarts} restarts)"
    return _part(node, f"Operand:{found.daemonset}", what, code, remedy)


def _part(node: str, reason: str, what: str, code: str, remedy: str) -> Readiness:
    return pending(f"{reason}:{node}", f"Node {node}: {what}.", code=code, remedy=remedy, details=(f"{node}: {what}",))


def judge_gone(snapshot: Snapshot) -> Readiness:
    """After the policy is deleted the garbage collector takes what it owned."""
    left = [
        one["metadata"]["name"] for one in snapshot["daemonsets"] if any(o["kind"] == "NicClusterPolicy" for o in one["metadata"].get("ownerReferences") or [])
    ]
    if not left:
        return ready("Gone")
    return pending(
        "Leaving", f"{len(left)} DaemonSets are left: {', '.join(left)}.", code="NIC-LEFTOVER", remedy="Look for finalizers and for pods that do not end."
    )


def summarize(snapshot: Snapshot, pools: t.Sequence[Data], offered: t.Sequence[str]) -> Data:
    policy = next((one for one in snapshot["policies"] if one["metadata"]["name"] == nic.NAME), dict[str, t.Any]())
    nodes = [
        {
            "name": node["metadata"]["name"],
            "pool": pool["name"],
            "expected": {name: number for name, number in (pool.get("expected") or {}).items() if name in offered},
            "allocatable": {name: geometry.offered(node, name) for name in offered},
            "driver_loaded": geometry.labels(node).get(WAITS) == "false",
        }
        for pool in pools
        for node in nodes_of(snapshot["nodes"], pool)
    ]
    return {
        "name": nic.NAME,
        "state": nic.state(policy),
        "reason": nic.judge(policy).reason if policy else "",
        "components": nic.components(policy),
        "nodes": nodes,
    }


def outlived(nodes: t.Collection[str], pods: t.Iterable[Data], drivers: t.Iterable[Data]) -> list[str]:
    """Nodes whose GPU driver, with nvidia-peermem in it, was built before the NIC driver that runs now."""
    newest = {pod["spec"].get("nodeName"): pod["metadata"]["creationTimestamp"] for pod in pods if DRIVER in (pod["metadata"].get("labels") or {})}
    old = {pod["spec"].get("nodeName") for pod in drivers if pod["metadata"]["creationTimestamp"] < newest.get(pod["spec"].get("nodeName"), "")}
    return sorted(name for name in nodes if name in old)
