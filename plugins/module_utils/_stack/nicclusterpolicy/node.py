# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge one node with network adapters: its labels, driver, plugins and devices, causes first."""

from __future__ import annotations

import typing as t

from ..._catalogue.well_known import MELLANOX, NIC_DRIVER_UPGRADE, NIC_DRIVER_WAITS
from ..._core.daemon_sets import of_owner
from ..._core.objects import KubeObject, Snapshot, at, name
from ..._core.readiness import FAILED, PENDING, Readiness, about_node
from ..._nodes import devices
from ..._nodes.labels import labels
from ..._nodes.taints import matches
from .. import operands, stages
from ..node import judge_alive, judge_taints
from ..pods import IMAGE_REASONS, as_words, how_to_cure, how_to_describe, how_to_list, trouble
from ..stages import Finding, on_node
from .manifest import NAMESPACE, OF_NODES, OPERATOR_LOG

PRESENT: t.Final = f"feature.node.kubernetes.io/pci-{MELLANOX}.present"
UPGRADE: t.Final = NIC_DRIVER_UPGRADE
WAITS: t.Final = NIC_DRIVER_WAITS
DRIVER: t.Final = "nvidia.com/ofed-driver"
SECONDARY: t.Final = "secondary"
# Prefix of a DaemonSet's name -> key of the policy's spec that asks for it; all others are secondary.
PLUGINS: t.Final = {
    "rdma-shared-dp": "rdmaSharedDevicePlugin",
    "network-operator-sriov-device-plugin": "sriovDevicePlugin",
}


def is_driver(daemonset: KubeObject) -> bool:
    return DRIVER in labels(daemonset)


def key_of(daemonset: KubeObject) -> str:
    """Return the key of the policy's spec that asks for the DaemonSet; empty for secondary ones."""
    if is_driver(daemonset):
        return "ofedDriver"
    return next((key for start, key in PLUGINS.items() if name(daemonset).startswith(start)), "")


def stage_of(key: str) -> str:
    """Return the stage of the component under this key of the policy's spec."""
    return stages.DRIVER if key == "ofedDriver" else stages.PLUGIN if key else SECONDARY


class Here(t.NamedTuple):
    """The DaemonSets and pods of the operator for one node.

    daemonsets: those that select it, the driver's first. found: the operand of each. pods: of the node.
    lacking: keys of the spec without a DaemonSet.
    """

    daemonsets: list[KubeObject]
    found: list[operands.Operand]
    pods: list[KubeObject]
    lacking: list[str]

    @property
    def drivers(self) -> list[operands.Operand]:
        pairs = zip(self.daemonsets, self.found, strict=True)
        return [found for one, found in pairs if is_driver(one)]


def uid_of(policy: KubeObject) -> str:
    return str(policy["metadata"].get("uid"))


def selects(policy: KubeObject, node: KubeObject) -> bool:
    """Return whether a NicNodePolicy is for the node; without a selector it is for all."""
    return matches(at(policy, "spec.nodeSelector") or {}, labels(node))


def policies_of(node: KubeObject, policy: KubeObject, snapshot: Snapshot) -> list[KubeObject]:
    """Return the policies that serve the node: the cluster's, and the NicNodePolicies that select it."""
    return [policy, *(each for each in snapshot.get("node_policies") or [] if selects(each, node))]


def here(node: KubeObject, policy: KubeObject, snapshot: Snapshot) -> Here:
    """Return the DaemonSets and pods of the operator for the node."""
    policies = policies_of(node, policy, snapshot)
    ours = [one for each in policies for one in of_owner(snapshot["daemonsets"], uid_of(each))]
    wanted = [one for one in ours if matches(operands.selector(one), labels(node))]
    wanted.sort(key=lambda one: (not is_driver(one), name(one)))
    pods = [pod for pod in snapshot["pods"] if pod["spec"].get("nodeName") == node["metadata"]["name"]]
    revisions, served = operands.current_revisions(snapshot["revisions"]), {key_of(one) for one in wanted}
    specs = [each.get("spec") or {} for each in policies]
    asked = [key for key in OF_NODES if any(spec.get(key) for spec in specs)]
    found = [operands.of_daemonset(one, pods, revisions) for one in wanted]
    return Here(wanted, found, pods, [key for key in asked if key not in served])


def judge_node(
    node: KubeObject, policy: KubeObject, snapshot: Snapshot, wanted: t.Mapping[str, int]
) -> list[Readiness | None]:
    """Return one entry per check, causes first; None for a check that found nothing.

    wanted: resource -> number; 0 means at least one.
    """
    of_node = here(node, policy, snapshot)
    upgrade = _judge_upgrade(node, of_node)
    is_automatic = any(
        at(each, "spec.ofedDriver.upgradePolicy.autoUpgrade") for each in policies_of(node, policy, snapshot)
    )
    late = _judge_operands(node, of_node, is_automatic=is_automatic)
    if upgrade:
        late = [one for one in late if one.code not in ("NIC-DRV-OUTDATED", "NIC-UPG")]
    first = stage_of(key_of(of_node.daemonsets[0])) if of_node.daemonsets else SECONDARY
    tainted = judge_taints(node, of_node.daemonsets, "NIC-TAINT", first)
    found: list[Finding | None] = [judge_alive(node), _judge_label(node), upgrade, tainted, *late]
    is_explained = any(one and one.stage == stages.DRIVER for one in found)
    if labels(node).get(WAITS) == "true" and not is_explained:
        what, remedy = "its NIC driver is not loaded yet", f"Run `{_driver_log(node, of_node)}`."
        found.append(on_node(PENDING, node, "Driver", what, "NIC-DRV", remedy, stage=stages.DRIVER))
    found += [_judge_devices(node, resource, number) for resource, number in wanted.items()]
    return list(found)


def _driver_log(node: KubeObject, of_node: Here) -> str:
    pod = next((found.pod for found in of_node.drivers if found.pod), "")
    return f"oc logs -n {NAMESPACE} {pod}" if pod else how_to_list(name(node), NAMESPACE)


def _judge_label(node: KubeObject) -> Finding | None:
    if labels(node).get(PRESENT) == "true":
        return None
    return on_node(PENDING, node, "Label", *about_node("NIC-LABEL", node=name(node)), stage=stages.LABELS)


def _judge_upgrade(node: KubeObject, of_node: Here) -> Finding | None:
    state = labels(node).get(UPGRADE, "")
    if state in ("", "upgrade-done"):
        return None
    if state == "upgrade-failed":
        what = "the upgrade of its NIC driver failed, the node stays cordoned"
        label = f"oc label node {name(node)} {UPGRADE}=upgrade-required --overwrite"
        first = f"Run `{how_to_list(name(node), NAMESPACE)}` to find and repair the mofed pod of the node"
        if any(found.note == operands.OUTDATED for found in of_node.drivers):
            what += ", and its old driver was not replaced: the node could not be drained"
            first = "End the pods that a disruption budget keeps (`oc get pdb -A`)"
        remedy = f"{first}, then run `{label}`: the operator empties the node again, and its pods end."
        return on_node(FAILED, node, "Upgrade", what, "NIC-UPG", remedy, stage=stages.DRIVER)
    what = f"the upgrade of its NIC driver is at {state}"
    remedy = f"Run `oc adm drain {name(node)} --dry-run=client` to find the pods that block it."
    return on_node(PENDING, node, "Upgrade", what, "NIC-UPG", remedy, stage=stages.DRIVER)


def _judge_operands(node: KubeObject, of_node: Here, *, is_automatic: bool) -> list[Finding]:
    """Return findings about components that do not run on the node; the others wait for the driver.

    is_automatic: the policy lets the operator begin upgrades; only then does it keep their labels.
    """
    findings = []
    if "ofedDriver" in of_node.lacking:
        what = "no NIC driver's DaemonSet is made for its kernel"
        remedy = (
            f"Run `oc get node {name(node)} --show-labels` to check kernel-version.full and "
            f"system-os_release.*. {OPERATOR_LOG}"
        )
        more: dict[str, t.Any] = {"stage": stages.DRIVER, "waits": True}
        findings.append(on_node(PENDING, node, "Driver", what, "NIC-DRV", remedy, **more))
    pods = {name(pod): pod for pod in of_node.pods}
    for one, found in zip(of_node.daemonsets, of_node.found, strict=True):
        if not found.ready:
            findings.append(_judge_operand(node, one, found, pods.get(found.pod), is_automatic=is_automatic))
    for key in of_node.lacking:
        if key != "ofedDriver":
            reason, what = f"Lacking:{key}", f"no DaemonSet selects it for {key}"
            remedy = f"The plugins wait for label {WAITS}=false; check node_affinity. {OPERATOR_LOG}"
            more = {"stage": stages.PLUGIN, "waits": True}
            findings.append(on_node(PENDING, node, reason, what, "NIC-OPERAND", remedy, **more))
    return findings


def _judge_operand(
    node: KubeObject,
    daemonset: KubeObject,
    found: operands.Operand,
    pod: KubeObject | None,
    *,
    is_automatic: bool,
) -> Finding:
    wrong, driver = trouble(pod) if pod else None, is_driver(daemonset)
    object_name, reason = "the NIC driver" if driver else found.daemonset, f"Operand:{found.daemonset}"
    more: dict[str, t.Any] = {"stage": stage_of(key_of(daemonset)), "since": found.since}
    if driver and found.note == operands.OUTDATED:
        if is_automatic:
            what = (
                f"pod {found.pod} of the NIC driver is of an older revision, and the operator has not begun "
                "its upgrade"
            )
            return on_node(PENDING, node, reason, what, "NIC-UPG", OPERATOR_LOG, **more)
        text = about_node("NIC-DRV-OUTDATED", node=name(node), pod=found.pod)
        return on_node(PENDING, node, reason, *text, **more)
    if pod is None or wrong is None:
        code = "NIC-DRV" if driver else "NIC-OPERAND"
        remedy = f"Run `{how_to_describe(pod, found.daemonset, NAMESPACE)}`."
        return on_node(PENDING, node, reason, f"{object_name} {found.note}", code, remedy, waits=True, **more)
    code = "NIC-DRV-CRASH" if driver else "NIC-OPERAND-CRASH"
    if wrong.reason in IMAGE_REASONS:
        code = "NIC-IMAGE"
    remedy = how_to_cure(pod, wrong)
    return on_node(
        PENDING, node, reason, f"{object_name}: {as_words(wrong, found.pod)}", code, remedy, **more
    )


def _judge_devices(node: KubeObject, resource: str, number: int) -> Finding | None:
    found = devices.offered(node, resource)
    if found == number if number else found > 0:
        return None
    text = about_node(
        "NIC-ALLOC", node=name(node), number=found, wanted=number or "at least 1", resource=resource
    )
    return on_node(PENDING, node, f"Devices:{resource}", *text, stage=stages.ALLOCATABLE, waits=True)
