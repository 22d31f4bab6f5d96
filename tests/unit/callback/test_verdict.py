from __future__ import annotations

import types
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.callback.verdict import CallbackModule

# The attributes of a result: since ansible-core 2.19, and before.
NAMES = {"since 2.19": ("result", "host", "task"), "before": ("_result", "_host", "_task")}
OURS = "accelerators.openshift.gpu_plan"


@pytest.fixture(params=NAMES)
def result(request: pytest.FixtureRequest) -> t.Callable[..., t.Any]:
    """Return a function that makes a result of a task; each test runs with both forms."""
    of_result, of_host, of_task = NAMES[request.param]

    def make(name: str = "cluster-a", action: str = OURS, **facts: t.Any) -> types.SimpleNamespace:
        host, task = types.SimpleNamespace(get_name=lambda: name), types.SimpleNamespace(action=action)
        return types.SimpleNamespace(**{of_result: facts, of_host: host, of_task: task})

    return make


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
    one.v2_runner_on_failed(result(**FAILURE, special_resource={"table": lines}))
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


class Stats:
    """What Ansible counts: the hosts that failed and those on which something changed."""

    def __init__(self, failed: t.Container[str] = (), changed: t.Container[str] = ()) -> None:
        self._failed, self._changed = failed, changed

    def summarize(self, host: str) -> dict[str, int]:
        return {
            "failures": int(host in self._failed),
            "unreachable": 0,
            "changed": int(host in self._changed),
        }


def test_a_run_for_several_clusters_ends_with_one_line_about_all(
    callback: tuple[CallbackModule, list[str]], result: t.Callable[..., t.Any]
) -> None:
    one, shown = callback
    for name in ("east", "north", "west"):
        one.v2_runner_on_ok(result(name))
    one.v2_runner_on_failed(result("west", **FAILURE))
    one.v2_runner_on_failed(result("west", **{**FAILURE, "code": "WAIT-TIMEOUT"}))
    one.v2_runner_on_failed(result("north", action="ansible.builtin.assert", failed=True, msg="no"))
    one.v2_playbook_on_stats(Stats(failed=("north", "west"), changed=("east", "west")))
    assert shown[-1] == "3 clusters: 1 done (1 changed), 2 failed: north, west (MACH-CAPACITY)"


def test_a_run_without_a_failure_ends_with_the_line_too(
    callback: tuple[CallbackModule, list[str]], result: t.Callable[..., t.Any]
) -> None:
    one, shown = callback
    for name in ("east", "west"):
        one.v2_runner_on_ok(result(name))
    one.v2_playbook_on_stats(Stats())
    assert shown == ["2 clusters: 2 done (0 changed), 0 failed"]


def test_a_play_of_others_gets_no_line(
    callback: tuple[CallbackModule, list[str]], result: t.Callable[..., t.Any]
) -> None:
    one, shown = callback
    for name in ("east", "west"):
        one.v2_runner_on_ok(result(name, action="ansible.builtin.ping"))
    one.v2_playbook_on_stats(Stats())
    assert shown == []


def test_the_one_cluster_that_limit_chose_gets_the_line_too(
    callback: tuple[CallbackModule, list[str]],
    result: t.Callable[..., t.Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, shown = callback
    one.v2_runner_on_ok(result("west"))
    one.v2_playbook_on_stats(Stats())
    assert shown == []
    monkeypatch.setattr("ansible.context.CLIARGS", {"subset": "west"})
    one.v2_playbook_on_stats(Stats(changed=("west",)))
    assert shown == ["1 cluster: 1 done (1 changed), 0 failed"]


class Step:
    """A task or a block as Ansible has them."""

    def __init__(self, parent: Step | None = None) -> None:
        self._parent, self._uuid = parent, str(id(self))
        self.action = OURS
        self.block: list[Step] = []
        self.rescue: list[Step] = []


def test_a_rescued_failure_is_told_only_if_the_host_failed_later(
    callback: tuple[CallbackModule, list[str]], result: t.Callable[..., t.Any]
) -> None:
    one, shown = callback
    outer = Step()
    inner, in_rescue = Step(outer), Step(outer)
    outer.block, outer.rescue = [inner], [in_rescue]
    task = Step(inner)
    inner.block = [task]
    rescued, later = result(**FAILURE), result(**{**FAILURE, "message": "in the rescue", "remedy": ""})
    for found, step in ((rescued, task), (later, in_rescue)):
        setattr(found, "task" if hasattr(found, "task") else "_task", step)
    one.v2_runner_on_failed(rescued)
    one.v2_playbook_on_stats(None)
    assert shown == []
    one.v2_runner_on_failed(rescued)
    one.v2_runner_on_failed(later)
    one.v2_playbook_on_stats(None)
    assert shown == [
        "cluster-a: MACH-CAPACITY: no g4dn in us-east-2a",
        "Remedy: add a zone",
        "cluster-a: MACH-CAPACITY: in the rescue",
    ]
