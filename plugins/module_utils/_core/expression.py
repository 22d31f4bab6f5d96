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


class Expression:
    """One JMESPath expression. path: the option that contains the expression.

    Raises InputError if the expression is not valid or jmespath is not installed.
    """

    def __init__(self, path: str, text: str) -> None:
        self._path, self._text = path, text
        if jmespath is None:
            raise InputError("INPUT-PACKAGE", what=f"The option {path}", package="jmespath")
        try:
            self._parsed = jmespath.compile(text)
        except JMESPathError as exc:
            raise InputError(
                "INPUT-JMESPATH", option=path, wrong_expression=f"{text!r} is no JMESPath expression: {exc}"
            ) from exc
        unknown = sorted(set(_functions(self._parsed.parsed)) - set(Functions.FUNCTION_TABLE))
        if unknown:
            # jmespath itself reports this only when it evaluates the expression.
            problem = f"{text!r}: Unknown function: {unknown[0]}()"
            raise InputError("INPUT-JMESPATH", option=path, wrong_expression=problem)

    def evaluate(self, data: t.Any) -> t.Any:
        """Return the value of the expression. Raises InputError if a function gets a wrong argument."""
        try:
            return self._parsed.search(data)
        except JMESPathError as exc:
            raise InputError(
                "INPUT-JMESPATH", option=self._path, wrong_expression=f"{self._text!r}: {exc}"
            ) from exc

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
