# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operands: the DaemonSets of the GPU operator, their pods on a node, and the stages these show."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from .._core import conditions
from .._core.daemon_sets import is_made_by, of_owner
from .._core.objects import KubeObject, Snapshot, name
from .._nodes.labels import labels
from .._nodes.taints import matches
from . import stages
from .stages import Stage

NAMESPACE: t.Final = "nvidia-gpu-operator"
# Remedies name the usual namespace: a judge does not know another one.
OPERATOR_LOG: t.Final = f"Run `oc logs -n {NAMESPACE} deployment/gpu-operator`."
DEPLOY: t.Final = "nvidia.com/gpu.deploy."
# The stack of a node, device plugin or DRA; the label may be left over from the other stack.
MODE: t.Final = "nvidia.com/gpu-operator.resource-allocation.mode"
OUTDATED: t.Final = "is of an older revision"
UNWANTED: t.Final = "is wanted on no node"
_OWNERS: t.Final = ("ClusterPolicy", "NVIDIADriver")
# Component of the label nvidia.com/gpu.deploy.<component> -> key of the ClusterPolicy's spec that enables it.
# Causes come before their consequences.
COMPONENTS: t.Final = {
    "driver": "driver",
    "vfio-manager": "vfioManager",
    "vgpu-manager": "vgpuManager",
    "container-toolkit": "toolkit",
    "operator-validator": "",
    "device-plugin": "devicePlugin",
    "sandbox-validator": "",
    "sandbox-device-plugin": "sandboxDevicePlugin",
    "vgpu-device-manager": "vgpuDeviceManager",
    "dcgm": "dcgm",
    "dcgm-exporter": "dcgmExporter",
    "gpu-feature-discovery": "gfd",
    "mig-manager": "migManager",
    "node-status-exporter": "nodeStatusExporter",
}
# Components that label or partition devices belong to the stage ALLOCATABLE.
_STAGES: t.Final = {
    "driver": stages.DRIVER,
    "vfio-manager": stages.DRIVER,
    "vgpu-manager": stages.DRIVER,
    "container-toolkit": stages.TOOLKIT,
    "operator-validator": stages.VALIDATOR,
    "sandbox-validator": stages.VALIDATOR,
    "vgpu-device-manager": stages.ALLOCATABLE,
    "dcgm": stages.METRICS,
    "dcgm-exporter": stages.METRICS,
    "node-status-exporter": stages.METRICS,
    "gpu-feature-discovery": stages.ALLOCATABLE,
    "mig-manager": stages.ALLOCATABLE,
    "dra-driver": stages.DRA,
    "dra-validator": stages.VALIDATOR,
    "dcgm-dra": stages.METRICS,
    "dcgm-exporter-dra": stages.METRICS,
}


@dataclass(frozen=True)
class Operand:
    """One operand that a node's labels select.

    pod: empty if none runs. note: what is wrong. since: when its pod became Ready or stopped being Ready.
    """

    component: str
    daemonset: str
    pod: str = ""
    ready: bool = False
    note: str = ""
    since: str = ""

    @property
    def stage(self) -> str:
        """Return the stage of an operand of the GPU operator."""
        return stage_of(self.component)


def stage_of(component: str) -> str:
    return _STAGES.get(component, stages.PLUGIN)


def is_operand(daemonset: KubeObject) -> bool:
    """Return whether the GPU operator made the DaemonSet."""
    is_made = any(is_made_by(daemonset, kind) for kind in _OWNERS)
    return is_made or any(key.startswith(DEPLOY) for key in selector(daemonset))


def selector(daemonset: KubeObject) -> dict[str, str]:
    return daemonset["spec"]["template"]["spec"].get("nodeSelector") or {}


def tolerations(daemonset: KubeObject) -> list[KubeObject]:
    return daemonset["spec"]["template"]["spec"].get("tolerations") or []


def runs_version(daemonset: KubeObject, version: str) -> bool:
    """Return whether an image of its pods has this version."""
    containers = daemonset["spec"]["template"]["spec"].get("containers") or []
    return any(version in str(container.get("image", "")) for container in containers)


def component(daemonset: KubeObject) -> str:
    """Return the component that the DaemonSet runs, or its name if its node selector names none."""
    if "mps-control" in daemonset["metadata"]["name"]:
        return "mps-control-daemon"
    keys = sorted(key.removeprefix(DEPLOY) for key in selector(daemonset) if key.startswith(DEPLOY))
    return keys[0] if keys else name(daemonset)


def _depth(daemonset: KubeObject) -> tuple[int, str]:
    order, object_name = list(COMPONENTS), component(daemonset)
    return (order.index(object_name) if object_name in order else len(order), name(daemonset))


def current_revisions(revisions: t.Iterable[KubeObject]) -> dict[str, str]:
    """Return uid of a DaemonSet -> hash of its newest revision: controller-revision-hash of its pods."""
    newest: dict[str, KubeObject] = {}
    for revision in revisions:
        for owner in revision["metadata"].get("ownerReferences") or []:
            known = newest.get(owner["uid"], revision)
            if owner["kind"] == "DaemonSet" and revision["revision"] >= known["revision"]:
                newest[owner["uid"]] = revision
    return {uid: labels(revision).get("controller-revision-hash", "") for uid, revision in newest.items()}


def pod_is_ready(pod: KubeObject) -> bool:
    """Return whether the pod is Ready and not being deleted."""
    return not pod["metadata"].get("deletionTimestamp") and conditions.is_true(pod, "Ready")


def by_node(pods: t.Iterable[KubeObject]) -> dict[str, list[KubeObject]]:
    """Return node name -> its pods; pods without a node are under the empty name."""
    found: dict[str, list[KubeObject]] = {}
    for pod in pods:
        found.setdefault(pod["spec"].get("nodeName") or "", []).append(pod)
    return found


def view_of(snapshot: Snapshot) -> t.Callable[[KubeObject], Snapshot]:
    """Return a function that narrows the snapshot to the pods of one node; this is fast with many nodes."""
    pods = by_node(snapshot["pods"])
    return lambda node: {**snapshot, "pods": pods.get(name(node), [])}


def ready_since(pod: KubeObject) -> str:
    """Return when the pod became Ready or stopped being Ready, else when it was created."""
    return conditions.since(pod, "Ready") or str(pod["metadata"].get("creationTimestamp") or "")


def on_node(
    node: KubeObject, snapshot: Snapshot, revisions: t.Mapping[str, str] | None = None
) -> list[Operand]:
    """Return every operand whose selector the node matches, causes first.

    revisions: from current_revisions, to avoid computing them again; if empty, every pod counts as current.
    """
    if revisions is None:
        revisions = current_revisions(snapshot["revisions"])
    here = [pod for pod in snapshot["pods"] if pod["spec"].get("nodeName") == node["metadata"]["name"]]
    wanted = sorted(selecting(node, snapshot["daemonsets"]), key=_depth)
    return [of_daemonset(one, here, revisions) for one in wanted]


def selecting(node: KubeObject, daemonsets: t.Iterable[KubeObject]) -> list[KubeObject]:
    return [one for one in daemonsets if is_operand(one) and matches(selector(one), labels(node))]


def of_daemonset(
    daemonset: KubeObject, pods: t.Iterable[KubeObject], revisions: t.Mapping[str, str]
) -> Operand:
    """Return the operand of a DaemonSet on one node. pods: of that node."""
    uid, meta, status = daemonset["metadata"]["uid"], daemonset["metadata"], daemonset.get("status", {})
    ours = of_owner(pods, uid)
    rolling = status.get("observedGeneration", 0) < meta.get("generation", 0)
    if not ours:
        unwanted = not rolling and status.get("desiredNumberScheduled") == 0
        return Operand(component(daemonset), name(daemonset), note=UNWANTED if unwanted else "has no pod")
    pod = min(ours, key=lambda pod: (not pod_is_ready(pod), pod["metadata"]["name"]))
    outdated = bool(revisions.get(uid)) and labels(pod).get("controller-revision-hash", "") != revisions[uid]
    note = ""
    if not pod_is_ready(pod):
        note = "is not Ready"
    elif rolling or outdated:
        note = OUTDATED
    return Operand(component(daemonset), name(daemonset), name(pod), not note, note, ready_since(pod))


def lacking(node: KubeObject, daemonsets: t.Iterable[KubeObject], spec: t.Mapping[str, t.Any]) -> list[str]:
    """Return enabled components that the node's labels ask for but no DaemonSet brings."""
    served = {component(one) for one in selecting(node, daemonsets)}
    called = [object_name for object_name in COMPONENTS if labels(node).get(DEPLOY + object_name) == "true"]
    return [
        object_name
        for object_name in called
        if object_name not in served and _is_enabled(spec, COMPONENTS[object_name])
    ]


def _is_enabled(spec: t.Mapping[str, t.Any], key: str) -> bool:
    """Return whether the component is enabled; that is the default, except for nodeStatusExporter."""
    return not key or (spec.get(key) or {}).get("enabled", key != "nodeStatusExporter") is not False


def shown_stages(
    node: KubeObject,
    found: t.Sequence[Operand],
    absent: t.Mapping[str, t.Sequence[str]],
    stage_of: t.Callable[[Operand], str] = lambda one: one.stage,
) -> dict[str, Stage]:
    """Return the stages that the pods of a node show: ready since the last pod was, or waiting.

    absent: stage -> components without a DaemonSet.
    """
    shown: dict[str, Stage] = {}
    here: dict[str, list[Operand]] = {stage: [] for stage in absent}
    for one in found:
        here.setdefault(stage_of(one), []).append(one)
    for stage, own in here.items():
        late = [f"{name(node)}: {one.component} {one.note}" for one in own if not one.ready]
        late += [f"{name(node)}: no DaemonSet for {object_name}" for object_name in absent.get(stage, ())]
        if late:
            first = min((one.since for one in own if not one.ready and one.since), default="")
            shown[stage] = Stage(stage, stages.WAITING, first, tuple(late))
        else:
            shown[stage] = Stage(stage, since=max((one.since for one in own), default=""))
    return shown


def by_stage(
    components: t.Iterable[str], stage_of: t.Callable[[str], str] = stage_of
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in components:
        found.setdefault(stage_of(one), []).append(one)
    return found
