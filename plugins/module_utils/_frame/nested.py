# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrong keys inside options, each with its path. Ansible names neither the entry of a list nor its keys."""

from __future__ import annotations

import difflib
import typing as t

Options = t.Mapping[str, t.Mapping[str, t.Any]]


def near(word: str, words: t.Iterable[str]) -> str:
    """Return the word, with the one that it may stand for."""
    match = difflib.get_close_matches(word, list(words), 1)
    return f"{word} (did you mean {match[0]}?)" if match else word


def problems(options: Options, given: t.Mapping[str, t.Any]) -> list[str]:
    """Return a sentence about each unknown, missing or impossible key of the entries of options."""
    return [text for path, keys, entry in _entries(options, given, "") for text in _wrong(path, keys, entry)]


def _entries(
    options: Options, given: t.Mapping[str, t.Any], path: str
) -> t.Iterator[tuple[str, Options, t.Mapping[str, t.Any]]]:
    for name, option in options.items():
        keys, value = option.get("options"), given.get(name)
        if keys is None:
            continue
        here = f"{path}{name}"
        found = (
            [(here, value)]
            if isinstance(value, dict)
            else [(f"{here}[{place}]", one) for place, one in enumerate(value)]
            if isinstance(value, list)
            else []
        )
        for where, entry in found:
            if isinstance(entry, dict):
                yield where, keys, entry
                yield from _entries(keys, entry, f"{where}.")


def _wrong(path: str, keys: Options, entry: t.Mapping[str, t.Any]) -> t.Iterator[str]:
    known = {alias for one in keys.values() for alias in one.get("aliases") or ()} | set(keys)
    for key in sorted(map(str, entry)):
        if key not in known:
            yield f"{path}.{near(key, keys)} is no option. Options are {', '.join(sorted(keys))}."
    for key, option in keys.items():
        choices, value = option.get("choices"), entry.get(key)
        if option.get("required") and value is None and not set(option.get("aliases") or ()) & set(entry):
            yield f"{path}.{key} is missing."
        elif choices and isinstance(value, (str, int)) and str(value) not in map(str, choices):
            yield f"{path}.{key} is {value}. Allowed are {', '.join(map(str, choices))}."
