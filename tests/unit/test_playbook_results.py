"""What a playbook leaves to the next node of an AWX workflow."""

from __future__ import annotations

import typing as t

import jinja2
import pytest
from unit.test_playbooks import ON_CLUSTERS, PLAYBOOKS, ROLES, asked, play, read, role_variables, steps

SHARES: t.Final = "tasks/share_result.yml"
# Somebody runs them by hand.
OF_WORKFLOWS: t.Final = [name for name in ON_CLUSTERS if name not in ("rbac", "conformance")]
# They work on a node, on operators, on Secrets or on a release of OpenShift.
WITHOUT_POOLS: t.Final = {
    *("before_openshift_update", "preflight_update", "repair_node", "replace_node", "report_use"),
    *("must_gather", "rotate_pull_secret", "upgrade_operators"),
}


@pytest.mark.parametrize("name", OF_WORKFLOWS)
def test_a_playbook_shares_its_result_under_its_name(name: str) -> None:
    """Only the tasks that write a file or fail the run may come later."""
    every = list(steps(play(name)))
    (shares,) = [task for task in every if task.get("ansible.builtin.import_tasks") == SHARES]
    assert shares["vars"]["__gpu_shared"]["playbook"] == name
    assert ("pools" in shares["vars"]["__gpu_shared"]) is (name not in WITHOUT_POOLS)
    later = every[every.index(shares) + 2 :]
    assert all(
        {"ansible.builtin.fail", "ansible.builtin.assert", "ansible.builtin.copy"} & set(task)
        for task in later
    )


def test_no_playbook_reads_what_another_one_shared() -> None:
    """AWX gives it to the next node as an extra variable, which comes before every other."""
    (task,) = read(PLAYBOOKS / SHARES)
    assert list(task["ansible.builtin.set_stats"]["data"]) == ["gpu_run"]
    assert [name for name in ON_CLUSTERS if "gpu_run" in asked(name) | role_variables(ROLES)] == []


@pytest.mark.parametrize(
    ("result", "go"),
    [
        ({"failed": False, "verdict": "warning"}, True),
        ({"failed": True, "verdict": "warning"}, False),
        # gpu_update_fail_on=never only changes the exit status.
        ({"failed": False, "verdict": "blocking"}, False),
        ({"failed": True, "msg": "no cluster"}, False),
        (None, False),
    ],
)
def test_go_is_what_the_checks_say(result: dict[str, t.Any] | None, go: bool) -> None:
    found = play("before_openshift_update")
    template = str(found["vars"]["__gpu_answer"]["go"]).strip().removeprefix("{{").removesuffix("}}")
    environment = jinja2.Environment(autoescape=True)
    environment.tests |= {"defined": lambda one: one is not None, "failed": lambda one: one["failed"]}
    assert environment.compile_expression(template)(__gpu_result=result) is go


def test_a_no_go_pauses_nothing() -> None:
    found = play("before_openshift_update")
    (task,) = [task for task in found["tasks"] if "accelerators.openshift.update_pools" in task]
    assert task["when"] == "__gpu_pauses and __gpu_answer.go"
