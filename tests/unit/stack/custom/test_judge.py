"""Objects of any operator: expressions, generations, nodes."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.daemon_sets import Gone
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.expression import Expression
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.custom import (
    judge as custom_judge,
)

Data = dict[str, t.Any]
READY = "status.conditions[?type=='Available'].status | [0] == 'True'"
FAILED = "status.conditions[?type=='Degraded'].status | [0] == 'True'"
MESSAGE = "status.conditions[?type=='Degraded'].message | [0]"
POOL = {"name": "fpga", "node_selector": {"pool": "fpga"}, "replicas": 1}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def params(**more: t.Any) -> Data:
    definition = {
        "apiVersion": "fpga.example.com/v1",
        "kind": "FpgaStack",
        "metadata": {"name": "fpga", "namespace": "fpga"},
        "spec": {"image": {"tag": "1"}},
    }
    custom = {
        "definition": definition,
        "ready": READY,
        "failed": FAILED,
        "says": MESSAGE,
        "expected": {"example.com/fpga": 2},
    } | more.pop("custom", {})
    base = {
        "name": None,
        "namespace": None,
        "tolerations": [],
        "spec": {},
        "pools": [POOL],
        "state": "present",
        "grace": 10.0,
        "custom": custom,
    }
    return base | more


def live(generation: int = 1, observed: int | None = 1, **conditions: str) -> Data:
    status = {
        "conditions": [
            {"type": kind, "status": value, "message": f"{kind} it is"} for kind, value in conditions.items()
        ]
    }
    status |= {} if observed is None else {"observedGeneration": observed}
    return {"kind": "FpgaStack", "metadata": {"name": "fpga", "generation": generation}, "status": status}


def node(devices: str = "2") -> Data:
    status = {
        "conditions": [{"type": "Ready", "status": "True"}],
        "allocatable": {"example.com/fpga": devices},
    }
    return {"metadata": {"name": "n1", "labels": {"pool": "fpga"}}, "status": status}


@pytest.mark.parametrize(
    ("obj", "nodes", "verdict", "code"),
    [
        (live(Available="True"), [node()], "ready", ""),
        (live(Available="True", observed=None), [node()], "ready", ""),
        (live(Available="True", generation=2), [node()], "pending", "GPU-CR-NOTREADY"),
        (live(), [node()], "pending", "GPU-CR-NOTREADY"),
        (live(Available="False", Degraded="True"), [node()], "pending", "GPU-CR-FAILED"),
        (live(Available="True"), [node("1")], "pending", "GPU-ALLOC"),
        (live(Available="True"), [], "pending", "GPU-NODES"),
    ],
)
def test_the_verdict(obj: Data, nodes: list[Data], verdict: str, code: str) -> None:
    judge = custom_judge.Judge(params(), Clock())
    found = judge({"objects": [obj], "nodes": nodes})
    assert (found.verdict, found.code) == (verdict, code)


def test_a_failure_that_lasts_is_final_and_says_why() -> None:
    clock = Clock()
    judge = custom_judge.Judge(params(), clock)
    seen = {"objects": [live(Available="False", Degraded="True")], "nodes": [node()]}
    assert judge(seen).verdict == "pending"
    clock.now = 11.0
    found = judge(seen)
    assert (found.verdict, found.code) == ("failed", "GPU-CR-FAILED")
    assert "Degraded it is" in found.message
    assert judge.summarize(seen)["state"] == "failed"


def test_missing_devices_are_final_only_once_the_object_is_ready() -> None:
    clock = Clock()
    judge = custom_judge.Judge(params(), clock)
    slow, done = (
        {"objects": [live()], "nodes": [node("0")]},
        {"objects": [live(Available="True")], "nodes": [node("0")]},
    )
    assert judge(slow).verdict == "pending"
    clock.now = 100.0
    assert judge(slow).verdict == "pending"
    assert judge(done).verdict == "pending"
    clock.now = 111.0
    assert judge(done).code == "GPU-ALLOC"
    assert judge(done).verdict == "failed"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"custom": None}, "custom is missing"),
        (
            {"custom": {"definition": {"kind": "A", "metadata": {"name": "a"}}}},
            "custom.definition.apiVersion",
        ),
        (
            {"custom": {"definition": {"apiVersion": "v1", "kind": "A", "metadata": None}}},
            "custom.definition.metadata.name",
        ),
        ({"custom": {"ready": None}}, "custom.ready"),
        ({"custom": {"ready": "status.["}}, "custom.ready"),
        ({"custom": {"failed": "nope(@)"}}, "custom.failed: 'nope(@)': Unknown function: nope()"),
        ({"name": "other"}, "name is other"),
        ({"tolerations": [{"operator": "Exists"}]}, "tolerations"),
    ],
)
def test_what_cannot_work_is_refused_at_once(change: Data, path: str) -> None:
    given = params(**change) if change.get("custom", {}) is not None else params() | change
    with pytest.raises(InputError, match=path.replace("(", r"\(").replace(")", r"\)").replace("[", r"\[")):
        custom_judge.check(given)


def test_the_definition_names_the_object_and_the_raw_spec_is_merged() -> None:
    given = params(spec={"image": {"pull": "Always"}})
    custom_judge.check(given)
    assert (given["name"], given["namespace"]) == ("fpga", "fpga")
    built = custom_judge.build(given, True)
    assert built["spec"] == {"image": {"tag": "1", "pull": "Always"}}
    assert built["metadata"] == {"name": "fpga", "namespace": "fpga"}
    assert custom_judge.build(given, False)["metadata"] == {"name": "fpga"}


@pytest.mark.parametrize(
    ("found", "holds"),
    [
        (0, True),
        ("no", True),
        ("", False),
        ([], False),
        ({}, False),
        (False, False),
        (None, False),
        (True, True),
    ],
)
def test_truth_is_jmespaths(found: t.Any, holds: bool) -> None:
    assert Expression("x", "a").holds({"a": found}) is holds


def test_a_function_over_nothing_finds_nothing() -> None:
    assert Expression("x", "length(status.pods) > `0`").ask({}) is None


def test_daemon_sets_and_their_pods_are_waited_for() -> None:
    one = {"metadata": {"name": "plugin", "uid": "u1"}}
    pod = {"metadata": {"name": "plugin-x", "ownerReferences": [{"uid": "u1"}]}}
    gone = Gone("FpgaStack fpga", [one])
    assert gone({"daemonsets": [one], "pods": []}).code == "GPU-LEFTOVER"
    assert "pod/plugin-x" in gone({"daemonsets": [], "pods": [pod]}).message
    assert gone({"daemonsets": [], "pods": []}).is_ready
