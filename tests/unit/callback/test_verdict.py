from __future__ import annotations

import inspect
import typing as t

import pytest
from ansible.executor.task_result import TaskResult
from ansible.inventory.host import Host

from ansible_collections.accelerators.openshift.plugins.callback.verdict import CallbackModule


def result(**facts: t.Any) -> t.Any:
    """Return a result as this ansible-core gives it to a callback."""
    # Only some releases of ansible-core keep the fields of the task in it.
    more = {"task_fields": {}} if "task_fields" in inspect.signature(TaskResult).parameters else {}
    return TaskResult(Host("cluster-a"), None, facts, **more)


FAILURE = {
    "failed": True,
    "code": "MACH-CAPACITY",
    "message": "no g4dn in us-east-2a",
    "remedy": "add a zone",
    "evidence": ["machine demo-0"],
}


@pytest.fixture
def callback(monkeypatch: pytest.MonkeyPatch) -> tuple[CallbackModule, list[str]]:
    shown: list[str] = []
    one = CallbackModule()
    monkeypatch.setattr(one._display, "display", lambda line, **_more: shown.append(line))
    return one, shown


@pytest.mark.parametrize("facts", [FAILURE, {"results": [{"changed": True}, FAILURE]}], ids=["task", "loop"])
def test_the_last_lines_are_code_and_remedy(
    callback: tuple[CallbackModule, list[str]], facts: dict[str, t.Any]
) -> None:
    one, shown = callback
    one.v2_runner_on_failed(result(**facts))
    one.v2_playbook_on_stats(None)
    assert shown == ["cluster-a: MACH-CAPACITY: no g4dn in us-east-2a", "Remedy: add a zone"]


def test_ignored_failures_and_those_of_others_stay_silent(callback: tuple[CallbackModule, list[str]]) -> None:
    one, shown = callback
    one.v2_runner_on_failed(result(**FAILURE), ignore_errors=True)
    one.v2_runner_on_failed(result(failed=True, msg="somebody else's"))
    one.v2_playbook_on_stats(None)
    assert shown == []


def test_the_stages_of_a_stack_come_before_its_verdict(callback: tuple[CallbackModule, list[str]]) -> None:
    one, shown = callback
    lines = ["ready: crd", "driver FAILED on 1 of 2 nodes: gpu-1: no image", "toolkit waits for driver"]
    one.v2_runner_on_failed(result(**FAILURE, special_resource={"lines": lines}))
    one.v2_playbook_on_stats(None)
    assert shown[:3] == [f"cluster-a: {line}" for line in lines]
    assert shown[3:] == ["cluster-a: MACH-CAPACITY: no g4dn in us-east-2a", "Remedy: add a zone"]
