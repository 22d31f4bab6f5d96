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
  baremetal:
    description:
      - Options of bare metal alone; a candidate may have its own. The instance type is your own name for a kind of host.
      - C(host_selector) - labels of the BareMetalHosts that its machines may take. Required, since any free host is taken without it.
        C(host_expressions) - more conditions on them, each with C(key), C(operator) (V(In), V(NotIn), V(Exists), V(DoesNotExist)) and C(values).
      - C(image) - C(url) and C(checksum) of an image to write instead of what the worker set's hosts get.
    type: dict
  vsphere:
    description:
      - Options of vSphere alone; a candidate may have its own. The instance type is the template that is cloned, with its PCI or vGPU devices.
        Its zones are the names of failure domains.
      - C(cpus), C(cores_per_socket) and C(memory_gib) - by default the worker set's. With devices passed through, the template reserves all memory.
    type: dict
  openstack:
    description:
      - Options of OpenStack alone; a candidate may have its own. The instance type is a flavor, its zones are availability zones of Nova.
      - C(server_group) - name of a server group, made if need be; by default the worker set's. C(config_drive) (boolean).
    type: dict
  nutanix:
    description:
      - Options of Nutanix alone; a candidate may have its own. The instance type is your own name for a kind of machine, its zones are the names of
        failure domains.
      - C(gpus) - one entry a GPU, each with C(name) (as Prism shows it) or C(device_id) (the PCI device id as a number). Required.
      - C(cpus), C(cores_per_socket) and C(memory_gib) - by default the worker set's.
    type: dict
  ibm:
    description:
      - Options of IBM Cloud alone; a candidate may have its own. The instance type is a profile.
      - C(dedicated_host) - name of a dedicated host, which is in one zone.
    type: dict
  provider_spec_patch:
    description:
      - Merged into the provider's value of every machine set (RFC 7386), for what has no option here. V(null) removes a field.
      - On a platform whose fields are known an unknown field is refused, since the API would ignore it.
      - On a platform that has no options here it is required, and what it says is not checked. A worker set is copied whole there.
    type: dict
"""
