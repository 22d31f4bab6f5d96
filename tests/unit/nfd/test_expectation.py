"""Expected labels: present, missing, lost and back again."""

from __future__ import annotations

import typing as t

import pytest
from unit.nfd.builders import GPU, PCI, expect, instance, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import (
    expectation as nfd_expectation,
    report,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import labels as node_labels


def judged(
    nodes: list[dict[str, t.Any]],
    expectation: dict[str, t.Any],
    live: dict[str, t.Any] | None = None,
    clock: float = 0.0,
) -> t.Any:
    now = [0.0]
    judge = nfd_expectation.Judge(params(expect=[expectation]), lambda: now[0])
    snapshot = {"instances": [live or instance(Available="True")], "nodes": nodes}
    judge(snapshot)
    now[0] = clock
    return judge(snapshot)


def noted(*times: str, **labels: t.Any) -> dict[str, t.Any]:
    """Return a node whose labels were written at these times: that of its pool first, then the others."""
    found = node(**labels)
    keys = ["pool", *(key.replace("__", "/") for key in labels)]
    found["metadata"]["managedFields"] = [
        {"time": time, "fieldsV1": {"f:metadata": {"f:labels": {f"f:{key}": {}}}}}
        for key, time in zip(keys, times, strict=False)
    ]
    return found


@pytest.mark.parametrize(
    ("live", "wanted", "date", "seconds"),
    [
        (noted("2026-11-22T12:00:00Z", "2026-11-22T12:00:40Z", a="1"), {"a": 1}, "12:01:00", 17),
        (noted("2026-11-22T12:00:50Z", "2026-11-22T12:00:40Z", a="1"), {"a": 1}, "12:01:00", 7),
        (noted("2026-11-22T12:00:00Z", "2026-11-22T12:00:58Z", a="1"), {"a": 1}, "12:01:00", 0),
        (noted("2026-11-22T12:00:00Z", "2026-11-22T12:00:40Z", a="1"), {"a": 1}, "", 0),
        (noted("2026-11-22T12:00:00Z", "soon", a="1"), {"a": 1}, "12:01:00", 0),
        (noted("2026-11-22T12:00:00Z", a="1"), {"a": 1}, "12:01:00", 0),
        (noted("2026-11-22T12:00:00Z", "2026-11-22T12:00:40Z", a="1"), {"b": None}, "12:01:00", 0),
    ],
)
def test_labels_have_held_since_their_writer_changed_one(
    live: dict[str, t.Any], wanted: dict[str, t.Any], date: str, seconds: float
) -> None:
    available = instance(Available="True")
    (condition,) = available["status"]["conditions"]
    condition["lastTransitionTime"] = "2026-11-22T11:00:00Z"
    given = params(expect=[expect() | {"labels": wanted}])
    snapshot = {"instances": [available], "nodes": [live]}
    date = date and f"Sun, 22 Nov 2026 {date} GMT"
    assert nfd_expectation.held(snapshot, given, date) == seconds
    condition["lastTransitionTime"] = "2026-11-22T12:00:59Z"
    assert nfd_expectation.held(snapshot, given, date) == 0
    del condition["lastTransitionTime"]
    assert nfd_expectation.held(snapshot, given, date) == 0


LONG = {
    "metadata": {"name": "gpu-0", "labels": {"pool": "a", PCI.replace("10de", "0302_10de"): "true"}},
    "spec": {},
}
NO_EXECUTE = [{"key": "maintenance", "effect": "NoExecute"}]
PASSING_TAINT = [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]


@pytest.mark.parametrize(
    ("nodes", "wanted", "verdict", "code", "words"),
    [
        ([GPU], {PCI: True}, "ready", "", ""),
        ([LONG], {PCI: "true"}, "ready", "", ""),
        ([GPU], {PCI: None}, "pending", "NFD-LABEL-MISSING", "which must be absent"),
        ([GPU, node("gpu-1")], {PCI: True}, "pending", "NFD-LABEL-MISSING", f"gpu-1: lacks {PCI}=true"),
        ([node(a="1")], {"a": 2}, "pending", "NFD-LABEL-MISSING", "gpu-0: has a=1, expected 2"),
        ([node(a="1")], {"a": 1}, "ready", "", ""),
        ([], {PCI: True}, "pending", "NFD-NODES", "0 of 1 nodes exist (pool=a)"),
        ([node(taints=NO_EXECUTE)], {PCI: True}, "failed", "NFD-TAINT", "maintenance:NoExecute"),
        ([node(taints=PASSING_TAINT)], {PCI: True}, "pending", "NFD-LABEL-MISSING", "lacks"),
    ],
)
def test_expectations(
    nodes: list[dict[str, t.Any]], wanted: dict[str, t.Any], verdict: str, code: str, words: str
) -> None:
    found = judged(nodes, expect() | {"labels": wanted})
    assert (found.verdict, found.code) == (verdict, code)
    assert words in f"{found.message} {' '.join(found.details)}"


def test_named_nodes_have_to_be_there() -> None:
    found = judged([GPU], expect() | {"nodes": ["gpu-0", "gpu-7"], "labels": {PCI: True}})
    assert (found.code, "gpu-7" in found.message) == ("NFD-NODES", True)


@pytest.mark.parametrize(
    ("live", "clock", "verdict", "code"),
    [
        (instance(Available="True", Degraded="False"), 0, "ready", ""),
        (instance(Available="False", Progressing="True"), 300, "pending", "NFD-NOT-READY"),
        (instance(), 0, "pending", "NFD-NOT-READY"),
        (instance("another"), 0, "pending", "NFD-NOT-READY"),
        (instance(Available="False", Degraded="True"), 30, "pending", "NFD-DEGRADED"),
        (instance(Available="False", Degraded="True"), 60, "failed", "NFD-DEGRADED"),
    ],
)
def test_the_instance(live: dict[str, t.Any], clock: float, verdict: str, code: str) -> None:
    found = judged([GPU], expect() | {"labels": {PCI: True}}, live, clock)
    assert (found.verdict, found.code) == (verdict, code)


@pytest.mark.parametrize(
    ("live", "clock", "verdict"),
    [
        (instance(Available="True"), 59, "pending"),
        (instance(Available="True"), 60, "failed"),
        (instance(Available="False", Progressing="True"), 300, "pending"),
    ],
)
def test_a_label_that_no_running_worker_publishes_is_not_waited_for(
    live: dict[str, t.Any], clock: float, verdict: str
) -> None:
    found = judged([node()], expect() | {"labels": {PCI: True}}, live, clock)
    assert found.verdict == verdict
    assert f"gpu-0: lacks {PCI}=true" in " ".join(found.details)


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([], None),
        ([{"pool": "a"}], "pool in (a)"),
        ([{"pool": "b"}, {"pool": "a", "x": "1"}], "pool in (a,b)"),
        ([{"pool": "a"}, {}], None),
        ([{"gpu": True}], "gpu in (true)"),
        ([{"pool": "a", "gpu": None}], "pool in (a)"),
        ([{"pool": None}], None),
    ],
)
def test_the_selector_that_all_share(selectors: list[dict[str, t.Any]], expected: str | None) -> None:
    assert node_labels.common_selector(selectors) == expected


def test_a_null_in_a_selector_means_that_the_label_is_absent() -> None:
    nodes = [node("gpu-0", gpu="true"), node("cpu-0")]
    assert [
        one["metadata"]["name"]
        for one in nfd_expectation.selected(nodes, {"node_selector": {"pool": "a", "gpu": None}})
    ] == ["cpu-0"]


def test_a_label_that_goes_and_comes_back_is_told_and_is_no_loss() -> None:
    now = [0.0]
    judge = nfd_expectation.Judge(params(expect=[expect() | {"labels": {PCI: True}}]), lambda: now[0])
    live, bare = instance(Available="True"), node()
    verdicts = []
    for at, seen in ((0.0, GPU), (1.0, bare), (3.5, bare), (4.0, GPU)):
        now[0] = at
        verdicts.append(judge({"instances": [live], "nodes": [seen]}).verdict)
    assert verdicts == ["ready", "pending", "pending", "ready"]
    assert judge.lost == [{"node": "gpu-0", "label": PCI, "seconds": 3.0}]
    assert f"Node gpu-0 was without {PCI} for 3.0 s" in report.warnings({"stale": [], "lost": judge.lost})[0]


def test_a_label_that_was_never_there_is_not_lost() -> None:
    judge = nfd_expectation.Judge(params(expect=[expect() | {"labels": {PCI: True}}]), lambda: 0.0)
    for seen in (node(), GPU):
        judge({"instances": [instance(Available="True")], "nodes": [seen]})
    assert (judge.lost, judge.missing) == ([], {})


def test_the_judge_says_which_expectations_were_met_at_the_last_look() -> None:
    wanted = [expect() | {"labels": {PCI: True}, "node_selector": {"pool": pool}} for pool in ("a", "b")]
    judge = nfd_expectation.Judge(params(expect=wanted), lambda: 0.0)
    bare = {"metadata": {"name": "bare", "labels": {"pool": "b"}}, "spec": {}}
    judge({"instances": [instance(Available="True")], "nodes": [GPU, bare]})
    assert judge.met == [True, False]
