"""What the rules of the sandbox look at: its files, and what each imports."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[4]
SANDBOX = CHECKOUT / "sandbox"
CODE = SANDBOX / "openshift_sandbox"
TESTS = CHECKOUT / "tests/unit/sandbox"
STAND_INS = CODE / "stand_ins"
NAME = "openshift_sandbox"


def files(folder: Path = CODE) -> list[Path]:
    """Return the Python files of a folder and of the folders in it, in the order of their paths."""
    return sorted(folder.rglob("*.py"))


def name(path: Path) -> str:
    """Return the path of a file inside the checkout."""
    return str(path.relative_to(CHECKOUT))


@functools.cache
def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text())


def docstring(path: Path) -> str:
    """Return the docstring of a file, or an empty text."""
    return ast.get_docstring(tree(path)) or ""


def module(path: Path) -> str:
    """Return the dotted name of a file in the sandbox's package; for `__init__` that of its folder."""
    parts = path.relative_to(CODE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def modules() -> dict[str, Path]:
    """Return every file of the sandbox by its dotted name."""
    return {module(path): path for path in files()}


def imported(path: Path) -> set[str]:
    """Return the dotted names of the sandbox's modules that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == NAME:
            base = (node.module or "").removeprefix(NAME).removeprefix(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}".removeprefix(".")
                found.add(inner if inner in modules() else base)
        elif isinstance(node, ast.Import):
            found |= {one.name.removeprefix(f"{NAME}.") for one in node.names if one.name.startswith(NAME)}
    return found
