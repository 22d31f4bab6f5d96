# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every module's twelve steps: create, again, modify, again, delete, again; each in check mode and for real; both ways."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field, replace

import pytest
from integration.playbook import Playbook, TaskResult
from integration.wire import Audit

Data = dict[str, t.Any]

VOLATILE = {"duration", "invocation", "install_plan", "uid", "resourceVersion", "creationTimestamp", "proof"}


@dataclass(frozen=True)
class Case:
    """A module's options for each act; `{way}` in any text becomes the way, so that the ways do not meet."""

    module: str
    create: Data
    modify: Data
    delete: Data
    before: list[Data] = field(default_factory=list)
    after: list[Data] = field(default_factory=list)


def manifest(kind: str, name: str, api_version: str = "v1", **more: t.Any) -> Data:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}


SPACE = manifest("Namespace", "it-{way}-objects")
MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "it-{way}-objects"}}
CLASS = manifest("PriorityClass", "it-{way}-high", "scheduling.k8s.io/v1", value=1000)
NFD = {"name": "nfd", "namespace": "openshift-nfd", "channel": "stable"}
QUOTA = {"namespace": "it-{way}-quota", "create_namespace": True}

CASES = [
    Case(
        "gpu_quota",
        create=QUOTA | {"gpus": 2, "prove": True},
        modify=QUOTA | {"hard": {"requests.nvidia.com/gpu": 4, "requests.cpu": "1000m"}},
        delete={"namespace": "it-{way}-quota", "state": "absent"},
    ),
    Case(
        "manifests",
        create={"objects": [MAP | {"data": {"a": "1"}}, CLASS, SPACE]},
        modify={"objects": [MAP | {"data": {"a": "2"}}, CLASS, SPACE]},
        delete={"objects": [MAP, CLASS, SPACE], "state": "absent"},
    ),
    Case("olm_operator", create=NFD, modify=NFD | {"channel": "4.22"}, delete=NFD | {"state": "absent"}),
]


def named(way: str, value: t.Any) -> t.Any:
    if isinstance(value, dict):
        return {key: named(way, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [named(way, inner) for inner in value]
    return value.replace("{way}", way) if isinstance(value, str) else value


def steps(case: Case) -> list[tuple[str, bool, Data, bool]]:
    """Name, check mode, options and whether something changes."""
    acts = [("create", case.create), ("modify", case.modify), ("delete", case.delete)]
    turns = [(act, options, again) for act, options in acts for again in (False, True)]
    return [(f"{act}{' again' * again}{' (check)' * check}", check, options, not again) for act, options, again in turns for check in (True, False)]


def run_steps(case: Case, playbook: Playbook, in_process: bool) -> list[TaskResult]:
    way = "in" if in_process else "out"
    module = f"accelerators.openshift.{case.module}"
    tasks = [
        {"name": name, module: options, "check_mode": check, "diff": True, "register": f"step_{index}"}
        for index, (name, check, options, _changes) in enumerate(steps(case))
    ]
    # What a user registers; the events themselves lose the warnings on the way.
    tell: Data = {"name": "tell", "ansible.builtin.debug": {"msg": [f"{{{{ step_{index} }}}}" for index in range(len(tasks))]}}
    run = playbook.tasks(*named(way, [*case.before, *tasks, tell, *case.after]), in_process=in_process)
    assert run.rc == 0, run.output[-4000:]
    done = run.tasks[len(case.before) :]
    return [replace(task, result=result) for task, result in zip(done, done[len(tasks)]["msg"], strict=False)]


@pytest.fixture(scope="module")
def walked(playbook: Playbook) -> t.Callable[[Case, bool], list[TaskResult]]:
    """The steps of a case, walked once for all tests."""
    done: dict[tuple[str, bool], list[TaskResult]] = {}

    def walk(case: Case, in_process: bool) -> list[TaskResult]:
        if (case.module, in_process) not in done:
            done[case.module, in_process] = run_steps(case, playbook, in_process)
        return done[case.module, in_process]

    return walk


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.module)
def test_twelve_steps(case: Case, in_process: bool, walked: t.Callable[[Case, bool], list[TaskResult]], audit: Audit) -> None:
    for task, (name, check, _options, changes) in zip(walked(case, in_process), steps(case), strict=True):
        assert task.name == name
        assert task.changed is changes, f"{name}: {task.result}"
        assert bool(task.result.get("diff")) is changes, f"{name}: {task.result}"
        written = audit.writes(task)
        assert bool(written) is (changes and not check and audit.log is not None), f"{name}: {written}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.module)
def test_both_ways_say_the_same(case: Case, walked: t.Callable[[Case, bool], list[TaskResult]]) -> None:
    for here, there in zip(walked(case, True), walked(case, False), strict=True):
        assert comparable(here.result, "in") == comparable(there.result, "out"), here.name


def comparable(value: t.Any, way: str) -> t.Any:
    if isinstance(value, dict):
        return {key: comparable(inner, way) for key, inner in sorted(value.items()) if key not in VOLATILE}
    if isinstance(value, list):
        return [comparable(inner, way) for inner in value]
    return value.replace(f"it-{way}-", "it-") if isinstance(value, str) else value
