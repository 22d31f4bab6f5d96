# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which enable_gpus.yml checks everything and asks for everything before its first role."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from unit.rules.role_tasks import ROOT, Passed, read, rendered
from unit.test_playbooks import ROLES, options_of, play, run_by, specs

Data = dict[str, t.Any]
(PLAY,) = read(ROOT / "playbooks/enable_gpus.yml")
ASKS: t.Final = "ansible.builtin.include_tasks"
# The tasks before the first role, with those of the file that is included.
TASKS: t.Final[list[Data]] = [
    {**one, "name": one["name"].removeprefix("ask | ")}
    for task in PLAY["pre_tasks"]
    for one in (read(ROOT / "playbooks" / task[ASKS]) if ASKS in task else [task])
]
ALL: t.Final = ("node_feature_discovery", "nvidia_network_operator", "gpu_operator", "gpu_policy")
SHARED: t.Final = {"sharing": {"time_slicing": {"replicas": 2}}}

MADE: t.Final = {"name": "p", "candidates": [{}]}


def foreseen(action: str) -> Data:
    """Return what the dry run of the machines found."""
    return {"results": [{"__gpu_node_pool_pool": MADE, "foreseen": [{"action": action}]}]}


def going_through(name: str, installed: str, **user: t.Any) -> list[str]:
    """Return the roles that a task goes through. installed: a letter for each of ALL, - if it is new."""
    (task,) = [task for task in TASKS if task["name"] == name]
    roles: list[str] = rendered(Passed("", "", "", task["loop"], {}), results(installed, **user))
    return roles


def results(installed: str, **user: t.Any) -> Data:
    """Return what a run has after its checks, with the variables of its user."""
    found = [{"operator": {"csv": letter.strip("-") or None}} for letter in installed]
    return {
        "nvidia_network_operator_nic_cluster_policy": {"a": "b"},
        "gpu_policy_queue_operator": True,
        "gpu_operators_foreseen": {"operators": found, "foreseen": [{"action": "create"}]},
        "gpu_operators_result": {"operators": []},
        "gpu_sharing_pools": [],
        "gpu_network_networks": [{"kind": "macvlan"}],
        "node_tuning_pools": [{"name": "p"}],
        **user,
    }


def test_everything_is_asked_for_after_the_last_refusal_and_before_the_first_wait() -> None:
    order = [task["name"].partition(" ")[0] for task in TASKS]
    assert order == sorted(order, key=("Plan", "Check", "Ask", "Set", "Validate").index)
    asks = [task["name"] for task in TASKS if task["name"].startswith("Ask")]
    assert asks[1] == "Ask for the machines", "they take longest; a profile comes before its label"


@pytest.mark.parametrize("installed", ["xxxx", "----", "x--x"])
def test_every_preflight_of_a_role_runs_before_the_first_role(installed: str) -> None:
    """The dry run of a custom resource needs its operator; the operators have a task of their own."""
    asked = [
        role
        for name in ("Check what the roles would do", "Check what the roles would do to installed operators")
        for role in going_through(name, installed)
    ]
    roles = run_by(play("enable_gpus"))
    assert set(ROLES) - roles == {"gpu_monitoring"}, "its playbook has no other role that writes before it"
    new = {role for role, letter in zip(ALL[:3], installed, strict=False) if letter == "-"}
    assert sorted(asked) == sorted(role for role in roles - new if "preflight" in specs(role))


def test_installed_operators_are_asked_only_if_something_is_to_be_written() -> None:
    name = "Check what the roles would do to installed operators"
    found = {"operators": [{"operator": {"csv": "x"}}] * 4, "foreseen": [{"action": "keep"}]}
    assert going_through(name, "", gpu_operators_foreseen=found) == []
    claims = going_through(name, "", gpu_operators_foreseen=found, gpu_operator_backend="dra")
    assert claims == ["gpu_operator"], "claims depend on the cluster's release"


@pytest.mark.parametrize(
    ("installed", "asked"), [("xxxx", []), ("x-x-", ["nvidia_network_operator"]), ("----", [*ALL[:3]])]
)
def test_only_new_operators_get_their_custom_resource_early(installed: str, asked: list[str]) -> None:
    name = "Ask for the custom resources of the operators"
    assert going_through(name, installed) == asked
    shared = going_through(name, installed, gpu_sharing_pools=[SHARED])
    assert shared == (["gpu_sharing"] if "gpu_operator" in asked else []) + asked
    assert going_through(name, installed, gpu_operators_result={"skipped": True}) == []


@pytest.mark.parametrize(
    ("installed", "user", "asks"),
    [
        ("xxxx", {}, False),
        ("x--x", {}, True),
        ("xxxx", {"gpu_sharing_pools": [SHARED]}, True),
        ("xxxx", {"gpu_node_pool_pools": [MADE]}, True),
        ("xxxx", {"gpu_node_pool_pools": [MADE], "gpu_node_pool_foreseen": foreseen("change")}, True),
        ("xxxx", {"gpu_node_pool_pools": [MADE], "gpu_node_pool_foreseen": foreseen("keep")}, False),
    ],
)
def test_a_run_that_finds_nothing_to_do_asks_for_nothing(installed: str, user: Data, asks: bool) -> None:
    """Without a preflight of the machines nobody knows, so the run asks for all."""
    (task,) = [task for task in PLAY["pre_tasks"] if ASKS in task]
    assert task["when"] == "not ansible_check_mode and __gpu_asks"
    condition = read(ROOT / "playbooks/gpu_variables/vars/main/operators.yml")["__gpu_asks"]
    assert rendered(Passed("", "", "", condition, {}), results(installed, **user)) is asks


def test_the_file_of_all_questions_has_the_tags_of_its_tasks() -> None:
    (includes,) = [task for task in PLAY["pre_tasks"] if ASKS in task]
    tags = {tag for task in read(ROOT / "playbooks" / includes[ASKS]) for tag in task["tags"]}
    assert sorted(includes["tags"]) == sorted(tags)


@pytest.mark.parametrize(
    ("tags", "installed", "asks"),
    [
        (("all",), "-x--", True),
        (["all"], "-x--", True),
        (["all"], "xxxx", False),
        (["preflight", "gpu_operator"], "----", False),
    ],
)
def test_only_a_run_of_all_tags_asks_for_the_operators_of_all_roles(
    tmp_path: Path, tags: t.Sequence[str], installed: str, asks: bool
) -> None:
    """ansible_run_tags is a list before ansible-core 2.19, and a tuple since."""
    (task,) = [task for task in TASKS if task["name"] == "Ask for the operators"]
    file = tmp_path / "condition.yml"
    file.write_text(f"asks: >-\n  {{{{ {task['when']} }}}}\n")
    condition = Passed("", "", "", read(file)["asks"], {})
    assert rendered(condition, results(installed, ansible_run_tags=tags)) is asks


@pytest.mark.parametrize("role", [role for role in ROLES if options_of(role, "olm_operator", "present")])
def test_a_role_and_the_playbook_ask_for_the_same_operator(role: str) -> None:
    """Both take it from one variable of the role, so an option goes to the module in one place."""
    (options,) = options_of(role, "olm_operator", "present")
    (entry,) = options["operators"]
    variable = entry.strip("{ }")
    operators = read(ROOT / "playbooks/gpu_variables/vars/main/operators.yml")["__gpu_operators"]
    assert operators[role] == entry
    assert operators.keys() == {*ALL, "gpu_network"}
    asked = read(ROOT / f"roles/{role}/vars/main.yml")[variable]
    assert asked.keys() >= {"name", "namespace", "channel", "csv", "source", "approve", "approval", "adopt"}
