# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check input against a table of fields and collect every problem with the path of the wrong option."""

from __future__ import annotations

import difflib
import re
import typing as t
from dataclasses import dataclass, field

from . import quantity
from .errors import InputError, text_of
from .syntax import key_fault, value_fault

_TRUE: t.Final = ("true", "yes", "on", "1")
_FALSE: t.Final = ("false", "no", "off", "0")
# The list of the user that a path begins with.
_LIST: t.Final = re.compile(r"gpu_\w+(?=\[)")
_NUMBER: t.Final = re.compile(r"\s*-?[0-9]{1,30}\s*")


@dataclass(frozen=True)
class Problem:
    """One wrong option. path: as the user wrote it, for example C(gpu_pools[1].sharing.mig)."""

    code: str
    path: str
    message: str
    remedy: str

    @property
    def line(self) -> str:
        """Return code, path and message in one line."""
        return f"{self.code} {self.path}: {self.message}"


@dataclass
class Problems:
    """All problems of one input; the user sees more than the first one."""

    found: list[Problem] = field(default_factory=list)

    def add(self, code: str, path: str, message: str = "", remedy: str = "", **named: object) -> None:
        """Add a problem unless it is there already: several candidates may inherit it from their pool.

        Without a message, it has the code's text after C({path}: ), with the facts in C(named); a remedy that
        is given counts. The code's remedy names the list that the path begins with.
        """
        path = path.lstrip(".")
        if not message:
            text = text_of(code, path=path, **named)
            mine = _LIST.match(path)
            general = text.remedy.replace("gpu_pools", mine[0]) if mine else text.remedy
            message, remedy = text.message.removeprefix(f"{path}: "), remedy or general
        found = Problem(code, path, message, remedy)
        if found not in self.found:
            self.found.append(found)

    def refuse_second(self, entries: t.Sequence[t.Mapping[str, t.Any]], index: int, path: str) -> None:
        """Add a problem if an earlier pool of the list has the name of this one."""
        name = entries[index]["name"]
        if name in (other["name"] for other in entries[:index]):
            self.add("POOL-DUPLICATE", f"{path}.name", name=name)

    def at(self, path: str) -> bool:
        """Return True if there is a problem at or below this path."""
        path = path.lstrip(".")
        return any(item.path == path or item.path.startswith((f"{path}.", f"{path}[")) for item in self.found)

    def raise_if_any(self) -> None:
        """Raise InputError with the only problem, or with all problems under the code POOL-INVALID."""
        if not self.found:
            return
        first = self.found[0]
        facts: dict[str, t.Any] = {"problems": [vars(problem) for problem in self.found]}
        if len(self.found) == 1:
            raise InputError(first.code, f"{first.path}: {first.message}", first.remedy, facts=facts)
        raise InputError(
            "POOL-INVALID",
            f"{len(self.found)} problems. "
            + " ".join(f"({number}) {problem.line}" for number, problem in enumerate(self.found, 1)),
            " ".join(f"({number}) {problem.remedy}" for number, problem in enumerate(self.found, 1)),
            evidence=[problem.line for problem in self.found],
            facts=facts,
        )


@dataclass(frozen=True)
class Field:
    """The type and the limits of one option.

    kind: text, integer, flag, labels (map of label texts), counts (map of integers), quantities, map, list or
    any. fields: the fields of a map, or of each map in a list. entry: the type of a list's entries that
    are not maps. fault: returns why a text, or a key of counts, is not valid, or "".
    """

    kind: str
    required: bool = False
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    fields: t.Mapping[str, Field] = field(default_factory=dict)
    entry: Field | None = None
    fault: t.Callable[[str], str] | None = None


def read(value: t.Any, spec: Field, path: str, problems: Problems) -> t.Any:
    """Return the value in the type of its field. Add a problem and return None or an empty value if wrong."""
    return _READERS[spec.kind](value, spec, path, problems)


def read_map(value: t.Any, fields: t.Mapping[str, Field], path: str, problems: Problems) -> dict[str, t.Any]:
    """Return the known keys with their valid values. Add a problem for each unknown key and wrong value."""
    if not isinstance(value, t.Mapping):
        remedy = f"Allowed keys: {', '.join(sorted(fields))}."
        problems.add("POOL-TYPE", path, remedy=remedy, form="a mapping", value=_called(value))
        return {}
    for key in value:
        if key not in fields:
            near = difflib.get_close_matches(str(key), fields, n=1)
            did = f"Did you mean {near[0]}? " if near else ""
            keys = ", ".join(sorted(fields))
            page = "networks" if path.startswith("gpu_networks") else "pools"
            problems.add("POOL-UNKNOWN-KEY", f"{path}.{key}", key=key, also=did, keys=keys, page=page)
    result = {}
    for key, spec in fields.items():
        if value.get(key) is not None:
            # The other checks need only the valid options.
            if (valid := read(value[key], spec, f"{path}.{key}", problems)) is not None:
                result[key] = valid
        elif spec.required:
            problems.add("POOL-REQUIRED", f"{path}.{key}")
    return result


def _called(value: t.Any) -> str:
    if isinstance(value, bool):
        return f"the YAML boolean {str(value).lower()}"
    names = {str: "text", int: "number", float: "number", type(None): "nothing"}
    kind = next(
        (word for cls, word in names.items() if isinstance(value, cls)),
        "list" if isinstance(value, (list, tuple)) else "mapping",
    )
    return f"the {kind} {value!r}" if kind in ("text", "number") else f"a {kind}"


def _as_text(value: t.Any, spec: Field) -> str:
    """Return how to write a value that is not text."""
    text = str(value).lower()
    if spec.choices and text not in spec.choices:
        return f"Allowed: {', '.join(spec.choices)}."
    return f'Put it in quotes: "{text}".' if isinstance(value, (bool, int, float)) else "Give text."


def _text(value: t.Any, spec: Field, path: str, problems: Problems) -> str | None:
    if not isinstance(value, str):
        remedy = _as_text(value, spec)
        problems.add("POOL-TYPE", path, remedy=remedy, form="text", value=_called(value))
        return None
    text = str(value)
    if spec.choices and text not in spec.choices:
        near = difflib.get_close_matches(text, spec.choices, n=1, cutoff=0.5)
        did = f"Did you mean {near[0]}? " if near else ""
        problems.add(
            "POOL-VALUE",
            path,
            f"{text!r} is not one of its values.",
            f"{did}Allowed: {', '.join(spec.choices)}.",
        )
        return None
    fault = spec.fault(text) if spec.fault else ""
    if fault or not text:
        problems.add("POOL-VALUE", path, f"{text!r} {fault or 'is empty'}.", "Choose another value.")
        return None
    return text


def _integer(value: t.Any, spec: Field, path: str, problems: Problems) -> int | None:
    # A survey in AWX passes numbers as text.
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        problems.add("POOL-TYPE", path, form="a whole number", value=_called(value))
        return None
    number = int(value)
    if (spec.low is not None and number < spec.low) or (spec.high is not None and number > spec.high):
        allowed = f"at least {spec.low}" if spec.high is None else f"{spec.low} to {spec.high}"
        problems.add("POOL-VALUE", path, f"{number} is out of range.", f"Allowed: {allowed}.")
        return None
    return number


def _flag(value: t.Any, spec: Field, path: str, problems: Problems) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUE + _FALSE:
        return value.lower() in _TRUE
    problems.add("POOL-TYPE", path, form="true or false", value=_called(value))
    return None


def _labels(value: t.Any, spec: Field, path: str, problems: Problems) -> dict[str, str]:
    if not isinstance(value, t.Mapping):
        problems.add("POOL-TYPE", path, form="a mapping of labels, {name: value}", value=_called(value))
        return {}
    result = {}
    for key, text in value.items():
        where = f"{path}.{key}"
        fault = key_fault(key) if isinstance(key, str) else f"is {_called(key)}"
        if fault:
            problems.add(
                "POOL-LABEL",
                where,
                f"the key {key!r} {fault}.",
                "Choose another key, in quotes if YAML reads it as something else.",
            )
        elif not isinstance(text, str):
            problems.add(
                "POOL-LABEL",
                where,
                f"a label's value is text, not {_called(text)}.",
                f'Put it in quotes: {key}: "{str(text).lower()}".',
            )
        elif value_fault(text):
            problems.add("POOL-LABEL", where, f"{text!r} {value_fault(text)}.", "Choose another value.")
        else:
            result[str(key)] = str(text)
    return result


def _counts(value: t.Any, spec: Field, path: str, problems: Problems) -> dict[str, int]:
    if not isinstance(value, t.Mapping):
        problems.add("POOL-TYPE", path, form="a mapping of numbers, {name: number}", value=_called(value))
        return {}
    for key in value:
        if fault := spec.fault(str(key)) if spec.fault else "":
            problems.add("POOL-VALUE", f"{path}.{key}", f"{key!r} {fault}.", "Correct the name.")
    read_in = {str(key): _integer(number, spec, f"{path}.{key}", problems) for key, number in value.items()}
    return {key: number for key, number in read_in.items() if number is not None}


def _quantities(value: t.Any, spec: Field, path: str, problems: Problems) -> dict[str, str]:
    if not isinstance(value, t.Mapping):
        form = "a mapping of quantities, {resource: quantity}"
        problems.add("POOL-TYPE", path, form=form, value=_called(value))
        return {}
    result = {}
    for key, amount in value.items():
        where, number = f"{path}.{key}", amount
        # Devices are whole numbers. Memory and similar resources have units.
        if not isinstance(amount, (str, float)) or "/" in str(key):
            number = _integer(amount, spec, where, problems)
        elif wanted := quantity.fault(amount, is_count=False):
            problems.add("QUOTA-QUANTITY", where, value=repr(amount), wanted=wanted)
            number = None
        if number is not None:
            result[str(key)] = str(number)
    return result


def _list(value: t.Any, spec: Field, path: str, problems: Problems) -> list[t.Any]:
    if not isinstance(value, (list, tuple)):
        problems.add("POOL-TYPE", path, form="a list", value=_called(value))
        return []
    if not value and spec.required:
        problems.add("POOL-EMPTY", path, example="a list with at least one entry")
    if spec.entry is None:
        return [read_map(item, spec.fields, f"{path}[{index}]", problems) for index, item in enumerate(value)]
    items = [read(item, spec.entry, f"{path}[{index}]", problems) for index, item in enumerate(value)]
    return [item for item in items if item is not None]


_READERS: t.Final[dict[str, t.Callable[[t.Any, Field, str, Problems], t.Any]]] = {
    "text": _text,
    "integer": _integer,
    "flag": _flag,
    "labels": _labels,
    "counts": _counts,
    "quantities": _quantities,
    "list": _list,
    "map": lambda value, spec, path, problems: read_map(value, spec.fields, path, problems),
    "any": lambda value, _spec, _path, _problems: value,
}
