# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Options of the module nfd_labels."""

from __future__ import annotations

import typing as t

_LABELS: t.Final = {
    "nodes": {"type": "list", "elements": "str"},
    "node_selector": {"type": "dict"},
    "count": {"type": "int", "default": 1},
    "labels": {"type": "dict", "required": True},
}
_PUBLISHED: t.Final = {
    "name": {"type": "str", "required": True},
    "nodes": {"type": "list", "elements": "str"},
    "node_selector": {"type": "dict"},
    "labels": {"type": "dict"},
    "attributes": {"type": "dict"},
    "flags": {"type": "dict"},
    "instances": {"type": "dict"},
}
_RULE: t.Final = {
    "name": {"type": "str", "required": True},
    "rules": {"type": "list", "elements": "dict", "default": []},
}

OPTIONS: t.Final[dict[str, t.Any]] = {
    "name": {"type": "str", "default": "nfd-instance"},
    "namespace": {"type": "str", "default": "openshift-nfd"},
    "adopt": {"type": "str", "choices": ["report", "take"], "default": "report"},
    "pci_classes": {"type": "list", "elements": "str", "default": ["02", "03", "0b40", "12"]},
    "label_fields": {"type": "list", "elements": "str", "default": ["vendor"]},
    "worker_tolerations": {"type": "list", "elements": "dict"},
    "rules": {"type": "list", "elements": "dict", "default": [], "options": _RULE},
    "features": {"type": "list", "elements": "dict", "default": [], "options": _PUBLISHED},
    "expect": {"type": "list", "elements": "dict", "default": [], "options": _LABELS},
    "compare": {"type": "dict"},
    "stale_features": {"type": "str", "choices": ["ignore", "report", "remove"], "default": "ignore"},
    "prune": {"type": "bool", "default": True},
    "settle": {"type": "float", "default": 1},
    "grace": {"type": "float", "default": 60},
}
