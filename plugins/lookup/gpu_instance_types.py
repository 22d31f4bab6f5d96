# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_instance_types
short_description: What GPU instance types of the clouds are made of
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Looks up instance types in the collection's own catalogue. It asks no cloud and no cluster.
  - An unknown name is an error that offers the nearest ones.
options:
  _terms:
    description: Names of instance types. Without one, all types that the other options leave.
    type: list
    elements: str
  cloud:
    description: Only types of this cloud.
    type: str
    choices: [aws, azure, gcp, ibm, oci]
  vendor:
    description: Only types with devices of this vendor.
    type: str
    choices: [nvidia, amd, intel, fpga]
  gpu_model:
    description: Only types with GPUs of this model, for example V(T4).
    type: str
"""

EXAMPLES = r"""
- name: GPUs of one type
  ansible.builtin.debug:
    msg: "{{ (lookup('accelerators.openshift.gpu_instance_types', 'p4d.24xlarge', cloud='aws')).gpus }}"

- name: All types of AWS with A100 GPUs
  ansible.builtin.debug:
    msg: "{{ query('accelerators.openshift.gpu_instance_types', cloud='aws', gpu_model='A100') | map(attribute='instance_type') }}"
"""

RETURN = r"""
_list:
  description: One entry a type. C(vcpus) and C(memory_gib) are null where the catalogue does not have them.
  type: list
  elements: dict
  sample:
    - instance_type: g4dn.xlarge
      cloud: aws
      gpus: 1
      gpu_model: T4
      gpu_memory_gib: 16
      vendor: nvidia
      vcpus: 4
      memory_gib: 16
      arch: amd64
      mig_capable: false
      mig_profiles: []
      accelerator: nvidia-t4
"""

import typing as t

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

from ansible_collections.accelerators.openshift.plugins.module_utils._instance_types import InstanceType, everything, nearest


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[t.Any], variables: dict[str, t.Any] | None = None, **kwargs: t.Any) -> list[dict[str, t.Any]]:
        self.set_options(var_options=variables, direct=kwargs)
        kinds = select([str(term) for term in terms], self.get_option("cloud"), self.get_option("vendor"), self.get_option("gpu_model"))
        return [kind.to_dict() for kind in kinds]


def select(names: list[str], cloud: str | None = None, vendor: str | None = None, model: str | None = None) -> list[InstanceType]:
    """The named types, or all, as far as the filters let them through."""
    kinds = [kind for name in names for kind in named(name, cloud)] if names else everything(cloud)
    return [kind for kind in kinds if vendor in (None, kind.gpu.vendor) and model in (None, kind.gpu.model, kind.gpu.model.lower())]


def named(name: str, cloud: str | None) -> list[InstanceType]:
    found = [kind for kind in everything(cloud) if kind.name == name]
    if not found:
        near = ", ".join(nearest(name, cloud)) or "none is near"
        raise AnsibleLookupError(f"POOL-INSTANCE-TYPE: {name} is not a known GPU instance type{f' on {cloud}' if cloud else ''}. Nearest: {near}.")
    return found
