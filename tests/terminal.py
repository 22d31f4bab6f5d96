# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A terminal for tests: it keeps the lines that a person sees, and wraps, moves and erases as others do."""

from __future__ import annotations

import re
import typing as t

_SEQUENCE: t.Final = re.compile(r"\x1b\[(\??)(\d*)(?:;\d+)*([A-Za-z])")


class Terminal:
    """The lines of a terminal, with all that have scrolled away. escapes: the sequences that it got."""

    def __init__(self, columns: int) -> None:
        self.columns, self.wraps = columns, True
        self.lines, self._row, self._column = [""], 0, 0
        self.escapes: set[str] = set()

    def feed(self, text: str) -> None:
        while text:
            if found := _SEQUENCE.match(text):
                self._obey(found[0], *found.groups())
                text = text[found.end() :]
            else:
                self._put(text[0])
                text = text[1:]

    @property
    def text(self) -> str:
        """What a person sees, without the spaces at the ends of lines."""
        return "\n".join(line.rstrip() for line in self.lines).rstrip("\n")

    def _obey(self, whole: str, private: str, number: str, letter: str) -> None:
        if letter == "m":
            self.escapes.add("colour")
            return
        self.escapes.add(whole if private else letter)
        if private:
            assert whole in ("\x1b[?7l", "\x1b[?7h"), f"{whole!r} would outlive a run that is killed"
            self.wraps = letter == "h"
        elif letter == "A":
            self._row = max(0, self._row - int(number))
        else:
            assert (letter, number) == ("J", ""), whole
            del self.lines[self._row + 1 :]
            self.lines[self._row] = self.lines[self._row][: self._column]

    def _put(self, char: str) -> None:
        if char == "\r":
            self._column = 0
        elif char == "\n":
            self._row, self._column = self._row + 1, 0
            if self._row == len(self.lines):
                self.lines.append("")
        else:
            if self._column == self.columns and self.wraps:
                self._put("\n")
            column = min(self._column, self.columns - 1)
            line = self.lines[self._row].ljust(column)
            self.lines[self._row] = line[:column] + char + line[column + 1 :]
            self._column = column + 1
