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

from openshift_sandbox.stand_ins.core.cluster import Cluster
from openshift_sandbox.stand_ins.gpu_operator.machines import vgpus
from openshift_sandbox.stand_ins.gpu_operator.operands import (
    DEPLOY,
    DRIVER,
    DRIVER_COMPONENT,
    PLUGIN,
    Object,
    Operand,
)
from openshift_sandbox.stand_ins.gpu_operator.rules import digest
from openshift_sandbox.stand_ins.gpu_operator.rules.release import Release
from openshift_sandbox.stand_ins.gpu_operator.sharing import containers

HOLD: t.Final = "sandbox.openshift/hold"
APPLIED: t.Final = "nvidia.com/last-applied-hash"
OSTREE: t.Final = "feature.node.kubernetes.io/system-os_release.OSTREE_VERSION"
KERNEL: t.Final = "feature.node.kubernetes.io/kernel-version.full"
TOLERATION: t.Final[Object] = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


PRECOMPILED: t.Final = {"nvidia.com/precompiled": "false"}
MANAGER: t.Final = "k8s-driver-manager"
# Option -> the container beside the driver, and the name of its image in the operator's env.
SIDECARS: t.Final = {
    "gds": ("nvidia-fs-ctr", "GDS_IMAGE"),
    "gdrcopy": ("nvidia-gdrcopy-ctr", "GDRCOPY_IMAGE"),
}


# Fields of a driver that name a ConfigMap whose keys the operator reads first -> what it calls them.
READ_FIRST: t.Final = {
    "kernelModuleConfig.name": "kernel module configuration",
    "repoConfig.configMapName": "custom repo config",
    "repoConfig.name": "custom repo config",
    "certConfig.name": "custom certs",
}
# Fields that name what is mounted, in the part of an operand -> the volume, and whether it is a Secret.
MOUNTED: t.Final = {
    **dict.fromkeys(READ_FIRST, (None, False)),
    "virtualTopology.config": ("topology-config", False),
    "virtualTopologyConfig.name": ("topology-config", False),
    "licensingConfig.secretName": ("licensing-config", True),
    "licensingConfig.configMapName": ("licensing-config", False),
    "config.name": ("metrics-config", False),
}


class ImageError(Exception):
    """repository, image and version do not fit together."""


def image_path(name: str, part: Object, images: t.Mapping[str, str]) -> str:
    """Return an image as the operator does: all three parts from the ClusterPolicy, or the one of its env.

    `name` is the image's name in the env. Raises ImageError.
    """
    repository, image, version = (str(part.get(key) or "") for key in ("repository", "image", "version"))
    if not repository and not version:
        if not (found := image or images.get(name, "")):
            raise ImageError(f"empty image path provided through both ClusterPolicy CR and ENV {name}")
        return found
    if not (repository and image and version):
        text = f"repository={repository}, image={image}, version={version}"
        raise ImageError(
            f"invalid image specification: repository, image and version must all be set ({text})"
        )
    return f"{repository}/{image}{'@' if version.startswith('sha256:') else ':'}{version}"


def named(part: Object, path: str) -> str:
    """Return the name that a field such as `certConfig.name` has, or an empty text."""
    outer, _dot, inner = path.partition(".")
    return str((part.get(outer) or {}).get(inner) or "")


def refuse_unmounted(cluster: Cluster, driver: Object, namespace: str) -> None:
    """Raise ImageError if a ConfigMap is missing of which the operator mounts each key as a file."""
    for path, what in READ_FIRST.items():
        name = named(driver, path)
        if name and cluster.find("ConfigMap", name, namespace) is None:
            text = f'could not get ConfigMap {name} from client: ConfigMap "{name}" not found'
            raise ImageError(f"ERROR: failed to create ConfigMap VolumeMounts for {what}: ERROR: {text}")


def _volumes(part: Object) -> Object:
    found = []
    for path, (volume, is_secret) in MOUNTED.items():
        if name := named(part, path):
            source = {"secret": {"secretName": name}} if is_secret else {"configMap": {"name": name}}
            found.append({"name": volume or name} | source)
    return {"volumes": found} if found else {}


def daemon_set(operand: Operand, policy: Object, release: Release) -> Object:
    """Return the DaemonSet of an operand. Raises ImageError."""
    spec = policy["spec"]
    part, shared = spec.get(operand.spec_key) or {}, spec.get("daemonsets") or {}
    image = image_path(operand.image, part, release.images)
    labels = {"app": operand.name} | (DRIVER_COMPONENT if operand is DRIVER else {})
    marks = labels | (PRECOMPILED if operand is DRIVER else {}) | (shared.get("labels") or {})
    hold = {HOLD: "ready"} if MANAGER in operand.init else {HOLD: "init"} if operand.init else {}
    pod: Object = {
        "nodeSelector": {f"{DEPLOY}{operand.component}": "true"} | dict(operand.selector),
        "tolerations": [TOLERATION, *(one for one in shared.get("tolerations") or [] if one != TOLERATION)],
        "priorityClassName": shared.get("priorityClassName") or "system-node-critical",
        "serviceAccountName": operand.account,
        "containers": [_container(name, image, part) for name in operand.containers],
        **_pull_secrets(part, *([part.get("manager") or {}] if operand is DRIVER else [])),
        **(_volumes(part) if operand is DRIVER or operand.spec_key == "dcgmExporter" else {}),
    }
    if operand is DRIVER:
        _complete_driver(pod["containers"], spec, release)
    if operand.init:
        pod["initContainers"] = [_init(name, image, spec, release) for name in operand.init]
    if operand.host_pid:
        pod["hostPID"] = True
    _complete_sharing(operand, pod, spec, release)
    if operand is DRIVER:
        apart = {"labelSelector": {"matchLabels": DRIVER_COMPONENT}, "topologyKey": "kubernetes.io/hostname"}
        pod["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    strategy = "OnDelete" if operand is DRIVER else shared.get("updateStrategy") or "RollingUpdate"
    metadata = {"name": operand.name, "namespace": release.namespace, "labels": dict(marks)}
    template = {
        "metadata": {
            "labels": dict(marks),
            "annotations": (shared.get("annotations") or {}) | hold,
        },
        "spec": pod,
    }
    body = {"selector": {"matchLabels": labels}, "updateStrategy": {"type": strategy}, "template": template}
    return owned({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": body}, policy)


def _complete_sharing(operand: Operand, pod: Object, spec: Object, release: Release) -> None:
    if operand.containers[0] in containers.MAIN:
        plugin = image_path(PLUGIN, spec.get("devicePlugin") or {}, release.images)
        containers.complete(pod, spec, plugin)
    if operand.spec_key == "migManager":
        containers.complete_parted(pod, spec)
    if operand.spec_key == "vgpuDeviceManager":
        config = (spec.get("vgpuDeviceManager") or {}).get("config") or {}
        name = config.get("name") or vgpus.DEFAULT_CONFIG
        pod["volumes"] = [{"name": "vgpu-config", "configMap": {"name": name}}]
        own = pod["containers"][0]
        chosen = {"name": "DEFAULT_VGPU_CONFIG", "value": config.get("default") or "default"}
        own["env"] = [*(own.get("env") or []), chosen]


def driver_daemon_sets(
    policy: Object,
    release: Release,
    versions: t.Mapping[str, str | None],
    system: str = "",
    operand: Operand = DRIVER,
) -> list[Object]:
    """Return one DaemonSet per RHCOS version, with the Driver Toolkit next to the driver.

    Without versions there is one without the toolkit. A version without an image has no tag. `system` is the
    end of the tag of the driver's image, unless that is a digest.
    """

    def made() -> Object:
        obj = daemon_set(operand, policy, release)
        parts = obj["spec"]["template"]["spec"]["containers"]
        own = parts[0]["image"]
        for container in parts if system and "@" not in own else ():
            if container["image"] == own:
                container["image"] += f"-{system}"
        return obj

    found = (
        [_with_toolkit(made(), version, image) for version, image in sorted(versions.items())]
        if versions
        else [made()]
    )
    has_digest = release.has_digests and operand is DRIVER
    return [digest.marked(one) if has_digest else one for one in found]


def precompiled_daemon_sets(policy: Object, release: Release, kernels: t.Mapping[str, str]) -> list[Object]:
    """Return one DaemonSet per kernel; kernel and operating system are the end of the tag of its image."""
    made = []
    for kernel, system in sorted(kernels.items()):
        obj = daemon_set(DRIVER, policy, release)
        name = f"{obj['metadata']['name']}-{sanitized(kernel)}-{system}"
        obj["metadata"]["name"] = name
        template = obj["spec"]["template"]
        for labels in (obj["metadata"]["labels"], template["metadata"]["labels"]):
            labels |= {"app": name, "nvidia.com/precompiled": "true"}
        obj["spec"]["selector"]["matchLabels"] |= {"app": name}
        template["spec"]["nodeSelector"][KERNEL] = kernel
        if "@" not in template["spec"]["containers"][0]["image"]:
            template["spec"]["containers"][0]["image"] += f"-{kernel}-{system}"
        made.append(digest.marked(obj) if release.has_digests else obj)
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


def _complete_driver(made: list[Object], spec: Object, release: Release) -> None:
    """Add to a driver what its options ask for: the kind of its kernel modules, and more containers.

    An NVIDIADriver has the options of `gds` and `gdrcopy` beside those of its driver.
    """
    part, own = spec.get("driver") or {}, made[0]
    if kind := part.get("kernelModuleType"):
        own["env"] = [*(own.get("env") or []), {"name": "KERNEL_MODULE_TYPE", "value": kind}]
    if (part.get("rdma") or {}).get("enabled"):
        made.append(_container("nvidia-peermem-ctr", own["image"], {}))
    for key, (name, image) in SIDECARS.items():
        wanted = spec.get(key) or part.get(key) or {}
        if wanted.get("enabled"):
            made.append(_container(name, image_path(image, wanted, release.images), wanted))


def _init(name: str, image: str, spec: Object, release: Release) -> Object:
    """Return an init container: the driver's manager, a validation, or one with the operand's own image."""
    if name == MANAGER:
        part, known = (spec.get("driver") or {}).get("manager") or {}, "DRIVER_MANAGER_IMAGE"
    elif name.endswith("-validation"):
        part, known = spec.get("validator") or {}, "VALIDATOR_IMAGE"
    else:
        return _container(name, image, {})
    own = {"env": part.get("env")} if name == MANAGER else {}
    return _container(name, image_path(known, part, release.images), own)


def _pull_secrets(*parts: Object) -> Object:
    names = dict.fromkeys(name for part in parts for name in part.get("imagePullSecrets") or [])
    return {"imagePullSecrets": [{"name": name} for name in names]} if names else {}


def _container(name: str, image: str, part: Object) -> Object:
    container: Object = {"name": name, "image": image, "imagePullPolicy": "IfNotPresent"}
    return container | {key: part[key] for key in ("env", "args", "resources") if part.get(key)}
