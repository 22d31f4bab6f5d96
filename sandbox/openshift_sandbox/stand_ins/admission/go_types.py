# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Go program makes of JSON that it reads into a struct and writes again.

It accepts field names in any case, loses unknown fields, and omits some empty fields.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

Value = t.Any


class GoTypeError(Exception):
    """The JSON does not have the field's type."""


@dataclass(frozen=True)
class Go:
    """The type of one field.

    `always`: written even when empty. `pointer`: an empty value differs from none.
    """

    kind: str
    always: bool = False
    pointer: bool = False
    of: Go | None = None
    fields: dict[str, Go] = field(default_factory=dict)


STR: t.Final = Go("string")
STR_ALWAYS: t.Final = Go("string", always=True)
STR_PTR: t.Final = Go("string", pointer=True)
INT: t.Final = Go("int")
INT_ALWAYS: t.Final = Go("int", always=True)
INT_PTR: t.Final = Go("int", pointer=True)
BOOL: t.Final = Go("bool")
BOOL_ALWAYS: t.Final = Go("bool", always=True)
BOOL_PTR: t.Final = Go("bool", pointer=True)
QUANTITY_ALWAYS: t.Final = Go("quantity", always=True)
QUANTITY_PTR: t.Final = Go("quantity", pointer=True)
ANY_MAP: t.Final = Go("map")
ANY_MAP_ALWAYS: t.Final = Go("map", always=True)


def struct(**fields: Go) -> Go:
    """Return a struct that is no pointer: Go always writes it."""
    return Go("struct", always=True, fields=fields)


def pointer(always: bool = False, /, **fields: Go) -> Go:
    """Return a pointer to a struct: an absent value differs from an empty one."""
    return Go("struct", always=always, pointer=True, fields=fields)


def several(of: Go, always: bool = False) -> Go:
    """Return a list of a type."""
    return Go("list", always=always, of=of)


_PYTHON: t.Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "int": (int,),
    "bool": (bool,),
    "quantity": (str, int, float),
    "map": (dict,),
    "list": (list,),
    "struct": (dict,),
}
_JSON: t.Final = {str: "string", int: "number", float: "number", bool: "bool", dict: "object", list: "array"}
_EMPTY: t.Final[dict[str, Value]] = {
    "string": "",
    "int": 0,
    "bool": False,
    "quantity": "0",
    "map": None,
    "list": None,
}


def rewritten(go: Go, value: Value, path: str = "") -> Value:
    """Return the value as the program writes it, without unknown fields. Raises GoTypeError."""
    if value is None:
        return None if go.pointer or go.kind != "struct" else rewritten(go, {}, path)
    if not _fits(go, value):
        word = _JSON.get(type(value), "value")
        raise GoTypeError(
            "error unmarshaling JSON: while decoding JSON: json: "
            f"cannot unmarshal {word} into Go struct field {path} of type {go.kind}"
        )
    if go.kind == "list":
        assert go.of is not None
        return [rewritten(go.of, one, path) for one in value]
    return _struct(go, value, path) if go.kind == "struct" else value


def _fits(go: Go, value: Value) -> bool:
    return isinstance(value, _PYTHON[go.kind]) and not (go.kind == "int" and isinstance(value, bool))


def _struct(go: Go, value: dict[str, Value], path: str) -> dict[str, Value]:
    folded = {name.lower(): name for name in go.fields}
    found: dict[str, Value] = {}
    for name in sorted(value):
        known = name if name in go.fields else folded.get(name.lower())
        if known is not None and (known not in found or name == known):
            found[known] = rewritten(go.fields[known], value[name], f"{path}.{known}" if path else known)
    return {
        name: found_value
        for name, one in go.fields.items()
        if (found_value := _written(one, found.get(name))) is not _ABSENT
    }


_ABSENT: t.Final = object()


def _written(go: Go, value: Value) -> Value:
    if value is None:
        if not go.always:
            return _ABSENT
        return None if go.pointer else rewritten(go, None) if go.kind == "struct" else _EMPTY[go.kind]
    if go.always or go.pointer:
        return value
    return value if value else _ABSENT
