# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Document the options of each platform."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  aws:
    description:
      - Options for AWS. A candidate may have its own.
      - C(efa) (boolean) - an Elastic Fabric Adapter, for instance types that have one. The security group
        must allow traffic between its own members. The Machine API sets only the primary network interface,
        so a machine gets one adapter, also of a type that has 4 (p4d) or 32 (p5).
      - C(placement_group) and C(placement_partition) (1 to 7) - an existing placement group and one of its
        partitions. EC2 refuses a partition in a group whose strategy is C(cluster), which fits EFA best.
      - C(tenancy) - C(default) or C(dedicated).
    type: dict
  azure:
    description:
      - Options for Azure. A candidate may have its own. Zones are numbers in quotes. A region without zones
        needs none.
      - C(accelerated_networking) (boolean) - the default is the worker set's value, and off for sizes that do
        not support it (NC v3, NV v2 and v3).
      - C(ultra_disks) (boolean) - whether pods can get ultra disks.
      - C(data_disks) - disks beside the OS disk, each with C(name), C(size_gib) and optionally C(type)
        (V(Premium_LRS) by default, V(UltraSSD_LRS)...). They are deleted with the machine.
      - Of the worker set's security profile the module copies only encryption at host. It does not copy
        secure boot.
    type: dict
  gcp:
    description:
      - Options for Google Cloud. A candidate may have its own.
      - C(gpus) - C(type) and C(count) of the GPUs attached to an N1 machine. Other machine types have
        built-in GPUs.
      - C(preemptible) (boolean) - with the market C(spot), for OpenShift before 4.21, whose API has no Spot
        machines.
      - C(restart_policy) - V(Always) or V(Never).
      - C(shielded) - C(secure_boot), C(vtpm) and C(integrity_monitoring) (booleans). The default is the
        worker set's values, but secure boot is off, because the driver's modules are built on the node and
        not signed.
    type: dict
  baremetal:
    description:
      - Options for bare metal. A candidate may have its own. The instance type is your own name for a kind of
        host.
      - C(host_selector) - labels of the BareMetalHosts that the machines may take. Required, because without
        it machines take any free host.
      - C(host_expressions) - more conditions on the hosts, each with C(key), C(operator) (V(In), V(NotIn),
        V(Exists), V(DoesNotExist)) and C(values).
      - C(image) - C(url) and C(checksum) of an image to write instead of the worker set's image.
    type: dict
  vsphere:
    description:
      - Options for vSphere. A candidate may have its own. The instance type is the template to clone, with
        its PCI or vGPU devices. Zones are the names of failure domains.
      - C(cpus), C(cores_per_socket) and C(memory_gib) - the default is the worker set's values. A template
        with passthrough devices reserves all memory.
    type: dict
  openstack:
    description:
      - Options for OpenStack. A candidate may have its own. The instance type is a flavor. Zones are
        availability zones of Nova.
      - C(server_group) - name of a server group, created if it does not exist. The default is the worker
        set's.
      - C(config_drive) (boolean) - whether the server gets a config drive.
    type: dict
  nutanix:
    description:
      - Options for Nutanix. A candidate may have its own. The instance type is your own name for a kind of
        machine. Zones are the names of failure domains.
      - C(gpus) - one entry per GPU, each with C(name) (as Prism shows it) or C(device_id) (the PCI device id
        as a number). Required.
      - C(cpus), C(cores_per_socket) and C(memory_gib) - the default is the worker set's values.
    type: dict
  ibm:
    description:
      - Options for IBM Cloud. A candidate may have its own. The instance type is a profile.
      - C(dedicated_host) - name of a dedicated host. A dedicated host is in one zone.
    type: dict
  provider_spec_patch:
    description:
      - A merge patch (RFC 7386) for the provider's value of every machine set, for fields without an option
        here. V(null) removes a field.
      - On a platform whose fields the collection knows, an unknown field is refused, because the API would
        ignore it.
      - On a platform without options here it is required. The module copies a worker set as a whole there,
        and does not check the patch.
    type: dict
"""
