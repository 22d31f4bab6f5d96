# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Change code in one place at a time, and print the changes that no unit test notices: see README.md."""

from __future__ import annotations

import ast
import copy
import gc
import importlib.machinery
import os
import random
import resource
import signal
import sys
import types
import typing as t
from pathlib import Path

import pytest

PAIRS = "Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn And Or Add Sub Mult FloorDiv BitOr BitAnd"
SIGNS = {old: PAIRS.split()[at ^ 1] for at, old in enumerate(PAIRS.split())}


def others(node: t.Any) -> t.Iterator[tuple[str, ast.AST]]:
    """Yield what may stand in the place of the node, with words about it."""
    new: t.Any = copy.copy(node)
    match node:
        case ast.Compare(ops=[sign]) if type(sign).__name__ in SIGNS:
            new.ops = [getattr(ast, SIGNS[type(sign).__name__])()]
            yield type(new.ops[0]).__name__, new
        case ast.BoolOp(op=sign) | ast.BinOp(op=sign) if type(sign).__name__ in SIGNS:
            new.op = getattr(ast, SIGNS[type(sign).__name__])()
            yield type(new.op).__name__, new
        case ast.Constant(value=bool() | int() | str() as old) if " " not in str(old):
            new.value = old + "X" if isinstance(old, str) else old + 1 if type(old) is int else not old
            yield repr(new.value), new
        case ast.Return(value=ast.expr()) if ast.unparse(node) != "return None":
            yield "return None", ast.Return(ast.Constant(None))
        case ast.Raise() | ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()):
            yield "nothing", ast.Pass()
        case ast.UnaryOp(op=ast.Not()):
            yield ast.unparse(node.operand), node.operand
        case ast.If(test=test) | ast.IfExp(test=test) | ast.comprehension(ifs=[test]):
            if not isinstance(test, ast.Compare | ast.BoolOp):
                new.test, new.ifs = ast.UnaryOp(ast.Not(), test), [ast.UnaryOp(ast.Not(), test)]
                yield f"if {ast.unparse(new.test)}", new


def changes(path: str) -> t.Iterator[tuple[str, str, types.CodeType]]:
    """Yield every change of the file. Types, docstrings, decorators and sentences stay as they are."""
    tree = ast.parse(Path(path).read_text("utf-8"))

    def walk(parent: ast.AST, where: str) -> t.Iterator[tuple[str, str, types.CodeType]]:
        for field, value in ast.iter_fields(parent):
            is_type = field in ("annotation", "returns", "decorator_list")
            kept = ast.Constant if isinstance(parent, ast.Expr | ast.JoinedStr) else ()
            for at, node in enumerate(value if isinstance(value, list) else [value]):
                if is_type or not isinstance(node, ast.AST) or isinstance(node, kept):
                    continue
                where = f"{node.lineno}:{node.col_offset}" if isinstance(node, ast.expr | ast.stmt) else where
                for what, new in others(node):
                    there = [*value[:at], new, *value[at + 1 :]] if isinstance(value, list) else new
                    setattr(parent, field, there)
                    code = compile(ast.fix_missing_locations(tree), os.path.realpath(path), "exec")
                    setattr(parent, field, value)
                    yield f"{path}:{where}: {what}", path, code
                yield from walk(node, where)

    return walk(tree, "0")


def is_ours(module: types.ModuleType) -> bool:
    places = {getattr(module, "__file__", None), *getattr(module, "__path__", ())}
    return any(str(each).startswith(os.getcwd()) and "/.venv/" not in str(each) for each in places)


def is_green(work: t.Callable[[], bool]) -> bool:
    """Return what the work returns in a process of its own; False if it fails, or lasts too long."""
    if not (pid := os.fork()):
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        signal.alarm(120)
        try:
            os._exit(not work())
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def runs(tests: list[str], code: types.CodeType | None = None) -> bool:
    """Run the tests, with this code in the place of its file."""
    loader: t.Any = importlib.machinery.SourceFileLoader
    plain, path = loader.get_code, code and code.co_filename
    loader.get_code = lambda self, name: code if os.path.realpath(self.path) == path else plain(self, name)
    return pytest.main(["-qx", *tests]) == 0


def main(files: list[str], tests: list[str]) -> None:
    """Try at most 400 changes, each in a process that starts with the packages of .venv; own tests first."""
    pytest.main(["--collect-only", "-qq", *tests])
    for name in [name for name, module in sys.modules.items() if name != "__main__" and is_ours(module)]:
        del sys.modules[name]
    gc.disable()
    assert is_green(lambda: runs(tests)), "the tests fail without a change, or last longer than two minutes"
    found = [change for path in files for change in changes(path)]
    left, tried = 0, random.Random(1).sample(found, min(400, len(found)))
    for label, path, code in tried:
        own = [str(each) for test in tests for each in Path(test).rglob(f"test_{Path(path).stem}*.py")]
        if (not own or is_green(lambda: runs(own, code))) and is_green(lambda: runs(tests, code)):  # noqa: B023
            left += 1
            print(label, flush=True)
    print(f"{left} of {len(tried)} changes are not noticed; the code has {len(found)}")


if __name__ == "__main__":
    between = sys.argv.index("--")
    main(sys.argv[1:between], sys.argv[between + 1 :])
