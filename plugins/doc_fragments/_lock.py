# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  lock_timeout:
    description:
      - How long the task waits for another run that changes nodes or the stack of the same cluster, in
        seconds. By default the task fails and names that run.
      - The task takes the Lease C(accelerators-openshift) in the namespace C(default) before its first
        write. A task that writes nothing, and check mode, need no lease.
      - A run that was killed on another machine loses the lease once this task has watched it for 30 seconds
        without a renewal. With less time the task may end before it can tell.
    type: int
    default: 0
"""
