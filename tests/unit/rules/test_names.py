"""What must be said twice is said the same way twice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
MODULES = sorted(path.stem for path in (ROOT / "plugins/modules").glob("*.py"))
ROLES = sorted(path.parent.parent for path in (ROOT / "roles").glob("*/meta/argument_specs.yml"))
CODE = re.compile(
    r"\"((?:INPUT|POOL|API|CRED|MACH|NFD|OLM|GPU|NIC|QUOTA|UPDATE|WORK|WAIT|MANIFEST|NODE)-[A-Z0-9-]*[A-Z0-9]|INTERNAL)\""
)


def read(path: str) -> object:
    return yaml.safe_load((ROOT / path).read_text())


def test_the_action_group_has_every_module() -> None:
    runtime = read("meta/runtime.yml")
    assert isinstance(runtime, dict)
    group = runtime["action_groups"]["gpu"]
    assert sorted(entry for entry in group if isinstance(entry, str)) == MODULES
    assert {"metadata": {"extend_group": ["kubernetes.core.k8s"]}} in group


def test_every_module_can_run_in_process() -> None:
    assert sorted(path.stem for path in (ROOT / "plugins/action").glob("*.py")) == MODULES


def test_the_python_floor_is_what_is_tested() -> None:
    assert read("tests/config.yml") == {"modules": {"python_requires": ">=3.11"}}
    assert "ansible-core==2.19." in (ROOT / "requirements-dev.txt").read_text()
    runtime = read("meta/runtime.yml")
    assert isinstance(runtime, dict)
    assert runtime["requires_ansible"] == ">=2.19.0"


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_defaults_equal_the_argument_specs(role: Path) -> None:
    specs = yaml.safe_load((role / "meta/argument_specs.yml").read_text())["argument_specs"]["main"][
        "options"
    ]
    defaults = yaml.safe_load((role / "defaults/main.yml").read_text()) or {}
    assert {name: option["default"] for name, option in specs.items() if "default" in option} == defaults
    assert all(name.startswith(f"{role.name}_") for name in specs)
    assert not [name for name, option in specs.items() if not option.get("description")]


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_a_role_has_its_phases(role: Path) -> None:
    names = {path.stem for path in (role / "tasks").glob("*.yml")}
    assert "main" in names
    for path in (role / "tasks").glob("*.yml"):
        for task in yaml.safe_load(path.read_text()) or []:
            assert path.stem == "main" or task["name"].startswith(f"{path.stem} | "), (
                f"{path}: {task['name']}"
            )


def raised() -> set[str]:
    return {code for path in (ROOT / "plugins").rglob("*.py") for code in CODE.findall(path.read_text())}


def documented() -> set[str]:
    return set(re.findall(r"^\| ([A-Z][A-Z0-9-]+) \|", (ROOT / "docs/errors.md").read_text(), re.MULTILINE))


def test_every_code_is_documented() -> None:
    assert raised() - documented() == set()


def test_every_documented_code_exists() -> None:
    assert documented() - raised() == set()
