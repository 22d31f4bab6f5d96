# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prepare text for people: without secrets, without control characters, and not too long.

Messages quote clouds, pods, logs and the input. A control character of theirs could clear the terminal, set
its title or write to the clipboard. Newline and tab stay.
"""

from __future__ import annotations

import re
import typing as t

from . import secrets

# The most characters of a message, of a line (evidence, progress), and of any other text, such as a remedy.
MESSAGE: t.Final = 3000
LINE: t.Final = 1000
TEXT: t.Final = 5000
_CONTROL: t.Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def clean(text: str) -> str:
    """Return the text with each control character written out, for example as C(\\x1b)."""
    if not _CONTROL.search(text):
        return text
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def short(text: str, most: int) -> str:
    """Return the text, or its start and its end if it has more than that many characters."""
    if len(text) <= most:
        return text
    start, end = most * 3 // 4, most // 4
    return f"{text[:start]} [... {len(text) - start - end} characters left out ...] {text[-end:]}"


def message(text: str, most: int = MESSAGE) -> str:
    """Return a message as people may see it. It masks secrets first: a cut could leave half of one."""
    return short(clean(secrets.censor_text(text)), most)


def line(text: str) -> str:
    """Return a line of progress or evidence as people may see it."""
    return message(text, LINE)


def result(found: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return a task's result as people may see it, with its secrets masked.

    An API object keeps its control characters and its length: a playbook may write it back. A diff keeps its
    length.
    """
    masked = secrets.censor(found)
    readable: dict[str, t.Any] = {key: _readable(item) for key, item in masked.items() if key != "diff"}
    return {**readable, "diff": _cleaned(masked["diff"])} if "diff" in masked else readable


def _readable(value: t.Any) -> t.Any:
    if isinstance(value, str):
        return short(clean(value), TEXT)
    if isinstance(value, t.Mapping):
        is_object = "apiVersion" in value and "kind" in value
        return value if is_object else {_readable(key): _readable(item) for key, item in value.items()}
    return [_readable(item) for item in value] if isinstance(value, (list, tuple)) else value


def _cleaned(value: t.Any) -> t.Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, t.Mapping):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, (list, tuple)) else value
