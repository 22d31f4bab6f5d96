"""Budgets that a reader feels: the width of lines, the length of functions, the size of a module."""

from __future__ import annotations

import ast
import functools
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COLUMNS, FUNCTION = 110, 40
# The code lines of a module: its options, and a function that says which step comes when.
DECLARATION = 60

MODULES = sorted((ROOT / "plugins/modules").glob("*.py"))
PYTHON = sorted(
    path
    for top in ("benchmarks", "plugins", "sandbox/openshift_sandbox", "tests")
    for path in (ROOT / top).rglob("*.py")
)
TEXTS = [
    ROOT / "sandbox/README.md",
    ROOT / "sandbox/pyproject.toml",
    *sorted(path for path in (ROOT / "sandbox").rglob("*.yml") if "build" not in path.parts),
]
PAPERS = {"DOCUMENTATION", "EXAMPLES", "RETURN"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@functools.cache
def text(path: Path) -> list[str]:
    return path.read_text().splitlines()


def wide(path: Path) -> list[int]:
    """Return the numbers of the lines that are too wide; a row of a table in Markdown cannot be broken."""
    is_table = path.suffix == ".md"
    return [
        number
        for number, line in enumerate(text(path), 1)
        if len(line) > COLUMNS and not (is_table and line.startswith("|"))
    ]


def long_functions(path: Path) -> set[str]:
    """Return the names of functions that are too long, tests among them."""
    return {
        node.name
        for node in ast.walk(ast.parse("\n".join(text(path))))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > FUNCTION
    }


def code_lines(path: Path) -> int:
    """Return the number of lines without documentation blocks, imports, comments and blank lines."""
    papers: set[int] = set()
    for node in ast.parse("\n".join(text(path))).body:
        is_paper = (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in PAPERS
        )
        if is_paper or isinstance(node, ast.Import | ast.ImportFrom):
            papers |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(
        1
        for number, line in enumerate(text(path), 1)
        if number not in papers and line.strip() and not line.lstrip().startswith("#")
    )


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_lines_are_short(path: Path) -> None:
    assert not wide(path)


def test_ruff_refuses_wide_lines_but_in_the_folders_that_have_some() -> None:
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    assert ruff["pycodestyle"]["max-line-length"] == COLUMNS
    excused = {key for key, rules in ruff["per-file-ignores"].items() if "E501" in rules}
    assert {f"{name(path.parent)}/*.py" for path in PYTHON if wide(path)} == excused


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_the_functions_of_a_file_are_short(path: Path) -> None:
    assert not long_functions(path)


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_is_a_declaration(path: Path) -> None:
    assert code_lines(path) <= DECLARATION


def test_yaml_that_a_user_gets_is_narrow() -> None:
    folders = ("awx", "examples", "molecule", "playbooks", "roles")
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.yml"))]
    assert [f"{path}:{number}" for path in paths for number in wide(path)] == []
