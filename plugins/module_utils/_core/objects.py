# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Types and helpers for API objects: maps with apiVersion, kind, metadata, spec and status."""

from __future__ import annotations

import copy
import typing as t

# An object of the Kubernetes API, live or to be applied.
KubeObject = dict[str, t.Any]
# What a wait sees: the name of each of its queries -> the objects that the query found.
Snapshot = t.Mapping[str, t.Sequence[KubeObject]]


def name(obj: KubeObject) -> str:
    """Return `metadata.name`."""
    return str(obj["metadata"]["name"])


def merge(base: t.Any, over: t.Any) -> t.Any:
    """Return a copy of `base` with `over`: merge maps key by key, replace all other values."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return copy.deepcopy(over)
    return {
        key: merge(base.get(key), over[key]) if key in over else copy.deepcopy(base[key])
        for key in [*base, *(key for key in over if key not in base)]
    }


def named(objects: t.Iterable[KubeObject], wanted: str) -> KubeObject:
    """Return the object with this name, or an empty dict if there is none."""
    return next((one for one in objects if name(one) == wanted), {})
