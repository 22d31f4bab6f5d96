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
      - Whether to wait until what was asked for is really there (or gone).
      - In check mode there is no wait.
    type: bool
    default: true
  wait_timeout:
    description:
      - How long the whole task may take, in seconds (at least 1), retries, logins and waits together.
      - When the time is up, the task fails and says what it last saw. A state that cannot become right by waiting fails at once.
    type: int
    default: 1800
"""
