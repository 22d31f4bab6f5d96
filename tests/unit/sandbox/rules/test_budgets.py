"""Budgets that a reader of the sandbox feels: width, length of files and functions, size of folders."""

from __future__ import annotations

import ast
import collections
from pathlib import Path

import pytest
from unit.sandbox.rules import house

COLUMNS, LINES, FUNCTION, FILES = 110, 300, 40, 20
PYTHON = [*house.files(), *house.files(house.TESTS)]
TEXTS = [
    *PYTHON,
    house.SANDBOX / "README.md",
    house.SANDBOX / "pyproject.toml",
    *sorted(path for path in house.SANDBOX.rglob("*.yml") if "build" not in path.parts),
]


@pytest.mark.parametrize("path", TEXTS, ids=house.name)
def test_lines_are_short(path: Path) -> None:
    """A row of a table in Markdown cannot be broken."""
    lines = enumerate(path.read_text().splitlines(), 1)
    is_table = path.suffix == ".md"
    assert not [
        number for number, line in lines if len(line) > COLUMNS and not (is_table and line.startswith("|"))
    ]


@pytest.mark.parametrize("path", PYTHON, ids=house.name)
def test_a_file_and_its_functions_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LINES
    long = [
        node.name
        for node in ast.walk(house.tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > FUNCTION
    ]
    assert not long


def test_no_folder_is_crowded() -> None:
    counted = collections.Counter(path.parent for path in PYTHON)
    assert len(counted) > 40
    assert not {house.name(folder) for folder, number in counted.items() if number > FILES}
