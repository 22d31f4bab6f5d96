# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which variables the playbooks read, what they are called, and where the user guide has them."""

from __future__ import annotations

import functools
import importlib
import re
import typing as t
from pathlib import Path

import jinja2
import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.plugin_utils._inputs import NEEDED, OF_ACTION

Data = dict[str, t.Any]

ROOT: t.Final = Path(__file__).resolve().parents[2]
PLAYBOOKS: t.Final = ROOT / "playbooks"
NAMES: t.Final = sorted(path.stem for path in PLAYBOOKS.glob("*.yml"))
# It sends data files to AWX and works on no cluster.
OF_AWX: t.Final = "awx_setup"
ON_CLUSTERS: t.Final = [name for name in NAMES if name != OF_AWX]
MODULES: t.Final = sorted(path.stem for path in (ROOT / "plugins/modules").glob("*.py"))
ROLES: t.Final = sorted(path.name for path in (ROOT / "roles").iterdir())
# Names that Ansible itself defines.
ANSIBLE: t.Final = {
    *("ansible_check_mode", "ansible_failed_result", "ansible_playbook_python", "ansible_run_tags"),
    *("ansible_play_hosts_all", "ansible_skip_tags", "inventory_hostname", "item", "lookup", "loop", "omit"),
    *("playbook_dir", "query"),
}
PLUGINS: t.Final = "ansible_collections.accelerators.openshift.plugins"
EXPRESSIONS: t.Final = {"when", "that"}
VARIABLES: t.Final = "gpu_variables"
IMPORT: t.Final = "ansible.builtin.import_role"
OPERATORS: t.Final = ("node_feature_discovery", "nvidia_network_operator")
# Dry runs may do all that a user can allow: the report of drift has each difference, whoever made it.
ALLOWED: t.Final = {
    "drift": {
        *(f"{role}_adopt" for role in ("gpu_node_pool", "gpu_operator", "gpu_policy", *OPERATORS)),
        *("gpu_network_adopt", "gpu_network_on_busy", "gpu_monitoring_adopt"),
        *(f"{role}_on_busy" for role in ("gpu_operator", "gpu_policy", "gpu_sharing", "node_tuning")),
        *(f"{role}_on_busy" for role in ("gpu_node_pool", OPERATORS[1])),
        f"{OPERATORS[1]}_node_traffic",
        *(f"gpu_node_pool_{one}" for one in ("delete_emptydir", "evict_unmanaged", "on_scaled")),
        "gpu_policy_queue_operator_adopt",
    },
    "render": {
        *(
            f"{role}_on_busy"
            for role in ("gpu_network", "gpu_operator", "gpu_policy", "gpu_sharing", "node_tuning")
        ),
        *(f"{role}_on_busy" for role in ("gpu_node_pool", OPERATORS[1])),
        f"{OPERATORS[1]}_node_traffic",
    },
}
# Options that a playbook computes from the variable, instead of passing it on.
COMPUTED: t.Final = {"gpu_instance_types_catalogue", "gpu_networks", "gpu_pools", "gpu_pool", "gpu_replicas"}


@functools.cache
def read(path: Path) -> t.Any:
    return yaml.safe_load(path.read_text())


def play(name: str) -> Data:
    (found,) = read(PLAYBOOKS / f"{name}.yml")
    assert isinstance(found, dict)
    return found


def steps(of: Data) -> t.Iterator[Data]:
    """Every task of a play, and those of the files that it imports or includes."""
    for section in ("pre_tasks", "tasks", "post_tasks", "block", "always", "rescue"):
        for task in of.get(section, ()):
            yield task
            yield from steps(task)
            if file := task.get("ansible.builtin.import_tasks", task.get("ansible.builtin.include_tasks")):
                yield from read(PLAYBOOKS / file)


def in_tasks(of: Data) -> t.Iterator[str]:
    """Yield the variables that tasks set for themselves, those of loops too."""
    for task in steps(of):
        yield from task.get("vars", ())
        yield from [task["loop_control"]["loop_var"]] if "loop_var" in task.get("loop_control", {}) else []


def files(of: Data) -> Data:
    """Return the variables that the play gets from the role for them, {} without that role."""
    if VARIABLES not in listed(of):
        return {}
    folder = PLAYBOOKS / f"{VARIABLES}/vars/main"
    return {name: value for path in folder.glob("*.yml") for name, value in read(path).items()}


def names(value: t.Any, is_expression: bool = False) -> set[str]:
    """Names that the templates in a value read."""
    if isinstance(value, dict):
        return set().union(*(names(one, key in EXPRESSIONS) for key, one in value.items()), set())
    if isinstance(value, list):
        return set().union(*(names(one, is_expression) for one in value), set())
    text = f"{{{{ {value} }}}}" if is_expression else str(value)
    found = list(jinja2.Environment(autoescape=True).parse(text).find_all(jinja2.nodes.Name))
    return {one.name for one in found if one.ctx == "load"} - {one.name for one in found if one.ctx != "load"}


def specs(role: str) -> Data:
    found: Data = read(ROOT / f"roles/{role}/meta/argument_specs.yml")["argument_specs"]
    return found


def defaults(role: str) -> Data:
    found: Data = read(ROOT / f"roles/{role}/defaults/main.yml")
    return found


def listed(of: Data) -> list[str]:
    return [role["role"].rpartition(".")[2] for role in of.get("roles", ())]


def run_by(of: Data) -> set[str]:
    """Return the roles that a play lists or imports."""
    imported = [task[IMPORT]["name"].rpartition(".")[2] for task in steps(of) if IMPORT in task]
    compared = [task["vars"]["__gpu_role"] for task in steps(of) if "__gpu_role" in task.get("vars", {})]
    return {*listed(of), *imported, *compared} - {VARIABLES, "{{ __gpu_role }}"}


def private() -> set[str]:
    """Return the variables of the roles that nobody sets."""
    return {name for path in (ROOT / "roles").glob("*/vars/main.yml") for name in read(path)}


def role_variables(roles: t.Iterable[str]) -> set[str]:
    return {name for role in roles for name in specs(role)["main"]["options"]}


def registered() -> set[str]:
    """What tasks of roles and playbooks leave behind."""
    tasks = [task for path in (ROOT / "roles").glob("*/tasks/*.yml") for task in read(path)]
    tasks += [task for name in NAMES for task in steps(play(name))]
    read_in = {task.get("ansible.builtin.include_vars", {}).get("name", "") for task in tasks}
    facts = {name for task in tasks for name in task.get("ansible.builtin.set_fact", {})}
    return {task["register"] for task in tasks if "register" in task} | read_in | facts


@functools.cache
def asked(name: str) -> set[str]:
    """Variables that a playbook reads and only its user can set, those of its roles left out."""
    of = play(name)
    own = {*of["vars"], *files(of), *in_tasks(of)}
    left = [{key: one for key, one in defaults(role).items() if key not in of["vars"]} for role in run_by(of)]
    # Of the shared variables a playbook reads only those that it needs.
    shared = names(files(of)) - role_variables(ROLES) - private()
    used = names([of, list(steps(of)), *left]) | shared
    return used - own - registered() - role_variables(run_by(of)) - ANSIBLE - set(OF_ACTION)


def table() -> list[Data]:
    """Rows of the guide's table, one for each playbook and variable."""
    row = re.compile(r"^\| ([^|]+) \| `(\w+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)
    section = (ROOT / "docs/guide.md").read_text().partition("## Variables of the playbooks\n")[2]
    found = row.findall(section.partition("\n## ")[0])
    return [
        {"playbook": name, "variable": variable, "type": kind, "default": default}
        for playbooks, variable, kind, default in found
        for name in (ON_CLUSTERS if playbooks == f"all but `{OF_AWX}`" else re.findall(r"`(\w+)`", playbooks))
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_guide_has_every_variable_and_no_other(name: str) -> None:
    told = [row["variable"] for row in table() if row["playbook"] == name]
    assert sorted(told) == sorted(asked(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_variable_is_ours_by_name(name: str) -> None:
    of = play(name)
    own = {*of["vars"], *files(of), *in_tasks(of)}
    private = own - role_variables(ROLES) - {"ansible_python_interpreter"}
    assert [one for one in private if not one.startswith("__gpu_")] == []
    assert [one for one in asked(name) if not one.startswith("gpu_")] == []


@functools.cache
def options(module: str) -> Data:
    """The options that a module documents, those of its fragments included."""
    doc = yaml.safe_load(importlib.import_module(f"{PLUGINS}.modules.{module}").DOCUMENTATION)
    found: Data = dict(doc.get("options") or {})
    for fragment in doc["extends_documentation_fragment"]:
        if fragment.startswith("accelerators.openshift."):
            file, _dot, part = fragment.removeprefix("accelerators.openshift.").partition(".")
            shared = importlib.import_module(f"{PLUGINS}.doc_fragments.{file}").ModuleDocFragment
            found |= yaml.safe_load(getattr(shared, part.upper() or "DOCUMENTATION")).get("options", {})
    return found


def passed_on(name: str) -> t.Iterator[tuple[str, Data]]:
    """Variables that go into an option of a module as they are, with that option's documentation."""
    for task in steps(play(name)):
        for module in MODULES:
            for option, value in task.get(f"accelerators.openshift.{module}", {}).items():
                found = re.match(r"\{\{ (gpu_\w+) (\| (mandatory|default)|\}\})", str(value))
                if found and found[1] not in COMPUTED | role_variables(ROLES):
                    yield found[1], options(module)[option]


@pytest.mark.parametrize("name", NAMES)
def test_the_guide_has_the_types_and_defaults_of_the_modules(name: str) -> None:
    rows = {row["variable"]: row for row in table() if row["playbook"] == name}
    for variable, option in passed_on(name):
        row = rows[variable]
        default = option.get("default")
        shown = '""' if default == "" else str(default).lower()
        expected = "none" if default is None else f"`{shown}`"
        expected = "required" if option.get("required") or variable in NEEDED.get(name, {}) else expected
        if isinstance(default, list):
            expected = "of the module"
        assert (row["type"], row["default"]) == (option["type"], expected), variable


def ours(of: Data, always: bool = True) -> t.Iterator[tuple[Data, bool]]:
    """Yield each task of a module of the collection, and whether no condition leaves it out."""
    for section in ("pre_tasks", "tasks", "block"):
        for task in of.get(section, ()):
            runs = always and "when" not in task
            if file := task.get("ansible.builtin.import_tasks"):
                yield from ours({"tasks": read(PLAYBOOKS / file)}, runs)
            elif any(key.startswith("accelerators.openshift.") for key in task):
                yield task, runs
            yield from ours(task, runs)


@pytest.mark.parametrize("name", ON_CLUSTERS)
def test_a_run_of_any_tags_checks_what_the_user_set(name: str) -> None:
    """The first task of a module checks variables and tags, before tasks that have the tag write."""
    for task, runs in ours(play(name)):
        assert "always" in task["tags"], task["name"]
        if runs:
            return
    raise AssertionError("each task has a condition")


def test_no_tag_passes_over_a_pool_that_was_refused() -> None:
    """The role goes on with the other pools, so the last task of the playbook has to fail the run."""
    last = play("enable_gpus")["post_tasks"][-1]
    assert (*last, last["when"]) == (
        "name",
        "ansible.builtin.fail",
        "when",
        "tags",
        "__gpu_unready | length > 0",
    )
    assert last["tags"] == ["always"]


def test_the_plan_becomes_inputs_of_roles_in_one_place() -> None:
    """role_inputs.yml sets a role's variable, or it names the wanted state; only the role has its default."""
    variables = role_variables(ROLES)
    inputs = read(PLAYBOOKS / f"{VARIABLES}/vars/main/role_inputs.yml")
    assert {name for name in inputs if not name.startswith("__gpu_")} <= variables
    for path in [*PLAYBOOKS.glob("*.yml"), *PLAYBOOKS.glob("*/**/*.yml")]:
        text = path.read_text()
        set_here = set(re.findall(r"^\s*[-{\s]*(?:vars: \{)?(\w+):", text, re.MULTILINE)) & variables
        if path.stem != "role_inputs":
            stages = ("_state", "_until", "_keep_operator", "_keep_queue_operator")
            assert {name for name in set_here if not name.endswith(stages)} == ALLOWED.get(path.stem, set())
        restated = re.findall(r"\b(\w+) \| default\((?!omit\))", text)
        assert set(restated) & variables == set(), path


def options_of(role: str, module: str, phase: str) -> list[Data]:
    """The options of each task of a role's phase that runs the module."""
    name = f"accelerators.openshift.{module}"
    return [task[name] for task in read(ROOT / f"roles/{role}/tasks/{phase}.yml") if name in task]


@pytest.mark.parametrize("role", [role for role in ROLES if "preflight" in specs(role)])
def test_a_preflight_is_a_dry_run_of_the_later_step(role: str) -> None:
    """On a disconnected cluster catalogues have names of their own, which the user sets once for both."""
    for task in read(ROOT / f"roles/{role}/tasks/preflight.yml"):
        assert task["check_mode"] is True
        if task.get("ansible.builtin.import_tasks") == "present.yml":
            assert task["vars"] == {f"{role}_until": "foreseen"}
            continue
        assert task["changed_when"] is False
        (module,) = [name.rpartition(".")[2] for name in task if name.startswith("accelerators.openshift.")]
        (later,) = options_of(role, module, "present")
        (foreseen,) = options_of(role, module, "preflight")
        assert {
            key: value for key, value in foreseen.items() if key not in ("wait", "joining")
        }.items() <= later.items()


@pytest.mark.parametrize("role", [role for role in ROLES if "preflight" in specs(role)])
def test_a_dry_run_never_counts_as_a_change(role: str) -> None:
    """Each task of present.yml that a preflight runs says so; olm_operator does by `until`."""
    for task in read(ROOT / f"roles/{role}/tasks/present.yml"):
        options: Data = next((value for key, value in task.items() if key.startswith("accelerators.")), {})
        if "import_tasks: present.yml" not in (ROOT / f"roles/{role}/tasks/preflight.yml").read_text():
            continue
        skipped = f"{role}_until != 'foreseen'" in str([task.get("when"), task.get("loop")])
        told = str(options.get("until", "")).startswith("{{ 'foreseen' if ")
        stated = str(task.get("changed_when", "")).startswith(f"{role}_until != 'foreseen' and ")
        assert skipped or told or stated or task.get("changed_when") is False, task["name"]


@pytest.mark.parametrize("role", ROLES)
def test_a_task_of_a_role_never_overrules_the_check_mode_of_a_play(role: str) -> None:
    """A template or false would make drift.yml write, whose play has check_mode."""
    tasks = [task for path in (ROOT / f"roles/{role}/tasks").glob("*.yml") for task in read(path)]
    assert [task["name"] for task in tasks if task.get("check_mode", True) is not True] == []


def test_the_gpu_operator_is_removed_whatever_its_backend() -> None:
    text = (ROOT / "roles/gpu_operator/tasks/absent.yml").read_text()
    assert "gpu_operator_backend" not in text
    removed = {
        task["accelerators.openshift.special_resource"]["backend"] for task in yaml.safe_load(text)[:2]
    }
    # nvidiadriver removes the ClusterPolicy too
    assert removed | {"clusterpolicy"} == set(
        specs("gpu_operator")["main"]["options"]["gpu_operator_backend"]["choices"]
    )


@pytest.mark.parametrize("name", NAMES)
def test_ansible_reads_no_file_of_variables_for_every_task(name: str) -> None:
    """A role's variables are read once for a play, those of vars_files again for each of its tasks."""
    assert "vars_files" not in play(name)
    assert not (PLAYBOOKS / f"{VARIABLES}/tasks").exists()
