# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The shape of a provider's value: copy known fields, find unknown fields, merge a patch.

A shape maps field names to a nested shape, to a list with one nested shape, or to None.
"""

from __future__ import annotations

import typing as t

# The value of a providerSpec, or a part of it.
Value = dict[str, t.Any]


def known(value: t.Any, shape: t.Any) -> t.Any:
    """Return a copy of the value with only the fields of the shape."""
    if isinstance(shape, dict) and isinstance(value, dict):
        return {key: known(inner, shape[key]) for key, inner in value.items() if key in shape}
    if isinstance(shape, list) and isinstance(value, list):
        return [known(item, shape[0]) for item in value]
    return value


def unknown(value: t.Any, shape: t.Any) -> list[str]:
    """Return the sorted paths of the fields that are not in the shape."""
    return sorted(_unknown(value, shape, ""))


def _unknown(value: t.Any, shape: t.Any, path: str) -> t.Iterator[str]:
    if isinstance(shape, dict) and isinstance(value, dict):
        for key, inner in value.items():
            where = f"{path}.{key}" if path else key
            if key not in shape:
                yield where
            else:
                yield from _unknown(inner, shape[key], where)
    elif isinstance(shape, list) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown(item, shape[0], f"{path}[{index}]")


def merged(value: t.Any, patch: t.Any) -> t.Any:
    """Return the value with the patch merged (RFC 7386): merge mappings, remove null, replace the rest."""
    if not isinstance(patch, dict):
        return patch
    base = dict(value) if isinstance(value, dict) else {}
    for key, inner in patch.items():
        if inner is None:
            base.pop(key, None)
        else:
            base[key] = merged(base.get(key), inner)
    return base
