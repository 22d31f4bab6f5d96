# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of drift."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "DRIFT-FOUND",
        "The cluster differs from `gpu_pools`: an object is missing, differs, or is no longer listed.",
        "Run `ansible-playbook playbooks/enable_gpus.yml -e @FILE`, or the commands below the table.",
    ),
    Code(
        "DRIFT-UNKNOWN",
        "A step of drift.yml failed before it could compare, and no other step found a difference.",
        "Mend what the step's own code says, then run `ansible-playbook playbooks/drift.yml -e @FILE` again.",
    ),
)
