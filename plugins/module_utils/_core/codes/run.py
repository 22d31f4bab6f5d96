# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of runs."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "RUN-LOCKED",
        "{holder} holds the lease of this cluster, {watched} This task has written nothing.",
        "Run the playbook again after that run, or set `gpu_lock_timeout` (seconds) to wait for it. If that "
        "run has ended on another machine, set {limit} to {twice}: the task then watches the lease for "
        "{seconds} s, and takes it over.",
    ),
    Code(
        "RUN-LONG",
        "One run has held the lease for hours, so no other run can change the GPU stack.",
        "Run `oc get lease -n default accelerators-openshift -o yaml`, which names the holder.",
    ),
    Code(
        "RUN-LOST",
        "This run did not renew its lease for {seconds} s, and {holder} took it over. This task writes "
        "nothing more.",
        "Run the playbook again after the other run: "
        "`oc get lease -n default accelerators-openshift -o yaml` names the holder.",
    ),
    Code(
        "RUN-ORPHANED",
        "ansible-playbook (pid {pid}) has ended, so this task stops and writes no more.",
        "Run `ansible-playbook` again with the same arguments: it resumes.",
    ),
)
