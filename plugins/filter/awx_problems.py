# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the data files of awx_setup.yml."""

from __future__ import annotations

DOCUMENTATION = r"""
name: awx_problems
short_description: Check the data files for AWX before anything is sent
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Checks the lists of the data files that C(awx_setup.yml) sends to AWX or Automation Platform.
  - Reports unknown and missing keys, names that no list has, values that AWX would answer with 400, schedules
    that would never run, and secrets.
options:
  _input:
    description: The lists, such as C(controller_templates), by their names.
    type: dict
    required: true
  names:
    description: Names of variables that are set. One that is nearly C(gpu_awx_data) is a problem.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Read the data files
  ansible.builtin.include_vars:
    dir: awx
    name: awx

- name: Refuse data that AWX would refuse
  ansible.builtin.assert:
    that: problems | length == 0
    fail_msg: "{{ problems }}"
  vars:
    problems: "{{ awx | accelerators.openshift.awx_problems }}"
"""

RETURN = r"""
_value:
  description:
    - One text that begins with the code C(INPUT-AWX) and names each problem by its path, or with
      C(INPUT-VARIABLE). It is empty if there is no problem.
  type: str
  sample: >-
    INPUT-AWX: controller_templates[0].labels[0]: controller_labels has no entry gpu. Nothing was sent to
    AWX.
"""

import datetime
import typing as t

from ansible_collections.accelerators.openshift.plugins.plugin_utils._filters import checked


@checked("awx_problems", "a map with the lists of the data files, and a list of names of variables")
def awx_problems(content: t.Any, names: t.Iterable[str] = ()) -> str:
    """Return the problems of the data as one text with the error code, or "" if there is none."""
    # Ansible loads every filter of a collection with the first one, in each task, and compiles it.
    from ansible_collections.accelerators.openshift.plugins.module_utils._awx import check
    from ansible_collections.accelerators.openshift.plugins.plugin_utils._inputs import nearest

    for name in names:
        if name != (near := nearest(name, ["gpu_awx_data"])) and near:
            return f"INPUT-VARIABLE: Nothing reads {name} (did you mean {near}?). Nothing was sent to AWX."
    return check.message(content, datetime.datetime.now(datetime.UTC))


class FilterModule:
    """The filter awx_problems."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return name -> filter."""
        return {"awx_problems": awx_problems}
