# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look up which versions of OpenShift, the GPU operator and the driver fit a generation of GPU."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_versions
short_description: Look up which versions of OpenShift, GPU operator and driver fit a GPU
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Combines the facts by which the collection itself checks operators and drivers. Asks no cluster.
  - Of a release of the GPU operator before the newest known one, the lookup knows only the branch of the
    driver that the operator brings. Other branches may work too.
  - What came out after C(as_of) is not in the facts, unless you add it with O(facts).
options:
  _terms:
    description: The lookup has no terms.
    type: list
    elements: str
  openshift:
    description: Only this release of OpenShift, for example V(4.20) or V(4.20.3).
    type: str
  operator:
    description: Only this release of the GPU operator, for example V(26.7) or V(v26.7.1).
    type: str
  driver:
    description: Only this branch of the driver, as branch or version, for example V(580) or V(580.95.05).
    type: str
  generation:
    description: Only this generation of GPUs.
    type: str
    choices: [Maxwell, Pascal, Volta, Turing, Ampere, Ada, Hopper, Blackwell]
  gpu_model:
    description:
      - Only the generation of this GPU, for example V(H100) or V(NVIDIA-H100-80GB-HBM3). C(kernel_modules)
        is then exact for this model.
    type: str
  facts:
    description:
      - Your own facts, as a mapping, or as the path of a YAML or JSON file with such a mapping. The lookup
        searches for the file like for other files of a play.
      - The keys are C(as_of), which is required, C(operators) and C(drivers).
      - An entry of C(operators) has C(release), C(first_openshift), C(last_openshift) and C(branches), the
        branches of the driver with the default one first. It replaces what is known of this release.
      - C(drivers) lists versions of drivers. Each replaces the newest known version of its branch.
    type: raw
    vars:
      - name: gpu_versions_facts
"""

EXAMPLES = r"""
- name: Show what fits H100 GPUs on OpenShift 4.20, the newest first
  ansible.builtin.debug:
    msg: "{{ query('accelerators.openshift.gpu_versions', openshift='4.20', gpu_model='H100') }}"

- name: Stop if the driver does not fit Volta GPUs
  ansible.builtin.assert:
    that: query('accelerators.openshift.gpu_versions', driver='595', generation='Volta') | length > 0

- name: Look up a release that is newer than the collection
  ansible.builtin.debug:
    msg: "{{ query('accelerators.openshift.gpu_versions', operator='27.1', facts=own) }}"
  vars:
    own:
      as_of: "2027-02-01"
      operators:
        - {release: "27.1", first_openshift: "4.19", last_openshift: "4.23", branches: ["615", "595"]}
      drivers: ["615.20.01"]
"""

RETURN = r"""
_list:
  description:
    - One entry per combination that fits, the newest releases first, and of one release the default driver
      first.
    - C(driver_version) is the newest known driver of the branch, empty if none is known. C(is_default) is
      true for the branch that the operator brings.
    - C(kernel_modules) is V(open) or V(proprietary) if the GPUs take only these, else V(either).
    - C(as_of) is the date of the facts. C(source) is V(catalogue), or V(user) for an operator of O(facts).
  type: list
  elements: dict
  sample:
    - openshift: "4.22"
      operator: "26.7"
      driver_branch: "595"
      driver_version: 595.91.07
      is_default: true
      generation: Hopper
      kernel_modules: either
      as_of: "2026-08-21"
      source: catalogue
"""

import typing as t

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import versions
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _lookups


class LookupModule(LookupBase):  # type: ignore[misc]
    """The lookup gpu_versions."""

    def run(
        self, terms: list[t.Any], variables: dict[str, t.Any] | None = None, **kwargs: t.Any
    ) -> list[dict[str, t.Any]]:
        """Return one entry per combination that fits. Raise AnsibleLookupError for wrong options."""
        self.set_options(var_options=variables, direct=kwargs)
        options = self.get_options()
        try:
            _lookups.known_only("gpu_versions", kwargs, options)
            if terms:
                message = f"The lookup gpu_versions has no terms, and {terms[0]} is one."
                raise InputError("INPUT-VALUE", message, "Write it as an option, such as gpu_model='H100'.")
            facts = versions.built_in()
            if (given := options["facts"]) is not None:
                path = given if isinstance(given, str) else "facts"
                facts = versions.extended(_lookups.content(self, given, variables, "INPUT-VERSIONS"), path)
            return versions.rows(facts, options)
        except AcceleratorError as exc:
            # Ansible repeats the message of a cause.
            raise AnsibleLookupError(_lookups.message(exc, variables)) from None
