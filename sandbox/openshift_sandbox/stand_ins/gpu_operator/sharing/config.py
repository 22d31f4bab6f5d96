# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration that the device plugin, GPU feature discovery and the MPS daemon read.

Compared with the source of k8s-device-plugin v0.19 (2026-08): flags other than migStrategy, the channels
of IMEX, and limits of requests and of MPS clients are not read.
"""

from __future__ import annotations

import functools
import typing as t
from dataclasses import dataclass

import yaml

GPU: t.Final = "nvidia.com/gpu"
NONE, TIME_SLICING, MPS = "none", "time-slicing", "mps"
RENAMED: t.Final = ".shared"


class ConfigError(Exception):
    """The text with which the program ends that cannot load its configuration."""


@dataclass(frozen=True)
class Config:
    """What a configuration says: strategy none, time-slicing or mps, and resource -> replicas of a device.

    mig_strategy: an empty text where the file does not name it.
    """

    strategy: str = NONE
    replicas: t.Mapping[str, int] | None = None
    renames: bool = False
    mig_strategy: str = ""

    def replicas_of(self, resource: str) -> int:
        """Return how many pods share one device of the resource."""
        return (self.replicas or {}).get(resource, 1)

    def name_of(self, resource: str) -> str:
        """Return the name under which the devices of a resource are offered."""
        return resource + RENAMED if self.renames and self.replicas_of(resource) > 1 else resource

    def offered(self, devices: t.Mapping[str, int]) -> dict[str, int]:
        """Return what the kubelet counts: the devices of each resource with their replicas."""
        return {self.name_of(name): count * self.replicas_of(name) for name, count in devices.items()}


@functools.cache
def read(text: str) -> Config:
    """Return what a configuration says. Raises ConfigError.

    The plugin ignores `rename` and `devices` of a resource, and unknown keys. MPS wins over time-slicing.
    """
    try:
        data = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise _unreadable(f"unmarshal error: {error}") from error
    if not isinstance(data, dict):
        raise _unreadable("unmarshal error: cannot unmarshal into Go value of type v1.Config")
    if data.get("version", "v1") != "v1":
        raise _unreadable(f"unknown version: {data['version']}")
    sharing, flags = data.get("sharing") or {}, data.get("flags") or {}
    parts = {key: part for key in ("mps", "timeSlicing") if (part := sharing.get(key)) is not None}
    replicas = {key: _replicas(part) for key, part in parts.items()}
    mig_strategy = str(flags.get("migStrategy") or "")
    if not parts:
        return Config(mig_strategy=mig_strategy)
    key, part = next(iter(parts.items()))
    strategy = MPS if key == "mps" else TIME_SLICING
    return Config(strategy, replicas[key], bool(part.get("renameByDefault")), mig_strategy)


def _replicas(part: dict[str, t.Any]) -> dict[str, int]:
    resources = part.get("resources")
    if not resources:
        raise _unreadable("unmarshal error: no resources specified")
    found = {}
    for one in resources:
        if "name" not in one:
            raise _unreadable("unmarshal error: no resource name specified")
        if "replicas" not in one:
            raise _unreadable("unmarshal error: no replicas specified")
        if not isinstance(one["replicas"], int) or one["replicas"] < 2:
            raise _unreadable("unmarshal error: number of replicas must be >= 2")
        name = str(one["name"])
        found[name if name.startswith("nvidia.com/") else f"nvidia.com/{name}"] = one["replicas"]
    return found


def _unreadable(why: str) -> ConfigError:
    where = "unable to load config: unable to finalize config: unable to parse config file"
    return ConfigError(f"{where}: error parsing config file: {why}")
