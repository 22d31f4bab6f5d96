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
      - What happens to a node that must go while pods with GPUs run on it.
      - V(fail) changes nothing and fails with C(NODE-BUSY), which names the nodes and pods. V(drain) evicts
        these pods like all others. V(wait) cordons the node and waits until these pods end or O(wait_timeout)
        is over.
      - Pods of DaemonSets, such as the GPU operator's own, do not count.
    type: str
    choices: [fail, drain, wait]
    default: fail
  delete_emptydir:
    description:
      - Whether to evict pods that keep data in an C(emptyDir). The data is lost.
      - Otherwise the task names these pods and changes nothing (C(NODE-EMPTYDIR)).
    type: bool
    default: false
  evict_unmanaged:
    description:
      - Whether to evict pods that no controller owns. Nothing creates them again.
      - Otherwise the task names these pods and changes nothing (C(NODE-UNMANAGED)).
    type: bool
    default: false
"""
