"""SpecialResources: what they say, what they run, and what takes their place."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.sro import judge as sro_judge

Data = dict[str, t.Any]
CHART = {"name": "simple-kmod", "version": "0.0.1", "repository": {"name": "charts", "url": "file:///charts"}}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def params(**more: t.Any) -> Data:
    base = {
        "name": "kmod",
        "namespace": "kmod",
        "pools": [],
        "grace": 10.0,
        "spec": {},
        "sro": {"chart": CHART},
    }
    return base | more


def special(**conditions: str) -> Data:
    status = {
        "state": "Working",
        "conditions": [
            {"type": kind, "status": "True", "message": text, "reason": kind}
            for kind, text in conditions.items()
        ],
    }
    return {"metadata": {"name": "kmod"}, "spec": {"chart": CHART, "namespace": "kmod"}, "status": status}


@pytest.mark.parametrize(
    ("live", "verdict", "code"),
    [
        (special(Ready=""), "ready", ""),
        (special(Progressing="waiting for driver"), "pending", "GPU-SRO-NOTREADY"),
        (special(Errored="no such chart", Progressing=""), "pending", "GPU-SRO-ERRORED"),
        (special(), "pending", "GPU-SRO-NOTREADY"),
    ],
)
def test_conditions(live: Data, verdict: str, code: str) -> None:
    found = sro_judge.judge(live)
    assert (found.verdict, found.code) == (verdict, code)


def test_an_error_that_lasts_is_final() -> None:
    clock = Clock()
    judge = sro_judge.Judge(params(), clock)
    seen = {"specials": [special(Errored="no such chart")]}
    assert judge(seen).verdict == "pending"
    clock.now = 11.0
    assert (judge(seen).verdict, judge(seen).code) == ("failed", "GPU-SRO-ERRORED")
    assert "no such chart" in judge(seen).message


def test_what_it_runs_is_found_by_its_owner_even_after_it_is_gone() -> None:
    spec = {"template": {"spec": {"containers": [{"image": "i:1"}]}}}
    owned = {
        "metadata": {
            "name": "d",
            "namespace": "kmod",
            "ownerReferences": [{"kind": "SpecialResource", "name": "kmod"}],
        },
        "spec": spec,
    }
    other = {"metadata": {"name": "e", "namespace": "kmod"}, "spec": spec}
    assert sro_judge.runs(None, "kmod", [owned, other]) == {
        "chart": "",
        "namespace": "",
        "daemonsets": [{"name": "kmod/d", "images": ["i:1"], "pods": 0}],
    }
    assert sro_judge.runs(special(), "kmod", [other])["chart"] == "simple-kmod 0.0.1"


def test_the_object_is_built() -> None:
    given = params(
        sro={
            "chart": CHART,
            "set": {"a": 1},
            "node_selector": {"x": "y"},
            "management_state": "Managed",
        }
    )
    assert sro_judge.build(given)["spec"] == {
        "chart": CHART,
        "namespace": "kmod",
        "set": {"apiVersion": "sro.openshift.io/v1beta1", "kind": "Values", "a": 1},
        "nodeSelector": {"x": "y"},
        "managementState": "Managed",
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": ""}, "name is missing"),
        ({"sro": {"chart": CHART, "migrate_to": "kmm"}}, "exclude each other"),
        ({"namespace": ""}, "namespace is missing"),
    ],
)
def test_what_cannot_work_is_refused_at_once(change: Data, said: str) -> None:
    with pytest.raises(InputError, match=said):
        sro_judge.check(params(**change))


def test_what_the_successor_needs() -> None:
    given = params(sro={"migrate_to": "kmm"})
    assert sro_judge.needs(given, lambda kind: kind == "Module") == [
        {"what": "Module is served (olm_operator with name=kernel-module-management)", "met": True}
    ]
