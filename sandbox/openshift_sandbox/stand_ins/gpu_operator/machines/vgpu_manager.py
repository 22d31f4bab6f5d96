# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the vGPU device manager: it turns the label nvidia.com/vgpu.config into vGPUs and a state.

Compared with the source of vgpu-device-manager v0.5. The real one also changes the mode of MIG, tries four
times, and gives up after two minutes when the pods that it stops do not go.
"""

from __future__ import annotations

import json
import typing as t
from dataclasses import dataclass, field

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.hardware.instance_types import InstanceType
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.gpu_operator.machines import vgpus
from openshift_sandbox.stand_ins.gpu_operator.machines.pods import (
    DEVICES,
    PLUGIN,
    VALIDATOR,
    VGPU,
    by_node,
    configurations,
)
from openshift_sandbox.stand_ins.gpu_operator.machines.vgpus import LAYOUT, Cut
from openshift_sandbox.stand_ins.gpu_operator.operands import DEPLOY
from openshift_sandbox.stand_ins.gpu_operator.readiness import is_ready
from openshift_sandbox.stand_ins.gpu_operator.rules.devices import holders
from openshift_sandbox.stand_ins.gpu_operator.sharing import containers
from openshift_sandbox.stand_ins.nfd import iommu

CONFIG: t.Final = "nvidia.com/vgpu.config"
STATE: t.Final = "nvidia.com/vgpu.config.state"
PAUSED: t.Final = "paused-for-vgpu-change"
PROBLEM: t.Final = "sandbox.openshift/vgpu-problem"
"""Annotation of the manager's pod: the line of its log about its last failure."""
CONTAINER: t.Final = "nvidia-vgpu-device-manager"
CLIENTS: t.Final = (PLUGIN, VALIDATOR)
FAILED: t.Final = "Failed to apply vGPU config: "
UNKNOWN: t.Final = "unable to validate the selected vGPU configuration"
# GPUs before this one make vGPUs without SR-IOV, which needs the IOMMU.
WITHOUT_SRIOV: t.Final = ("maxwell", "pascal", "volta", "turing")


@dataclass
class Run:
    """What one manager has read last, and what it is doing. settled: the trouble that it knows."""

    read: str = ""
    step: str = ""
    target: list[Cut] = field(default_factory=list)
    problem: str = ""
    settled: str = ""


def config_of(pod: Object, node: Object) -> str:
    """Return the configuration that a node shall have: by its label, else the default of the policy."""
    default = containers.env(pod, CONTAINER, "DEFAULT_VGPU_CONFIG")
    return str((node["metadata"].get("labels") or {}).get(CONFIG) or default)


class VgpuDeviceManager(Reconciler):
    kinds = ("ConfigMap", "MachineConfig", "Node", "Pod")

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        alive = set()
        for name, parts in by_node(cluster.objects("Pod")).items():
            pod, node = parts.get(DEVICES), cluster.find("Node", name)
            made_of = instance_types.of_node(node) if node else None
            if pod and node and made_of and made_of.has_nvidia_gpus and is_ready(pod):
                alive.add(pod["metadata"]["uid"])
                self._manage(cluster, node, made_of, parts, pod)
        self._runs = {uid: run for uid, run in self._runs.items() if uid in alive}
        for node in cluster.objects("Node"):
            metadata = node["metadata"]
            if LAYOUT in (metadata.get("annotations") or {}) and DEPLOY + VGPU not in metadata["labels"]:
                # without the vGPU manager there is no vGPU
                body = {"metadata": {"annotations": {LAYOUT: None}}}
                cluster.patch("Node", metadata["name"], None, body)

    def _manage(
        self,
        cluster: Cluster,
        node: Object,
        made_of: InstanceType,
        parts: t.Mapping[str, Object],
        pod: Object,
    ) -> None:
        run = self._runs.setdefault(pod["metadata"]["uid"], Run())
        label, text = config_of(pod, node), configurations(cluster, pod)
        trouble = json.dumps(on_node(cluster, "vgpu_config_fails", node), sort_keys=True)
        if text is None:
            return
        if run.step:
            self._go_on(cluster, node, made_of, parts, pod, run)
        elif (label, trouble) != (run.read, run.settled):
            run.read, run.settled = label, trouble
            self._begin(cluster, node, made_of, pod, run, text)

    def _begin(
        self, cluster: Cluster, node: Object, made_of: InstanceType, pod: Object, run: Run, text: str
    ) -> None:
        """Read the label: stop what offers vGPUs if there have to be other ones."""
        before = vgpus.layout(node, made_of.gpus)
        target = vgpus.wanted(text, run.read, made_of, before)
        if target is None:
            self._finish(cluster, node, pod, run, UNKNOWN)
        elif target == before and not on_node(cluster, "vgpu_config_fails", node):
            self._finish(cluster, node, pod, run)
        else:
            run.target, run.step = target, "clients"
            self._label(cluster, node, "pending", PAUSED)
            cluster.again()

    def _go_on(
        self,
        cluster: Cluster,
        node: Object,
        made_of: InstanceType,
        parts: t.Mapping[str, Object],
        pod: Object,
        run: Run,
    ) -> None:
        """Wait until the plugin and the validator are gone, then make the vGPUs."""
        uid = node["metadata"]["uid"]
        if run.step == "log":
            self._finish(cluster, node, pod, run, run.problem)
            return
        if run.step == "clients":
            if any(part in parts for part in CLIENTS):
                return
            run.step = "apply"
            cluster.restart(uid, "vgpu_config")
        if not cluster.due(uid, "vgpu_config", 0.3):
            return
        why = self._obstacle(cluster, node, made_of, run.target)
        if why:
            self._finish(cluster, node, pod, run, f'unable to apply config "{run.read}": {why}')
            return
        body = {"metadata": {"annotations": {LAYOUT: json.dumps(run.target)}}}
        cluster.patch("Node", node["metadata"]["name"], None, body)
        self._finish(cluster, node, pod, run)

    def _obstacle(self, cluster: Cluster, node: Object, made_of: InstanceType, target: list[Cut]) -> str:
        """Return why the vGPUs cannot be made, or an empty text."""
        gpu = made_of.gpu
        assert gpu is not None
        trouble = on_node(cluster, "vgpu_config_fails", node)
        if trouble:
            return str(trouble.get("text") or "error setting VGPU config: no parent devices found for GPU")
        if gpu.family not in WITHOUT_SRIOV and not iommu.has_iommu(cluster, node):
            return "error setting VGPU config: no parent devices found for GPU at index '0'"
        before = vgpus.layout(node, made_of.gpus)
        kind = next((kind for cut in before for kind in cut), "")
        if kind and holders(cluster.objects("Pod"), node["metadata"]["name"]):
            return (
                f"error setting VGPU config: error clearing VGPUConfig: error deleting {kind} vGPU device: "
                "device or resource busy"
            )
        misfit = vgpus.misfit(gpu.pci_device, target)
        return f"error setting VGPU config: {misfit}" if misfit else ""

    def _finish(self, cluster: Cluster, node: Object, pod: Object, run: Run, problem: str = "") -> None:
        """Start the plugin and the validator again, and write the state."""
        line = FAILED + problem if problem else None
        metadata = pod["metadata"]
        if (metadata.get("annotations") or {}).get(PROBLEM) != line:
            body = {"metadata": {"annotations": {PROBLEM: line}}}
            cluster.patch("Pod", metadata["name"], metadata["namespace"], body)
            # Who reads `failed` looks into the log next: it has to be written before.
            run.step, run.problem = "log", problem
            cluster.again()
            return
        run.step = ""
        self._label(cluster, node, "failed" if problem else "success", "true")

    def _label(self, cluster: Cluster, node: Object, state: str, clients: str) -> None:
        """Write the state, and the labels of those that the manager stops; `false` stays."""
        labels = node["metadata"].get("labels") or {}
        wanted = {STATE: state}
        for part in CLIENTS:
            before = labels.get(DEPLOY + part)
            if before == ("true" if clients == PAUSED else PAUSED):
                wanted[DEPLOY + part] = clients
        if not wanted.items() <= labels.items():
            cluster.patch("Node", node["metadata"]["name"], None, {"metadata": {"labels": wanted}})
