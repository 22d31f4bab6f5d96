# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Secrets seen by this process, and the censor that keeps them out of everything shown or returned."""

from __future__ import annotations

import typing as t

_MASK = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
_SHORTEST = 4
_seen: set[str] = set()


def register(*values: object) -> None:
    """Remember secrets. Very short ones are left out: masking them would garble every text."""
    for value in values:
        if isinstance(value, str) and len(value.strip()) >= _SHORTEST:
            _seen.add(value.strip())


def register_tree(value: object) -> None:
    """Remember every string inside a value whose shape is not known."""
    if isinstance(value, t.Mapping):
        for item in value.values():
            register_tree(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            register_tree(item)
    else:
        register(value)


def censor_text(text: str) -> str:
    for secret in sorted(_seen, key=len, reverse=True):
        if secret in text:
            text = text.replace(secret, _MASK)
    return text


def censor(value: t.Any) -> t.Any:
    """The same value with every remembered secret masked, keys included."""
    if not _seen:
        return value
    if isinstance(value, str):
        return censor_text(value)
    if isinstance(value, t.Mapping):
        return {censor(key): censor(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [censor(item) for item in value]
    return value
