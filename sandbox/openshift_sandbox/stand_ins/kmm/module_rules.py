# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What KMM's webhook says about a Module, in its words.

The real one also checks the keys and values of tolerations.
"""

from __future__ import annotations

import posixpath
import re
import typing as t

from openshift_sandbox.stand_ins.kmm import modules
from openshift_sandbox.stand_ins.kmm.modules import Object

LONGEST_NAME: t.Final = 40
HOST_PATHS: t.Final = ("/dev", "/sys", "/var", "/opt")
VERSIONS: t.Final = "cannot update to or from an empty version; please delete the Module and create it again"


def refusal(module: Object, old: Object | None) -> str:
    """Return why a new or changed Module is refused; an empty text when it is not."""
    loaders = [one["spec"].get("moduleLoader") for one in (module, old) if one]
    if old is not None and all(loaders) and len({bool(_version(one)) for one in (module, old)}) == 2:
        return VERSIONS
    count = sum(map(len, modules.place(module)))
    if count > LONGEST_NAME:
        return (
            f"module name and namespace have a combined length of {count} characters, which exceeds the "
            f"maximum of {LONGEST_NAME} when version is set"
        )
    if text := _volumes(module):
        return f"failed to validate device plugin volumes: {text}"
    if not loaders[0]:
        return ""
    loader = modules.container(module)
    if text := _images(loader):
        return f"failed to validate kernel mappings: {text}"
    text = _modprobe(loader["modprobe"])
    return f"failed to validate modprobe: {text}" if text else ""


def _version(module: Object) -> str:
    return str(modules.container(module).get("version") or "")


def _volumes(module: Object) -> str:
    for number, volume in enumerate((module["spec"].get("devicePlugin") or {}).get("volumes") or []):
        path = (volume.get("hostPath") or {}).get("path")
        clean = posixpath.normpath(path) if path else ""
        if path is not None and not any(clean == one or clean.startswith(f"{one}/") for one in HOST_PATHS):
            return (
                f'spec.devicePlugin.volumes[{number}]: hostPath "{path}" is not allowed; only /dev, /sys, '
                "/var and /opt paths are permitted"
            )
    return ""


def _images(loader: Object) -> str:
    if text := _image(loader.get("containerImage")):
        return text
    for number, mapping in enumerate(loader["kernelMappings"]):
        literal, pattern = mapping.get("literal"), mapping.get("regexp")
        if literal and pattern:
            return f"regexp and literal are mutually exclusive properties at kernelMappings[{number}]"
        if not literal and not pattern:
            return f"regexp or literal must be set at kernelMappings[{number}]"
        try:
            re.compile(pattern or "")
        except re.error as error:
            return f"invalid regexp at index {number}: {error}"
        if text := _image(mapping.get("containerImage")):
            return text
        if not (mapping.get("containerImage") or loader.get("containerImage")):
            return f"missing spec.moduleLoader.container.kernelMappings[{number}].containerImage"
    return ""


def _image(image: str | None) -> str:
    if not image or ":" in image or "@" in image:
        return ""
    return (
        f"failed to validate image format: container image must explicitely set a tag or digest; got: {image}"
    )


def _modprobe(modprobe: Object) -> str:
    name, order = modprobe.get("moduleName"), modprobe.get("modulesLoadingOrder")
    raw = modprobe.get("rawArgs") or {}
    if name and (raw.get("load") or raw.get("unload")):
        return "rawArgs cannot be set when moduleName is set"
    if not name and not (raw.get("load") and raw.get("unload")):
        return "load and unload rawArgs must be set when moduleName is unset"
    if order is None:
        return ""
    if len(order) < 2:
        return "if a loading order is defined, at least two values must be defined"
    if not name:
        return "if a loading order is defined, moduleName must be set"
    if order[0] != name:
        return "if a loading order is defined, the first element must be moduleName"
    twice = next((one for number, one in enumerate(order) if one in order[:number]), None)
    return f'"{twice}": duplicate value in the loading order list' if twice else ""
