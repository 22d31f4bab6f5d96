# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The forms of the values in the data files: text, numbers, yes or no, mappings, and lists of names."""

from __future__ import annotations

import typing as t

from .kinds import LINKS

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
_NUMBERS: t.Final = frozenset(("forks", "timeout", "verbosity", "job_slice_count"))
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
        is_list = isinstance(value, list) and all(isinstance(one, str) for one in value)
        return "" if is_list or isinstance(value, str) else "a list of names"
    if key in _SWITCHES or key.startswith("ask_"):
        return "" if isinstance(value, bool | str) else "true or false"
    if key in _NUMBERS:
        is_number = not isinstance(value, bool) and str(value).isdigit()
        return "" if is_number else "a whole number"
    return "" if isinstance(value, str | int | float) else "text"


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
