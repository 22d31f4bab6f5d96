# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as the API server stores them: with the managers of their fields."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import merge
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import (
    MANAGED_BY,
    MANAGER,
)

Object = dict[str, t.Any]


def fields(value: t.Any) -> Object:
    """Return the value's fields as the API server lists them (FieldsV1)."""
    if not isinstance(value, dict) or not value:
        return {}
    return {f"f:{key}": fields(inner) for key, inner in value.items()}


def entry(manager: str, spec: Object, operation: str = "Update", time: str = "") -> Object:
    return {
        "manager": manager,
        "operation": operation,
        "time": time,
        "fieldsV1": {"f:spec": fields(spec)},
    }


def live(applied: Object) -> Object:
    """Return the object of ours that an apply of this manifest makes."""
    ours = entry(MANAGER, applied["spec"], "Apply")
    ours["fieldsV1"]["f:metadata"] = {"f:labels": fields(MANAGED_BY)} | {
        f"f:{key}": fields(value) for key, value in applied["metadata"].items() if key == "annotations"
    }
    metadata = {"labels": dict(MANAGED_BY), "managedFields": [ours]}
    return t.cast(Object, merge(applied, {"metadata": metadata}))


def patched(obj: Object, spec: Object, manager: str = "kubectl-patch", time: str = "") -> Object:
    """Return the object after another manager set these fields, which are ours no longer."""
    after = merge(obj, {"spec": spec})
    for one in after["metadata"]["managedFields"]:
        one["fieldsV1"]["f:spec"] = _without(one["fieldsV1"]["f:spec"], fields(spec))
    after["metadata"]["managedFields"].append(entry(manager, spec, time=time))
    return t.cast(Object, after)


def _without(theirs: Object, taken: Object) -> Object:
    found = {}
    for key, inner in theirs.items():
        if key not in taken:
            found[key] = inner
        elif left := _without(inner, taken[key]):
            found[key] = left
    return found
