# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look up facts about the clouds' GPU instance types."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_instance_types
short_description: Look up facts about the clouds' GPU instance types
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Looks up instance types in the collection's own catalogue. Asks no cloud and no cluster.
  - The catalogue has no prices, and does not say in which regions and zones a type is available.
  - An unknown name is an error. The message suggests the nearest names.
options:
  _terms:
    description:
      - Names of instance types. The result has the same order. Without names, the lookup returns all types
        that match the other options, sorted.
      - Names of Azure's sizes may be in any case and without C(Standard_).
      - On GCP, C(n1-standard-8+nvidia-tesla-t4:2) is an N1 machine with two attached T4 GPUs.
    type: list
    elements: str
  platform:
    description: Only types of this platform. vSphere, OpenStack and Nutanix have types only in O(catalogue).
    type: str
    choices: [aws, azure, gcp, ibm, oci, baremetal, vsphere, openstack, nutanix]
  vendor:
    description: Only types with devices of this vendor.
    type: str
    choices: [nvidia, amd, intel, aws, qualcomm, fpga]
  gpu_model:
    description:
      - Only types with GPUs of this model, for example V(T4) or V(H100 NVL). Case and punctuation do not
        matter.
    type: str
  gpus:
    description: Only types with exactly this many GPUs.
    type: int
  min_gpus:
    description: Only types with at least this many GPUs.
    type: int
  min_gpu_memory_gib:
    description:
      - Only types whose GPUs have at least this much memory each. For a share of a GPU, the memory of the
        share counts.
    type: int
  min_gpu_memory_total_gib:
    description: Only types whose GPUs together have at least this much memory.
    type: int
  arch:
    description: Only types of this architecture.
    type: str
    choices: [amd64, arm64]
  mig:
    description: With V(true) only types whose GPUs can be partitioned (MIG), with V(false) only the others.
    type: bool
  rdma:
    description:
      - With V(true) only types that read remote memory over C(efa), C(infiniband) or C(roce), with V(false)
        only the others.
    type: bool
  confidential:
    description:
      - With V(true) only types for confidential computing with the GPU, with V(false) only the others.
    type: bool
  fractional:
    description:
      - With V(true) only types with a share of a GPU (vGPU), with V(false) only types with whole GPUs.
    type: bool
  nearest:
    description:
      - A wish in words. The lookup ranks all types that match the other options by how near they come, and
        returns the first O(most).
      - The wish names a number, a model, the memory of one GPU, or several of these, for example
        V(8x H100 80GB), V(A100), V(4 L40S), V(2x24GB), V(1/6 A10). It may also contain C(NVLink), C(SXM) and
        C(PCIe).
      - The order of importance is model, whole GPUs or a share, memory, link, number.
    type: str
  most:
    description: The largest number of types to return. With O(nearest) the default is 5.
    type: int
  catalogue:
    description:
      - Your own instance types, as a list of mappings, or as the path of a YAML or JSON file with such a
        list. The lookup searches for the file like for other files of a play.
      - Your entry overrides the catalogue's entry of the same type. A new type needs C(gpus) and
        C(gpu_model).
      - The keys of an entry are C(platform) and C(instance_type), which are required, and C(gpus),
        C(gpu_model), C(gpu_memory_gib), C(gpu_share), C(vendor), C(driver), C(vcpus), C(memory_gib), C(arch),
        C(fabric), C(rdma), C(nvlink), C(confidential), C(accelerator_type). Each has the
        meaning of the returned key of the same name.
      - Only GPU models of the collection's catalogue have MIG profiles.
    type: raw
    vars:
      - name: gpu_instance_types_catalogue
"""

EXAMPLES = r"""
- name: Show the number of GPUs of one type
  ansible.builtin.debug:
    msg: "{{ (lookup('accelerators.openshift.gpu_instance_types', 'p4d.24xlarge', platform='aws')).gpus }}"

- name: List all types of AWS with A100 GPUs
  ansible.builtin.debug:
    msg: "{{ types | map(attribute='instance_type') }}"
  vars:
    types: "{{ query('accelerators.openshift.gpu_instance_types', platform='aws', gpu_model='A100') }}"

- name: List types with 160 GiB of GPU memory or more, MIG and RDMA, on any cloud
  ansible.builtin.debug:
    msg: "{{ query('accelerators.openshift.gpu_instance_types', **wanted) | map(attribute='instance_type') }}"
  vars:
    wanted: {min_gpu_memory_total_gib: 160, mig: true, rdma: true}

- name: Show the nearest types to a wish on Azure, and what they lack
  ansible.builtin.debug:
    msg: "{{ query('accelerators.openshift.gpu_instance_types', nearest=wish, platform='azure', most=3) }}"
  vars:
    wish: 8x H100 80GB

- name: Look up a flavor of your own OpenStack
  ansible.builtin.debug:
    msg: "{{ query('accelerators.openshift.gpu_instance_types', 'gpu.large', catalogue=own) }}"
  vars:
    own:
      - platform: openstack
        instance_type: gpu.large
        gpus: 2
        gpu_model: A100
        gpu_memory_gib: 80
        vcpus: 32
        memory_gib: 256
"""

RETURN = r"""
_list:
  description:
    - One entry per type. A value that no source states is null.
    - C(gpu_memory_gib) is the memory of one device. C(gpu_share) is the share of a GPU per device, V(1) for
      whole GPUs.
    - C(driver) is V(grid) if the guest needs NVIDIA's vGPU driver, V(datacenter) for other NVIDIA GPUs, and
      null for other vendors.
    - C(fabric) is V(efa), V(infiniband), V(roce) or null. C(rdma) says whether the type reads remote memory
      over it.
    - C(nvlink) says whether the GPUs of one instance use NVLink. It is null for one GPU, or if not known.
    - C(attachable) is true if the GPUs are attached to a machine of GCP that has none. C(accelerator_type) is
      GCP's name of the GPU.
    - C(accelerator) is the value of the label C(cluster-api/accelerator).
    - C(as_of) is the date of the newest source of the cloud's data. Newer types are missing. For a type from
      O(catalogue) it is null, and C(source) is V(user).
    - With O(nearest) an entry also has C(meets), C(differs) and C(nodes). C(meets) says whether the type
      fulfils the whole wish. C(differs) lists what it lacks, or where it has more GPUs. C(nodes) is the
      number of such nodes for the wanted number of GPUs.
  type: list
  elements: dict
  sample:
    - instance_type: g4dn.xlarge
      platform: aws
      gpus: 1
      gpu_model: T4
      gpu_memory_gib: 16
      gpu_memory_total_gib: 16
      gpu_share: "1"
      vendor: nvidia
      driver: datacenter
      vcpus: 4
      memory_gib: 16
      arch: amd64
      mig_capable: false
      mig_profiles: []
      fabric: null
      rdma: false
      nvlink: null
      confidential: false
      accelerator: nvidia-t4
      accelerator_type: null
      attachable: false
      as_of: "2026-08-21"
      source: catalogue
"""

import typing as t

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.instance_types import (
    BUILT_IN,
    Catalogue,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.overrides import extended
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.selection import entries
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.plugin_utils._lookups import content, known_only


class LookupModule(LookupBase):  # type: ignore[misc]
    """The lookup gpu_instance_types."""

    def run(
        self, terms: list[t.Any], variables: dict[str, t.Any] | None = None, **kwargs: t.Any
    ) -> list[dict[str, t.Any]]:
        """Return one entry per instance type; terms: names. Raise AnsibleLookupError for wrong options."""
        self.set_options(var_options=variables, direct=kwargs)
        options = self.get_options()
        try:
            known_only("gpu_instance_types", kwargs, options)
            return entries(
                [str(term) for term in terms], options, self.catalogue(options["catalogue"], variables)
            )
        except AcceleratorError as exc:
            # Ansible repeats the message of a cause.
            raise AnsibleLookupError(exc.to_result()["msg"]) from None

    def catalogue(self, given: t.Any, variables: dict[str, t.Any] | None) -> Catalogue:
        """Return the built-in catalogue, extended by the user's list or file.

        Raise InputError if the file does not exist or cannot be read.
        """
        if given is None:
            return BUILT_IN
        path = given if isinstance(given, str) else "catalogue"
        return extended(content(self, given, variables, "INPUT-CATALOGUE"), path=path)
