# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""DeviceClass names of GPUs, and the keys by which a ResourceQuota counts claimed devices."""

from __future__ import annotations

import typing as t

GPU_CLASS: t.Final = "gpu.nvidia.com"
_COUNTED: t.Final = ".deviceclass.resource.k8s.io/devices"


def quota_key(name: str = GPU_CLASS) -> str:
    """Return the key by which a ResourceQuota counts the devices that claims request from the DeviceClass."""
    return name + _COUNTED


def counted_by(key: str) -> str:
    """Return the DeviceClass whose devices a quota's key counts, or "" if the key counts something else."""
    return key.removesuffix(_COUNTED) if key.endswith(_COUNTED) else ""
