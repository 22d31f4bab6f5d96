# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The Infrastructure object: which platform this cluster runs on, and whether it makes machines."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

_CLOUDS: t.Final = {"AWS": "aws", "Azure": "azure", "GCP": "gcp", "IBMCloud": "ibm"}
_WITHOUT_MACHINES: t.Final = ("None", "External", "")


@dataclass(frozen=True)
class Infrastructure:
    """name: the prefix of everything that the installer made. platform: as the API spells it. cloud: as the catalogue of instance types does; empty: any."""

    name: str
    platform: str
    cloud: str
    topology: str

    @property
    def obstacle(self) -> str:
        """Why this cluster has no Machine API to make nodes with; empty where it has one."""
        if self.topology == "External":
            return "its control plane is hosted elsewhere (controlPlaneTopology External)"
        if self.platform in _WITHOUT_MACHINES:
            return f"its platform is {self.platform or 'not set'}"
        return ""

    @property
    def instead(self) -> str:
        """What to do on such a cluster."""
        if self.topology == "External":
            return (
                "Make a NodePool of the hosted cluster (or a machine pool with rosa or ocm), then describe its nodes with existing.node_selector in the pool."
            )
        return "Make the nodes with the provider's own tools, then describe them with existing.node_selector in the pool."


def read(obj: t.Mapping[str, t.Any]) -> Infrastructure:
    """From the object C(cluster) of kind Infrastructure."""
    status = obj.get("status", {})
    platform = str((status.get("platformStatus") or {}).get("type") or status.get("platform") or "")
    external = (((obj.get("spec") or {}).get("platformSpec") or {}).get("external") or {}).get("platformName", "")
    cloud = str(external or "").lower() if platform in _WITHOUT_MACHINES else _CLOUDS.get(platform, platform.lower())
    return Infrastructure(str(status.get("infrastructureName", "")), platform, cloud, str(status.get("controlPlaneTopology", "")))
