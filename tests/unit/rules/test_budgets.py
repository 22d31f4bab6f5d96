"""Budgets that a reader feels: the width of lines, the length of files and functions, the size of folders."""

from __future__ import annotations

import ast
import collections
import functools
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COLUMNS, LINES, FUNCTION, FILES = 110, 300, 40, 20
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
# Ansible finds every module and its action in these two.
ANSIBLES = {ROOT / "plugins/modules", ROOT / "plugins/action"}
TASKS = sorted((ROOT / "roles").glob("*/tasks/*.yml"))
READMES = sorted((ROOT / "roles").glob("*/README.md"))
PAPERS = {"DOCUMENTATION", "EXAMPLES", "RETURN"}

# What is over a budget and has to be mended. A name that is within the budgets again leaves its list.
LONG: set[str] = set()
LONG_FUNCTIONS: dict[str, set[str]] = {}
CROWDED: set[str] = set()
# Ansible looks for modules, and for their actions, in one folder each: a new module adds a file to both.
FLAT = {"plugins/action", "plugins/modules"}


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
def test_a_file_and_its_functions_are_short(path: Path) -> None:
    """A worker of pytest-xdist runs whole files: short ones let all workers end together."""
    assert (len(text(path)) > LINES) == (name(path) in LONG), len(text(path))
    assert long_functions(path) == LONG_FUNCTIONS.get(name(path), set())


def test_a_folder_can_be_seen_at_a_glance() -> None:
    counted = collections.Counter(path.parent for path in PYTHON if path.parent not in ANSIBLES)
    assert len(counted) > 120
    assert {name(folder) for folder, number in counted.items() if number > FILES} - FLAT == CROWDED


def test_the_lists_name_files_that_are_there() -> None:
    assert LONG | set(LONG_FUNCTIONS) <= {name(path) for path in PYTHON}


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_is_a_declaration(path: Path) -> None:
    assert code_lines(path) <= DECLARATION


@pytest.mark.parametrize("path", TASKS, ids=name)
def test_a_tasks_file_is_read_at_a_glance(path: Path) -> None:
    assert len(text(path)) <= (40 if path.name == "main.yml" else 80)


@pytest.mark.parametrize("path", READMES, ids=name)
def test_the_readme_of_a_role_is_short(path: Path) -> None:
    assert len(text(path)) <= 25


def test_yaml_that_a_user_gets_is_narrow() -> None:
    folders = ("awx", "examples", "molecule", "playbooks", "roles")
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.yml"))]
    assert [f"{path}:{number}" for path in paths for number in wide(path)] == []
