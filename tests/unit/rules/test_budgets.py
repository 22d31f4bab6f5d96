"""Budgets that a reader feels and ruff does not hold: the width of YAML, the size of a module."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COLUMNS = 110
# The code lines of a module: its options, and a function that says which step comes when.
DECLARATION = 60

MODULES = sorted((ROOT / "plugins/modules").glob("*.py"))
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


def test_lines_are_short() -> None:
    assert {name(path): wide(path) for path in TEXTS if wide(path)} == {}


def test_a_module_is_a_declaration() -> None:
    assert {name(path): code_lines(path) for path in MODULES if code_lines(path) > DECLARATION} == {}


def test_yaml_that_a_user_gets_is_narrow() -> None:
    folders = ("awx", "examples", "molecule", "playbooks", "roles")
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.yml"))]
    assert [f"{path}:{number}" for path in paths for number in wide(path)] == []
