# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that replaces ansible-playbook in these tests says and does what ansible-playbook does."""

from __future__ import annotations

import os
import re
import subprocess
import typing as t
from pathlib import Path

import pytest
import yaml
from integration.playbook import Playbook, Run

Data = dict[str, t.Any]
SAYS: t.Final = "ansible.builtin.debug"
CHECKS: t.Final = "ansible.builtin.assert"
PID: t.Final = {"ansible.builtin.set_fact": {"pid": "{{ lookup('ansible.builtin.pipe', 'echo $PPID') }}"}}
# What differs between two runs: moments, durations, and the folders of their files.
DIFFERS: t.Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+|\d:\d\d:\d\d\.\d+|/[^\s\"']*run-\d+")

INCLUDED: t.Final[list[Data]] = [
    {"name": "included | say what came", SAYS: {"msg": "{{ word }} {{ outer | default('nothing') }}"}},
    {"name": "included | skip", SAYS: {"msg": "no"}, "when": "word != 'come'"},
]
TASKS: t.Final[list[Data]] = [
    {"name": "a number is false", SAYS: {"msg": "no"}, "when": "count | int > 3"},
    {"name": "a number is true", SAYS: {"msg": "yes"}, "when": "count | int < 3"},
    {"name": "the second of two is false", SAYS: {"msg": "no"}, "when": ["true", "word is undefined"]},
    {"name": "a skipped task is registered", SAYS: {"msg": "no"}, "when": False, "register": "skipped_one"},
    {"name": "what was skipped is known", SAYS: {"var": "skipped_one"}, "when": "skipped_one is skipped"},
    {"name": "a loop skips some", SAYS: {"msg": "{{ item }}"}, "loop": [1, 2, 3], "when": "item > 1"},
    {"name": "a loop skips all", SAYS: {"msg": "{{ item }}"}, "loop": [1, 2], "when": "item > 2"},
    {"name": "a loop has no items", SAYS: {"msg": "{{ item }}"}, "loop": [], "when": "word"},
    {"name": "with_items skips", SAYS: {"msg": "{{ item }}"}, "with_items": [1], "when": "item > 2"},
    {"name": "variables of a task count", SAYS: {"msg": "no"}, "vars": {"own": 1}, "when": "own == 2"},
    {
        "name": "another host skips",
        SAYS: {"msg": "no"},
        "delegate_to": "127.0.0.1",
        "when": "count | int > 3",
    },
    {"name": "once for all hosts", SAYS: {"msg": "no"}, "run_once": True, "when": "count | int > 3"},
    {"name": "nothing is shown of a secret", SAYS: {"msg": "no"}, "no_log": True, "when": "count | int > 3"},
    {
        "name": "include a file",
        "ansible.builtin.include_tasks": "included.yml",
        "vars": {"outer": "{{ word }}"},
    },
    {"name": "include no file", "ansible.builtin.include_tasks": "{{ absent }}", "when": "absent is defined"},
    {
        "name": "include a file for each",
        "ansible.builtin.include_tasks": {"file": "included.yml", "apply": {"vars": {"outer": "{{ item }}"}}},
        "loop": ["a", "b"],
        "when": "item == 'b'",
    },
    {"name": "include a role with arguments", "ansible.builtin.include_role": {"name": "checked"}},
    {
        "name": "refuse an argument",
        "block": [
            {"ansible.builtin.include_role": {"name": "checked"}, "vars": {"checked_size": "not a number"}}
        ],
        "rescue": [{"name": "go on without the role", SAYS: {"msg": "{{ ansible_failed_result.msg }}"}}],
    },
    {"name": "include a role", "ansible.builtin.include_role": {"name": "small"}, "when": "count | int == 2"},
    {
        "name": "include no role",
        "ansible.builtin.include_role": {"name": "small"},
        "when": "count | int == 3",
    },
    {
        "name": "a block",
        "when": "count | int == 2",
        "block": [
            {"name": "its condition and mine", SAYS: {"msg": "no"}, "when": "word == 'go'"},
            {"name": "an unknown name fails", SAYS: {"msg": "no"}, "when": "nothing_has_this_name > 1"},
        ],
        "rescue": [{"name": "the rescue knows the task", SAYS: {"msg": "{{ ansible_failed_task.name }}"}}],
        "always": [{"name": "always", SAYS: {"msg": "no"}, "when": "count | int == 3"}],
    },
    {"name": "set a fact", "ansible.builtin.set_fact": {"word": "gone"}, "when": "word == 'come'"},
    {"name": "the new fact counts", SAYS: {"msg": "no"}, "when": "word == 'come'"},
    {"name": "what is true passes", CHECKS: {"that": ["count | int == 2", "word == 'gone'"]}},
    {
        "name": "what is false fails",
        "block": [{"name": "three", CHECKS: {"that": "count | int == 3", "fail_msg": "not {{ word }}"}}],
        "rescue": [{"name": "go on", SAYS: {"msg": "{{ ansible_failed_result.msg }}"}}],
    },
    {
        "name": "an unknown name is told",
        "block": [{"name": "nobody", SAYS: {"msg": "{{ nothing_has_this_name }}"}}],
        "rescue": [{"name": "go on", SAYS: {"var": "ansible_failed_result.msg"}}],
    },
    {"name": "give the next node a result", "ansible.builtin.set_stats": {"data": {"left": "{{ count }}"}}},
    {"name": "only with -vvvv", SAYS: {"msg": "quiet", "verbosity": 4}},
    {
        "name": "a file is missing",
        "block": [{"name": "no such file", "ansible.builtin.include_tasks": "absent.yml"}],
        "rescue": [{"name": "go on without it", SAYS: {"msg": "{{ ansible_failed_task.name }}"}}],
    },
    {"name": "end with a failure", SAYS: {"msg": "end"}, "failed_when": "true", "when": "word == 'gone'"},
    {"name": "never reached", SAYS: {"msg": "no"}, "when": "count | int > 3"},
]
ARGUMENTS: t.Final[Data] = {
    "argument_specs": {"main": {"options": {"checked_size": {"type": "int", "default": 1}}}}
}
PLAY: t.Final[Data] = {
    "hosts": "localhost",
    "gather_facts": False,
    "vars": {"count": "{{ 1 + 1 }}", "word": "come"},
    "tasks": TASKS,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the playbook, the file that it includes, and two roles."""
    for name in ("small/tasks", "checked/tasks", "checked/meta"):
        (tmp_path / "roles" / name).mkdir(parents=True)
    (tmp_path / "roles/checked/meta/argument_specs.yml").write_text(yaml.safe_dump(ARGUMENTS))
    (tmp_path / "roles/checked/tasks/main.yml").write_text(yaml.safe_dump(INCLUDED))
    (tmp_path / "included.yml").write_text(yaml.safe_dump(INCLUDED))
    (tmp_path / "roles/small/tasks/main.yml").write_text(yaml.safe_dump(INCLUDED))
    (tmp_path / "play.yml").write_text(yaml.safe_dump([PLAY]))
    return tmp_path


def seen(run: Run) -> list[t.Any]:
    """Return what the tasks of a run returned, and its output, without what differs between two runs."""
    tasks = [
        (one.name, one.failed, one.skipped, {**one.result, "exception": bool(one.result.get("exception"))})
        for one in run.tasks
    ]
    return [run.rc, tasks, DIFFERS.sub("", run.output).splitlines()]


def test_skipped_and_included_tasks_are_those_of_ansible_playbook(folder: Path, program: Path) -> None:
    play = folder / "play.yml"
    ordinary = Playbook(folder / "ordinary", Path(os.devnull)).file(play)
    warm = Playbook(folder / "warm", Path(os.devnull), program).file(play)
    assert seen(warm) == seen(ordinary)
    names = [one.name for one in ordinary.tasks]
    assert (ordinary.rc, ordinary.failure.name, names[0]) == (2, "end with a failure", TASKS[0]["name"])
    assert sum(one.skipped for one in ordinary.tasks) > len(ordinary.tasks) / 3


def test_the_variables_of_an_inventory_are_there(tmp_path: Path, program: Path) -> None:
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars/all.yml").write_text("word: come")
    (tmp_path / "hosts").write_text("localhost ansible_connection=local")
    play = {"hosts": "localhost", "gather_facts": False, "tasks": [{SAYS: {"var": "word"}}]}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    command: list[Path | str] = [program, "-i", tmp_path / "hosts", tmp_path / "play.yml"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr
    assert "word: come" in run.stdout, run.stdout


def test_a_task_that_runs_has_a_process_of_its_own(folder: Path, program: Path) -> None:
    """A module must not change the process of the play: the next tasks are forked from it."""
    tasks = [{"name": "parent", **PID, "when": "true"}] * 3
    run = Playbook(folder / "warm", Path(os.devnull), program).tasks(*tasks)
    parents = [one["ansible_facts"]["pid"] for one in run.tasks]
    assert len(set(parents)) == len(tasks), parents
