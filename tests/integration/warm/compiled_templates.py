# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep what Ansible compiles out of templates in files that all runs share.

Ansible runs each task in a process of its own, which compiles the templates of the task again. Jinja has a
cache of that kind, but only for templates that it loads itself.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import types
import typing as t
from pathlib import Path

# What a template means depends on these, and on the filters and tests, which are those of the checkout.
SYNTAX: t.Final = (
    "block_start_string",
    "variable_start_string",
    "comment_start_string",
    "line_statement_prefix",
    "trim_blocks",
    "lstrip_blocks",
    "keep_trailing_newline",
    "newline_sequence",
)


class Files:
    """Compiled code by the text that it was made of. folder: it exists, and no other version uses it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, text: str, make: t.Callable[[], types.CodeType]) -> types.CodeType:
        """Return the code of a text; make and keep it when it is not there yet."""
        path = self._folder / hashlib.sha256(text.encode()).hexdigest()
        try:
            found: types.CodeType = marshal.loads(path.read_bytes())
        except FileNotFoundError:
            found = make()
            draft = path.with_name(f"{path.name}.{os.getpid()}")
            draft.write_bytes(marshal.dumps(found))
            os.replace(draft, path)
        return found


def share(environment: t.Any, folder: Path) -> None:
    """Let a class of Jinja environments use the files. Its expressions are parsed, but not compiled again."""
    files, parsed = Files(folder), list[str]()
    compile_all, compile_expression = environment.compile, environment.compile_expression

    def template(self: t.Any, source: t.Any, *more: t.Any, **named: t.Any) -> t.Any:
        def make() -> t.Any:
            return compile_all(self, source, *more, **named)

        # Of an expression, only what the parser made of its text comes here.
        text = f"of a template: {source}" if isinstance(source, str) else parsed and parsed[-1]
        if more or named or not text:
            return make()
        return files.get(f"{[getattr(self, one) for one in SYNTAX]} {text}", make)

    def expression(self: t.Any, source: str, *more: t.Any, **named: t.Any) -> t.Any:
        parsed.append(f"of an expression: {source}")
        try:
            return compile_expression(self, source, *more, **named)
        finally:
            parsed.pop()

    environment.compile, environment.compile_expression = template, expression
