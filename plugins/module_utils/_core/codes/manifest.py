# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of plain objects."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "MANIFEST-CRD",
        "A CustomResourceDefinition was written, and the API server does not serve it.",
        "Run `oc describe crd NAME`; its conditions give the reason.",
    ),
)
