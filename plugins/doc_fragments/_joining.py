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
      - For how many seconds the provider may answer that it has no capacity before the task fails, counted
        from the first such answer. The provider repeats the request for ever.
    type: int
    default: 120
  approve_csrs:
    description:
      - Whether to approve certificate requests of the machines that the task waits for, on clusters whose
        machine-approver does not.
      - The task approves a request only if requestor, signer, usages, subject, names and addresses show that
        the kubelet of such a machine sent it. Of several requests it approves the newest. A machine that
        already is a node gets no client certificate. All other requests stay as they are.
      - Without this option, C(MACH-CSR-PENDING) names the pending requests and the command that approves
        them.
    type: bool
    default: false
"""
