# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  wait:
    description:
      - Whether to wait until the wanted state is reached.
      - The task does not wait in check mode.
    type: bool
    default: true
  wait_timeout:
    description:
      - How long the whole task may take, in seconds (at least 1). Retries, logins and waits count.
      - When the time is over, the task fails and reports what it saw last. The task fails at once when
        waiting cannot help.
    type: int
    default: 1800
"""
