# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a Module as KMM's webhook and its CRD do: what they refuse is known before the first write."""

from __future__ import annotations

import posixpath
import typing as t

from ..._core.errors import InputError, NotReadyError
from ..._core.objects import KubeObject, name
from . import kernels

# Characters of namespace and name together: they become part of node labels.
LONGEST: t.Final = 40
_HOST_PATHS: t.Final = ("/dev", "/sys", "/var", "/opt")


def check(module: KubeObject) -> None:
    """Raise InputError for a Module that KMM refuses, whatever the cluster has."""
    length = len(module["metadata"]["namespace"]) + len(name(module))
    if length > LONGEST:
        message = f"namespace and name have {length} characters, and KMM takes at most {LONGEST}"
        message += ": they become part of labels of nodes."
        raise InputError("INPUT-VALUE", message, "Shorten the name.")
    _check_volumes((module["spec"].get("devicePlugin") or {}).get("volumes") or [])
    if module["spec"].get("moduleLoader"):
        container = kernels.container(module)
        _check_mappings(container)
        _check_modprobe(container.get("modprobe") or {})


def _check_volumes(volumes: t.Iterable[KubeObject]) -> None:
    for index, volume in enumerate(volumes):
        path = (volume.get("hostPath") or {}).get("path")
        if path is None:
            continue
        clean = posixpath.normpath(path)
        if not any(clean == one or clean.startswith(f"{one}/") for one in _HOST_PATHS):
            message = f"kmm.device_plugin.volumes[{index}] has hostPath {path}, and KMM allows only paths"
            message += f" below {', '.join(_HOST_PATHS)}."
            raise InputError("INPUT-VALUE", message, "Mount a path below one of these.")


def _check_mappings(container: KubeObject) -> None:
    if not container.get("kernelMappings"):
        why = ", and spec.moduleLoader.container.kernelMappings is empty"
        raise InputError("INPUT-REQUIRED", option="kmm.kernel_mappings", example=kernels.EXAMPLE, also=why)
    for index, one in enumerate([container, *container["kernelMappings"]]):
        image = one.get("containerImage")
        if image and ":" not in image and "@" not in image:
            path = f"kmm.kernel_mappings[{index - 1}]" if index else "spec.moduleLoader.container"
            message = f"The image of {path} is {image}, without a tag or a digest, which KMM requires."
            raise InputError("INPUT-VALUE", message, f"Write a tag, such as {image}:1.")


def _check_modprobe(modprobe: KubeObject) -> None:
    for key in ("args", "rawArgs"):
        for action, given in (modprobe.get(key) or {}).items():
            if given == []:
                path = f"spec.moduleLoader.container.modprobe.{key}.{action}"
                message = f"{path} is empty, and KMM needs at least one."
                raise InputError("INPUT-VALUE", message, f"Leave {action} out, or give an argument.")
    module, order = modprobe.get("moduleName"), modprobe.get("modulesLoadingOrder")
    raw = modprobe.get("rawArgs") or {}
    if module and raw:
        other = "rawArgs of spec.moduleLoader.container.modprobe"
        why = ": KMM takes one of the two"
        raise InputError("INPUT-EXCLUSIVE", option="kmm.module_name", other=other, also=why)
    if order is not None and (len(order) < 2 or order[0] != module or len(set(order)) < len(order)):
        raise InputError(
            "INPUT-VALUE",
            f"kmm.modules_loading_order is {order}: it needs at least two modules, kmm.module_name first, "
            "and each only once.",
            f"Begin with {module}, then write the modules that it needs.",
        )


def refuse_switch(live: KubeObject, wanted: KubeObject) -> None:
    """Raise NotReadyError if a Module would get its first version, or lose it: KMM refuses both."""
    before, after = (kernels.container(one).get("version") for one in (live, wanted))
    if not (live["spec"].get("moduleLoader") and wanted["spec"].get("moduleLoader")):
        return
    if bool(before) == bool(after):
        return
    namespace = live["metadata"]["namespace"]
    what = f"has version {before}, and kmm.version is missing" if before else f"has no version, not {after}"
    keep = f"set kmm.version to {before}" if before else "leave kmm.version out"
    raise NotReadyError(
        "GPU-KMM-RECREATE", namespace=namespace, name=name(live), difference=what, otherwise=keep
    )
