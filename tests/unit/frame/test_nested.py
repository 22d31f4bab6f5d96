# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A wrong key inside an option is told with its path."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._frame import nested

SPEC: t.Final[nested.Options] = {
    "queues": {
        "type": "list",
        "elements": "dict",
        "options": {
            "name": {"type": "str", "required": True, "aliases": ["title"]},
            "policy": {"type": "str", "choices": ["Never", "Any"]},
            "weight": {"type": "int", "choices": [1, 2]},
            "shares": {
                "type": "list",
                "elements": "dict",
                "options": {"pool": {"type": "str", "required": True}},
            },
        },
    },
    "rules": {"type": "dict", "options": {"force": {"type": "bool"}}},
    "state": {"type": "str"},
}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"queues": [{"name": "a"}, {"name": "b", "polcy": 1}]}, "queues[1].polcy (did you mean policy?) is"),
        ({"queues": [{"name": "a", "x": 1}]}, "queues[0].x is no option. Options are name, policy, shares,"),
        ({"queues": [{}]}, "queues[0].name is missing."),
        ({"queues": [{"name": "a", "policy": "Some"}]}, "queues[0].policy is Some. Allowed are Never, Any."),
        ({"queues": [{"name": "a", "shares": [{"pool": "p"}, {}]}]}, "queues[0].shares[1].pool is missing."),
        (
            {"queues": [{"name": "a"}, {"name": "b", "weight": "x"}]},
            "queues[1].weight must be a whole number,",
        ),
        ({"queues": [{"name": "a", "shares": ["p"]}]}, "queues[0].shares[0] must be a mapping, not 'p'."),
        ({"queues": [None]}, "queues[0] must be a mapping, not nothing."),
        ({"queues": {"name": "a"}}, "queues must be a list, not {'name': 'a'}."),
        ({"rules": ["list"]}, "rules must be a mapping, not ['list']."),
        ({"rules": {"force": "maybe"}}, "rules.force must be true or false, not 'maybe'."),
        ({"state": ["x"]}, "state must be text, not ['x']."),
        ({"rules": {"forse": True}}, "rules.forse (did you mean force?) is no option. Options are force."),
    ],
)
def test_a_wrong_key_is_told_with_its_path(given: dict[str, t.Any], said: str) -> None:
    (found,) = nested.problems(SPEC, given)
    assert found.startswith(said)


@pytest.mark.parametrize(
    "given",
    [
        {"queues": [{"title": "a", "policy": "Any", "weight": "2"}]},
        {"queues": None, "rules": {"force": None}, "state": "x"},
        {"queues": "text", "rules": "force=yes", "state": 1},
        {},
    ],
)
def test_what_may_be_right_is_left_to_ansible(given: dict[str, t.Any]) -> None:
    assert nested.problems(SPEC, given) == []


def test_all_of_them_are_told() -> None:
    given = {"queues": [{"nam": "a"}, {"policy": "x"}]}
    assert len(nested.problems(SPEC, given)) == 4


def test_a_path_begins_with_the_users_name() -> None:
    given = {"queues": [{"name": "a", "weight": 0.5, "x": 1}]}
    found = nested.problems(SPEC, given, {"queues": "gpu_queues"})
    assert [text.partition(" ")[0] for text in found] == ["gpu_queues[0].weight", "gpu_queues[0].x"]


def test_a_secret_is_not_in_the_text() -> None:
    assert nested.problems({"token": {"type": "str", "no_log": True}}, {"token": ["geheim"]}) == [
        "token must be text."
    ]
