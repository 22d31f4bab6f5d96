# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of the wrong form in data files for AWX are named by their path, and none ends in a traceback."""

from __future__ import annotations

import typing as t

import pytest
from unit.awx.content import broken, problems, right

from ansible_collections.accelerators.openshift.plugins.module_utils._awx import forms

TEMPLATE = ("controller_templates", 0)
QUESTION = (*TEMPLATE, "survey_spec", "spec", 0)
NODE = ("controller_workflows", 0, "simplified_workflow_nodes", 0)
PLAIN: t.Final[tuple[t.Any, ...]] = (None, "", 5, True, [], {})
OTHER_FORMS: t.Final[tuple[t.Any, ...]] = (*PLAIN, ["x"], {"a": 1}, [{"a": 1}], [None], [["x"]])


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        ((*TEMPLATE, "project"), {"name": "code"}, "controller_templates[0].project: has to be text"),
        ((*TEMPLATE, "credentials"), [{"name": "east"}], "[0].credentials: has to be a list of names"),
        ((*TEMPLATE, "ask_limit_on_launch"), ["x"], "[0].ask_limit_on_launch: has to be true or false"),
        ((*TEMPLATE, "forks"), "many", "controller_templates[0].forks: has to be a whole number"),
        ((*TEMPLATE, "extra_vars"), "x", "controller_templates[0].extra_vars: has to be a mapping of var"),
        ((*NODE, "approval_node"), "Go on", "nodes[0].approval_node: has to be a mapping"),
        ((*NODE, "success_nodes"), 5, "nodes[0].success_nodes: has to be a list of names"),
        ((*QUESTION, "variable"), ["a"], "survey_spec.spec[0].variable: has to be text"),
        ((*QUESTION, "type"), ["text"], "survey_spec.spec[0].type: ['text'] is not one of"),
        ((*QUESTION, "choices"), [1, 2], "survey_spec.spec[0].choices: each choice has to be text"),
        ((*QUESTION, "choices"), 5, "survey_spec.spec[0].choices: has to be a list of choices"),
    ],
)
def test_a_value_of_the_wrong_form_is_named_by_its_path(
    path: tuple[t.Any, ...], value: t.Any, found: str
) -> None:
    lines = problems(broken(*path, value=value))
    assert [line for line in lines if found in line], lines


def test_one_name_is_a_list_of_one() -> None:
    assert forms.readable({"labels": "gpu"}) == {"labels": ["gpu"]}
    assert problems(broken(*NODE, "success_nodes", value="run")) == []
    assert "no node elsewhere" in problems(broken(*NODE, "success_nodes", value="elsewhere"))[0]


def paths(value: t.Any, path: tuple[t.Any, ...] = ()) -> t.Iterator[tuple[t.Any, ...]]:
    """Yield the path of each value, at any depth."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from paths(inner, (*path, key))


def test_no_form_of_any_value_ends_in_a_traceback() -> None:
    for path in paths(right()):
        for value in OTHER_FORMS:
            assert isinstance(problems(broken(*path, value=value)), list)
