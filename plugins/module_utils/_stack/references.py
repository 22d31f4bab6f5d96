# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Secrets and ConfigMaps that options of a driver stack name: an operand would wait for a missing one, and say so only in its events."""

from __future__ import annotations

import typing as t

Data = dict[str, t.Any]

_DRIVER: t.Final = {
    "licensing_config.secret_name": "Secret",
    "secret_env": "Secret",
    "cert_config.name": "ConfigMap",
    "kernel_module_config.name": "ConfigMap",
    "repo_config.config_map_name": "ConfigMap",
    "repo_config.name": "ConfigMap",
    "virtual_topology.config": "ConfigMap",
    "virtual_topology_config.name": "ConfigMap",
}
_POLICY: t.Final = {
    **{f"driver.{path}": kind for path, kind in _DRIVER.items()},
    "device_plugin.config.name": "ConfigMap",
    "dcgm_exporter.config.name": "ConfigMap",
    "mig_manager.config.name": "ConfigMap",
    "mig_manager.gpu_clients_config.name": "ConfigMap",
    "vgpu_manager.kernel_module_config.name": "ConfigMap",
    "vgpu_device_manager.config.name": "ConfigMap",
}
# Made by the operator itself.
_ITS_OWN: t.Final = ("default-mig-parted-config", "default-gpu-clients", "default-vgpu-devices-config")


class Reference(t.NamedTuple):
    path: str
    kind: str
    name: str


def named(params: Data) -> list[Reference]:
    found = [
        Reference(path, kind, str(name)) for path, kind in _POLICY.items() if (name := _at(params, path))
    ]
    for index, entry in enumerate(params.get("nvidia_drivers") or []):
        found += [
            Reference(f"nvidia_drivers[{index}].{path}", kind, str(name))
            for path, kind in _DRIVER.items()
            if (name := _at(entry, path))
        ]
    return [one for one in found if one.name not in _ITS_OWN]


def _at(values: t.Any, path: str) -> t.Any:
    for key in path.split("."):
        values = values.get(key) if isinstance(values, dict) else None
    return values
