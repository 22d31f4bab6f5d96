# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  capacity_timeout:
    description:
      - Seconds that the provider may answer that it has no capacity (it is asked again for ever), counted from its first such answer, before the task fails.
    type: int
    default: 120
  approve_csrs:
    description:
      - Whether certificate requests of the machines that the task waits for are approved, for clusters whose machine-approver does not.
      - Only requests that a kubelet of such a machine would send - by its requestor, signer, usages, subject, names and addresses - and of several the newest.
        A machine that is a node already gets no client certificate. Requests of anybody else stay as they are.
      - Without it, requests that wait are named in C(MACH-CSR-PENDING), with the command that approves them.
    type: bool
    default: false
"""
