"""Line budgets: a file that outgrows its budget holds a noun too many."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MODULES = sorted((ROOT / "plugins/modules").glob("*.py"))
UTILS = sorted(
    [*(ROOT / "plugins/module_utils").rglob("*.py"), *(ROOT / "plugins/plugin_utils").rglob("*.py")]
)
TASKS = sorted((ROOT / "roles").glob("*/tasks/*.yml"))
READMES = sorted((ROOT / "roles").glob("*/README.md"))
PAPERS = {"DOCUMENTATION", "EXAMPLES", "RETURN"}

# A budget broken on purpose stands here, with its reason.
RAISED: dict[str, tuple[int, str]] = {}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def code_lines(path: Path) -> int:
    """Lines of code: without documentation blocks, imports, comments and blank lines."""
    tree = ast.parse(path.read_text())
    papers: set[int] = set()
    for node in tree.body:
        is_paper = (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in PAPERS
        )
        if is_paper or isinstance(node, (ast.Import, ast.ImportFrom)):
            papers |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    text = path.read_text().splitlines()
    return sum(
        1
        for number, line in enumerate(text, 1)
        if number not in papers and line.strip() and not line.lstrip().startswith("#")
    )


def budget(path: Path, usual: int) -> int:
    return RAISED.get(name(path), (usual, ""))[0]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_is_a_declaration(path: Path) -> None:
    assert code_lines(path) <= budget(path, 60)
    assert lines(path) <= 300


@pytest.mark.parametrize("path", UTILS, ids=name)
def test_a_util_holds_one_noun(path: Path) -> None:
    assert lines(path) <= budget(path, 300)


@pytest.mark.parametrize("path", TASKS, ids=name)
def test_a_tasks_file_is_read_at_a_glance(path: Path) -> None:
    assert lines(path) <= (40 if path.name == "main.yml" else 80)


@pytest.mark.parametrize("path", READMES, ids=name)
def test_the_readme_of_a_role_is_short(path: Path) -> None:
    assert lines(path) <= 25


def test_every_raised_budget_is_needed() -> None:
    assert all(
        (ROOT / path).is_file() and lines(ROOT / path) > 60 and reason
        for path, (_more, reason) in RAISED.items()
    )
