# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The digest of what a driver is installed with, which the operator writes into the env of its pods.

The upgrade of a node whose pod has the digest of its DaemonSet only restarts the pod. Tolerations, labels,
annotations and resources are no part of it; the image of k8s-driver-manager is. Compared with the source of
v26.7.0 (2026-11): the real digest also has mounts and a command.
"""

from __future__ import annotations

import hashlib
import json
import typing as t

from openshift_sandbox.stand_ins.gpu_operator.operands import Object

ENV: t.Final = "DRIVER_CONFIG_DIGEST"
PARTS: t.Final = ("initContainers", "containers")
INSTALLED_WITH: t.Final = ("name", "image", "env", "args")
KERNEL: t.Final = "feature.node.kubernetes.io/kernel-version.full"


def marked(daemon_set: Object) -> Object:
    """Return the DaemonSet of a driver with the digest in the env of each container."""
    pod = daemon_set["spec"]["template"]["spec"]
    containers = [one for part in PARTS for one in pod.get(part) or []]
    text = json.dumps(
        [
            (pod.get("nodeSelector") or {}).get(KERNEL),
            pod.get("volumes"),
            *({key: one.get(key) for key in INSTALLED_WITH} for one in containers),
        ],
        sort_keys=True,
    )
    entry = {"name": ENV, "value": hashlib.sha256(text.encode()).hexdigest()[:10]}
    for one in containers:
        one["env"] = [*(one.get("env") or []), entry]
    return daemon_set


def of(pod_spec: Object) -> str:
    """Return the digest in the specification of a pod; an empty text when it has none."""
    entries = (entry for part in PARTS for one in pod_spec.get(part) or [] for entry in one.get("env") or [])
    return next((str(entry.get("value") or "") for entry in entries if entry["name"] == ENV), "")


def restart_only(running: Object, wanted: Object) -> bool:
    """Return whether the pod can restart in place: both specifications have one and the same digest."""
    return of(running) == of(wanted) != ""
