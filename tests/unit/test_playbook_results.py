"""What a playbook leaves to the next node of an AWX workflow."""

from __future__ import annotations

import typing as t

import pytest
from unit.test_playbooks import ON_CLUSTERS, PLAYBOOKS, ROLES, asked, play, read, role_variables, steps

SHARES: t.Final = "tasks/share_result.yml"
# An administrator runs it by hand.
OF_WORKFLOWS: t.Final = [name for name in ON_CLUSTERS if name != "rbac"]


@pytest.mark.parametrize("name", OF_WORKFLOWS)
def test_a_playbook_shares_its_result_under_its_name(name: str) -> None:
    """Only the tasks that write a file or fail the run may come later."""
    every = list(steps(play(name)))
    (shares,) = [task for task in every if task.get("ansible.builtin.import_tasks") == SHARES]
    assert shares["vars"]["__gpu_shared"]["playbook"] == name
    later = every[every.index(shares) + 2 :]
    assert all({"ansible.builtin.assert", "ansible.builtin.copy"} & set(task) for task in later)


def test_no_playbook_reads_what_another_one_shared() -> None:
    """AWX gives it to the next node as an extra variable, which comes before every other."""
    (task,) = read(PLAYBOOKS / SHARES)
    assert list(task["ansible.builtin.set_stats"]["data"]) == ["gpu_run"]
    assert [name for name in ON_CLUSTERS if "gpu_run" in asked(name) | role_variables(ROLES)] == []
