# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrong types of options and wrong keys inside them, each with its path; Ansible names no entry of a list."""

from __future__ import annotations

import difflib
import math
import typing as t

Options = t.Mapping[str, t.Mapping[str, t.Any]]
_TRUTHS: t.Final = ("y", "yes", "on", "1", "true", "t", "n", "no", "off", "0", "false", "f")
_LONG: t.Final = 60
_WORDS: t.Final = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "text",
    "list": "a list",
    "dict": "a mapping",
}


def near(word: str, words: t.Iterable[str]) -> str:
    """Return the word, with the one that it may stand for."""
    match = difflib.get_close_matches(word, list(words), 1)
    return f"{word} (did you mean {match[0]}?)" if match else word


def problems(
    options: Options, given: t.Mapping[str, t.Any], names: t.Mapping[str, str] | None = None
) -> list[str]:
    """Return a sentence about each wrong type, and each unknown, missing or impossible key of an entry.

    names: the user's names of options, for paths. A list that is written as text is left to Ansible.
    """
    called = names or {}
    wrong = list(_types(options, given, "", called))
    entries = _entries(options, given, "", called)
    return wrong + [text for path, keys, entry in entries for text in _wrong(path, keys, entry)]


def is_of(kind: str, value: t.Any) -> bool:
    """Return True if Ansible takes the value as this type of an option."""
    if kind in ("int", "float"):
        return not isinstance(value, bool) and _number(value, kind)
    if kind == "bool":
        return isinstance(value, bool) or str(value).lower() in _TRUTHS or value in (0.0, 1.0)
    if kind == "str":
        return not isinstance(value, (dict, list))
    if kind == "list":
        return isinstance(value, (list, str, int, float))
    return kind != "dict" or isinstance(value, (dict, str))


def _is_plain(option: t.Mapping[str, t.Any], value: t.Any) -> bool:
    is_plain = isinstance(value, (str, int)) and not isinstance(value, bool)
    return is_plain and is_of(option.get("type", "str"), value)


def _is_word(value: t.Any) -> bool:
    """Return True for a text that is no mapping for Ansible either."""
    return isinstance(value, str) and "=" not in value and not value.strip().startswith("{")


def _not(value: t.Any) -> str:
    text = repr(value)
    return f", not {'nothing' if value is None else text if len(text) < _LONG else text[:_LONG] + '...'}"


def _number(value: t.Any, kind: str) -> bool:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return math.isfinite(number) and (kind == "float" or number == int(number))


def _types(
    options: Options, given: t.Mapping[str, t.Any], path: str, names: t.Mapping[str, str]
) -> t.Iterator[str]:
    for name, option in options.items():
        here, value, kind = f"{path}{names.get(name, name)}", given.get(name), option.get("type", "str")
        if value is None:
            continue
        if not is_of(kind, value):
            yield f"{here} must be {_WORDS[kind]}{'' if option.get('no_log') else _not(value)}."
            continue
        parts = [(here, value)] if kind == "dict" else []
        if kind == "list" and isinstance(value, list):
            parts = [(f"{here}[{place}]", item) for place, item in enumerate(value)]
            inner = option.get("elements", "raw")
            for where, item in parts:
                if not is_of(inner, item) or (inner == "dict" and _is_word(item)):
                    yield f"{where} must be {_WORDS[inner]}{'' if option.get('no_log') else _not(item)}."
        for where, item in parts:
            if isinstance(item, dict):
                yield from _types(option.get("options") or {}, item, f"{where}.", {})


def _entries(
    options: Options, given: t.Mapping[str, t.Any], path: str, names: t.Mapping[str, str]
) -> t.Iterator[tuple[str, Options, t.Mapping[str, t.Any]]]:
    for name, option in options.items():
        keys, value = option.get("options"), given.get(name)
        if keys is None:
            continue
        here = f"{path}{names.get(name, name)}"
        found = (
            [(here, value)]
            if isinstance(value, dict)
            else [(f"{here}[{place}]", item) for place, item in enumerate(value)]
            if isinstance(value, list)
            else []
        )
        for where, entry in found:
            if isinstance(entry, dict):
                yield where, keys, entry
                yield from _entries(keys, entry, f"{where}.", {})


def _wrong(path: str, keys: Options, entry: t.Mapping[str, t.Any]) -> t.Iterator[str]:
    known: set[str] = {alias for spec in keys.values() for alias in spec.get("aliases") or ()} | set(keys)
    for key in sorted(map(str, entry)):
        if key not in known:
            yield f"{path}.{near(key, keys)} is no option. Options are {', '.join(sorted(keys))}."
    for key, option in keys.items():
        choices, value = option.get("choices"), entry.get(key)
        if option.get("required") and value is None and not set(option.get("aliases") or ()) & set(entry):
            yield f"{path}.{key} is missing."
        elif choices and _is_plain(option, value) and str(value) not in map(str, choices):
            yield f"{path}.{key} is {value}. Allowed are {', '.join(map(str, choices))}."
