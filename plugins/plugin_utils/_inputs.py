# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this plugin util is for the collection's own plugins and can change without notice.
"""What a user set for a playbook of this collection: variables of roles, extra variables and tags.

Ansible checks the variables of a role when the role begins, which may be after the machines are bought. It
ignores names that nothing reads.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
import typing as t
from pathlib import Path

import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import nested

ROOT: t.Final = Path(__file__).resolve().parents[2]
_OWN_INPUTS: t.Final = ROOT / "playbooks/gpu_variables/vars/main/role_inputs.yml"
_PREFIXES: t.Final = ("gpu_", "node_tuning_", "node_feature_discovery_", "nvidia_network_operator_")
_NAME: t.Final = re.compile(r"(?<![\w.])(?:" + "|".join(_PREFIXES) + r")\w+")
_TAGS: t.Final = re.compile(r"\btags: \[?([\w, ]+)")
# Template of one variable, with or without a default.
_ONE: t.Final = re.compile(r"\s*\{\{\s*(\w+)\s*(?:\|\s*default\([^|]*\)|or\s+omit)?\s*\}\}\s*")
# Tags of Ansible itself.
_EVERY: t.Final = ("all", "always", "never", "tagged", "untagged")
# How near a name has to be to count as misspelt; below this it may be the user's own.
_NEAR: t.Final = 0.8
# Variables of playbooks that Ansible checks only when a later task needs them.
OF_PLAYBOOKS: t.Final = {"gpu_update_pools": {"choices": ["leave", "pause", "last"]}}
# Variables that the action plugin reads itself, in every playbook.
OF_ACTION: t.Final = {"gpu_report_dir": {"type": "path"}}
# Variables without which a playbook has nothing to do, each with an example. Of names with a bar, one.
NEEDED: t.Final = {
    "before_openshift_update": {"gpu_update_version": "X.Y.Z"},
    "preflight_update": {"gpu_update_version": "X.Y.Z"},
    "remove_pool": {"gpu_pool": "NAME"},
    "repair_node": {"gpu_node": "NAME"},
    "replace_node": {"gpu_node": "NAME"},
    "resize_pool": {"gpu_pool": "NAME", "gpu_replicas": "NUMBER"},
    "rotate_pull_secret": {"gpu_pull_secret_file|gpu_pull_secret": "FILE"},
}
# A variable that does nothing without another one, with an example of that.
_TOGETHER: t.Final = {
    "gpu_rbac_token_file": {"gpu_rbac_token_playbook": "NAME"},
    "gpu_rbac_token_playbook": {"gpu_rbac_token_file": "PATH"},
    "gpu_rbac_token_seconds": {"gpu_rbac_token_file": "PATH", "gpu_rbac_token_playbook": "NAME"},
}

Variables = t.Mapping[str, t.Any]
Template = t.Callable[[t.Any], t.Any]


@functools.cache
def options() -> dict[str, dict[str, t.Any]]:
    """Return every variable that is checked here, as Ansible describes an option."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, dict[str, t.Any]] = {**OF_PLAYBOOKS, **OF_ACTION}
    for path in sorted(ROOT.glob("roles/*/meta/argument_specs.yml")):
        specs = yaml.load(path.read_text(encoding="utf-8"), loader)["argument_specs"]  # noqa: S506
        for spec in specs.values():
            found |= spec.get("options") or {}
    return found


@functools.cache
def _texts() -> str:
    paths = [*ROOT.glob("playbooks/**/*.yml"), *ROOT.glob("roles/*/tasks/*.yml")]
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(paths))


@functools.cache
def known() -> frozenset[str]:
    """Return the names of all variables that a playbook or role of the collection reads."""
    return frozenset(_NAME.findall(_texts())) | frozenset(options())


@functools.cache
def _tags() -> frozenset[str]:
    return frozenset(name.strip() for found in _TAGS.findall(_texts()) for name in found.split(","))


@functools.cache
def _given_by_plan() -> frozenset[str]:
    return frozenset(re.findall(r"^(\w+):", _OWN_INPUTS.read_text(encoding="utf-8"), re.MULTILINE))


def check(playbook: str, variables: Variables, extra: Variables, template: Template) -> None:
    """Raise InputError with everything that is wrong with variables and tags, or with what is missing.

    extra: the extra variables. template: returns the value of a template, or raises an exception.
    """
    wrong = [
        *_misspelt_tags(variables),
        *_misspelt(variables, extra),
        *_wrong_values(variables, extra, template),
    ]
    if wrong:
        message = f"{' '.join(wrong)} Nothing was changed."
        nears = dict.fromkeys(re.findall(r"did you mean (\w+)\?", message))
        remedy = f"Write {' and '.join(nears)}." if nears else _remedy(wrong[0])
        raise InputError("INPUT-VARIABLE", message, remedy, wrong)
    if missing := _missing(playbook, variables, template):
        unset = " and ".join(missing).replace("|", " or ")
        added = " ".join(f"-e {name.partition('|')[0]}={value}" for name, value in missing.items())
        message = f"{playbook}.yml needs {unset}. Nothing was changed."
        raise InputError("INPUT-REQUIRED", message, f"Add {added} to the command.")


def _missing(playbook: str, variables: Variables, template: Template) -> dict[str, str]:
    """Return the variables that are not set or empty and that the playbook needs, each with an example."""

    def is_set(name: str) -> bool:
        try:
            return template(variables.get(name)) not in (None, "")
        except Exception:
            return True  # A template without a value yet is the task's matter.

    needed = dict(NEEDED.get(playbook, {}))
    for name, others in _TOGETHER.items():
        needed |= others if is_set(name) else {}
    return {name: value for name, value in needed.items() if not any(map(is_set, name.split("|")))}


def _remedy(wrong: str) -> str:
    """Return where the variable is described that this text begins with."""
    name = re.split(r"\W", wrong, maxsplit=1)[0]
    roles = [path.name for path in ROOT.glob("roles/*") if name.startswith(f"{path.name}_")]
    role = max(roles, key=len, default="ROLE")
    return f"Correct {name}; ansible-doc -t role accelerators.openshift.{role} describes it."


def warnings(variables: Variables, extra: Variables) -> list[str]:
    """Return a warning about each variable of the inventory whose name is nearly one of ours."""
    return [
        f"No playbook and no role reads {name}: did you mean {near}?"
        for name in sorted(set(variables) - set(extra))
        if (near := _nearly(name))
    ]


def users_names(arguments: t.Any, variables: Variables) -> dict[str, str]:
    """Return the user's variable for each option that has its value from one. arguments: as written."""
    found = {}
    for option, text in arguments.items() if isinstance(arguments, dict) else ():
        name = ""
        while isinstance(text, str) and (match := _ONE.fullmatch(text)) and match[1] != name:
            name = match[1]
            text = variables.get(name)
        if name and not name.startswith("__"):
            found[option] = name
    return found


def _nearly(name: str) -> str:
    """Return the known name that this unknown one was meant to be, or ""."""
    if not name.startswith(_PREFIXES) or name in known():
        return ""
    return next(iter(difflib.get_close_matches(name, known(), 1, _NEAR)), "")


def _misspelt(variables: Variables, extra: Variables) -> t.Iterator[str]:
    for name in sorted(map(str, extra)):
        others = [str(value) for other, value in extra.items() if other != name]
        is_read = any(name in text for text in (*others, str(variables.get("gpu_pools"))))
        if not is_read and (near := _nearly(name)):
            yield f"The extra variable {name} is read by no playbook and no role (did you mean {near}?)."


def _misspelt_tags(variables: Variables) -> t.Iterator[str]:
    for option, key in (("--tags", "ansible_run_tags"), ("--skip-tags", "ansible_skip_tags")):
        for tag in map(str, variables.get(key) or ()):
            if tag not in _tags() and tag not in _EVERY:
                near = difflib.get_close_matches(tag, sorted(_tags()), 1, _NEAR)
                if near:
                    yield f"{option} {tag}: no task has this tag (did you mean {near[0]}?)."


def _wrong_values(variables: Variables, extra: Variables, template: Template) -> t.Iterator[str]:
    specs = options()
    for name in sorted(specs.keys() & variables.keys()):
        if name in _given_by_plan() and name not in extra:
            continue
        try:
            value = template(variables[name])
        except Exception:  # noqa: S112
            continue  # A value from a later result, or from a secret store, is the role's matter.
        found = [
            *nested.problems({name: specs[name]}, {name: value}),
            *_wrong_choice(name, specs[name], value),
        ]
        yield from found or _refused(name, specs[name], value)


def _refused(name: str, option: t.Mapping[str, t.Any], value: t.Any) -> t.Iterator[str]:
    """Yield what Ansible itself would say against the value when the role begins."""
    for text in ArgumentSpecValidator({name: option}).validate({name: value}).error_messages:
        yield f"{name} is {json.dumps(value, default=str)}: {text}."


def _wrong_choice(name: str, option: t.Mapping[str, t.Any], value: t.Any) -> t.Iterator[str]:
    choices = [str(choice) for choice in option.get("choices") or ()]
    values = value.split(",") if isinstance(value, str) and option.get("type") == "list" else value
    for item in (values if isinstance(values, list) else [values]) if choices else ():
        # YAML reads off as false, and Ansible reads that as the choice off.
        if isinstance(item, (str, int)) and not isinstance(item, bool) and str(item).strip() not in choices:
            near = difflib.get_close_matches(str(item), choices, 1, 0.6)
            hint = f" (did you mean {near[0]}?)" if near else ""
            yield f"{name} is {item}{hint}. Allowed are {', '.join(choices)}."
