# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of Kubernetes for names, and for keys and values of labels."""

from __future__ import annotations

import re
import typing as t

_NAME: t.Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_VALUE: t.Final = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_KEY: t.Final = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
LONGEST: t.Final = 63


def name_fault(text: str) -> str:
    """Return why the text is not a DNS label, or "" if it is valid."""
    if len(text) > LONGEST:
        return f"is {len(text)} characters long, {LONGEST} are allowed"
    return (
        ""
        if _NAME.fullmatch(text)
        else "must be lower-case letters, digits and '-', and begin and end with a letter or digit"
    )


def value_fault(text: str) -> str:
    """Return why the text is not a label value, or "" if it is valid."""
    if len(text) > LONGEST:
        return f"is {len(text)} characters long, {LONGEST} are allowed"
    if _VALUE.fullmatch(text):
        return ""
    return (
        "must be letters, digits, '-', '_' and '.', and begin and end with a letter or digit "
        "('/' is not allowed)"
    )


def key_fault(text: str) -> str:
    """Return why the text is not a key of a label or taint, or "" if it is valid."""
    prefix, slash, name = text.rpartition("/")
    if len(name) > LONGEST or len(prefix) > 253:
        return f"is too long: at most 253 characters before the '/' and {LONGEST} after it"
    if slash and not prefix:
        return "has nothing before the '/'"
    return "" if _KEY.fullmatch(text) else "must be NAME or DOMAIN/NAME"
