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
from ansible_collections.accelerators.openshift.plugins.module_utils._core.syntax import name_fault
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
_RESULT: t.Final = re.compile(r"\bregister: (\w+)")
# Variables of Ansible itself that hold those of every host.
_OF_ALL_HOSTS: t.Final = ("hostvars", "vars")
# Variables of playbooks that Ansible checks only when a later task needs them, or never: a template takes
# each word but yes for no.
OF_PLAYBOOKS: t.Final[dict[str, dict[str, t.Any]]] = {
    "gpu_on_busy": {"choices": ["fail", "drain", "wait"]},
    "gpu_update_pools": {"choices": ["leave", "pause", "last"]},
    "gpu_lock_timeout": {"type": "int"},
    "gpu_report_only": {"type": "bool"},
    "gpu_drift_fail": {"type": "bool"},
    "gpu_mig_reboot": {"type": "bool"},
    "gpu_upgrade_validate": {"type": "bool"},
    "gpu_cluster_quotas": {"type": "list", "elements": "dict"},
    "gpu_queue_topology": {"type": "list", "elements": "str"},
    "gpu_tolerations": {
        "type": "list",
        "elements": "dict",
        "options": {
            "key": {},
            "operator": {"choices": ["Exists", "Equal"]},
            "value": {},
            "effect": {"choices": ["NoSchedule", "PreferNoSchedule", "NoExecute"]},
            "tolerationSeconds": {"type": "int"},
        },
    },
}
# Variables that the action plugin reads itself, in every playbook.
OF_ACTION: t.Final = {"gpu_report_dir": {"type": "path"}}
# Variables without which a playbook has nothing to do, each with an example. Of names with a bar, one.
NEEDED: t.Final = {
    "before_openshift_update": {"gpu_update_version": "X.Y.Z"},
    "must_gather": {"gpu_gather_dir": "DIR"},
    "preflight_update": {"gpu_update_version": "X.Y.Z"},
    "remove_pool": {"gpu_pool": "NAME"},
    "render": {"gpu_render_dir": "DIR"},
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


class Play(t.NamedTuple):
    """The play of a playbook of the collection. tags: of its tasks. alone: the run has no other playbook."""

    playbook: str
    tags: frozenset[str]
    alone: bool


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
def _settings() -> frozenset[str]:
    """Return the names that a user can set: those of results, roles, tags and parts of names are none."""
    others = {*_RESULT.findall(_texts()), *(path.name for path in ROOT.glob("roles/*")), *_tags()}
    return frozenset(name for name in known() if name not in others and not name.endswith("_"))


@functools.cache
def _tags() -> frozenset[str]:
    return frozenset(re.findall(r"\w+", " ".join(_TAGS.findall(_texts()))))


def is_own(playbook: Path) -> bool:
    """Return whether this is a playbook of the collection, be it from a checkout beside the installed one."""
    return (ROOT / "playbooks" / playbook.name).is_file() and (playbook.parent / "gpu_variables").is_dir()


@functools.cache
def _given_by_plan() -> frozenset[str]:
    return frozenset(re.findall(r"^(\w+):", _OWN_INPUTS.read_text(encoding="utf-8"), re.MULTILINE))


def check(play: Play, variables: Variables, extra: Variables, template: Template) -> None:
    """Raise InputError with everything that is wrong with variables and tags, or with what is missing.

    extra: the extra variables. template: returns the value of a template, or raises an exception.
    """
    wrong = [
        *_misspelt_tags(play, variables),
        *_misspelt(variables, extra),
        *_wrong_values(variables, extra, template),
    ]
    if wrong:
        message = f"{' '.join(wrong)} Nothing was changed."
        nears = dict.fromkeys(re.findall(r"did you mean ([-\w ]+)\?", message))
        remedy = f"Write {' and '.join(nears)}." if nears else _remedy(wrong[0])
        raise InputError("INPUT-VARIABLE", message, remedy, wrong)
    if missing := _missing(play.playbook, variables, template):
        unset = " and ".join(missing).replace("|", " or ")
        added = " ".join(f"-e {name.partition('|')[0]}={value}" for name, value in missing.items())
        message = f"{play.playbook}.yml needs {unset}. Nothing was changed."
        raise InputError("INPUT-VARIABLE", message, f"Add {added} to the command.")


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
    """Return what to do about this text: it begins with the option of the command, or with a variable."""
    if wrong.startswith("--"):
        return f"Leave {wrong.partition(' ')[0]} out, or write a tag that the message names."
    name = re.split(r"\W", wrong, maxsplit=1)[0]
    roles = [path.name for path in ROOT.glob("roles/*") if name.startswith(f"{path.name}_")]
    role = max(roles, key=len, default="")
    page = f"ansible-doc -t role accelerators.openshift.{role}" if role else "docs/guide.md"
    return f"Correct {name}; {page} describes it."


def warnings(play: Play, variables: Variables, extra: Variables) -> list[str]:
    """Return a warning about each tag that no task has, and each variable of the inventory whose name is
    nearly one of ours.
    """
    return [
        *(
            f"{option} {tag}: no task of {play.playbook}.yml has this tag."
            for option, tag in (_unknown_tags(play, variables) if play.alone else ())
            if not nearest(tag, play.tags)
        ),
        *(
            f"No playbook and no role reads {name}: did you mean {near}?"
            for name in sorted(set(variables) - set(extra))
            if (near := _nearly(name, variables, _settings()))
        ),
    ]


def elsewhere(hosts: t.Mapping[str, Variables], groups: t.Mapping[str, t.Sequence[str]]) -> str:
    """Return the remedy if hosts of the inventory have pools, and the play's host has none; else "".

    hosts: the variables of each. groups: the hosts of each.
    """
    having = [name for name, variables in hosts.items() if variables.get("gpu_pools")]
    whole = {
        name: members
        for name, members in groups.items()
        if name not in ("all", "ungrouped") and members and set(members) <= set(having)
    }
    names = [*sorted(whole, key=lambda name: -len(whole[name])), *having]
    if not names:
        return ""
    listed = ", ".join(names[:6]) + (" and others" if names[6:] else "")
    return (
        f"Add -e gpu_clusters={names[0]} to the command: the inventory has gpu_pools for {listed}, and "
        "without gpu_clusters a playbook works on localhost."
    )


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


def _nearly(name: str, variables: Variables, names: t.Iterable[str]) -> str:
    """Return which of the names this unknown one was meant to be, or "". No other variable reads it."""
    if not name.startswith(_PREFIXES) or name in known() or not (near := nearest(name, names)):
        return ""
    word = re.compile(rf"\b{re.escape(name)}\b")
    others = (value for other, value in variables.items() if other not in (name, *_OF_ALL_HOSTS))
    return "" if any(word.search(str(value)) for value in others) else near


def nearest(name: str, names: t.Iterable[str]) -> str:
    """Return the name that this one is but for a letter in five or two that changed places, or ""."""
    rest = name.removeprefix("gpu_")
    allowed = max(1, len(rest) // 5)
    rests = {other.removeprefix("gpu_"): other for other in sorted(names)}
    alike = [other for other in rests if abs(len(other) - len(rest)) <= allowed]
    for other in difflib.get_close_matches(rest, alike, 3, 0.6):
        steps = difflib.SequenceMatcher(None, rest, other).get_opcodes()
        changed = sum(max(end - at, to - since) for kind, at, end, since, to in steps if kind != "equal")
        if changed <= allowed or sorted(other) == sorted(rest):
            return rests[other]
    return ""


def _misspelt(variables: Variables, extra: Variables) -> t.Iterator[str]:
    given = {**variables, **extra}
    for name in sorted(map(str, extra)):
        near = _nearly(name, given, _settings())
        if near or (tag := _nearly(name, given, _tags())):
            near = near or f"--tags {tag}"
            yield f"The extra variable {name} is read by no playbook and no role (did you mean {near}?)."


def _given_tags(variables: Variables) -> t.Iterator[tuple[str, list[str]]]:
    for option, key in (("--tags", "ansible_run_tags"), ("--skip-tags", "ansible_skip_tags")):
        yield option, list(map(str, variables.get(key) or ()))


def _unknown_tags(play: Play, variables: Variables) -> t.Iterator[tuple[str, str]]:
    for option, tags in _given_tags(variables):
        for tag in tags:
            if tag not in play.tags | _tags() and tag not in _EVERY:
                yield option, tag


def _misspelt_tags(play: Play, variables: Variables) -> t.Iterator[str]:
    """Yield each tag that is nearly one of the play's, or that nothing would run with these tags."""
    nears = {tag: (option, nearest(tag, play.tags)) for option, tag in _unknown_tags(play, variables)}
    for tag, (option, near) in nears.items():
        if near:
            yield f"{option} {tag}: no task of {play.playbook}.yml has this tag (did you mean {near}?)."
    (option, tags), _skipped = _given_tags(variables)
    runs_none = not play.tags.union(_EVERY).intersection(tags)
    if play.alone and tags and runs_none and not any(near for _option, near in nears.values()):
        own = ", ".join(sorted(play.tags.difference(_EVERY))) or "none"
        yield f"{option} {','.join(tags)}: no task of {play.playbook}.yml has it. Its tags: {own}."


def _wrong_values(variables: Variables, extra: Variables, template: Template) -> t.Iterator[str]:
    specs = options()
    for name in sorted(specs.keys() & variables.keys()):
        if (name in _given_by_plan() and name not in extra) or _is_default(variables[name], specs[name]):
            continue
        try:
            value = template(variables[name])
        except Exception:  # noqa: S112
            continue  # A value from a later result, or from a secret store, is the role's matter.
        found = [
            *nested.problems({name: specs[name]}, {name: value}),
            *_wrong_choice(name, specs[name], value),
        ]
        # Some defaults repeat the namespace of another role.
        if not found and name.endswith("_namespace") and value and value == variables[name]:
            found = [f"{name} is {value}, which {fault}." for fault in [name_fault(str(value))] if fault]
        yield from found or _refused(name, specs[name], value)


def _is_default(written: t.Any, option: t.Mapping[str, t.Any]) -> bool:
    """Return whether this is the default of the option: most variables are, and to judge one takes time."""
    return "default" in option and bool(written == option["default"])


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
