# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of backend custom in special_resource."""

from __future__ import annotations

import typing as t

OPTIONS: t.Final[dict[str, t.Any]] = {
    "custom": {
        "type": "dict",
        "options": {
            "definition": {"type": "dict", "required": True},
            "ready": {"type": "str"},
            "failed": {"type": "str"},
            "says": {"type": "str"},
            "expected": {"type": "dict"},
        },
    },
}
