"""What the tasks of roles and playbooks pass to modules, rendered by Ansible with a user's variables."""

from __future__ import annotations

import functools
import re
import typing as t
from pathlib import Path

import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

Data = dict[str, t.Any]
ROOT: t.Final = Path(__file__).resolve().parents[3]
PREFIX: t.Final = "accelerators.openshift."
ROLES: t.Final = sorted(path.name for path in (ROOT / "roles").iterdir())
OMITTED: t.Final = "__omitted__"
LOCK: t.Final = f"group/{PREFIX}gpu_lock"
# What the plan returns and what a loop goes through: the options that are computed from `gpu_pools`.
POOL: t.Final[Data] = {"name": "p", "pool": "p", "node_selector": {"p": "p"}, "expected": {}}
_PARTS: t.Final = (
    "quotas",
    "priorities",
    "partitions",
    "validations",
    "tolerations",
    "groups",
    "expected_labels",
)
PLAN: t.Final[Data] = {
    "pools": [POOL],
    "stack": {"backend": "clusterpolicy", "driver": {}},
    "proofs": {"sharing": [], "preemption": []},
    **{part: [] for part in _PARTS},
}
GIVEN: t.Final[Data] = {
    "omit": OMITTED,
    "gpu_plan_result": {"plan": PLAN},
    "gpu_node_pool_result": {"results": []},
    "gpu_pools": [POOL],
    "gpu_pool": "p",
    "gpu_replicas": 1,
    "gpu_node": "n",
    "gpu_update_version": "4.22.6",
    "ansible_run_tags": ["all"],
    "ansible_skip_tags": [],
    "ansible_check_mode": False,
    **{f"__{name}_pool": POOL for name in ("gpu_node_pool", "gpu_validation")},
    "__gpu_policy_priority": {"name": "high", "value": 1},
}


class Passed(t.NamedTuple):
    """An option that a task passes to a module. where: the playbook or role; local: the task's own vars."""

    where: str
    module: str
    option: str
    template: t.Any
    local: Data


@functools.cache
def read(path: Path) -> t.Any:
    """Return a file of the collection as Ansible reads it, with templates that it may render."""
    return DataLoader().load_from_file(str(path), trusted_as_template=True)


def defaults(role: str) -> Data:
    """Return the defaults and the variables of a role."""
    found = dict(read(ROOT / f"roles/{role}/defaults/main.yml"))
    private = ROOT / f"roles/{role}/vars/main.yml"
    return found | (dict(read(private)) if private.exists() else {})


@functools.cache
def passed() -> tuple[Passed, ...]:
    """Return every option that a task of a role or a playbook passes to a module of the collection."""
    found: list[Passed] = []
    for role in ROLES:
        for path in sorted((ROOT / f"roles/{role}/tasks").glob("*.yml")):
            found += _of_tasks(role, read(path))
    for path in sorted((ROOT / "playbooks").glob("*.yml")):
        (play,) = read(path)
        tasks = [*play.get("pre_tasks", ()), *play.get("tasks", ()), *play.get("post_tasks", ())]
        found += _of_tasks(path.stem, tasks, play["vars"])
        for option, template in play.get("module_defaults", {}).get(LOCK, {}).items():
            found.append(Passed(path.stem, "any", option, template, {}))
    return tuple(found)


def _of_tasks(where: str, tasks: t.Sequence[Data], of_play: Data | None = None) -> list[Passed]:
    found: list[Passed] = []
    for task in tasks:
        found += _of_tasks(where, [*task.get("block", ()), *task.get("always", ())], of_play)
        local = {**(of_play or {}), **task.get("vars", {})}
        found += [
            Passed(where, action.removeprefix(PREFIX), option, template, local)
            for action, options in task.items()
            if action.startswith(PREFIX)
            for option, template in _options(where, options).items()
        ]
    return found


def _options(where: str, options: Data) -> Data:
    """Return the options of a task, and those of an operator that a variable of the role has.

    The list of a playbook has the same variables.
    """
    operators = options.get("operators")
    plain = {option: value for option, value in options.items() if option != "operators"}
    if where not in ROLES:
        return plain if "__gpu_operators" in str(operators) else options
    return plain | (defaults(where)[operators[0].strip("{ }")] if operators else {})


def rendered(one: Passed, user: t.Mapping[str, t.Any]) -> t.Any:
    """Return the value that the module gets when the user sets these variables."""
    return Templar(loader=DataLoader(), variables={**_shared(), **one.local, **user}).template(one.template)


@functools.cache
def _shared() -> Data:
    """Return the variables of all roles and those that the playbooks compute from the plan."""
    shared = sorted((ROOT / "playbooks/gpu_variables/vars/main").glob("*.yml"))
    known = {key: value for role in ROLES for key, value in defaults(role).items()}
    return {**known, **GIVEN, **{key: value for path in shared for key, value in read(path).items()}}


def _reads(one: Passed) -> set[str]:
    """Return the names in the option's template, and in the templates of the variables that it names."""
    known = {**_shared(), **one.local}
    found: set[str] = set()
    rest = set(re.findall(r"\w+", repr(one.template)))
    while rest:
        found |= rest
        more = (re.findall(r"\w+", repr(known[name])) for name in rest if name in known)
        rest = {name for names in more for name in names} - found
    return found


@functools.cache
def _readers() -> dict[str, list[Passed]]:
    """Return the options whose templates may depend on a variable, by its name."""
    found: dict[str, list[Passed]] = {}
    for one in passed():
        for name in _reads(one):
            found.setdefault(name, []).append(one)
    return found


@functools.cache
def reached(variable: str, value: str) -> frozenset[tuple[str, str]]:
    """Return module and option of each task that passes another value once the user sets the variable.

    value: as YAML, as a user writes it. A flag may be the default: it is compared with its opposite.
    """
    wanted = yaml.safe_load(value)
    other = {variable: not wanted} if isinstance(wanted, bool) else {}
    return frozenset(
        (one.module, one.option)
        for one in read_by(variable)
        if repr(rendered(one, {variable: wanted})) != repr(rendered(one, other))
    )


def read_by(variable: str) -> list[Passed]:
    """Return the options of tasks whose templates may depend on a variable."""
    return _readers().get(variable, [])


def options_of(variable: str, user: Data, module: str, where: str = "") -> Data:
    """Return what the tasks pass for each option of a module that depends on a variable.

    user: the variables that the user sets. where: the role or playbook of the tasks, if several pass
    different values. An option that a task leaves out is missing. Raises AssertionError for two values of
    one option.
    """
    found: dict[str, list[t.Any]] = {}
    for one in read_by(variable):
        if one.module == module and where in ("", one.where):
            given = _without_omitted(rendered(one, user))
            if given not in found.setdefault(one.option, []):
                found[one.option].append(given)
    assert all(len(values) == 1 for values in found.values()), found
    return {option: values[0] for option, values in found.items() if values[0] != OMITTED}


def _without_omitted(value: t.Any) -> t.Any:
    """Return the value as Ansible passes it: without the keys whose value is `omit`."""
    if isinstance(value, dict):
        return {key: _without_omitted(one) for key, one in value.items() if one != OMITTED}
    return [_without_omitted(one) for one in value] if isinstance(value, list) else value
