# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the MIG manager: it turns the label nvidia.com/mig.config into a layout and a state.

Compared with the source of mig-parted (2026-08). The real one also stops services of the host, and has the
label of NVSM.
"""

from __future__ import annotations

import json
import typing as t
from dataclasses import dataclass, field

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.hardware.instance_types import Gpu, InstanceType
from openshift_sandbox.stand_ins.core import boots, events
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import CRASH, VALIDATOR, app_of, node_of
from openshift_sandbox.stand_ins.gpu_operator.operands import DEPLOY
from openshift_sandbox.stand_ins.gpu_operator.readiness import is_ready
from openshift_sandbox.stand_ins.gpu_operator.rules.devices import holders
from openshift_sandbox.stand_ins.gpu_operator.sharing import containers, geometry
from openshift_sandbox.stand_ins.gpu_operator.sharing.geometry import LAYOUT, Cut

MANAGER: t.Final = "nvidia-mig-manager"
CONFIG: t.Final = "nvidia.com/mig.config"
STATE: t.Final = "nvidia.com/mig.config.state"
PAUSED: t.Final = "paused-for-mig-change"
PROBLEM: t.Final = "sandbox.openshift/mig-problem"
"""Annotation of the manager's pod: the line of its log about its last failure."""
# The label of each client, and its pods.
CLIENTS: t.Final = {
    "device-plugin": "nvidia-device-plugin-daemonset",
    "gpu-feature-discovery": "gpu-feature-discovery",
    "dcgm-exporter": "nvidia-dcgm-exporter",
    "dcgm": "nvidia-dcgm",
}
OTHERS: t.Final = f"{DEPLOY}client"
"""The label of clients that other teams run."""
FAILS: t.Final = "Error setting MIGConfig: error creating GPU instance: Insufficient Resources"
IN_USE: t.Final = "Error setting MIGConfig: error destroying GPU instance: In use by another client"
MODE_PENDING: t.Final = "At least one mode change pending"


@dataclass
class Run:
    """What one manager has read last, and what it is doing; `troubled` by a trouble of the scenario.

    problem: why it failed, while its step is `log`.
    """

    read: str = ""
    step: str = ""
    target: list[Cut] = field(default_factory=list)
    problem: str = ""
    troubled: bool = False


class MigManager(Reconciler):
    kinds = ("ConfigMap", "Node", "Pod")

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}
        # Node -> the boot in which a change of the MIG mode waits for the next one.
        self._pending: dict[str, str] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        managers = {node_of(pod): pod for pod in cluster.objects("Pod") if app_of(pod) == MANAGER}
        for node in cluster.objects("Node"):
            pod, made_of = managers.get(node["metadata"]["name"]), instance_types.of_node(node)
            if pod and made_of and made_of.gpu and made_of.gpu.mig_capable and is_ready(pod):
                self._manage(cluster, node, made_of, made_of.gpu, pod)
        uids = {pod["metadata"]["uid"] for pod in managers.values()}
        self._runs = {uid: run for uid, run in self._runs.items() if uid in uids}

    def _manage(self, cluster: Cluster, node: Object, made_of: InstanceType, gpu: Gpu, pod: Object) -> None:
        text = self._configurations(cluster, node, gpu, pod)
        run = self._runs.setdefault(pod["metadata"]["uid"], Run())
        label = str((node["metadata"].get("labels") or {}).get(CONFIG) or "")
        if text is None:
            return
        if run.step:
            self._go_on(cluster, node, made_of, pod, run)
        elif label and (label != run.read or not self._troubled(cluster, node, made_of, pod, run)):
            run.read = label
            self._begin(cluster, node, made_of, pod, run, text)

    def _troubled(self, cluster: Cluster, node: Object, made_of: InstanceType, pod: Object, run: Run) -> bool:
        """Return False when a trouble is over: then the manager reads the label again.

        A trouble that begins later also befalls GPUs that are cut already.
        """
        stuck = on_node(cluster, "mig_stuck", node)
        fails = _fails(cluster, node, geometry.cuts(node, made_of.gpus))
        if stuck:
            self._label(cluster, node, "pending")
        elif fails:
            self._finish(cluster, node, pod, run, FAILS)
        ended = run.troubled and not (stuck or fails)
        run.troubled = bool(stuck or fails)
        return not ended

    def _configurations(self, cluster: Cluster, node: Object, gpu: Gpu, pod: Object) -> str | None:
        """Return what the manager reads: its ConfigMap, or what it finds out about the hardware."""
        namespace = pod["metadata"]["namespace"]
        name = containers.parted_config(pod)
        if name:
            found = cluster.find("ConfigMap", name, namespace)
            if found is None:
                text = (
                    f'MountVolume.SetUp failed for volume "mig-parted-config" : configmap "{name}" not found'
                )
                events.record(cluster, pod, "kubelet", "FailedMount", text, "Warning")
                return None
            content = (found.get("data") or {}).get("config.yaml")
            self._annotate(cluster, pod, CRASH, None if content is not None else MANAGER)
            return content
        text = geometry.generated(gpu)
        own = f"{node['metadata']['name']}-mig-config"
        if cluster.find("ConfigMap", own, namespace) is None:
            cluster.apply(_generated(own, node, pod, text))
        return text

    def _begin(
        self, cluster: Cluster, node: Object, made_of: InstanceType, pod: Object, run: Run, text: str
    ) -> None:
        """Read the label: stop the clients of the GPUs if they have to be cut in another way."""
        before, gpu = geometry.cuts(node, made_of.gpus), made_of.gpu
        assert gpu is not None
        target = geometry.wanted(text, run.read, gpu, before)
        if target is None:
            self._finish(cluster, node, pod, run, f"Error: selected mig-config not present: {run.read}")
        elif target == before:
            self._finish(cluster, node, pod, run)
        else:
            run.target, run.step = target, "clients"
            self._label(cluster, node, "pending", PAUSED)
            cluster.again()

    def _go_on(self, cluster: Cluster, node: Object, made_of: InstanceType, pod: Object, run: Run) -> None:
        """Wait until the clients are gone, then cut."""
        uid = node["metadata"]["uid"]
        if run.step == "log":
            self._finish(cluster, node, pod, run, run.problem)
            return
        if run.step == "clients":
            if self._clients(cluster, node, pod["metadata"]["namespace"]):
                if cluster.due(uid, "mig_clients", 300.0):  # the real one leaves the labels as they are
                    run.step = ""
                return
            cluster.restart(uid, "mig_clients")
            run.step = "cut"
        if on_node(cluster, "mig_stuck", node) or not cluster.due(uid, "mig_config", 0.3):
            return
        cluster.restart(uid, "mig_config")
        before = geometry.cuts(node, made_of.gpus)
        mode = any((one is None) != (two is None) for one, two in zip(before, run.target, strict=True))
        if why := self._obstacle(cluster, node, made_of.gpu, run.target):
            self._finish(cluster, node, pod, run, why)
        elif mode and self._waits_for_reboot(cluster, node):
            if containers.env(pod, MANAGER, "WITH_REBOOT") == "true":
                self._label(cluster, node, "rebooting")
                run.step = ""
                boots.restart(cluster, node)
            else:
                self._finish(cluster, node, pod, run, MODE_PENDING)
        else:
            self._cut(cluster, node, pod, run)

    def _clients(self, cluster: Cluster, node: Object, namespace: str) -> bool:
        """Return whether clients of the GPUs still run on the node."""
        name = node["metadata"]["name"]
        here = [pod for pod in cluster.objects("Pod") if pod["spec"].get("nodeName") == name]
        return any(
            (app_of(pod) in CLIENTS.values() and pod["metadata"]["namespace"] == namespace)
            or OTHERS in (pod["spec"].get("nodeSelector") or {})
            for pod in here
        )

    def _obstacle(self, cluster: Cluster, node: Object, gpu: Gpu | None, target: list[Cut]) -> str:
        """Return the line of the log about why the GPUs cannot be cut, or an empty text."""
        assert gpu is not None
        if _fails(cluster, node, target):
            return FAILS
        if holders(cluster.objects("Pod"), node["metadata"]["name"]):
            return IN_USE
        why = geometry.misfit(gpu, target)
        return f"Error setting MIGConfig: {why}" if why else ""

    def _waits_for_reboot(self, cluster: Cluster, node: Object) -> bool:
        """Return whether the mode of the GPUs changes only when the node starts again."""
        uid = node["metadata"]["uid"]
        boot = str((node.get("status", {}).get("nodeInfo") or {}).get("bootID"))
        if not on_node(cluster, "mig_mode_pending", node):
            return False
        if self._pending.setdefault(uid, boot) == boot:
            return True
        del self._pending[uid]
        return False

    def _cut(self, cluster: Cluster, node: Object, pod: Object, run: Run) -> None:
        body = {"metadata": {"annotations": {LAYOUT: json.dumps(run.target)}}}
        cluster.patch("Node", node["metadata"]["name"], None, body)
        for one in cluster.objects("Pod", pod["metadata"]["namespace"]):
            if app_of(one) == VALIDATOR and node_of(one) == node["metadata"]["name"]:
                cluster.delete("Pod", one["metadata"]["name"], one["metadata"]["namespace"])
        self._finish(cluster, node, pod, run)

    def _finish(self, cluster: Cluster, node: Object, pod: Object, run: Run, problem: str = "") -> None:
        """Start the clients again, and write the state."""
        self._annotate(cluster, pod, PROBLEM, problem or None)
        if problem and (pod["metadata"].get("annotations") or {}).get(PROBLEM) != problem:
            # Who reads `failed` looks into the log next: it has to be written before, as the real one does.
            run.step, run.problem = "log", problem
            return
        run.step = ""
        self._label(cluster, node, "failed" if problem else "success", "true")

    def _label(self, cluster: Cluster, node: Object, state: str, clients: str = "") -> None:
        """Write the state, and the labels of the clients unless one says that it is not wanted."""
        labels = node["metadata"].get("labels") or {}
        keys = [f"{DEPLOY}{component}" for component in CLIENTS] + ([OTHERS] if OTHERS in labels else [])
        wanted = {key: clients for key in keys if clients and labels.get(key) != "false"} | {STATE: state}
        if wanted.items() <= labels.items():
            return
        cluster.patch("Node", node["metadata"]["name"], None, {"metadata": {"labels": wanted}})

    def _annotate(self, cluster: Cluster, pod: Object, key: str, value: str | None) -> None:
        metadata = pod["metadata"]
        if (metadata.get("annotations") or {}).get(key) != value:
            body = {"metadata": {"annotations": {key: value}}}
            cluster.patch("Pod", metadata["name"], metadata["namespace"], body)


def _fails(cluster: Cluster, node: Object, found: t.Sequence[Cut]) -> bool:
    """Return whether GPUs cannot be cut like this: a trouble with a profile is one of that profile alone."""
    trouble = on_node(cluster, "mig_fails", node)
    if trouble is None or "profile" not in trouble:
        return trouble is not None
    return any(trouble["profile"] in (cut or {}) for cut in found)


def _generated(name: str, node: Object, pod: Object, text: str) -> Object:
    """Return the ConfigMap in which a manager shows what it knows about its node."""
    owner = {key: pod["metadata"][key] for key in ("name", "uid")} | {"apiVersion": "v1", "kind": "Pod"}
    labels = {
        "app.kubernetes.io/component": MANAGER,
        "nvidia.com/node-name": node["metadata"]["name"],
    }
    metadata = {
        "name": name,
        "namespace": pod["metadata"]["namespace"],
        "labels": labels,
        "ownerReferences": [owner],
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"config.yaml": text}}
