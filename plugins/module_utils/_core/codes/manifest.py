# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of plain objects."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "MANIFEST-CRD",
        "CustomResourceDefinition {names} is not served yet.",
        "Run `oc describe crd {name}`: the conditions say what is wrong with it.",
    ),
)
