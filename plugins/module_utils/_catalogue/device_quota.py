# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys by which a ResourceQuota counts devices that claims request from a DeviceClass."""

from __future__ import annotations

import typing as t

from .well_known import GPU_CLASS

_COUNTED: t.Final = ".deviceclass.resource.k8s.io/devices"
# Why a quota's key of an extended resource that does not begin with `requests.` limits nothing.
NOT_ENFORCED: t.Final = "the API accepts this key and never enforces it: it counts only requests.*"


def quota_key(name: str = GPU_CLASS) -> str:
    """Return the key that counts the devices of the DeviceClass."""
    return name + _COUNTED


def counted_by(key: str) -> str:
    """Return the DeviceClass whose devices a quota's key counts, or "" if the key counts something else."""
    return key.removesuffix(_COUNTED) if key.endswith(_COUNTED) else ""
