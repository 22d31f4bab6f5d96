# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a ResourceQuota: which of them the API server enforces, and which count devices of claims."""

from __future__ import annotations

import difflib
import re
import typing as t

from .._core.syntax import resource_fault
from .well_known import GPU, GPU_CLASS

REQUESTS: t.Final = "requests."
STANDARD: t.Final = (
    *("cpu", "memory", "ephemeral-storage"),
    *("requests.cpu", "requests.memory", "requests.ephemeral-storage", "requests.storage"),
    *("limits.cpu", "limits.memory", "limits.ephemeral-storage"),
    *("pods", "services", "services.nodeports", "services.loadbalancers"),
    *("replicationcontrollers", "resourcequotas", "secrets", "configmaps", "persistentvolumeclaims"),
)
OTHER_COUNTED: t.Final = re.compile(r"^count/.+|\.(storageclass\.storage|deviceclass\.resource)\.k8s\.io/")
_HUGE_PAGES: t.Final = re.compile(r"^(requests\.)?hugepages-\d+[KMG]i$")

_COUNTED: t.Final = ".deviceclass.resource.k8s.io/devices"
# Why a quota's key of an extended resource that does not begin with `requests.` limits nothing.
NOT_ENFORCED: t.Final = "the API accepts this key and never enforces it: it counts only requests.*"


def quota_key(name: str = GPU_CLASS) -> str:
    """Return the key that counts the devices of the DeviceClass."""
    return name + _COUNTED


def counted_by(key: str) -> str:
    """Return the DeviceClass whose devices a quota's key counts, or "" if the key counts something else."""
    return key.removesuffix(_COUNTED) if key.endswith(_COUNTED) else ""


def ignored(name: str) -> str:
    """Return the key that counts, for one that the API server accepts and never enforces; otherwise ""."""
    is_counted = name.startswith(REQUESTS) or OTHER_COUNTED.search(name)
    return "" if "/" not in name or is_counted else REQUESTS + name.removeprefix("limits.")


def key_fault(name: str) -> tuple[str, str] | None:
    """Return why a quota does not enforce the key, and which keys it does. The API takes any with a slash."""
    if OTHER_COUNTED.search(name) or name in STANDARD or _HUGE_PAGES.match(name):
        return None
    if "/" not in name:
        near = difflib.get_close_matches(name, [*STANDARD, REQUESTS + GPU], n=3) or [REQUESTS + GPU]
        return "no quota has this key", " or ".join(near)
    if fault := resource_fault(device := name.removeprefix(REQUESTS).removeprefix("limits.")):
        return f"{device!r} {fault}", REQUESTS + GPU
    return (NOT_ENFORCED, ignored(name)) if ignored(name) else None
