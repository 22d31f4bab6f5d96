# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GPU operator's DaemonSets; the real ones have host mounts and probes too.

The annotation sandbox.openshift/hold stops a simulated pod until the stand-in of the node removes it.
"""

from __future__ import annotations

import hashlib
import json
import typing as t

from openshift_sandbox.stand_ins.gpu_operator.operands import (
    DEPLOY,
    DRIVER,
    DRIVER_COMPONENT,
    Object,
    Operand,
)

HOLD: t.Final = "sandbox.openshift/hold"
APPLIED: t.Final = "nvidia.com/last-applied-hash"
OSTREE: t.Final = "feature.node.kubernetes.io/system-os_release.OSTREE_VERSION"
KERNEL: t.Final = "feature.node.kubernetes.io/kernel-version.full"
TOLERATION: t.Final[Object] = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


class ImageError(Exception):
    """repository, image and version do not fit together."""


def image_path(operand: Operand, part: Object) -> str:
    """Return an image as the operator does.

    All three parts from the ClusterPolicy, or its own default. Raises ImageError.
    """
    repository, image, version = (str(part.get(key) or "") for key in ("repository", "image", "version"))
    if not repository and not version:
        default = "{}/{}:{}".format(*operand.image)
        return image or default
    if not (repository and image and version):
        text = f"repository={repository}, image={image}, version={version}"
        raise ImageError(
            f"invalid image specification: repository, image and version must all be set ({text})"
        )
    return f"{repository}/{image}{'@' if version.startswith('sha256:') else ':'}{version}"


def with_own_driver(policy: Object, deployment: Object) -> Object:
    """Return the policy with the default driver of this operator release, where it names none.

    Precompiled drivers need a version.
    """
    driver = policy["spec"].get("driver") or {}
    containers = ((deployment.get("spec") or {}).get("template") or {}).get("spec", {}).get(
        "containers"
    ) or []
    entries = [entry for one in containers for entry in one.get("env") or []]
    own = next((entry.get("value") for entry in entries if entry["name"] == "DRIVER_IMAGE"), None)
    if (
        not own
        or driver.get("usePrecompiled")
        or any(driver.get(key) for key in ("repository", "image", "version"))
    ):
        return policy
    return policy | {"spec": policy["spec"] | {"driver": driver | {"image": own}}}


def daemon_set(operand: Operand, policy: Object, namespace: str) -> Object:
    """Return the DaemonSet of an operand."""
    spec = policy["spec"]
    part, shared = spec.get(operand.spec_key) or {}, spec.get("daemonsets") or {}
    image = image_path(operand, part)
    labels = {"app": operand.name} | (DRIVER_COMPONENT if operand is DRIVER else {})
    hold = {HOLD: "ready"} if operand is DRIVER else {HOLD: "init"} if operand.init else {}
    pod: Object = {
        "nodeSelector": {f"{DEPLOY}{operand.component}": "true"} | dict(operand.selector),
        "tolerations": [TOLERATION, *(one for one in shared.get("tolerations") or [] if one != TOLERATION)],
        "priorityClassName": shared.get("priorityClassName") or "system-node-critical",
        "serviceAccountName": operand.account,
        "containers": [_container(name, image, part) for name in operand.containers],
    }
    if operand.init:
        pod["initContainers"] = [_container(name, image, {}) for name in operand.init]
    if operand.host_pid:
        pod["hostPID"] = True
    if operand is DRIVER:
        apart = {"labelSelector": {"matchLabels": DRIVER_COMPONENT}, "topologyKey": "kubernetes.io/hostname"}
        pod["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    strategy = "OnDelete" if operand is DRIVER else shared.get("updateStrategy") or "RollingUpdate"
    metadata = {"name": operand.name, "namespace": namespace, "labels": labels | (shared.get("labels") or {})}
    template = {
        "metadata": {
            "labels": labels | (shared.get("labels") or {}),
            "annotations": (shared.get("annotations") or {}) | hold,
        },
        "spec": pod,
    }
    body = {"selector": {"matchLabels": labels}, "updateStrategy": {"type": strategy}, "template": template}
    return owned({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": body}, policy)


def driver_daemon_sets(
    policy: Object, namespace: str, versions: t.Mapping[str, str | None], system: str = ""
) -> list[Object]:
    """Return one DaemonSet per RHCOS version, with the Driver Toolkit next to the driver.

    Without versions there is one without the toolkit. A version without an image has no tag. `system` is the
    end of the tag of the driver's image, unless that is a digest.
    """

    def made() -> Object:
        obj = daemon_set(DRIVER, policy, namespace)
        container = obj["spec"]["template"]["spec"]["containers"][0]
        if system and "@" not in container["image"]:
            container["image"] += f"-{system}"
        return obj

    return (
        [_with_toolkit(made(), version, image) for version, image in sorted(versions.items())]
        if versions
        else [made()]
    )


def precompiled_daemon_sets(policy: Object, namespace: str, kernels: t.Mapping[str, str]) -> list[Object]:
    """Return one DaemonSet per kernel; kernel and operating system are the end of the tag of its image."""
    made = []
    for kernel, system in sorted(kernels.items()):
        obj = daemon_set(DRIVER, policy, namespace)
        name = f"{obj['metadata']['name']}-{sanitized(kernel)}-{system}"
        obj["metadata"]["name"] = name
        template = obj["spec"]["template"]
        for labels in (obj["metadata"]["labels"], template["metadata"]["labels"]):
            labels |= {"app": name, "nvidia.com/precompiled": "true"}
        obj["spec"]["selector"]["matchLabels"] |= {"app": name}
        template["spec"]["nodeSelector"][KERNEL] = kernel
        template["spec"]["containers"][0]["image"] += f"-{kernel}-{system}"
        made.append(obj)
    return made


def sanitized(kernel: str) -> str:
    """Return a kernel's version as part of a name: without architecture and underscores."""
    return kernel.replace("x86_64", "").replace("aarch64", "").replace("_", ".").rstrip(".").lower()


def owned(obj: Object, policy: Object) -> Object:
    """Return the object owned by the ClusterPolicy, so that the garbage collector deletes both."""
    owner = {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "name": policy["metadata"]["name"],
        "uid": policy["metadata"]["uid"],
    }
    obj["metadata"]["ownerReferences"] = [owner | {"controller": True, "blockOwnerDeletion": True}]
    return obj


def with_hash(obj: Object) -> Object:
    """Return the object with an annotation that tells whether the live object still is the one applied."""
    digest = hashlib.sha256(json.dumps(obj, sort_keys=True).encode()).hexdigest()[:10]
    obj["metadata"].setdefault("annotations", {})[APPLIED] = digest
    return obj


def _with_toolkit(obj: Object, version: str, image: str | None) -> Object:
    name = f"{obj['metadata']['name']}-{version}"
    obj["metadata"]["name"] = name
    template = obj["spec"]["template"]
    marks = {"app": name, "openshift.driver-toolkit": "true"}
    if image is None:
        marks["openshift.driver-toolkit.rhcos-image-missing"] = "true"
    obj["metadata"]["labels"] |= marks | {"openshift.driver-toolkit.rhcos": version}
    obj["spec"]["selector"]["matchLabels"] |= {"app": name}
    template["metadata"]["labels"] |= marks
    template["spec"]["nodeSelector"][OSTREE] = version
    toolkit = _container(
        "openshift-driver-toolkit-ctr", image or template["spec"]["containers"][0]["image"], {}
    )
    template["spec"]["containers"].append(toolkit | {"env": [{"name": "RHCOS_VERSION", "value": version}]})
    return obj


def _container(name: str, image: str, part: Object) -> Object:
    container: Object = {"name": name, "image": image, "imagePullPolicy": "IfNotPresent"}
    return container | {key: part[key] for key in ("env", "args", "resources") if part.get(key)}
