# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""JMESPath expressions from users: check them before the first request, evaluate them on live objects."""

from __future__ import annotations

import typing as t

from .errors import InputError

try:
    import jmespath
    from jmespath.exceptions import JMESPathError
    from jmespath.functions import Functions
except ImportError:
    jmespath = None

_TUTORIAL: t.Final = "See https://jmespath.org/tutorial.html."


class Expression:
    """One JMESPath expression. path: the option that contains the expression.

    Raises InputError if the expression is not valid or jmespath is not installed.
    """

    def __init__(self, path: str, text: str) -> None:
        self._where = f"{path}: {text!r}"
        if jmespath is None:
            message = f"The option {path} needs the Python package jmespath."
            raise InputError("INPUT-JMESPATH", message, "pip install jmespath")
        try:
            self._parsed = jmespath.compile(text)
        except JMESPathError as exc:
            raise InputError(
                "INPUT-JMESPATH", f"{self._where} is no JMESPath expression: {exc}", _TUTORIAL
            ) from exc
        unknown = sorted(set(_functions(self._parsed.parsed)) - set(Functions.FUNCTION_TABLE))
        if unknown:
            # jmespath itself reports this only when it evaluates the expression.
            raise InputError("INPUT-JMESPATH", f"{self._where}: Unknown function: {unknown[0]}()", _TUTORIAL)

    def evaluate(self, data: t.Any) -> t.Any:
        """Return the value of the expression. Raises InputError if a function gets a wrong argument."""
        try:
            return self._parsed.search(data)
        except JMESPathError as exc:
            raise InputError("INPUT-JMESPATH", f"{self._where}: {exc}", _TUTORIAL) from exc

    def ask(self, obj: t.Mapping[str, t.Any]) -> t.Any:
        """Return the value of the expression, or None if a function gets a field that is not set yet."""
        try:
            return self.evaluate(obj)
        except InputError:
            return None

    def holds(self, obj: t.Mapping[str, t.Any]) -> bool:
        """Return True if the value is true in JMESPath: not false, not null, not empty. Zero is true."""
        found = self.ask(obj)
        return not (found is None or found is False or (isinstance(found, (str, list, dict)) and not found))


def _functions(node: t.Any) -> t.Iterator[str]:
    if isinstance(node, dict):
        if node.get("type") == "function_expression":
            yield str(node["value"])
        for child in node.get("children") or ():
            yield from _functions(child)
