# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""No GPU without a request: what toolkit and device plugin need for it, with CDI and without.

NVIDIA's images set NVIDIA_VISIBLE_DEVICES, and the container runtime gives such a container all GPUs of the
node. Then only privileged containers get them that way. Without CDI the device plugin has to name the GPUs of
a request by mounts, which only it can make. Sources: NVIDIA container toolkit,
accept-nvidia-visible-devices-*; NVIDIA GPU operator, controllers/object_controls.go: with CDI the device
plugin names them by CDI devices.
"""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ..._core.errors import InputError
from ..._core.objects import KubeObject, at
from ..params import StackParams
from . import manifest

_BY_ENV: t.Final = ("ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "false")
_BY_MOUNT: t.Final = ("ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS", "true")
_STRATEGY: t.Final = ("DEVICE_LIST_STRATEGY", "volume-mounts")
_CDI_ON: t.Final = (25, 10)
WARNING: t.Final = (
    "only_requested_gpus: a pod that sees GPUs by NVIDIA_VISIBLE_DEVICES alone has none once its containers "
    "start again. Let it request nvidia.com/gpu."
)


def enforced(
    params: StackParams, live: KubeObject | None, example: t.Mapping[str, t.Any], installed: tuple[int, ...]
) -> StackParams:
    """Return the options with the environment that gives GPUs only to pods that request them.

    Unchanged without option only_requested_gpus. example, installed: spec and release of the installed
    operator. Raise InputError if the options ask for the opposite.
    """
    if not params.only_requested_gpus:
        return params
    spec = manifest.asked(params)
    said = (at(one, "cdi.enabled") for one in (spec, (live or {}).get("spec"), example))
    default = not installed or installed >= _CDI_ON
    has_cdi = next((one for one in said if one is not None), default)
    toolkit = {"toolkit": _env("toolkit", spec, [_BY_ENV] if has_cdi else [_BY_ENV, _BY_MOUNT])}
    plugin = {} if has_cdi else {"devicePlugin": _env("devicePlugin", spec, [_STRATEGY])}
    raw = params.spec
    more = {part: {**(raw.get(part) or {}), "env": env} for part, env in {**toolkit, **plugin}.items()}
    return replace(params, spec={**raw, **more})


def _env(part: str, spec: t.Mapping[str, t.Any], wanted: t.Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    found = list(at(spec, f"{part}.env") or [])
    for key, value in wanted:
        own = next((one for one in found if one.get("name") == key), None)
        if own is None:
            found.append({"name": key, "value": value})
        elif str(own.get("value")) != value:
            message = (
                f"{part}.env sets {key} to {own.get('value')!r}, and only_requested_gpus needs {value!r}."
            )
            raise InputError("INPUT-OPTION", message, f"Remove {key} from {part}.env.")
    return found
