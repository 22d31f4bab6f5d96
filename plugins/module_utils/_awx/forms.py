# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The forms of the values in the data files: text, numbers, yes or no, mappings, and lists of names."""

from __future__ import annotations

import re
import typing as t

from .addresses import SCHEMES
from .kinds import LINKS
from .notifications import TYPES

Data = t.Mapping[str, t.Any]

_VARIABLES: t.Final = frozenset(("variables", "extra_vars", "extra_data"))
_MAPPINGS: t.Final = _VARIABLES | frozenset(
    ("inputs", "injectors", "notification_configuration", "messages", "survey_spec", "approval_node")
)
_NAMES: t.Final = frozenset(
    (
        *("credentials", "labels", "notification_templates_started", "notification_templates_success"),
        *("notification_templates_error", "notification_templates_approvals", *LINKS),
    )
)
_SWITCHES: t.Final = frozenset(
    (
        *("survey_enabled", "enabled", "overwrite", "overwrite_vars", "update_on_launch", "scm_clean"),
        *("scm_update_on_launch", "allow_override", "allow_simultaneous", "diff_mode"),
        *("all_parents_must_converge",),
    )
)
# Whole numbers, and what each is at least and at most.
_MOST: t.Final = 2147483647
_NUMBERS: t.Final = {
    "forks": (0, _MOST),
    "job_slice_count": (0, _MOST),
    "timeout": (-_MOST, _MOST),
    "verbosity": (0, 5),
}
_CHOICES: t.Final[dict[str, tuple[str, ...]]] = {
    "job_type": ("run", "check"),
    "kind": ("cloud", "net"),
    "notification_type": tuple(TYPES),
    "pull": ("always", "missing", "never"),
    "scm_type": tuple(SCHEMES),
    "source": (
        *("scm", "ec2", "gce", "azure_rm", "vmware", "satellite6", "openstack", "rhv", "controller"),
        *("insights", "terraform", "openshift_virtualization"),
    ),
}
# How long a text may be.
_LENGTHS: t.Final = {
    "name": 512,
    "identifier": 512,
    "scm_branch": 256,
    **dict.fromkeys(("image", "playbook", "scm_url", "source_path"), 1024),
}
_BOOLEANS: t.Final = ("t", "y", "yes", "true", "on", "1", "f", "n", "no", "false", "off", "0")
# Its own check says what is wrong with it.
_NODES: t.Final = "simplified_workflow_nodes"


def wrong(key: str, value: t.Any) -> str:
    """Return what the value of a key has to be, or an empty text if it has the right form or is not there."""
    if value is None or key == _NODES:
        return ""
    if key in _MAPPINGS:
        what = "a mapping of variables" if key in _VARIABLES else "a mapping"
        return "" if isinstance(value, dict) else what
    if key in _NAMES:
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return "" if is_list or isinstance(value, str) else "a list of names"
    if key in _SWITCHES or key.startswith("ask_"):
        is_switch = isinstance(value, bool) or str(value).lower() in _BOOLEANS
        return "" if is_switch else "true or false"
    if key in _NUMBERS:
        return _number(value, *_NUMBERS[key])
    return _text(key, value)


def _number(value: t.Any, low: int, high: int) -> str:
    if not isinstance(value, bool) and re.fullmatch(r"-?[0-9]+", str(value)) and low <= int(value) <= high:
        return ""
    limits = "" if low < 0 else f" of {low} or more" if high == _MOST else f" from {low} to {high}"
    return f"a whole number{limits}"


def _text(key: str, value: t.Any) -> str:
    if not isinstance(value, str | int | float):
        return "text"
    if value not in ("", *_CHOICES.get(key, (value,))):
        return f"one of {', '.join(_CHOICES[key])}, not {value}"
    if len(str(value)) > _LENGTHS.get(key, _MOST):
        return f"at most {_LENGTHS[key]} characters long"
    return ""


def problems(entry: Data, path: str) -> t.Iterator[str]:
    """Yield each value of the entry that has the wrong form, with its path."""
    for key, value in entry.items():
        if found := wrong(str(key), value):
            yield f"{path}.{key}: has to be {found}"


def readable(entry: t.Any) -> dict[str, t.Any]:
    """Return the entry without the values that have the wrong form; a single name becomes a list of one."""
    if not isinstance(entry, dict):
        return {}
    found = {str(key): value for key, value in entry.items() if not wrong(str(key), value)}
    singles = {key: [value] for key, value in found.items() if key in _NAMES and isinstance(value, str)}
    return found | singles
