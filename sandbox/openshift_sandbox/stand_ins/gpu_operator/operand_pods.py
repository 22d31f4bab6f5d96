# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for what runs in the GPU operator's pods: driver build, validations, crashes.

The real ones take minutes, not seconds. The real validator makes the pod nvidia-cuda-validator, which the
ClusterPolicy owns, and waits for its end; this one asks the API server by a dry run whether it may make it.
"""

from __future__ import annotations

import math
import typing as t

from openshift_sandbox.client import resource_path
from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core import events
from openshift_sandbox.stand_ins.core.conditions import holds
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node, place
from openshift_sandbox.stand_ins.gpu_operator import output
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD, KERNEL, OSTREE, PEERMEM
from openshift_sandbox.stand_ins.gpu_operator.operands import DRIVER_COMPONENT, OPERANDS, Object
from openshift_sandbox.stand_ins.gpu_operator.readiness import is_ready
from openshift_sandbox.stand_ins.gpu_operator.rules import versions
from openshift_sandbox.stand_ins.gpu_operator.sharing import containers, process
from openshift_sandbox.stand_ins.gpu_operator.upgrade.manager import DriverManagers

CRASH: t.Final = "sandbox.openshift/crash-loop"
INIT_CRASH: t.Final = "sandbox.openshift/init-crash-loop"
UNPULLED: t.Final = "sandbox.openshift/image-pull"
NOT_FOUND: t.Final = (
    "rpc error: code = Unknown desc = reading manifest for the node's kernel in the driver's repository: "
    "manifest unknown"
)
TOOLKIT: t.Final = "nvidia-container-toolkit-daemonset"
VALIDATOR: t.Final = "nvidia-operator-validator"
# GPUs that drivers after this branch do not support.
OUTGROWN: t.Final = ("maxwell", "pascal", "volta")
LAST_BRANCH: t.Final = 580
# Labels of nodes with an adapter of NVIDIA, and of those that wait for its driver.
ADAPTER: t.Final = "feature.node.kubernetes.io/pci-15b3.present"
NIC_WAIT: t.Final = "network.nvidia.com/operator.mofed.wait"
NAMES: t.Final = frozenset(operand.name for operand in OPERANDS)


def is_driver(pod: Object) -> bool:
    """Return whether a pod is a driver pod."""
    return DRIVER_COMPONENT.items() <= (pod["metadata"].get("labels") or {}).items()


def app_of(pod: Object) -> str:
    """Return the label `app` of a pod."""
    return str((pod["metadata"].get("labels") or {}).get("app", ""))


def node_of(pod: Object) -> str | None:
    """Return the node of a pod that is scheduled and not being deleted."""
    return None if pod["metadata"].get("deletionTimestamp") else pod["spec"].get("nodeName")


def initialized(pod: Object) -> bool:
    """Return whether the init containers of a pod have ended."""
    return holds(pod, "Initialized")


def ready_on(pods: t.Iterable[Object], wanted: t.Callable[[Object], bool]) -> set[str]:
    """Return the names of the nodes where such a pod is Ready."""
    return {name for pod in pods if wanted(pod) and is_ready(pod) and (name := node_of(pod))}


def runs(pod: Object) -> bool:
    """Return whether a pod is Ready, or would be if config-manager beside its program did not crash."""
    crashing = (pod["metadata"].get("annotations") or {}).get(CRASH)
    return crashing == containers.SIDECAR if crashing else is_ready(pod)


def suits(pod: Object, node: Object) -> bool:
    """Return whether a driver pod fits what its node runs.

    For a while after an update the labels of a node, and so its DaemonSet, are still the old ones.
    """
    if "openshift.driver-toolkit.rhcos-image-missing" in (pod["metadata"].get("labels") or {}):
        return False
    wanted, info = pod["spec"].get("nodeSelector") or {}, node.get("status", {}).get("nodeInfo") or {}
    return wanted.get(KERNEL, info.get("kernelVersion")) == info.get("kernelVersion") and wanted.get(
        OSTREE, ""
    ) in info.get("osImage", "")


def advertised(node: Object | None) -> bool:
    """Return whether a node offers GPUs."""
    return any(
        key.startswith("nvidia.com/") and value != "0"
        for key, value in ((node or {}).get("status", {}).get("allocatable") or {}).items()
    )


def crash_of(cluster: Cluster, pod: Object, node: Object) -> Object | None:
    """Return what lets a driver crash: a trouble, on any node and of any version or as it says, or the GPU.

    Branch 580 is the last for GPUs before Turing.
    """
    version, kind = versions.driver(pod), instance_types.of_node(node)
    if on_node(cluster, "no_peermem", node) and any(
        one["name"] == PEERMEM for one in pod["spec"]["containers"]
    ):
        return {"container": PEERMEM}
    if kind and kind.gpu and kind.gpu.family in OUTGROWN and int(version.partition(".")[0]) > LAST_BRANCH:
        return {"text": output.unsupported_gpu(kind.gpu.pci_device, version)}
    return cluster.trouble("driver_crashloop", **place(node), version=version)


def has_nic_driver(pod: Object, node: Object) -> bool:
    """Return whether the driver of network adapters is loaded, for which mofed-validation waits.

    A node without such an adapter does not wait, and where the host has that driver nobody looks for a pod.
    """
    labels = node["metadata"].get("labels") or {}
    by_host = any(
        one.get("name") == "USE_HOST_MOFED" and one.get("value") == "true"
        for container in pod["spec"]["containers"]
        for one in container.get("env") or []
    )
    return labels.get(ADAPTER) != "true" or by_host or labels.get(NIC_WAIT) == "false"


def cuda_validator(cluster: Cluster, pod: Object) -> Object:
    """Return the pod that a validator makes: without a device, with the tolerations of its DaemonSet.

    It has the owner of the DaemonSet.
    """
    namespace = pod["metadata"]["namespace"]
    daemon_set = cluster.find("DaemonSet", VALIDATOR, namespace) or {"metadata": {}}
    metadata = {
        "generateName": "nvidia-cuda-validator-",
        "namespace": namespace,
        "labels": {"app": "nvidia-cuda-validator"},
        "ownerReferences": daemon_set["metadata"].get("ownerReferences") or [],
    }
    spec = {
        "restartPolicy": "OnFailure",
        "nodeName": pod["spec"].get("nodeName"),
        "tolerations": pod["spec"].get("tolerations") or [],
        "containers": [{"name": "nvidia-cuda-validator", "image": "nvcr.io/nvidia/gpu-operator"}],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


class OperandPods(Reconciler):
    kinds = ("ConfigMap", "DaemonSet", "Node", "Pod", "Secret")

    def __init__(self) -> None:
        self._managers = DriverManagers()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        namespaces = {
            one["metadata"]["namespace"]
            for one in cluster.objects("DaemonSet")
            if one["metadata"]["name"] in NAMES or is_driver(one)
        }
        for namespace in namespaces:
            pods = cluster.objects("Pod", namespace)
            drivers = ready_on(pods, is_driver)
            versions_of = {node_of(pod): versions.driver(pod) for pod in pods if is_driver(pod)}
            toolkits = ready_on(pods, lambda pod: app_of(pod) == TOOLKIT)
            installed = any(is_driver(one) for one in cluster.objects("DaemonSet", namespace))
            for pod in pods:
                name = node_of(pod)
                node = cluster.find("Node", name) if name else None
                if node is None or self._unmounted(cluster, pod):
                    continue
                if is_driver(pod):
                    self._drive(cluster, pod, node)
                elif self._crash(cluster, pod, node, versions_of.get(name, "")):
                    continue
                elif (
                    self._held(pod)
                    and self._may_start(pod, node, drivers if installed else {str(name)}, toolkits)
                    and not self._waits(cluster, pod, node, versions_of.get(name, ""))
                    and (app_of(pod) != VALIDATOR or self._may_validate(cluster, pod))
                ):
                    self._release(cluster, pod)

    def _drive(self, cluster: Cluster, pod: Object, node: Object) -> None:
        """Let a driver pod build and load its driver, once its manager has unloaded the one before."""
        if is_ready(pod):
            self._managers.started(pod, node)
        fails = self._managers.fails(cluster, pod, node)
        if fails != (INIT_CRASH in (pod["metadata"].get("annotations") or {})):
            self._annotate(cluster, pod, {INIT_CRASH: "true" if fails else None})
        if not fails:
            self._build(cluster, pod, node)

    def _build(self, cluster: Cluster, pod: Object, node: Object) -> None:
        unpulled = (
            on_node(cluster, "driver_image_missing", node)
            if KERNEL in (pod["spec"].get("nodeSelector") or {})
            else None
        )
        if bool(unpulled) != (UNPULLED in (pod["metadata"].get("annotations") or {})):
            self._annotate(cluster, pod, {UNPULLED: NOT_FOUND if unpulled else None})
        if unpulled or not suits(pod, node):
            return
        if (pod["metadata"].get("annotations") or {}).get(HOLD) == "init":
            if has_nic_driver(pod, node):
                self._annotate(cluster, pod, {HOLD: "ready"})
            return
        crashing = CRASH in (pod["metadata"].get("annotations") or {})
        trouble = crash_of(cluster, pod, node)
        if trouble and not crashing and initialized(pod):
            self._annotate(cluster, pod, {CRASH: trouble.get("container", "true"), HOLD: None})
        elif crashing and not trouble:
            self._annotate(cluster, pod, {CRASH: None})
        elif self._held(pod) and not trouble and initialized(pod):
            slow = on_node(cluster, "slow_driver", node) or {}
            if cluster.due(pod["metadata"]["uid"], "gpu_driver", 2.0, float(slow.get("seconds", 0))):
                self._release(cluster, pod)

    def _crash(self, cluster: Cluster, pod: Object, node: Object, version: str) -> bool:
        """Let an operand other than the driver crash again and again; return whether it does."""
        crashing = (pod["metadata"].get("annotations") or {}).get(CRASH) == "true"
        bad = any(
            app_of(pod) == one.get("operand")
            for one in cluster.troubles("operand_crashloop", **place(node), version=version)
        )
        if bad != crashing and (crashing or initialized(pod)):
            self._annotate(cluster, pod, {CRASH: "true" if bad else None})
        return bad and initialized(pod)

    def _may_start(self, pod: Object, node: Object, drivers: set[str], toolkits: set[str]) -> bool:
        """Return whether a pod's init containers may end.

        They wait for files of the driver and the toolkit.
        """
        name = node["metadata"]["name"]
        if app_of(pod) == TOOLKIT:
            return name in drivers
        if process.waits(pod):
            return False
        return name in toolkits and (app_of(pod) != VALIDATOR or advertised(node))

    def _waits(self, cluster: Cluster, pod: Object, node: Object, version: str) -> bool:
        """Return whether the init containers of a pod wait longer than they need to, or for ever."""
        trouble = cluster.trouble("operands_wait", **place(node), version=version)
        if trouble is None:
            return False
        seconds = float(trouble.get("seconds", math.inf))
        return not cluster.due(pod["metadata"]["uid"], "operands_wait", seconds)

    def _may_validate(self, cluster: Cluster, pod: Object) -> bool:
        """Return whether the API server lets the validator make its pod; without it the validator fails."""
        refused = INIT_CRASH in (pod["metadata"].get("annotations") or {})
        if refused and not cluster.due(pod["metadata"]["uid"], "cuda_validator", 1.0):
            return False
        cluster.restart(pod["metadata"]["uid"], "cuda_validator")
        namespace = pod["metadata"]["namespace"]
        path = resource_path("v1", "pods", None, namespace)
        status, _body = cluster.client.request(
            "POST", path, cuda_validator(cluster, pod), query={"dryRun": "All"}
        )
        if (status == 403) != refused:
            self._annotate(cluster, pod, {INIT_CRASH: "true" if status == 403 else None})
        return status != 403

    def _unmounted(self, cluster: Cluster, pod: Object) -> bool:
        """Return whether a ConfigMap or Secret of a held pod is missing; the kubelet then starts nothing."""
        if not self._held(pod):
            return False
        namespace = pod["metadata"]["namespace"]
        for volume in pod["spec"].get("volumes") or []:
            names = {"configmap": (volume.get("configMap") or {}).get("name")}
            names |= {"secret": (volume.get("secret") or {}).get("secretName")}
            for kind, name in names.items():
                if (
                    name
                    and cluster.find({"configmap": "ConfigMap"}.get(kind, "Secret"), name, namespace) is None
                ):
                    text = (
                        f'MountVolume.SetUp failed for volume "{volume["name"]}" : {kind} "{name}" not found'
                    )
                    events.record(cluster, pod, "kubelet", "FailedMount", text, "Warning")
                    return True
        return False

    def _held(self, pod: Object) -> bool:
        return HOLD in (pod["metadata"].get("annotations") or {})

    def _release(self, cluster: Cluster, pod: Object) -> None:
        self._annotate(cluster, pod, {HOLD: None})

    def _annotate(self, cluster: Cluster, pod: Object, changes: dict[str, str | None]) -> None:
        cluster.patch(
            "Pod",
            pod["metadata"]["name"],
            pod["metadata"]["namespace"],
            {"metadata": {"annotations": changes}},
        )
