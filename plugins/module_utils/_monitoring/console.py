# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""NVIDIA's plugin of OpenShift's console: its objects, its entry in the console's list, and when it works.

Source: github.com/rh-ecosystem-edge/console-plugin-nvidia-gpu, deployment/console-plugin-nvidia-gpu.
"""

from __future__ import annotations

import typing as t

from .._core import conditions
from .._core.errors import AcceleratorError, text_of
from .._core.objects import KubeObject, at, named
from .._core.readiness import Readiness, pending, ready
from .._stack import pods

# The plugin's manifest has this name, by which the console looks for it, and so have the chart's objects.
NAME: t.Final = "console-plugin-nvidia-gpu"
LABELS: t.Final = {"app.kubernetes.io/name": NAME}
# What the plugin shows and the exporter does not collect by itself.
METRICS: t.Final = (
    "DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX",
    "DCGM_FI_DEV_MAX_SM_CLOCK",
    "DCGM_FI_DEV_MAX_MEM_CLOCK",
)
_IMAGE: t.Final = f"quay.io/edge-infrastructure/{NAME}:release-"
# From this OpenShift on the console has the libraries of plugin 0.3.
_NEWER: t.Final = (4, 19)
# What people should know of a change of the list.
NOTE: t.Final = "spec.plugins of Console cluster changes: the console's pods begin again one after another"
_PORT: t.Final = 9443
_CERTIFICATE: t.Final = f"{NAME}-cert"


def image(release: tuple[int, int] | None) -> str:
    """Return the image of the plugin for this release of OpenShift; for an unknown one, the newest."""
    return _IMAGE + ("0.2.6" if (0, 0) < (release or _NEWER) < _NEWER else "0.3.0")


def refuse(live: KubeObject | None) -> None:
    """Raise AcceleratorError if the cluster has no console. live: the object of the console's operator."""
    why = "" if live else "OpenShift's capability Console is not enabled"
    if at(live, "spec.managementState") == "Removed":
        why = "spec.managementState of Console cluster is Removed"
    if why:
        raise AcceleratorError("MON-NO-CONSOLE", why=why)


def build(namespace: str, plugin_image: str) -> list[KubeObject]:
    """Return the plugin's objects. The first is there as long as any other of them is."""
    service = {"name": NAME, "namespace": namespace, "port": _PORT, "basePath": "/"}
    plugin = {"displayName": "NVIDIA GPU", "backend": {"type": "Service", "service": service}}
    port = {"name": f"{_PORT}-tcp", "port": _PORT, "targetPort": _PORT, "protocol": "TCP"}
    place = {"name": NAME, "namespace": namespace, "labels": LABELS}
    certificate = {"service.beta.openshift.io/serving-cert-secret-name": _CERTIFICATE}
    return [
        {
            "apiVersion": "console.openshift.io/v1",
            "kind": "ConsolePlugin",
            "metadata": {"name": NAME, "labels": LABELS},
            "spec": plugin,
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {**place, "annotations": certificate},
            "spec": {"selector": LABELS, "ports": [port]},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": place,
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": LABELS},
                "template": {"metadata": {"labels": LABELS}, "spec": _pod(plugin_image)},
            },
        },
    ]


def _pod(plugin_image: str) -> KubeObject:
    container = {
        "name": NAME,
        "image": plugin_image,
        "ports": [{"containerPort": _PORT, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "certificate", "mountPath": "/var/serving-cert", "readOnly": True}],
    }
    return {
        "automountServiceAccountToken": False,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "certificate", "secret": {"secretName": _CERTIFICATE}}],
    }


def listing(console: KubeObject, *, is_wanted: bool) -> KubeObject:
    """Return the merge patch that puts the plugin into the console's list or takes it out; {} if it is right.

    The list has no merge key, so it is written as a whole, with the version that was read: entries of others
    stay.
    """
    entries = at(console, "spec.plugins") or []
    if (NAME in entries) == is_wanted:
        return {}
    kept = [entry for entry in entries if entry != NAME]
    metadata = {"resourceVersion": console["metadata"]["resourceVersion"]}
    return {"metadata": metadata, "spec": {"plugins": [*kept, *([NAME] if is_wanted else [])]}}


def works(namespace: str) -> t.Callable[[t.Mapping[str, t.Sequence[KubeObject]]], Readiness]:
    """Return a judge that is ready when every pod of the Deployment is new and available."""

    def judge(snapshot: t.Mapping[str, t.Sequence[KubeObject]]) -> Readiness:
        live = named(snapshot["deployments"], NAME)
        status = live.get("status") or {}
        is_new = status.get("observedGeneration") == at(live, "metadata.generation")
        is_whole = status.get("updatedReplicas") and not status.get("unavailableReplicas")
        if is_new and is_whole and conditions.is_true(live, "Available"):
            return ready("Available")
        troubles = [trouble for trouble in map(pods.trouble, snapshot["pods"]) if trouble]
        why = f"{troubles[0].reason}: {troubles[0].message}" if troubles else "its pod is not Ready"
        text = text_of("MON-CONSOLE", namespace=namespace, why=why)
        return pending("NotAvailable", **text._asdict())

    return judge
