# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of a ResourceQuota: the keys that the API server enforces, and their amounts."""

from __future__ import annotations

import typing as t

from .._catalogue.device_quota import OTHER_COUNTED, REQUESTS, counted_by, key_fault, quota_key
from .._catalogue.well_known import GPU
from .._core import quantity
from .._core.errors import InputError


def hard(gpus: int | None, asked: t.Mapping[str, t.Any] | None, claims: bool = False) -> dict[str, str]:
    """Return `spec.hard` with canonical quantities. claims: `gpus` counts devices that pods claim.

    Raises InputError for no limit at all, for a key that the API server would not enforce, and for an amount
    that is no quantity, is negative, or is not a whole number of devices.
    """
    if gpus is not None:
        if wanted := quantity.fault(gpus, is_count=True):
            raise InputError("QUOTA-QUANTITY", path="gpus", value=gpus, wanted=wanted)
        return {quota_key() if claims else REQUESTS + GPU: quantity.canonical(gpus)}
    if not asked:
        raise InputError("QUOTA-EMPTY")
    found = {}
    for name, value in asked.items():
        _check_key(name)
        if wanted := quantity.fault(value, is_device(name)):
            raise InputError("QUOTA-QUANTITY", path=f"hard[{name}]", value=repr(value), wanted=wanted)
        found[name] = quantity.canonical(value)
    return found


def extended(limits: t.Iterable[str]) -> list[str]:
    """Return the extended resources that the quota limits, by the names that nodes use."""
    return [name.removeprefix(REQUESTS) for name in limits if _is_extended(name)]


def classes(limits: t.Iterable[str]) -> list[str]:
    """Return the names of the DeviceClasses whose devices the quota limits."""
    return [found for name in limits if (found := counted_by(name))]


def is_device(name: str) -> bool:
    """Return whether the key counts devices: an extended resource, or devices of a class."""
    return _is_extended(name) or bool(counted_by(name))


def device_of(name: str) -> str:
    """Return the extended resource or the DeviceClass that a key of devices counts."""
    return counted_by(name) or name.removeprefix(REQUESTS)


def _check_key(name: str) -> None:
    """Raise InputError for a key that is not enforced."""
    if fault := key_fault(name):
        why, known = fault
        raise InputError("QUOTA-KEY", path=f"hard[{name}]", name=name, why=why, known=known)


def _is_extended(name: str) -> bool:
    return name.startswith(REQUESTS) and "/" in name and not OTHER_COUNTED.search(name)
