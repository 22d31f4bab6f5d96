# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which enable_gpus.yml asks for everything, and what early entry points ask for."""

from __future__ import annotations

import typing as t

import pytest
from unit.test_playbooks import ROLES, options_of, play, specs

EARLY: t.Final = ("request", "approve", "install")


def test_everything_is_asked_for_after_the_last_refusal_and_before_the_first_wait() -> None:
    """The order of the entry points; every role with one of them is asked."""
    points = [
        (one["name"].rpartition(".")[2], one["tasks_from"])
        for one in (task.get("ansible.builtin.import_role") for task in play("enable_gpus")["pre_tasks"])
        if one
    ]
    stages = [point.partition("_")[0] for _role, point in points]
    assert stages == sorted(stages, key=("preflight", *EARLY).index)
    asked = [(role, point) for role, point in points if point in EARLY]
    assert sorted(asked) == sorted((role, point) for role in ROLES for point in specs(role) if point in EARLY)
    assert asked[0] == ("gpu_node_pool", "request"), "machines take longest"


@pytest.mark.parametrize("role", [role for role in ROLES if "install" in specs(role)])
def test_the_early_steps_ask_for_the_same_operator_and_stack_as_the_later_one(role: str) -> None:
    for module in ("olm_operator", "special_resource", "nfd_labels"):
        for phase in EARLY:
            later = options_of(role, module, "present")
            for early in options_of(role, module, phase):
                assert {**early, "wait": 0, "until": 0}.keys() - later[0].keys() <= {"wait", "until"}
                same = {key: value for key, value in early.items() if key not in ("wait", "until")}
                assert same.items() <= later[0].items()
