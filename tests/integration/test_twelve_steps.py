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

VOLATILE = {"duration", "invocation", "install_plan", "machines", "nodes", "uid", "resourceVersion", "creationTimestamp", "proof"}


@dataclass(frozen=True)
class Case:
    """A module's options for each act; `{way}` in any text becomes the way, so that the ways do not meet. varies: results that time decides."""

    module: str
    create: Data
    modify: Data
    delete: Data
    before: list[Data] = field(default_factory=list)
    varies: frozenset[str] = frozenset()


def manifest(kind: str, name: str, api_version: str = "v1", **more: t.Any) -> Data:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}


def task(module: str, **options: t.Any) -> Data:
    return {f"accelerators.openshift.{module}": options}


SPACE = manifest("Namespace", "it-{way}-objects")
MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "it-{way}-objects"}}
CLASS = manifest("PriorityClass", "it-{way}-high", "scheduling.k8s.io/v1", value=1000)
SRIOV = {"name": "sriov-network-operator", "namespace": "it-{way}-sriov", "channel": "stable"}
QUOTA = {"namespace": "it-{way}-quota", "create_namespace": True}
POOL = {"name": "it-{way}-pool", "instance_type": "g4dn.xlarge", "zones": ["us-east-2a"], "replicas": 1}

SCALED = {"name": "it-{way}-scaled", "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}], "accelerator": "it-{way}-gpu"}

# What the later modules stand on; made once, found unchanged after that.
NFD_OPERATOR = task("olm_operator", name="nfd", namespace="openshift-nfd")
GPU_OPERATOR = task("olm_operator", name="gpu-operator-certified", namespace="nvidia-gpu-operator")
NODES = task("gpu_machineset", name="it-chain", instance_type="g4dn.xlarge", zones=["us-east-2b"], replicas=1)
LABELS = task("nfd_labels")
CHAIN = {"node_selector": {"accelerators.openshift/pool": "it-chain"}}
STACK = {"pools": [CHAIN | {"name": "it-chain", "expected": {"nvidia.com/gpu": 1}}]}
RULES = [
    {"name": "it-rule", "rules": [{"name": "it", "labels": {"example.com/it": "true"}, "matchFeatures": [{"feature": "cpu.model", "matchExpressions": {}}]}]}
]

CASES = [
    Case(
        "gpu_quota",
        create=QUOTA | {"gpus": 2, "prove": True},
        modify=QUOTA | {"hard": {"requests.nvidia.com/gpu": 4, "requests.cpu": "1000m"}},
        delete={"namespace": "it-{way}-quota", "state": "absent"},
        varies=frozenset({"warnings"}),  # whether a GPU node is there yet
    ),
    Case(
        "manifests",
        create={"objects": [MAP | {"data": {"a": "1"}}, CLASS, SPACE]},
        modify={"objects": [MAP | {"data": {"a": "2"}}, CLASS, SPACE]},
        delete={"objects": [MAP, CLASS, SPACE], "state": "absent"},
    ),
    Case(
        "olm_operator",
        create=SRIOV,
        modify=SRIOV | {"channel": "4.22"},
        delete=SRIOV | {"state": "absent"},
        varies=frozenset({"diff"}),  # OLM writes names and uids of its own into it
    ),
    Case(
        "gpu_machineset",
        create=POOL,
        modify=POOL | {"replicas": 2},
        delete={"name": "it-{way}-pool", "state": "absent"},
        varies=frozenset({"diff", "foreseen"}),  # they name the nodes that are drained
    ),
    Case(
        "gpu_autoscaler",
        before=[task("gpu_machineset", pool=SCALED | {"autoscale": {"min": 0, "max": 2}})],
        create={"pools": [SCALED | {"autoscale": {"min": 0, "max": 2}}]},
        modify={"pools": [SCALED | {"autoscale": {"min": 0, "max": 4}}]},
        delete={"pools": [SCALED], "state": "absent"},
    ),
    Case(
        "gpu_workload",
        before=[NFD_OPERATOR, LABELS, NODES, GPU_OPERATOR, task("special_resource", **STACK)],
        create=CHAIN | {"namespace": "it-{way}-validation"},
        modify=CHAIN | {"namespace": "it-{way}-validation", "benchmark": "nvidia_smi"},
        delete={"namespace": "it-{way}-validation", "state": "absent"},
        varies=frozenset({"diff"}),  # it holds a time and what was measured
    ),
    Case(
        "special_resource",
        before=[NFD_OPERATOR, LABELS, NODES, GPU_OPERATOR, task("special_resource", state="absent")],
        create=STACK,
        modify=STACK | {"mig": {"strategy": "mixed"}},
        delete={"state": "absent"},
        varies=frozenset({"driver_version"}),  # read from labels that outlive the stack for a while
    ),
    Case(
        "nfd_labels",
        before=[NFD_OPERATOR, task("nfd_labels", state="absent")],
        create={"rules": []},
        modify={"rules": RULES},
        delete={"state": "absent"},
    ),
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
    run = playbook.tasks(*named(way, [*case.before, *tasks, tell]), in_process=in_process)
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
        ignored = VOLATILE | case.varies
        assert comparable(here.result, "in", ignored) == comparable(there.result, "out", ignored), here.name


def comparable(value: t.Any, way: str, ignored: t.AbstractSet[str]) -> t.Any:
    if isinstance(value, dict):
        return {key: comparable(inner, way, ignored) for key, inner in sorted(value.items()) if key not in ignored}
    if isinstance(value, list):
        return [comparable(inner, way, ignored) for inner in value]
    return value.replace(f"it-{way}-", "it-") if isinstance(value, str) else value
