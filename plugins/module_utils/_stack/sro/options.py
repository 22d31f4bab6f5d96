# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of backend sro in special_resource."""

from __future__ import annotations

import typing as t

_CHART: t.Final[dict[str, t.Any]] = {
    "name": {"type": "str", "required": True},
    "version": {"type": "str", "required": True},
    "repository": {
        "type": "dict",
        "required": True,
        "options": {"name": {"type": "str", "required": True}, "url": {"type": "str", "required": True}},
    },
}

OPTIONS: t.Final[dict[str, t.Any]] = {
    "sro": {
        "type": "dict",
        "options": {
            "special_resource": {"type": "str"},
            "chart": {"type": "dict", "options": _CHART},
            "set": {"type": "dict"},
            "node_selector": {"type": "dict"},
            "management_state": {"type": "str", "choices": ["Managed", "Unmanaged", "Force", "Removed"]},
            "migrate_to": {"type": "str", "choices": ["kmm", "clusterpolicy"]},
            "remove": {"type": "bool", "default": False},
        },
    },
}
