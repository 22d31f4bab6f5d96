# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile of a pool: one key of the device plugin's ConfigMap, and the label that chooses it."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU, GPU_SHARED, PLUGIN_CONFIG
from .schema import MIG, MPS, WAYS

try:
    import yaml
except ImportError:  # Ansible itself always has it; the import test of ansible-test has not
    yaml = None  # type: ignore[assignment]

# The API's name of each way, and the value of the label nvidia.com/gpu.sharing-strategy.
_API: t.Final = {"time_slicing": "timeSlicing", "mps": "mps"}
STRATEGIES: t.Final = {"time_slicing": "time-slicing", "mps": "mps"}
_PREFIX: t.Final = "gpu-"
# The end of the name of a resource that is shared, with the option rename.
RENAMED: t.Final = ".shared"
# A key that is not a pool's: the device plugin refuses a ConfigMap without keys, and a node without the label
# takes the default.
WHOLE: t.Final = "whole-gpus"
WHOLE_TEXT: t.Final = "version: v1\n"
Sharing = t.Mapping[str, t.Any]


def key(pool: str) -> str:
    """Return the key of the pool's profile, which is also the value of the label on its nodes."""
    return _PREFIX + pool


def way_of(sharing: Sharing) -> str:
    """Return C(time_slicing), C(mps), or "" if the device plugin needs no profile for the pool."""
    return next((way for way in WAYS if sharing.get(way)), "")


def labels(pool: str, sharing: Sharing) -> dict[str, str]:
    """Return the label that the pool's nodes need for its profile; empty without one."""
    return {PLUGIN_CONFIG: key(pool)} if way_of(sharing) else {}


def replicas(sharing: Sharing) -> int:
    """Return the shares of each GPU; 1 if the GPUs are not shared."""
    way = way_of(sharing)
    return int(sharing[way]["replicas"]) if way else 1


def resource(sharing: Sharing) -> str:
    """Return the name under which nodes offer the shares."""
    way = way_of(sharing)
    return GPU_SHARED if way and sharing[way].get("rename") else GPU


def shared(devices: t.Mapping[str, int], sharing: Sharing) -> dict[str, int]:
    """Return what a node offers. devices: their numbers before they are shared, by resource."""
    end = RENAMED if resource(sharing) == GPU_SHARED else ""
    return {f"{name}{end}": number * replicas(sharing) for name, number in devices.items()}


def once(offers: t.Mapping[str, int], sharing: Sharing) -> dict[str, int]:
    """Return the devices before they are shared. offers: what a node offers, as `shared` returns it."""
    return {name.removesuffix(RENAMED): number // replicas(sharing) for name, number in offers.items()}


def text(sharing: Sharing, names: t.Iterable[str] = (GPU,)) -> str:
    """Return the profile as the device plugin reads it. names: of the devices to share."""
    way = way_of(sharing)
    asked = sharing[way]
    lines = [
        "version: v1",
        "sharing:",
        f"  {_API[way]}:",
        f"    renameByDefault: {_flag(asked.get('rename'))}",
    ]
    refuses = asked.get("fail_requests_greater_than_one") is not False
    # Without the field MPS refuses such requests in every release. Device plugins before v0.20.0 (GPU
    # operator 26.7) refuse them with it too.
    if way != MPS or not refuses:
        lines.append(f"    failRequestsGreaterThanOne: {_flag(refuses)}")
    lines.append("    resources:")
    for name in names:
        lines += [f"    - name: {name}", f"      replicas: {asked['replicas']}"]
    return "\n".join(lines) + "\n"


def uses_mps(content: str) -> bool:
    """Return True if a profile, whoever wrote it, shares GPUs by MPS, or cannot be read and speaks of it.

    The device plugin reads YAML and JSON, and takes keys in any letters.
    """
    try:
        found = yaml.safe_load(content)
    except yaml.YAMLError:
        return MPS in content.lower()
    return any(part is not None for part in _below(_below([found], "sharing"), MPS))


def _below(parts: t.Iterable[t.Any], wanted: str) -> list[t.Any]:
    """Return the values of a key in these maps."""
    maps = (part for part in parts if isinstance(part, t.Mapping))
    return [value for mapping in maps for key, value in mapping.items() if str(key).lower() == wanted]


def _flag(value: t.Any) -> str:
    return "true" if value else "false"


def offered(gpus: t.Mapping[str, int], sharing: t.Mapping[str, t.Any]) -> t.Mapping[str, int]:
    """Return what an existing node offers. gpus: its devices before they are shared or partitioned.

    Partitions are left out.
    """
    if MIG in sharing or not way_of(sharing):
        return gpus
    return {resource(sharing): sum(gpus.values()) * replicas(sharing)}
