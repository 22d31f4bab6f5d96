# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reboot a node by the annotation of a BareMetalHost or by a privileged pod; judge the reboot."""

from __future__ import annotations

import hashlib
import shlex
import typing as t
from dataclasses import dataclass

from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot, name
from .._core.ownership import MANAGED_BY
from .._core.readiness import Grace, Readiness, pending, ready
from .._nodes import claims as gpu_claims, formatting as node_formatting, node as node_facts
from .._stack.operands import pod_is_ready
from . import findings, record as records

# The bare metal operator powers the host off, softly if it can, and on again; then it removes the annotation.
ANNOTATION: t.Final = "reboot.metal3.io"
# The annotation of a Machine that names its BareMetalHost, as namespace/name.
HOST: t.Final = "metal3.io/BareMetalHost"
# The namespace in which `oc debug node` works too. OpenShift's own namespaces are not for pods of others.
NAMESPACE: t.Final = "default"
DAEMON_NAMESPACE: t.Final = "openshift-machine-config-operator"
_DAEMON: t.Final = "machine-config-daemon"
BOOT: t.Final = "REPAIR-BOOT"
STACK: t.Final = "REPAIR-STACK"
STAYS: t.Final = "REPAIR-STAYS"
# Seconds after which the kubelet ends a pod that a killed run left.
_DEADLINE: t.Final = 600
PREFIX: t.Final = "gpu-repair-"
NODES, PODS, SLICES = "nodes", "pods", "slices"


def daemon_image(pods: t.Iterable[KubeObject]) -> str:
    """Return the image of the node's machine-config daemon, which is on the node already; else ""."""
    for one in pods:
        labels = one["metadata"].get("labels") or {}
        if labels.get("k8s-app") == _DAEMON and one["metadata"]["namespace"] == DAEMON_NAMESPACE:
            return str(one["spec"]["containers"][0]["image"])
    return ""


def is_rebootable(host: KubeObject | None) -> bool:
    """Return True if the bare metal operator reboots the host: it is provisioned, and not detached."""
    status = (host or {}).get("status") or {}
    state = (status.get("provisioning") or {}).get("state")
    return (
        state in ("provisioned", "externally provisioned") and status.get("operationalStatus") != "detached"
    )


def pod(node: KubeObject, image: str) -> KubeObject:
    """Return the pod that reboots the node once: with another boot id than now it does nothing.

    The kubelet may start a pod again after a reboot, because the container runtime has forgotten it then.
    """
    boot = records.boot_of(node)
    digest = hashlib.sha256(f"{name(node)}/{boot}".encode()).hexdigest()[:10]
    # A drain takes a pod without a controller for one that nothing creates again.
    owner = {"apiVersion": "v1", "kind": "Node", "name": name(node), "controller": True}
    owner["uid"] = node["metadata"]["uid"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{PREFIX}{digest}",
            "namespace": NAMESPACE,
            "labels": {**MANAGED_BY},
            "ownerReferences": [owner],
        },
        "spec": {
            "nodeName": name(node),
            "restartPolicy": "Never",
            "activeDeadlineSeconds": _DEADLINE,
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 0,
            "hostPID": True,
            "tolerations": [{"operator": "Exists"}],
            "containers": [_container(boot, image)],
            "volumes": [{"name": "host", "hostPath": {"path": "/", "type": "Directory"}}],
        },
    }


def _container(boot: str, image: str) -> KubeObject:
    script = (
        f'[ "$(cat /proc/sys/kernel/random/boot_id)" = {shlex.quote(boot)} ] || exit 0\n'
        "exec chroot /host systemctl reboot"
    )
    return {
        "name": "reboot",
        "image": image,
        "command": ["/bin/sh", "-c", script],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
        "securityContext": {"privileged": True, "runAsUser": 0},
        "volumeMounts": [{"name": "host", "mountPath": "/host"}],
    }


@dataclass
class Back:
    """Judge of a reboot: the boot id is another one, the node is Ready, and its devices are there.

    boot: the boot id before. A node that stays broken for the grace while its device plugin is Ready fails
    with REPAIR-STAYS.
    """

    node: str
    boot: str
    expected: t.Mapping[str, int]
    claims: bool
    grace: Grace

    def __call__(self, snapshot: Snapshot) -> Readiness:
        (verdict,) = self.grace.harden([self._judge(snapshot)])
        return verdict

    def _judge(self, snapshot: Snapshot) -> Readiness:
        node = next(iter(snapshot[NODES]), None)
        if node is None:
            return self._pending("Gone", BOOT, why="there is no such node")
        if records.boot_of(node) == self.boot:
            return self._pending("Rebooting", BOOT, why=f"it still has boot id {self.boot}")
        if not node_facts.is_ready(node):
            why = f"it has started again and is {node_formatting.why_not_ready(node)}"
            return self._pending("NotReady", BOOT, why=why)
        if self.claims:
            node = gpu_claims.offering(node, snapshot[SLICES])
        wrong = findings.faults(node, self.expected)
        if not wrong:
            return ready("Back", f"{self.node} is back with its devices")
        plugins = [pod for pod in snapshot[PODS] if findings.is_plugin(pod)]
        is_broken = self.claims or any(map(pod_is_ready, plugins))
        reason, code = ("Broken", STAYS) if is_broken else ("Stack", STACK)
        return self._pending(reason, code, tuple(wrong), faults="; ".join(wrong))

    def _pending(self, reason: str, code: str, details: tuple[str, ...] = (), **facts: str) -> Readiness:
        return pending(reason, **text_of(code, node=self.node, **facts)._asdict(), details=details)
