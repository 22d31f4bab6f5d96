"""What must be said twice is said the same way twice."""

from __future__ import annotations

import itertools
import re
import typing as t
from pathlib import Path

import jinja2
import pytest
import yaml
from unit.rules.role_tasks import passed

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import CODES

ROOT = Path(__file__).resolve().parents[3]
MODULES = sorted(path.stem for path in (ROOT / "plugins/modules").glob("*.py"))
ROLES = sorted(path.parent.parent for path in (ROOT / "roles").glob("*/meta/argument_specs.yml"))


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
    assert "ansible-core==2.16." in (ROOT / "requirements-oldest.txt").read_text()
    runtime = read("meta/runtime.yml")
    assert isinstance(runtime, dict)
    assert runtime["requires_ansible"] == ">=2.16.0"
    roles = [yaml.safe_load((role / "meta/main.yml").read_text()) for role in ROLES]
    assert {role["galaxy_info"]["min_ansible_version"] for role in roles} == {"2.16"}


@pytest.mark.parametrize("name", ["oldest", "dev", "newest"])
def test_the_readme_says_which_releases_of_ansible_are_tested(name: str) -> None:
    pinned = re.search(
        r"^ansible-core==(\d+\.\d+)\.", (ROOT / f"requirements-{name}.txt").read_text(), re.MULTILINE
    )
    assert pinned
    section = (ROOT / "README.md").read_text().partition("The collection supports ansible-core")[2]
    assert re.search(rf"\b{re.escape(pinned[1])}\b", section.partition("\n\n")[0])


def entry_points(role: Path) -> dict[str, t.Any]:
    specs: dict[str, t.Any] = yaml.safe_load((role / "meta/argument_specs.yml").read_text())["argument_specs"]
    return {name: specs[name]["options"] for name in specs}


def tasks(path: Path) -> list[dict[str, t.Any]]:
    return yaml.safe_load(path.read_text()) or []


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_defaults_equal_the_argument_specs(role: Path) -> None:
    main, *others = entry_points(role).values()
    defaults = yaml.safe_load((role / "defaults/main.yml").read_text()) or {}
    # A default may come from a variable of the playbooks; this is the one without it.
    plain = {
        name: yaml.safe_load(jinja2.Environment(autoescape=True).from_string(value).render())
        if "{{" in str(value)
        else value
        for name, value in defaults.items()
    }
    assert {name: option["default"] for name, option in main.items() if "default" in option} == plain
    assert all(name.startswith(f"{role.name}_") for name in main)
    assert not [name for name, option in main.items() if not option.get("description")]
    for options in others:
        assert options == {name: main[name] for name in options}


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_an_entry_point_reads_exactly_the_variables_of_its_specs(role: Path) -> None:
    results = {
        task["register"]
        for path in (role / "tasks").glob("*.yml")
        for task in tasks(path)
        if "register" in task
    }
    private = (
        yaml.safe_load((role / "vars/main.yml").read_text()) if (role / "vars/main.yml").exists() else {}
    )
    for name, options in entry_points(role).items():
        is_main = name == "main" or "import_tasks: present.yml" in (role / f"tasks/{name}.yml").read_text()
        phases = ["present", "absent", "main"] if is_main else [name]
        text = "\n".join((role / f"tasks/{phase}.yml").read_text() for phase in phases)
        text += "\n".join(str(value) for key, value in private.items() if key in text)
        read = (
            set(re.findall(rf"(?<![\w]){role.name}_\w+", text))
            - results
            - {f"{role.name}_present", f"{role.name}_absent"}
        )
        assert read == set(options), name


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_an_entry_point_of_specs_has_tasks(role: Path) -> None:
    names = {path.stem for path in (role / "tasks").glob("*.yml")}
    assert names == {*entry_points(role), "present", "absent"}


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_a_role_has_its_phases(role: Path) -> None:
    for path in (role / "tasks").glob("*.yml"):
        for task in tasks(path):
            assert path.stem == "main" or task["name"].startswith(f"{path.stem} | "), (
                f"{path}: {task['name']}"
            )


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_a_tag_of_a_state_selects_the_tasks_of_no_other(role: Path) -> None:
    """The tags of an include choose its tasks, so they name the state that the include is for."""
    state = f"{{{{ {role.name}_state }}}}"
    (task,) = tasks(role / "tasks/main.yml")
    included = task["ansible.builtin.include_tasks"]
    assert included["file"] == f"{state}.yml"
    assert included["apply"] == {"tags": [role.name, f"{role.name}_{state}"]}
    assert task["tags"] == [role.name, f"{role.name}_present", f"{role.name}_absent"]
    assert entry_points(role)["main"][f"{role.name}_state"]["choices"] == ["present", "absent"]


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_the_readme_of_a_role_is_short_and_names_its_entry_points(role: Path) -> None:
    text = (role / "README.md").read_text()
    assert len(text.splitlines()) <= 25
    (told,) = re.findall(r"entry points?\b.*?(?:Every|Read|More)\b", text, re.IGNORECASE | re.DOTALL)
    assert set(re.findall(r"`(main|preflight|request)`", told)) == set(entry_points(role))


def variables_of_plays(part: object) -> t.Iterator[str]:
    """Yield the names that plays, blocks and tasks set for themselves."""
    if isinstance(part, list):
        for one in part:
            yield from variables_of_plays(one)
    elif isinstance(part, dict):
        yield from part.get("vars") or {}
        for key in ("pre_tasks", "tasks", "post_tasks", "block", "rescue", "always"):
            yield from variables_of_plays(part.get(key))


SHARED: t.Final = sorted((ROOT / "playbooks/gpu_variables/vars/main").glob("*.yml"))
PLAYBOOKS: t.Final = [*(ROOT / "playbooks").glob("*.yml"), *(ROOT / "playbooks/tasks").glob("*.yml")]


@pytest.mark.parametrize("playbook", PLAYBOOKS, ids=lambda path: path.stem)
def test_no_playbook_has_a_variable_of_the_shared_ones(playbook: Path) -> None:
    """A variable of a role wins over the play's: the play would read the wrong one and say nothing."""
    files = [*SHARED, *(path for role in ROLES for path in role.glob("vars/*.yml"))]
    shared = {name for path in files for name in yaml.safe_load(path.read_text())}
    assert shared
    assert sorted(shared & set(variables_of_plays(yaml.safe_load(playbook.read_text())))) == []


# An option that a variable of a role sets under another name: the role says what the name is of.
OTHER_NAMES: t.Final = {("name", "package"), ("pools", "partitions")}


def test_a_variable_of_a_role_has_the_name_of_the_option_that_it_sets() -> None:
    roles = "|".join(role.name for role in ROLES)
    straight = re.compile(
        rf"\{{\{{ (?:{roles})_(?:queue_operator_)?(\w+?)(?: \| default\(omit\)| or omit)? \}}\}}"
    )
    found = [(one.option, straight.fullmatch(str(one.template))) for one in passed() if one.where in roles]
    pairs = {(option, match[1]) for option, match in found if match}
    assert len(pairs) > 50
    assert {pair for pair in pairs if pair[0] != pair[1]} == OTHER_NAMES


def test_codes_write_a_word_in_one_way() -> None:
    """NOT-READY in one family is not NOTREADY in another."""
    words = {word for code in CODES for word in code.split("-")}
    pairs = {"".join(pair) for code in CODES for pair in itertools.pairwise(code.split("-"))}
    assert words & pairs == set()


@pytest.mark.parametrize("playbook", PLAYBOOKS, ids=lambda path: path.stem)
def test_a_task_that_shows_something_says_so(playbook: Path) -> None:
    text = playbook.read_text()
    shows = re.findall(r"name: (?:\w+ \| )?(.+)\n +ansible\.builtin\.debug:", text)
    assert [name for name in shows if not name.startswith("Show ")] == []
