from __future__ import annotations

import types
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.callback.verdict import CallbackModule

# The attributes of a result: since ansible-core 2.19, and before.
NAMES = {"since 2.19": ("result", "host"), "before": ("_result", "_host")}


@pytest.fixture(params=NAMES)
def result(request: pytest.FixtureRequest) -> t.Callable[..., t.Any]:
    """Return a function that makes a result of a task; each test runs with both forms."""
    of_result, of_host = NAMES[request.param]
    host = types.SimpleNamespace(get_name=lambda: "cluster-a")
    return lambda **facts: types.SimpleNamespace(**{of_result: facts, of_host: host})


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
    callback: tuple[CallbackModule, list[str]], result: t.Callable[..., t.Any], facts: dict[str, t.Any]
) -> None:
    one, shown = callback
    one.v2_runner_on_failed(result(**facts))
    one.v2_playbook_on_stats(None)
    assert shown == ["cluster-a: MACH-CAPACITY: no g4dn in us-east-2a", "Remedy: add a zone"]


def test_ignored_failures_and_those_of_others_stay_silent(
    callback: tuple[CallbackModule, list[str]], result: t.Callable[..., t.Any]
) -> None:
    one, shown = callback
    one.v2_runner_on_failed(result(**FAILURE), ignore_errors=True)
    one.v2_runner_on_failed(result(failed=True, msg="somebody else's"))
    one.v2_playbook_on_stats(None)
    assert shown == []


def test_the_stages_of_a_stack_come_before_its_verdict(
    callback: tuple[CallbackModule, list[str]], result: t.Callable[..., t.Any]
) -> None:
    one, shown = callback
    lines = ["ready: crd", "driver FAILED on 1 of 2 nodes: gpu-1: no image", "toolkit waits for driver"]
    one.v2_runner_on_failed(result(**FAILURE, special_resource={"lines": lines}))
    one.v2_playbook_on_stats(None)
    assert shown[:3] == [f"cluster-a: {line}" for line in lines]
    assert shown[3:] == ["cluster-a: MACH-CAPACITY: no g4dn in us-east-2a", "Remedy: add a zone"]


def test_a_task_without_a_module_of_ours_fails_with_a_code_too(
    callback: tuple[CallbackModule, list[str]], result: t.Callable[..., t.Any]
) -> None:
    one, shown = callback
    one.v2_runner_on_failed(result(failed=True, msg="MACH-CAPACITY: 1 of 2 pools did not get machines."))
    one.v2_runner_on_failed(result(failed=True, msg="OTHER-CODE: of another collection"))
    one.v2_playbook_on_stats(None)
    assert shown[0] == "cluster-a: MACH-CAPACITY: 1 of 2 pools did not get machines."
    assert shown[1].startswith("Remedy: ")
    assert len(shown) == 2
