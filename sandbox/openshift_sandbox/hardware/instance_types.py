# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hardware behind simulated nodes: what an instance type is made of."""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import aws, azure, gcp, ibmcloud, oci, openstack
from openshift_sandbox.hardware.gpus import GPUS, NICS, Gpu, InstanceType, Nic

__all__ = (
    "DESCRIPTION",
    "GPUS",
    "INSTANCE_TYPES",
    "Gpu",
    "InstanceType",
    "Nic",
    "described",
    "instance_type",
    "of_node",
)

DESCRIPTION: t.Final = "sandbox.openshift/hardware"
"""Annotation of a Node whose labels do not describe its hardware, as on vSphere or bare metal."""

INSTANCE_TYPES: t.Final[dict[str, InstanceType]] = {
    **aws.TYPES,
    **azure.TYPES,
    **gcp.TYPES,
    **ibmcloud.TYPES,
    **oci.TYPES,
    **openstack.TYPES,
}


def instance_type(name: str | None) -> InstanceType | None:
    """Return an instance type of any platform by its name, or None."""
    return INSTANCE_TYPES.get(name or "")


def described(text: str) -> InstanceType:
    """Return the hardware that a text describes.

    The text has vCPUs x GiB, then GPUs x model, then + ports x network adapter, as in 16x128x2xL40S+2xCX7.
    """
    machine, _plus, adapters = text.partition("+")
    vcpus, memory, *gpus = machine.split("x", 3)
    count, model = gpus if gpus else ("0", "")
    nics, nic = adapters.split("x", 1) if adapters else ("0", "")
    return InstanceType(
        text,
        int(vcpus),
        int(memory),
        int(count),
        GPUS[model] if model else None,
        nics=int(nics),
        nic=NICS[nic] if nic else None,
    )


def of_node(node: dict[str, t.Any]) -> InstanceType | None:
    """Return the hardware of a Node by its annotation, else by its instance-type label; None when unknown."""
    metadata = node["metadata"]
    if text := (metadata.get("annotations") or {}).get(DESCRIPTION):
        return described(text)
    return instance_type((metadata.get("labels") or {}).get("node.kubernetes.io/instance-type"))
