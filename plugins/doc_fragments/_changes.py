# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  on_change:
    description:
      - What the module does when a live pool differs from its description. Existing machines and nodes always
        get the labels and taints, except with V(report).
      - V(report) does not change the templates of the machine sets. It returns the differences and warns.
      - V(new_machines) changes the templates. Existing machines keep what they have.
      - V(replace) changes the templates and replaces the machines that differ, one after the other, or
        O(max_surge) at a time. A new machine comes first, then the old node is cordoned, drained and deleted.
        Draining honours PodDisruptionBudgets. V(replace) also allows another instance type; then all new
        machines come first.
      - The next run finishes an interrupted replacement, whatever the value of this option is then.
    type: str
    choices: [report, new_machines, replace]
    default: new_machines
  max_surge:
    description:
      - The number of extra machines above O(replicas) that a replacement creates at a time.
      - With another instance type all new machines come first. The task then fails with C(POOL-SURGE) unless
        this is at least the number of old machines.
    type: int
    default: 1
"""
