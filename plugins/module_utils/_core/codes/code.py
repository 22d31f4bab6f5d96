# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""One error code, as a failed task returns it and docs/errors.md describes it."""

from __future__ import annotations

import re
import typing as t

# A judge's message is a part of a sentence: it begins with a word in lower case and has no full stop.
_PART: t.Final = re.compile(r"[a-z]+ ")
_FACT: t.Final = re.compile(r"\{(\w+)(?:\|([^{}]*))?\}")
# A name or a setting in the page's code font; a command has a space and no colon after its first word.
_SETTING: t.Final = re.compile(r"`([^`\s]+|[^`\s]+: [^`]+)`")


class Code(t.NamedTuple):
    """An error code and its only text.

    code: what a failed task returns as C(code). message: what happened, remedy: one command or one setting.
    A failure fills in C({name}) with the fact that it passes as C(name); the page has NAME there instead, or
    the words after the bar of C({name|words}).
    C({also}) stands for a sentence that only some failures have; the page leaves it out.
    """

    code: str
    message: str
    remedy: str

    def filled(self, facts: t.Mapping[str, object]) -> Code:
        """Return a copy with the facts of one failure, for a terminal: only commands stay in backticks.

        Raises KeyError if a fact is missing.
        """
        plain = Code(self.code, *(_SETTING.sub(r"\1", text) for text in self[1:]))
        return plain._with(lambda fact: str(facts[fact[1]]))

    def general(self) -> Code:
        """Return a copy for the page: a fact is its name in capitals, and a message is a sentence."""
        found = self._with(lambda fact: "" if fact[1] == "also" else fact[2] or fact[1].upper())
        text = found.message
        text = text[0].upper() + text[1:] if _PART.match(text) else text
        return found._replace(message=text if text.endswith((".", ": ANSWER")) else f"{text}.")

    def names(self) -> set[str]:
        """Return the names of the facts that the text needs."""
        return {fact[1] for fact in _FACT.finditer(self.message + self.remedy)}

    def _with(self, value: t.Callable[[re.Match[str]], str]) -> Code:
        return Code(self.code, *(_FACT.sub(value, text) for text in self[1:]))
