# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge one node of a GPU pool: its labels, taints, operands, driver and devices, causes first."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ..._catalogue.well_known import GPU_PRESENT, MIG_CONFIG, MIG_STATE, PLUGIN_CONFIG, WORKLOAD
from ..._core.objects import KubeObject, Snapshot, at, name
from ..._core.readiness import FAILED, PENDING, Readiness, about_node
from ..._nodes import devices
from ..._nodes.labels import has_nvidia_pci, labels
from ..._nodes.taints import matches, untolerated
from .. import operands, stages, virtual_machines
from ..drivers import kernel
from ..node import about_taints, judge_alive, judge_opt_out, judge_paused
from ..params import StackPool
from ..pods import how_to_list, judge_pods
from ..stages import Finding, on_node
from ..upgrade import is_automatic, judge_upgrade
from . import gpudirect
from .manifest import effective_tolerations, reason, state

# Reasons of a `ready` ClusterPolicy while its operator knows no GPU node.
BLIND: t.Final = ("NoGPUNodes", "NFDLabelsMissing")
# Kind of workload of a node that offers GPUs to containers.
CONTAINER: t.Final = "container"
# Reason of missing devices on a node whose device plugin runs: they come within seconds or never.
WITHHELD: t.Final = "Withheld"


def judge_node(
    node: KubeObject, pool: StackPool, policy: KubeObject, snapshot: Snapshot
) -> list[Readiness | None]:
    """Return one entry per check, causes first; None if it found nothing.

    While the driver is upgraded, operands that only wait come after the upgrade, which makes them wait.
    """
    pool = virtual_machines.as_seen(node, pool, policy)
    if virtual_machines.is_of_platform(pool):
        # The operands keep off, and HyperConverged comes first.
        return [judge_alive(node)]
    upgrade = judge_upgrade(node, snapshot)
    found = _judge_operands(node, policy, snapshot)
    behind = [one for one in found if one.waits and upgrade is not None]
    return [
        judge_alive(node),
        _judge_taints(node, policy, snapshot),
        _judge_features(node, policy),
        _judge_workload(node, pool, policy),
        _judge_marks(node, pool),
        _judge_left(node, policy, snapshot),
        kernel.judge(node, policy, snapshot),
        gpudirect.judge_order(node, policy, snapshot),
        *(one for one in found if one not in behind),
        upgrade,
        *behind,
        judge_paused(node, snapshot, upgrade),
        gpudirect.judge_peermem(node, policy, snapshot),
        _judge_devices(node, pool, snapshot, is_upgrading=upgrade is not None),
    ]


def _judge_taints(node: KubeObject, policy: KubeObject, snapshot: Snapshot) -> Finding | None:
    """Return a finding if a taint keeps operands away; the operator calls a DaemonSet without pods ready."""
    for_good = untolerated(node, effective_tolerations(policy))
    names = sorted(
        {
            operands.component(one)
            for one in operands.selecting(node, snapshot["daemonsets"])
            if untolerated(node, operands.tolerations(one))
        }
    )
    if not for_good and not names:
        return None
    who = ", ".join(names) if 0 < len(names) < 3 else f"{len(names) or 'all'} operands"
    if not for_good:
        what = f"{who} do not have the policy's tolerations yet"
        return on_node(PENDING, node, "Taint", what, "GPU-TAINT", operands.OPERATOR_LOG, stage=stages.DRIVER)
    text = about_taints("GPU-TAINT", node, for_good, who)
    return on_node(FAILED, node, "Taint", *text, stage=stages.DRIVER)


def _judge_features(node: KubeObject, policy: KubeObject) -> Finding | None:
    """Return a finding if the node has no NVIDIA PCI label; the operator then ignores it and can be ready."""
    if has_nvidia_pci(labels(node)):
        return None
    text = about_node("GPU-NFD-EMPTY", node=name(node))
    found = on_node(PENDING, node, "NoPciLabel", *text, stage=stages.LABELS)
    if state(policy) == "ready" and reason(policy) in BLIND:
        blind = f"ClusterPolicy {name(policy)} is ready with reason {reason(policy)}: it sees no GPU."
        return replace(found, message=f"{found.message}; {blind}")
    return found


def _judge_workload(node: KubeObject, pool: StackPool, policy: KubeObject) -> Finding | None:
    """Return a finding if the operator gives the node's GPUs to virtual machines and devices are missing.

    The label counts only while the policy serves virtual machines; it then wins over the policy's default.
    """
    if virtual_machines.of_machines([pool]):
        return None
    machines = at(policy, "spec.sandboxWorkloads") or {}
    label = labels(node).get(WORKLOAD)
    kind = label or machines.get("defaultWorkload") or CONTAINER
    wanted = devices.expected(node, pool.get("expected") or {})
    is_met = bool(wanted) and not devices.short(node, wanted)
    if not machines.get("enabled") or kind == CONTAINER or is_met:
        return None
    cause = f"label {WORKLOAD}={kind}" if label else f"sandboxWorkloads.defaultWorkload {kind} of the policy"
    text = about_node("GPU-WORKLOAD", node=name(node), cause=cause)
    return on_node(PENDING, node, "Workload", *text, stage=stages.LABELS)


def _judge_marks(node: KubeObject, pool: StackPool) -> Finding | None:
    marks = labels(node)
    if marks.get(operands.DEPLOY + "operands") == "false":
        label = f"{operands.DEPLOY}operands"
        text = about_node(
            "GPU-OPTED-OUT", node=name(node), label=label, operands="every operand", labels=f"{label}-"
        )
        return on_node(PENDING, node, "OptedOut", *text, stage=stages.LABELS)
    if marks.get(operands.MODE) == "dra" and not devices.resources(node):
        text = about_node(
            "GPU-MODE",
            node=name(node),
            label=f"{operands.MODE}=dra is left over from a GPUCluster and keeps the operands away",
        )
        return on_node(PENDING, node, "Mode", *text, stage=stages.LABELS)
    if has_nvidia_pci(marks) and marks.get(GPU_PRESENT) != "true":
        now, log = marks.get(GPU_PRESENT, "absent"), operands.OPERATOR_LOG
        what = f"the operator has not labelled it {GPU_PRESENT}=true (it is {now})"
        more: dict[str, t.Any] = {"stage": stages.LABELS, "waits": True}
        return on_node(PENDING, node, "NotPresent", what, "GPU-CP-NOT-READY", log, **more)
    if virtual_machines.of_machines([pool]):
        return judge_opt_out(node, ("sandbox-device-plugin", "sandbox-validator"))
    return judge_opt_out(node, ("container-toolkit", "device-plugin", "operator-validator"))


def _judge_left(node: KubeObject, policy: KubeObject, snapshot: Snapshot) -> Finding | None:
    if at(policy, "spec.driver.useNvidiaDriverCRD"):
        return None
    names = [
        owner["name"]
        for one in snapshot["daemonsets"]
        if matches(operands.selector(one), labels(node))
        for owner in one["metadata"].get("ownerReferences") or []
        if owner["kind"] == "NVIDIADriver"
    ]
    if not names:
        return None
    text = about_node("GPU-NVD-LEFT", node=name(node), driver=names[0])
    return on_node(PENDING, node, "DriverLeft", *text, stage=stages.DRIVER)


def _judge_operands(node: KubeObject, policy: KubeObject, snapshot: Snapshot) -> list[Finding]:
    pods = {name(pod): pod for pod in snapshot["pods"]}
    late = [one for one in operands.on_node(node, snapshot) if not one.ready]
    lacking = operands.lacking(node, snapshot["daemonsets"], policy.get("spec") or {})
    findings = judge_pods(
        node, [(one, pods.get(one.pod)) for one in late], lacking, is_automatic=is_automatic(policy)
    )
    if lacking:
        text = about_node("GPU-OPERAND-LACKING", node=name(node), components=", ".join(lacking))
        found = on_node(PENDING, node, "Lacking", *text, stage=operands.stage_of(lacking[0]), waits=True)
        others = f" and {len(lacking) - 1} more" if lacking[1:] else ""
        line = f"{name(node)}: no DaemonSet selects it for {lacking[0]}{others}"
        findings.append(replace(found, details=(line,)))
    return findings


def _judge_devices(
    node: KubeObject, pool: StackPool, snapshot: Snapshot, is_upgrading: bool
) -> Finding | None:
    if virtual_machines.of_machines([pool]):
        return virtual_machines.judge(node, pool, snapshot)
    wanted = devices.expected(node, pool.get("expected") or {})
    short = devices.short(node, wanted)
    if partitioning := _judge_mig(node, short, snapshot):
        return partitioning
    if wanted and not short:
        return None
    here = operands.on_node(node, snapshot)
    plugin = next((one for one in here if one.ready and one.component == "device-plugin"), None)
    more: dict[str, t.Any] = {"stage": stages.ALLOCATABLE, "waits": plugin is None}
    log = _log_of("device-plugin", node, here)
    if not wanted:
        what, remedy = "offers no device at all", f"Run `{log}`."
        return on_node(PENDING, node, "NoDevices", what, "GPU-ALLOC", remedy, **more)
    what = f"offers {', '.join(short)}{_withdrawn(node)}"
    why = WITHHELD if plugin and not is_upgrading else "Allocatable"
    more["since"] = plugin.since if plugin else ""
    return on_node(PENDING, node, why, what, "GPU-ALLOC", _remedy(node, log), **more)


def _remedy(node: KubeObject, log: str) -> str:
    is_read = PLUGIN_CONFIG in labels(node) or devices.is_shared(node)
    again = f"{devices.reading_again(node)} If the number stays: " if is_read else ""
    why = "an Xid error takes a GPU out of service"
    return f"{again}Run `{log}` ({why}), and check the sharing and MIG settings of the pool."


def _log_of(component: str, node: KubeObject, here: t.Iterable[operands.Operand]) -> str:
    pod = next((one.pod for one in here if one.component == component and one.pod), "")
    logs = f"oc logs -n {operands.NAMESPACE} {pod} --all-containers"
    return logs if pod else how_to_list(name(node), operands.NAMESPACE)


def _withdrawn(node: KubeObject) -> str:
    """Return words about GPUs that the device plugin withdrew; GPU feature discovery counts them all."""
    present = devices.count(labels(node).get("nvidia.com/gpu.count", 0))
    offered = devices.offered(node, "nvidia.com/gpu")
    if not 0 < offered < present or devices.is_shared(node):
        return ""
    return f" ({present} GPUs are in the node, {present - offered} of them withdrawn)"


def _judge_mig(node: KubeObject, short: t.Sequence[str], snapshot: Snapshot) -> Finding | None:
    """Return a finding from the MIG manager's label; the ClusterPolicy is ready even if it failed."""
    marks = labels(node)
    state, layout = marks.get(MIG_STATE), marks.get(MIG_CONFIG, "")
    if state not in ("pending", "rebooting", "failed"):
        return None
    offer = f", offers {', '.join(short)}" if short else ""
    where = f"({layout or 'no layout'}: {state}){offer}"
    log = _log_of("mig-manager", node, operands.on_node(node, snapshot))
    if state != "failed":
        what, remedy = f"is being repartitioned {where}", f"Run `{log}`."
        return on_node(PENDING, node, "Mig", what, "GPU-MIG-RUNNING", remedy, stage=stages.ALLOCATABLE)
    what = f"could not be repartitioned {where}"
    remedy = (
        f"Run `{log}`; the layout must exist in the ConfigMap of the MIG manager, and no pod may hold a GPU."
    )
    return on_node(FAILED, node, "MigFailed", what, "GPU-MIG-FAILED", remedy, stage=stages.ALLOCATABLE)
