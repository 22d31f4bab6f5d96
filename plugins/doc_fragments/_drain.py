# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  on_busy:
    description:
      - What happens to a node that has to go while pods with GPUs run on it.
      - V(fail) changes nothing and fails with C(NODE-BUSY), the nodes and pods named. V(drain) evicts the pods like all others.
        V(wait) keeps new pods away and waits for these to end, until the task's time is over.
      - Pods of DaemonSets, such as the GPU operator's own, are never a reason.
    type: str
    choices: [fail, drain, wait]
    default: fail
  delete_emptydir:
    description:
      - Whether pods may be evicted that keep data in an C(emptyDir), which is lost with them.
      - Otherwise they are named and nothing is changed (C(NODE-EMPTYDIR)).
    type: bool
    default: false
  force:
    description:
      - Whether pods may be evicted that nobody will make again, since no controller owns them.
      - Otherwise they are named and nothing is changed (C(NODE-UNMANAGED)).
    type: bool
    default: false
"""
