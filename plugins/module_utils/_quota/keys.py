# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of a ResourceQuota: the keys that the API server enforces, and their amounts."""

from __future__ import annotations

import difflib
import re
import typing as t

from .._catalogue.device_quota import counted_by, quota_key
from .._catalogue.well_known import GPU
from .._core import quantity
from .._core.errors import InputError
from .._core.syntax import resource_fault

REQUESTS: t.Final = "requests."
STANDARD: t.Final = (
    *("cpu", "memory", "ephemeral-storage"),
    *("requests.cpu", "requests.memory", "requests.ephemeral-storage", "requests.storage"),
    *("limits.cpu", "limits.memory", "limits.ephemeral-storage"),
    *("pods", "services", "services.nodeports", "services.loadbalancers"),
    *("replicationcontrollers", "resourcequotas", "secrets", "configmaps", "persistentvolumeclaims"),
)
_HUGE_PAGES = re.compile(r"^(requests\.)?hugepages-\d+[KMG]i$")
_OTHER_COUNTED = re.compile(r"^count/.+|\.(storageclass\.storage|deviceclass\.resource)\.k8s\.io/")


def hard(gpus: int | None, asked: t.Mapping[str, t.Any] | None, claims: bool = False) -> dict[str, str]:
    """Return `spec.hard` with canonical quantities. claims: `gpus` counts devices that pods claim.

    Raises InputError for no limit at all, for a key that the API server would not enforce, and for an amount
    that is no quantity, is negative, or is not a whole number of devices.
    """
    if gpus is not None:
        if gpus < 0:
            message = f"gpus is {gpus}; it must be 0 or more."
            remedy = "Set gpus to the number of GPUs that the namespace may request."
            raise InputError("QUOTA-QUANTITY", message, remedy)
        return {quota_key() if claims else REQUESTS + GPU: quantity.canonical(gpus)}
    if not asked:
        raise InputError("QUOTA-EMPTY")
    found = {}
    for name, value in asked.items():
        _check_key(name)
        found[name] = _amount(name, value)
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


def ignored(name: str) -> str:
    """Return the key that counts, for one that the API server accepts and never enforces; otherwise ""."""
    is_counted = name.startswith(REQUESTS) or _OTHER_COUNTED.search(name)
    return "" if "/" not in name or is_counted else REQUESTS + name.removeprefix("limits.")


def _check_key(name: str) -> None:
    """Raise InputError for a key that is not enforced: the API accepts any name with a slash."""
    path, bare = f"hard[{name}]", name.removeprefix(REQUESTS)
    ignored = "the API accepts this key and never enforces it"
    if "/" in name and not _OTHER_COUNTED.search(name):
        device = bare.removeprefix("limits.")
        if fault := resource_fault(device):
            message = f"{path}: not a resource that a quota can limit: {device!r} {fault}."
            raise InputError("QUOTA-KEY", message, "Correct the name.")
    if name.startswith("limits.") and "/" in name:
        why = f"{ignored}: for extended resources it counts only requests.*"
        remedy = f"Write {REQUESTS}{name.removeprefix('limits.')} instead."
        raise InputError("QUOTA-KEY", f"{path}: {why}.", remedy)
    if _OTHER_COUNTED.search(name) or name in STANDARD or _HUGE_PAGES.match(name):
        return
    if "/" in name and bare == name:
        why = f"{ignored}: it counts extended resources only under requests.*"
        raise InputError("QUOTA-KEY", f"{path}: {why}.", f"Write {REQUESTS}{name} instead.")
    if "/" in name:
        return
    near = difflib.get_close_matches(name, [*STANDARD, REQUESTS + GPU], n=3)
    message = f"{path}: not a resource that a quota can limit."
    raise InputError("QUOTA-KEY", message, f"Did you mean {' or '.join(near or [REQUESTS + GPU])}?")


def _amount(name: str, value: object) -> str:
    path = f"hard[{name}]: {value!r}"
    try:
        whole, text = quantity.is_whole(value), quantity.canonical(value)
    except ValueError:
        message = f"{path} is not a quantity."
        raise InputError("QUOTA-QUANTITY", message, "Use a number such as 8, 500m or 64Gi.") from None
    if text.startswith("-") or isinstance(value, bool):
        message = f"{path} is not allowed; it must be 0 or more."
        raise InputError("QUOTA-QUANTITY", message, "Use a number such as 8.")
    if is_device(name) and not whole:
        message = f"{path} is not allowed; devices are counted in whole numbers."
        raise InputError("QUOTA-QUANTITY", message, "Use a whole number such as 8.")
    return text


def _is_extended(name: str) -> bool:
    return name.startswith(REQUESTS) and "/" in name and not _OTHER_COUNTED.search(name)
