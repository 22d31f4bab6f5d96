# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge of backend sro: conditions, errors that last, what it runs, and what its successor needs."""

from __future__ import annotations

import pytest
from unit.engine import FakeClock
from unit.stack.custom.test_judge_result import POOL as CARDS, node as card
from unit.stack.sro.builders import params, special

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.sro import judge as sro_judge


@pytest.mark.parametrize(
    ("live", "reason", "code", "details"),
    [
        (special(Ready=""), "Ready", "", ()),
        (special(Progressing="for driver"), "Progressing", "GPU-SRO-NOT-READY", ("Progressing: for driver",)),
        (special(Errored="", Progressing=""), "Errored", "GPU-SRO-ERRORED", ("Errored: Errored",)),
        (special(), "NotReady", "GPU-SRO-NOT-READY", ("state Working",)),
    ],
)
def test_conditions(live: KubeObject, reason: str, code: str, details: tuple[str, ...]) -> None:
    found = sro_judge.judge(live)
    assert (found.verdict, found.reason) == ("pending" if code else "ready", reason)
    assert (found.code, found.details) == (code, details)
    told = f"in {details[0]}" if reason == "NotReady" else "".join(details)
    assert not code or found.message == f"SpecialResource kmod is {told}."
    assert not code or found.remedy.startswith("Run `oc describe specialresource kmod`, ")
    assert sro_judge.judge({"metadata": {"name": "kmod"}}).details == ("state unknown",)
    silent = {"metadata": {"name": "kmod"}, "status": {"conditions": [{"type": "Errored", "status": "True"}]}}
    assert sro_judge.judge(silent).details == ("Errored",)


def test_an_error_that_lasts_is_final() -> None:
    clock = FakeClock()
    judge = sro_judge.Judge(params(), clock)
    seen = {"specials": [special(Errored="no such chart")]}
    assert judge(seen).verdict == "pending"
    clock.sleep(11.0)
    assert (judge(seen).verdict, judge(seen).code) == ("failed", "GPU-SRO-ERRORED")
    assert "no such chart" in judge(seen).message


def test_devices_that_stay_away_are_final() -> None:
    clock = FakeClock()
    judge = sro_judge.Judge(params(pools=[CARDS]), clock)
    seen = {"specials": [special(Ready="")], "nodes": [card("1")]}
    assert judge(seen).verdict == "pending"
    clock.sleep(11.0)
    assert (judge(seen).verdict, judge(seen).code) == ("failed", "GPU-ALLOC")


def test_what_it_runs_is_found_by_its_owner_even_after_it_is_gone() -> None:
    spec = {"template": {"spec": {"containers": [{"image": "i:1"}]}}}
    owned = {
        "metadata": {
            "name": "d",
            "namespace": "kmod",
            "ownerReferences": [{"kind": "SpecialResource", "name": "kmod"}],
        },
        "spec": spec,
        "status": {"numberReady": 2},
    }
    other = {"metadata": {"name": "e", "namespace": "kmod"}, "spec": spec}
    assert sro_judge.runs(None, "kmod", [owned, other]) == {
        "chart": "",
        "namespace": "",
        "daemonsets": [{"name": "kmod/d", "images": ["i:1"], "pods": 2}],
    }
    none_of_ours = sro_judge.runs(special(), "kmod", [other])
    assert none_of_ours == {"chart": "simple-kmod 0.0.1", "namespace": "kmod", "daemonsets": []}


def test_what_the_successor_needs() -> None:
    assert sro_judge.needs("kmm", lambda kind: kind == "Module") == [
        {"what": "Module is served (olm_operator with name=kernel-module-management)", "met": True}
    ]
    (found,) = sro_judge.needs("clusterpolicy", lambda _kind: False)
    what = "ClusterPolicy is served (olm_operator with name=gpu-operator-certified)"
    assert found == {"what": what, "met": False}


def test_the_steps_of_a_migration() -> None:
    before = sro_judge.steps("kmod", "kmm", True, [{"met": True}, {"met": False}])
    assert [(step["step"], step["done"]) for step in before] == [
        ("kmm finds what it needs", False),
        ("SpecialResource kmod is removed", False),
        ("its DaemonSets and pods are gone, so that its kernel modules are unloaded", False),
        ("kmm brings the driver", False),
    ]
    after = sro_judge.steps("kmod", "kmm", False, [{"met": True}])
    assert [step["done"] for step in after] == [True, True, True, False]


def test_a_resource_that_is_ready_is_nothing_without_its_nodes_and_devices() -> None:
    judge = sro_judge.Judge(params(pools=[CARDS]), FakeClock())
    seen = {"specials": [special(Ready="")], "nodes": [card("1")]}
    assert judge(seen).code == "GPU-ALLOC"
    assert judge({**seen, "nodes": []}).code == "GPU-NODES"
    assert judge({**seen, "nodes": [card("2")]}).is_ready
    assert judge({**seen, "specials": []}).code == "GPU-DELETED"
    found = sro_judge.summarize("kmod", [CARDS], seen, [])
    assert [(one["name"], one["pool"]) for one in found["nodes"]] == [("n1", "cards")]
    assert [(one["name"], one["code"]) for one in found["pools"]] == [("cards", "GPU-ALLOC")]


def test_the_result_has_state_stages_and_what_runs() -> None:
    found = sro_judge.summarize("kmod", [], {"specials": [special(Ready="")]}, [])
    assert (found["name"], found["state"], found["nodes"]) == ("kmod", "ready", [])
    assert [one["name"] for one in found["stages"]] == ["crd"]
    assert found["runs"]["chart"] == "simple-kmod 0.0.1"
    gone = sro_judge.summarize("kmod", [], {"specials": []}, [])
    assert (gone["state"], gone["reason"], gone["runs"]["chart"]) == ("pending", "Missing", "")
