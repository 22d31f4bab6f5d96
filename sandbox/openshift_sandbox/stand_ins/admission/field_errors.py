# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors about a field, in the words of the API machinery of Kubernetes."""

from __future__ import annotations

import json
import typing as t


def required(path: str, detail: str) -> str:
    """Return the error about a field that is missing."""
    return f"{path}: Required value: {detail}"


def forbidden(path: str, detail: str) -> str:
    """Return the error about a field that may not be set."""
    return f"{path}: Forbidden: {detail}"


def invalid(path: str, value: t.Any, detail: str) -> str:
    """Return the error about a wrong value."""
    return f"{path}: Invalid value: {go_value(value)}: {detail}"


def too_many(path: str, count: int, most: int) -> str:
    """Return the error about a list that is too long."""
    return f"{path}: Too many: {count}: must have at most {most} {'item' if most == 1 else 'items'}"


def unsupported(path: str, value: str, known: t.Iterable[str]) -> str:
    """Return the error about a value outside of a list."""
    return (
        f"{path}: Unsupported value: {go_value(value)}: supported values: "
        f"{', '.join(go_value(one) for one in sorted(known))}"
    )


def go_value(value: t.Any) -> str:
    """Return a value as Go prints it; a struct as JSON."""
    if value is None:
        return "null"
    if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        return (
            "map[string]string{"
            + ", ".join(f"{json.dumps(key)}:{json.dumps(one)}" for key, one in sorted(value.items()))
            + "}"
        )
    return json.dumps(value)
