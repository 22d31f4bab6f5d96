# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""DeviceClass: whose devices pods claim, and how a quota counts them."""

from __future__ import annotations

import typing as t

GPU_CLASS: t.Final = "gpu.nvidia.com"
_COUNTED: t.Final = ".deviceclass.resource.k8s.io/devices"


def quota_key(name: str = GPU_CLASS) -> str:
    """What a ResourceQuota calls the devices that claims of the class ask for."""
    return name + _COUNTED


def counted_by(key: str) -> str:
    """The class whose devices a quota's key counts, or nothing."""
    return key.removesuffix(_COUNTED) if key.endswith(_COUNTED) else ""
