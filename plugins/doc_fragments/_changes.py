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
      - What happens when a live pool differs from what is asked for. Labels and taints always reach existing machines and nodes, except with V(report).
      - V(report) leaves the machine sets' templates as they are; what differs is returned and a warning.
      - V(new_machines) changes the templates. Machines that exist keep what they have.
      - V(replace) changes the templates and replaces the machines that differ, one after the other, or O(max_surge) at a time - a new machine first, then the
        old node is cordoned, drained and deleted. PodDisruptionBudgets are kept to. Another instance type is allowed, too; there all new machines come first.
      - A replacement that was interrupted is ended by the next run, whatever this option says then.
    type: str
    choices: [report, new_machines, replace]
    default: new_machines
  max_surge:
    description:
      - How many machines more than O(replicas) a replacement makes at a time.
      - With another instance type all new machines come first, so it is refused (C(POOL-SURGE)) unless this is at least the number of the old ones.
    type: int
    default: 1
"""
