# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module's twelve steps: create, again, modify, again, delete, again; each in check mode and for real.

Every module is walked both ways. An ordinary module is the same code in another process: gpu_quota and
special_resource, with a ClusterPolicy, walk all steps there, each other module every act once (`EACH_ACT`).
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field, replace

import pytest
from integration.playbook import Playbook, TaskResult
from integration.wire import Audit

Data = dict[str, t.Any]

VOLATILE = {
    "duration",
    "evidence",
    "invocation",
    "install_plan",
    "lines",
    "machines",
    "nodes",
    "removed",
    "since",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "proof",
    "waited",
}

# What can differ in another process: options, check mode and diffs that go there, and results that come back.
EACH_ACT: t.Final = frozenset(
    {"create (check)", "create", "create again", "modify", "delete", "delete again"}
)
OTHER_WAY: t.Final = pytest.mark.long(
    "the steps of one more module as an ordinary module, which is the same code in another process"
)


@dataclass(frozen=True)
class Case:
    """A module's options for each act.

    A `{way}` in a text becomes the way to run the module, so that the two ways use different objects.
    before, after: tasks that make what the steps need, and take it away. varies: results that differ between
    two runs. whole: all steps as an ordinary module too.
    """

    module: str
    create: Data
    modify: Data
    delete: Data
    before: list[Data] = field(default_factory=list)
    after: list[Data] = field(default_factory=list)
    varies: frozenset[str] = frozenset()
    whole: bool = False


def task(module: str, **options: t.Any) -> Data:
    return {f"accelerators.openshift.{module}": options}


def named(way: str, value: t.Any) -> t.Any:
    """Return the value with `{way}` replaced in every text."""
    if isinstance(value, dict):
        return {key: named(way, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [named(way, inner) for inner in value]
    return value.replace("{way}", way) if isinstance(value, str) else value


def steps(case: Case, in_process: bool) -> list[tuple[str, bool, Data, bool]]:
    """Return name, check mode, options and expected `changed` of each step of one way."""
    acts = [("create", case.create), ("modify", case.modify), ("delete", case.delete)]
    turns = [(act, options, again) for act, options in acts for again in (False, True)]
    found = [
        (f"{act}{' again' * again}{' (check)' * check}", check, options, not again)
        for act, options, again in turns
        for check in (True, False)
    ]
    return [step for step in found if in_process or case.whole or step[0] in EACH_ACT]


def run_steps(case: Case, playbook: Playbook, in_process: bool) -> list[TaskResult]:
    """Run the steps of a case in one play; return their results."""
    way = "in" if in_process else "out"
    module = f"accelerators.openshift.{case.module}"
    tasks = [
        {"name": name, module: options, "check_mode": check, "diff": True, "register": f"step_{index}"}
        for index, (name, check, options, _changes) in enumerate(steps(case, in_process))
    ]
    # A registered result keeps the warnings; the events lose them.
    tell: Data = {
        "name": "tell",
        "ansible.builtin.debug": {"msg": [f"{{{{ step_{index} }}}}" for index in range(len(tasks))]},
    }
    run = playbook.tasks(*named(way, [*case.before, *tasks, tell, *case.after]), in_process=in_process)
    assert run.rc == 0, run.output[-4000:]
    done = run.tasks[len(case.before) :]
    return [replace(task, result=result) for task, result in zip(done, done[len(tasks)]["msg"], strict=False)]


class Walks:
    """The steps of cases; each case is walked once for all tests."""

    def __init__(self, playbook: Playbook, audit: Audit) -> None:
        self._playbook = playbook
        self._audit = audit
        self._done: dict[tuple[int, bool], list[TaskResult]] = {}

    def of(self, case: Case, in_process: bool) -> list[TaskResult]:
        """Return the results of a case's steps; run them on the first call."""
        key = (id(case), in_process)
        if key not in self._done:
            self._done[key] = run_steps(case, self._playbook, in_process)
        return self._done[key]

    def check(self, case: Case, in_process: bool) -> None:
        """Assert that each step changes and reports what it should, and writes only then."""
        for task, (name, check, _options, changes) in zip(
            self.of(case, in_process), steps(case, in_process), strict=True
        ):
            assert task.name == name
            assert task.changed is changes, f"{name}: {task.result}"
            assert bool(task.result.get("diff")) is changes, f"{name}: {task.result}"
            written = self._audit.writes(task)
            assert bool(written) is (changes and not check and self._audit.log is not None), (
                f"{name}: {written}"
            )

    def compare(self, case: Case) -> None:
        """Assert that both ways to run the module return the same."""
        inside_process = {task.name: task for task in self.of(case, True)}
        for there in self.of(case, False):
            here = inside_process[there.name]
            ignored = VOLATILE | case.varies
            inside, outside = (
                comparable(task.result, way, ignored) for task, way in ((here, "in"), (there, "out"))
            )
            differing = [key for key in inside | outside if inside.get(key) != outside.get(key)]
            assert not differing, [(here.name, key, inside.get(key), outside.get(key)) for key in differing]


def comparable(value: t.Any, way: str, ignored: t.AbstractSet[str]) -> t.Any:
    """Return a result without the ignored keys, and with the same names in both ways."""
    if isinstance(value, dict):
        return {
            key: comparable(inner, way, ignored) for key, inner in sorted(value.items()) if key not in ignored
        }
    if isinstance(value, list):
        return [comparable(inner, way, ignored) for inner in value]
    return value.replace(f"it-{way}-", "it-") if isinstance(value, str) else value
