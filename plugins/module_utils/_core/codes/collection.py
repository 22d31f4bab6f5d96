# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Error codes about runs of playbooks, and about the collection itself."""

from __future__ import annotations

import typing as t

from .code import Code

RUN: t.Final = (
    Code(
        "RUN-LOCKED",
        "Another run changes nodes or the stack of this cluster now. The message names who started it, and "
        "where.",
        "Run the playbook again after that run, or set `gpu_lock_timeout` (seconds) to wait for it.",
    ),
    Code(
        "RUN-LOST",
        "This run did not renew its lease for 30 seconds, and another run took it over.",
        "Run the playbook again after the other run: "
        "`oc get lease -n default accelerators-openshift -o yaml` names the holder.",
    ),
    Code(
        "RUN-ORPHANED",
        "The process ansible-playbook has ended, for example by `kill -9`. Its worker stops.",
        "Run `ansible-playbook` again with the same arguments: it resumes.",
    ),
)

COLLECTION: t.Final = (
    Code(
        "INTERNAL",
        "The collection has a bug. The message shows no secret.",
        "Run the task again with `ansible-playbook -vvv`, and report the message.",
    ),
)
