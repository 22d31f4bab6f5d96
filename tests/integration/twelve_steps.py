# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module's twelve steps: create, again, modify, again, delete, again; each in check mode and for real."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field, replace

from integration.playbook import Playbook, TaskResult
from integration.wire import Audit

Data = dict[str, t.Any]

# What differs between two runs.
VOLATILE = {
    "creationTimestamp",
    "duration",
    "invocation",
    "proof",
    "resourceVersion",
    "since",
    "uid",
    "waited",
}


@dataclass(frozen=True)
class Case:
    """A module's options for each act.

    before, after: tasks that make what the steps need, and take it away.
    """

    module: str
    create: Data
    modify: Data
    delete: Data
    before: list[Data] = field(default_factory=list)
    after: list[Data] = field(default_factory=list)


def task(module: str, **options: t.Any) -> Data:
    return {f"accelerators.openshift.{module}": options}


def steps(case: Case) -> list[tuple[str, bool, Data, bool]]:
    """Return name, check mode, options and expected `changed` of each step."""
    acts = [("create", case.create), ("modify", case.modify), ("delete", case.delete)]
    turns = [(act, options, again) for act, options in acts for again in (False, True)]
    return [
        (f"{act}{' again' * again}{' (check)' * check}", check, options, not again)
        for act, options, again in turns
        for check in (True, False)
    ]


class Walks:
    """Walks through the steps of cases on one cluster."""

    def __init__(self, playbook: Playbook, audit: Audit) -> None:
        self._playbook = playbook
        self._audit = audit

    def check(self, case: Case, in_process: bool = True) -> list[TaskResult]:
        """Assert that each step changes and reports what it should, and writes only then; return the results.

        The steps are the tasks of one play.
        """
        done = self._run(case, in_process)
        for task, (name, check, _options, changes) in zip(done, steps(case), strict=True):
            assert task.name == name
            assert task.changed is changes, f"{name}: {task.result}"
            assert bool(task.result.get("diff")) is changes, f"{name}: {task.result}"
            written = self._audit.writes(task)
            is_writing = changes and not check and self._audit.log is not None
            assert bool(written) is is_writing, f"{name}: {written}"
        return done

    def _run(self, case: Case, in_process: bool) -> list[TaskResult]:
        module = f"accelerators.openshift.{case.module}"
        tasks = [
            {"name": name, module: options, "check_mode": check, "diff": True, "register": f"step_{index}"}
            for index, (name, check, options, _changes) in enumerate(steps(case))
        ]
        # A registered result keeps the warnings; the events lose them.
        tell: Data = {
            "name": "tell",
            "ansible.builtin.debug": {"msg": [f"{{{{ step_{index} }}}}" for index in range(len(tasks))]},
        }
        run = self._playbook.tasks(*case.before, *tasks, tell, *case.after, in_process=in_process)
        assert run.rc == 0, run.output[-4000:]
        done = run.tasks[len(case.before) :]
        results = done[len(tasks)]["msg"]
        return [replace(task, result=result) for task, result in zip(done, results, strict=False)]


def comparable(value: t.Any) -> t.Any:
    """Return a result without what differs between two runs."""
    if isinstance(value, dict):
        return {key: comparable(inner) for key, inner in sorted(value.items()) if key not in VOLATILE}
    return [comparable(inner) for inner in value] if isinstance(value, list) else value
