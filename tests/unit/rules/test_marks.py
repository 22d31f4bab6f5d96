"""The marks of tests: each says why, and a file that it names is there. A SCENARIO has its own sandbox."""

from __future__ import annotations

import ast
import re
import typing as t
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(path for path in ROOT.rglob("test_*.py") if "unit" not in path.relative_to(ROOT).parts)
HELPERS = sorted(set(ROOT.rglob("*.py")) - set(FILES) - set((ROOT / "unit").rglob("*.py")))
NAMES = {path.name for path in FILES}
MARKS = {"pytest.mark.long", "pytest.mark.story"}


def marks(path: Path) -> t.Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in MARKS:
            yield node


def test_a_mark_says_why_and_names_files_that_exist() -> None:
    calls = [call for path in [*FILES, *HELPERS] for call in marks(path)]
    assert [ast.unparse(call) for call in calls if len(call.args) != 1 or call.keywords] == []
    reasons = [ast.literal_eval(call.args[0]) for call in calls]
    assert all(reason.strip() for reason in reasons)
    assert set(re.findall(r"test_\w+\.py", "\n".join(reasons))) <= NAMES


def test_each_mark_is_used() -> None:
    found = {ast.unparse(call.func) for path in [*FILES, *HELPERS] for call in marks(path)}
    assert found == MARKS


def fixtures(path: Path) -> list[str]:
    """Return the texts of the conftest.py files of a test file, without the one of all tests."""
    found = (parent / "conftest.py" for parent in path.parents if parent.is_relative_to(ROOT))
    return [one.read_text() for one in found if one.exists() and one.parent != ROOT]


WITH_SCENARIO = [path for path in FILES if re.search(r"^SCENARIO\b", path.read_text(), re.MULTILINE)]


def reads_its_scenario(path: Path) -> bool:
    readers = ("module.SCENARIO", "import cluster", "import place")
    by_folder = any(word in text for text in fixtures(path) for word in readers)
    text = path.read_text()
    return by_folder or "cluster = own_cluster.cluster\n" in text or text.count("SCENARIO") > 1


def test_a_fixture_reads_the_scenario_of_a_file() -> None:
    """Otherwise the file would share a sandbox, and leave there what it means for its own."""
    assert WITH_SCENARIO
    assert [path.name for path in WITH_SCENARIO if not reads_its_scenario(path)] == []
