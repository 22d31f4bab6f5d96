# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the GPUs of a node are cut, what the device plugin makes of it, and what mig-parted reads."""

from __future__ import annotations

import functools
import json
import typing as t

import yaml

from openshift_sandbox.hardware import mig
from openshift_sandbox.hardware.gpus import GPUS, Gpu
from openshift_sandbox.stand_ins.gpu_operator.sharing.config import GPU

Object = dict[str, t.Any]
Cut = dict[str, int] | None
"""The MIG devices of one GPU by profile; None while its MIG mode is off."""

LAYOUT: t.Final = "sandbox.openshift/mig-layout"
"""Annotation of a Node: a list with the cut of each of its GPUs, as JSON."""
PART: t.Final = "nvidia.com/mig-"
DISABLED, ENABLED = "all-disabled", "all-enabled"


class GeometryError(Exception):
    """The text with which a program ends that cannot work with the devices of a node."""


def cuts(node: Object, gpus: int) -> list[Cut]:
    """Return how each GPU of a node is cut."""
    text = (node["metadata"].get("annotations") or {}).get(LAYOUT)
    found: list[Cut] = json.loads(text) if text else []
    return [*found, *[None] * gpus][:gpus]


def resource(profile: str) -> str:
    """Return the resource of a profile with the strategy mixed."""
    return PART + profile.replace("+", ".")


def devices(found: t.Sequence[Cut], strategy: str) -> dict[str, int]:
    """Return how many devices of each resource the plugin finds. Raises GeometryError."""
    if strategy == "none":
        return {GPU: len(found)}
    parts = totals(found)
    whole = sum(cut is None for cut in found)
    if strategy == "mixed":
        return {GPU: whole} | {resource(name): count for name, count in parts.items()}
    if whole == len(found):
        return {GPU: whole}
    if why := invalid(found):
        raise GeometryError(
            f"error starting plugins: error getting plugins: invalid MIG configuration: {why}"
        )
    return {GPU: sum(parts.values())}


def invalid(found: t.Sequence[Cut]) -> str:
    """Return why the strategy single does not work with GPUs of which some are cut, or an empty text."""
    if any(cut is not None and not cut for cut in found):
        return "at least one device with migEnabled=true was not configured correctly"
    if any(cut is None for cut in found):
        return "all devices on the node must be configured with the same migEnabled value"
    return "more than one MIG device type present on node" if len(totals(found)) > 1 else ""


def totals(found: t.Sequence[Cut]) -> dict[str, int]:
    """Return how many devices of each profile all GPUs have together."""
    names = dict.fromkeys(name for cut in found for name in cut or ())
    return {name: sum((cut or {}).get(name, 0) for cut in found) for name in names}


def indexes(found: t.Sequence[Cut], strategy: str, asked: str) -> list[str]:
    """Return the devices of a resource: the index of a GPU, or GPU:profile:number for a part of one."""
    if strategy == "none":
        return [str(index) for index in range(len(found))]
    return [
        one
        for index, cut in enumerate(found)
        for one in (
            [str(index)]
            if cut is None and asked == GPU
            else [
                f"{index}:{name}:{number}"
                for name, count in (cut or {}).items()
                if asked == (GPU if strategy == "single" else resource(name))
                for number in range(count)
            ]
        )
    ]


def dra_devices(found: t.Sequence[Cut]) -> dict[str, str]:
    """Return the devices that the DRA driver finds: its name of each -> GPU, or GPU:profile:number of a part.

    A GPU whose MIG mode is on is no device itself. The real names end with NVIDIA's number of the profile and
    the place on the GPU; here that is the number of the part.
    """
    return {
        name: part
        for index, cut in enumerate(found)
        for name, part in (
            [(f"gpu-{index}", str(index))]
            if cut is None
            else [
                (f"gpu-{index}-mig-{profile.replace('.', '').replace('+', '-')}-{number}", part)
                for profile, count in cut.items()
                for number in range(count)
                for part in [f"{index}:{profile}:{number}"]
            ]
        )
    }


@functools.cache
def generated(*models: Gpu) -> str:
    """Return the configurations of mig-parted that the models allow; each of several has a device filter."""
    known: dict[str, list[Object]] = {
        DISABLED: [{"devices": "all", "mig-enabled": False}],
        ENABLED: [{"devices": "all", "mig-enabled": True, "mig-devices": {}}],
    }
    for gpu in models:
        offers: list[tuple[str, dict[str, int]]] = []
        for name, profile in mig.profiles(gpu).items():
            offers.append((f"all-{name.replace('+', '.')}", {name: profile.most}))
        filters: Object = {"device-filter": [f"0x{gpu.pci_device.upper()}10DE"]} if len(models) > 1 else {}
        for config, made in [*offers, ("all-balanced", mig.balanced(gpu))]:
            known.setdefault(config, []).append(
                {**filters, "devices": "all", "mig-enabled": True, "mig-devices": made}
            )
    return str(yaml.safe_dump({"version": "v1", "mig-configs": known}, sort_keys=True))


def models() -> list[Gpu]:
    """Return every model that can be cut."""
    return [GPUS[key] for key in mig.PROFILES]


def wanted(text: str, name: str, gpu: Gpu, before: t.Sequence[Cut]) -> list[Cut] | None:
    """Return how a configuration cuts the GPUs of a node; None when the text has none of that name.

    A GPU that no entry names stays as it is.
    """
    try:
        entries = (_parsed(text) or {})["mig-configs"][name]
    except (yaml.YAMLError, KeyError, TypeError, AttributeError):
        return None
    found = list(before)
    device = f"0x{gpu.pci_device}10DE".lower()
    for index in range(len(found)):
        for entry in entries:
            filters = entry.get("device-filter") or []
            filters = [filters] if isinstance(filters, str) else filters
            asked = entry.get("devices", "all")
            if filters and device not in [str(one).lower() for one in filters]:
                continue
            if asked == "all" or index in asked:
                found[index] = dict(entry.get("mig-devices") or {}) if entry.get("mig-enabled") else None
    return found


@functools.cache
def _parsed(text: str) -> t.Any:
    """Return what a text says: a stand-in reads it in each of its rounds. Nobody may change the answer."""
    return yaml.safe_load(text)


def misfit(gpu: Gpu, found: t.Sequence[Cut]) -> str:
    """Return why GPUs cannot be cut like this, or an empty text."""
    return next((why for cut in found if cut and (why := mig.misfit(gpu, cut))), "")
