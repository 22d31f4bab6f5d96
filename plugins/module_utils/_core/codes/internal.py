# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of the collection itself."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "INTERNAL",
        "{error} (at {where}). This is a bug of the collection; please report it.",
        "Run the task again with `ansible-playbook -vvv`, and report the message.",
    ),
)
