# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What KMM makes of a Module for one kernel.

The real one knows more variables, and builds whatever the ConfigMap says.
"""

from __future__ import annotations

import hashlib
import json
import re
import typing as t

Object = dict[str, t.Any]

PREFIX: t.Final = "kmm.node.kubernetes.io"
MODULE: t.Final = f"{PREFIX}/module.name"
ACTION: t.Final = f"{PREFIX}/worker-action"
API: t.Final = "kmm.sigs.x-k8s.io/v1beta1"
OPERATOR: t.Final = "kmm-operator-controller"


def place(module: Object) -> tuple[str, str]:
    """Return namespace and name of a Module."""
    return module["metadata"]["namespace"], module["metadata"]["name"]


def ready_label(module: Object | t.Mapping[str, str]) -> str:
    """Return the label of nodes that have loaded the Module."""
    return f"{PREFIX}/{'.'.join(_place(module))}.ready"


def version_ready_label(module: Object | t.Mapping[str, str]) -> str:
    """Return the label of nodes that have loaded its version."""
    return f"{PREFIX}/{'.'.join(_place(module))}.version.ready"


def version_label(module: Object) -> str:
    """Return the label that asks for a version."""
    return f"{PREFIX}/version-module.{'.'.join(place(module))}"


def _place(module: t.Mapping[str, t.Any]) -> tuple[str, str]:
    return place(dict(module)) if "metadata" in module else (module["namespace"], module["name"])


def dns_safe(kernel: str) -> str:
    """Return a kernel in the form of labels and of names of Builds."""
    return re.sub(r"[^a-z0-9]", "-", kernel.lower()).strip("-")


def kernel_of(node: Object) -> str:
    """Return the kernel of a node."""
    return str(node["status"]["nodeInfo"]["kernelVersion"]).removesuffix("+")


def container(module: Object) -> Object:
    """Return the container of the module loader."""
    return t.cast(Object, (module["spec"].get("moduleLoader") or {}).get("container") or {})


def mapping_for(module: Object, kernel: str) -> Object | None:
    """Return the first mapping that fits a kernel, or None; the container has what the mapping omits."""
    loader = container(module)
    for mapping in loader.get("kernelMappings") or []:
        literal, pattern = mapping.get("literal"), mapping.get("regexp")
        if literal == kernel or (pattern and re.search(pattern, kernel)):
            shared: Object = {
                key: loader[key] for key in ("build", "sign", "inTreeModulesToRemove") if loader.get(key)
            }
            return shared | dict(mapping)
    return None


def image_for(mapping: Object, kernel: str) -> str:
    """Return the image of a mapping for a kernel."""
    return str(mapping["containerImage"]).replace("${KERNEL_FULL_VERSION}", kernel)


def config_for(module: Object, kernel: str) -> Object | None:
    """Return the part of a NodeModulesConfig for a node with this kernel, or None."""
    mapping = mapping_for(module, kernel)
    if mapping is None:
        return None
    found = {
        "containerImage": image_for(mapping, kernel),
        "imagePullPolicy": container(module).get("imagePullPolicy") or "IfNotPresent",
        "insecurePull": bool((mapping.get("registryTLS") or {}).get("insecure")),
        "kernelVersion": kernel,
        "modprobe": {
            key: value
            for key, value in container(module)["modprobe"].items()
            if key not in ("args", "rawArgs")
        },
    }
    removed = mapping.get("inTreeModulesToRemove")
    return found | ({"inTreeModulesToRemove": removed} if removed else {})


def account(module: Object) -> str:
    """Return the service account of the module loader."""
    return str((module["spec"].get("moduleLoader") or {}).get("serviceAccountName") or "default")


def digest(*parts: t.Any) -> str:
    """Return a short digest of texts."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:5]


def owner(module: Object) -> Object:
    """Return the owner reference to a Module."""
    metadata = module["metadata"]
    return {
        "apiVersion": API,
        "kind": "Module",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod(
    module: Object,
    name: str,
    labels: t.Mapping[str, str],
    image: str,
    node: str | None,
    command: t.Sequence[str],
) -> Object:
    """Return a pod; only pods of workers have the label of their Module."""
    namespace, module_name = place(module)
    spec: Object = {
        "restartPolicy": "Never",
        "serviceAccountName": account(module),
        "tolerations": module["spec"].get("tolerations") or [],
        "containers": [
            {"name": "worker" if ACTION in labels else "puller", "image": image, "command": list(command)}
        ],
    }
    marks = {**labels, **({MODULE: module_name} if ACTION in labels else {})}
    metadata = {"name": name, "namespace": namespace, "labels": marks, "ownerReferences": [owner(module)]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec | ({"nodeName": node} if node else {}),
    }
