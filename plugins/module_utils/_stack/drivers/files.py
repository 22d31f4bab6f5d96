# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of the driver's pods: kernel module options, repositories and certificates, in ConfigMaps.

The operator mounts each file by itself, so that a pod never sees another content, and its DaemonSet stays as
it is. So the name of a ConfigMap ends with a digest of the content: another content is another name, and the
operator replaces the driver's pods as for each other field.
"""

from __future__ import annotations

import hashlib
import json
import typing as t
from dataclasses import replace

from ..._core.errors import InputError
from ..._core.objects import KubeObject, at, name
from ..._core.ownership import owned
from ..params import StackParams

LABEL: t.Final = "accelerators.openshift/driver-files"
# Suboption of driver_files -> key of the name in the same option of the driver.
_KINDS: t.Final = {"kernel_module_config": "name", "repo_config": "config_map_name", "cert_config": "name"}


def check(params: StackParams) -> None:
    """Raise InputError for files that cannot be, or that the driver's own option names too."""
    for kind, files in _given(params):
        path = f"driver_files.{kind}"
        wrong = [
            object_name
            for object_name, text in files.items()
            if not object_name or "/" in object_name or not isinstance(text, str)
        ]
        if wrong:
            message = (
                f"{path} has {wrong[0]!r}: each key is the name of a file, and its value the content as text."
            )
            raise InputError("INPUT-VALUE", message, 'Write for example {nvidia.conf: "NVreg_A=1"}.')
        if at(params.driver, f"{kind}.{_KINDS[kind]}"):
            why = ": both say which files the driver has"
            raise InputError("INPUT-EXCLUSIVE", option=path, other=f"driver.{kind}", also=why)


def config_maps(params: StackParams) -> list[KubeObject]:
    """Return the ConfigMaps that the options ask for."""
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": _name(kind, files),
                "namespace": params.namespace,
                "labels": {LABEL: kind.replace("_", "-")},
            },
            "data": dict(files),
        }
        for kind, files in _given(params)
    ]


def named(params: StackParams) -> StackParams:
    """Return the options with a driver that names these ConfigMaps; unchanged without them."""
    parts = {kind: {_KINDS[kind]: _name(kind, files)} for kind, files in _given(params)}
    if not parts:
        return params
    return replace(params, driver={**(params.driver or {}), **parts})


def left_over(params: StackParams, live: t.Iterable[KubeObject], pods: t.Iterable[KubeObject]) -> list[str]:
    """Return the names of our ConfigMaps that neither the options nor a pod need any more."""
    used = {name(one) for one in config_maps(params)}
    used |= {
        str((volume.get("configMap") or {}).get("name"))
        for pod in pods
        for volume in pod["spec"].get("volumes") or []
    }
    return [name(one) for one in live if owned(one) and name(one) not in used]


def _given(params: StackParams) -> list[tuple[str, dict[str, t.Any]]]:
    asked = params.driver_files or {}
    return [(kind, asked[kind]) for kind in _KINDS if asked.get(kind)]


def _name(kind: str, files: t.Mapping[str, t.Any]) -> str:
    digest = hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()[:8]
    return f"gpu-driver-{kind.replace('_', '-')}-{digest}"
