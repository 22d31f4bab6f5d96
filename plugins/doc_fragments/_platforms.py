# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of single platforms."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  aws:
    description:
      - Options of AWS alone; a candidate may have its own.
      - C(efa) (boolean) - an Elastic Fabric Adapter, for the instance types that have one. The security group must let its own members in.
      - C(placement_group) and C(placement_partition) (1 to 7) - an existing placement group, and a partition of it.
      - C(tenancy) - C(default) or C(dedicated).
    type: dict
  azure:
    description:
      - Options of Azure alone; a candidate may have its own. Its zones are numbers in quotes; a region without zones needs none.
      - C(accelerated_networking) (boolean) - by default as the worker set has it, and never for the sizes that have none (NC v3, NV v2 and v3).
      - C(ultra_disks) (boolean) - whether pods can be given ultra disks.
      - C(data_disks) - disks beside the OS disk, each with C(name), C(size_gib) and perhaps C(type) (V(Premium_LRS) by default, V(UltraSSD_LRS)...).
        They are deleted with the machine.
      - Secure boot and other settings of the worker set's security profile are not copied, except encryption at host.
    type: dict
  gcp:
    description:
      - Options of Google Cloud alone; a candidate may have its own.
      - C(gpus) - C(type) and C(count) of the GPUs that are attached to an N1 machine. Other machine types have theirs built in.
      - C(preemptible) (boolean) - with the market C(spot), for OpenShift before 4.21, whose API knows no Spot machines.
      - C(restart_policy) - V(Always) or V(Never).
      - C(shielded) - C(secure_boot), C(vtpm) and C(integrity_monitoring) (booleans), by default as the worker set has them.
        Secure boot is off, since the driver's modules are built on the node and not signed.
    type: dict
  provider_spec_patch:
    description:
      - Merged into the provider's value of every machine set (RFC 7386), for what has no option here. V(null) removes a field.
      - On a platform whose fields are known an unknown field is refused, since the API would ignore it.
    type: dict
"""
