# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that stop and go on: pauses, windows, pods that are waited for, rollbacks that were interrupted."""

from __future__ import annotations

import datetime
import typing as t

import pytest
from unit.fake_server import Answer, FakeServer
from unit.killed_run import KilledError
from unit.upgrade.in_memory.builders import NAMESPACE, NEW, OLD, gpu_pod, params
from unit.upgrade.in_memory.controller import Operator

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import sentinel
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import run_steps, steps

THREE: t.Final = ("gpu-0", "gpu-1", "gpu-2")
Hook = t.Callable[[str, str], None]


def after_each_write(operator: Operator, hook: Hook) -> None:
    """Call the hook with method and path after each request that writes."""
    inner = operator.server.request

    def request(method: str, url: str, **more: t.Any) -> Answer:
        answer: Answer = inner(method, url, **more)
        if method != "GET" and "dryRun" not in url:
            hook(method, url)
        return answer

    operator.server.request = request


def closed(moment: datetime.datetime) -> str:
    """Return a window that is not open at this moment."""
    begin = moment + datetime.timedelta(hours=2)
    end = moment + datetime.timedelta(hours=3)
    return f"{begin:%H:%M}-{end:%H:%M}"


def pausing(operator: Operator) -> Hook:
    """Return a hook that pauses the upgrade once the canary has its driver, as another run would."""

    def hook(_method: str, _url: str) -> None:
        if operator.upgraded == [("gpu-0", NEW)]:
            map_ = operator.must("ConfigMap", "gpu-driver-upgrade")
            map_["metadata"].setdefault("annotations", {})["accelerators.openshift/pause-driver-upgrade"] = (
                "true"
            )

    return hook


def test_a_pause_stops_before_the_next_wave_and_resume_goes_on() -> None:
    operator = Operator()
    after_each_write(operator, pausing(operator))
    found = steps.ensure(operator.api(), params())["driver_upgrade"]
    assert (found["phase"], found["passed"]) == ("paused", ["gpu-0"])
    assert operator.held() == ["gpu-1", "gpu-2"]
    operator.server.request = operator.request
    operator.server.requests.clear()
    api = operator.api()
    assert steps.ensure(api, params())["driver_upgrade"]["phase"] == "paused"
    assert operator.server.writes() == [], "a paused upgrade stays paused"
    assert "resume" in api.warnings[0]
    nothing = {"version": None, "repository": None, "image": None}
    done = steps.ensure(operator.api(), params(action="resume", **nothing))["driver_upgrade"]
    assert done["phase"] == "done"
    assert operator.versions() == dict.fromkeys(THREE, NEW)
    assert operator.held() == []


def test_a_pause_is_one_annotation_and_needs_no_lease() -> None:
    operator = Operator()
    operator.writes_left = 6
    with pytest.raises(KilledError):
        steps.ensure(operator.api(), params())
    operator.writes_left = None
    operator.server.requests.clear()
    found = steps.ensure(operator.api(), params(action="pause"))["driver_upgrade"]
    assert found["pausing"] is True
    where = f"/api/v1/namespaces/{NAMESPACE}/configmaps/gpu-driver-upgrade"
    assert operator.server.writes() == [("PATCH", where)]
    steps.ensure(operator.api(), params(action="pause"))
    assert len(operator.server.writes()) == 1, "a second pause writes nothing"


def test_without_an_upgrade_there_is_nothing_to_pause() -> None:
    operator = Operator()
    api = operator.api()
    assert steps.ensure(api, params(action="pause"))["driver_upgrade"]["phase"] == "none"
    assert operator.server.writes() == []
    assert "nothing to pause" in api.warnings[0]


def test_outside_the_window_nothing_begins() -> None:
    operator = Operator()
    window = closed(datetime.datetime.now(datetime.UTC))
    found = steps.ensure(operator.api(), params(window=window))["driver_upgrade"]
    assert found["phase"] == "outside-window"
    assert operator.server.writes() == []


def test_the_window_closes_between_two_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    operator = Operator()
    answers = iter([True, False])
    monkeypatch.setattr(run_steps, "may_begin", lambda *_: next(answers))
    monkeypatch.setattr(run_steps, "is_closed", lambda *_: False)
    found = steps.ensure(operator.api(), params(window="22:00-04:00"))["driver_upgrade"]
    assert (found["phase"], found["passed"]) == ("outside-window", ["gpu-0"])
    monkeypatch.undo()
    assert steps.ensure(operator.api(), params())["driver_upgrade"]["phase"] == "done"
    assert operator.held() == []


def test_wait_upgrades_a_node_when_its_pods_have_ended() -> None:
    operator = Operator(("gpu-0",), gpu_pod("train", "gpu-0"))

    def ends(_method: str, _url: str) -> None:
        if operator.node("gpu-0")["spec"].get("unschedulable"):
            operator.end("train")

    after_each_write(operator, ends)
    found = steps.ensure(operator.api(), params(on_busy="wait"))["driver_upgrade"]
    assert found["phase"] == "done"
    assert operator.ended == ["train"], "the pod ended by itself"
    assert "unschedulable" not in operator.node("gpu-0")["spec"]


def test_pods_that_do_not_end_leave_no_node_cordoned() -> None:
    operator = Operator(("gpu-0",), gpu_pod("train", "gpu-0"))
    api = operator.api()
    api.deadline.seconds = 0.0
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(api, params(on_busy="wait"))
    assert caught.value.code == "UPGRADE-BUSY"
    assert operator.upgraded == []
    assert not operator.node("gpu-0")["spec"].get("unschedulable")


def test_an_interrupted_rollback_is_finished_and_said() -> None:
    operator = Operator()
    operator.broken.add(NEW)

    def dies(_method: str, _url: str) -> None:
        maps = [one for one in operator.all("ConfigMap") if one["data"]["phase"] == "rolling-back"]
        if maps and operator.writes_left is None:
            operator.writes_left = 1

    after_each_write(operator, dies)
    with pytest.raises(KilledError):
        steps.ensure(operator.api(), params())
    operator.server.request, operator.writes_left = operator.request, None
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params())
    assert caught.value.code == "UPGRADE-ROLLED-BACK"
    assert "GPU-DRV-CRASH" in caught.value.message
    assert operator.versions() == dict.fromkeys(THREE, OLD)
    assert operator.held() == []
    assert operator.phase() == "rolled-back"


def test_nodes_of_other_pools_keep_their_driver() -> None:
    operator = Operator()
    chosen = [{"name": "one", "node_selector": {"kubernetes.io/hostname": "gpu-1"}}]
    api = operator.api()
    steps.ensure(api, params(pools=chosen))
    assert operator.versions() == {"gpu-0": OLD, "gpu-1": NEW, "gpu-2": OLD}
    assert operator.held() == ["gpu-0", "gpu-2"]
    assert "2 nodes in no chosen pool" in api.warnings[-1]
    steps.ensure(operator.api(), params())
    assert operator.versions() == dict.fromkeys(THREE, NEW)
    assert operator.held() == []


def test_nodes_of_other_pools_are_free_again_when_the_old_driver_comes_back() -> None:
    operator = Operator()
    chosen = [{"name": "one", "node_selector": {"kubernetes.io/hostname": "gpu-1"}}]
    steps.ensure(operator.api(), params(pools=chosen))
    api = operator.api()
    steps.ensure(api, params(pools=chosen, version=OLD))
    assert operator.versions() == dict.fromkeys(THREE, OLD)
    assert operator.held() == []
    assert not [text for text in api.warnings if "in no chosen pool" in text]


def test_the_upgrade_policy_is_the_users_again_at_the_end() -> None:
    operator = Operator()
    before = dict(operator.must("ClusterPolicy", "gpu-cluster-policy")["spec"]["driver"]["upgradePolicy"])
    seen: list[t.Any] = []

    def look(_method: str, _url: str) -> None:
        seen.append(operator.must("ClusterPolicy", "gpu-cluster-policy")["spec"]["driver"]["upgradePolicy"])

    after_each_write(operator, look)
    steps.ensure(operator.api(), params(wave="2", wait_for="app=train", evict_unmanaged=True))
    wanted = {"waitForCompletion": {"podSelector": "app=train"}, "podDeletion": {"force": True}}
    assert {**before, "maxParallelUpgrades": 2, **wanted} in seen
    after = operator.must("ClusterPolicy", "gpu-cluster-policy")["spec"]["driver"]["upgradePolicy"]
    assert after == before


def test_another_driver_waits_for_the_upgrade_that_is_under_way() -> None:
    operator = Operator()
    operator.writes_left = 6
    with pytest.raises(KilledError):
        steps.ensure(operator.api(), params())
    operator.writes_left = None
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params(version="580.173.02"))
    assert caught.value.code == "UPGRADE-OTHER"


def test_the_old_driver_is_a_way_out_of_a_failed_upgrade() -> None:
    operator = Operator()
    operator.broken.add(NEW)
    with pytest.raises(NotReadyError):
        steps.ensure(operator.api(), params(rollback=False))
    assert steps.ensure(operator.api(), params(version=OLD))["driver_upgrade"]["phase"] == "done"
    assert operator.versions() == dict.fromkeys(THREE, OLD)
    assert operator.held() == []
    assert operator.upgraded == [("gpu-0", NEW), ("gpu-0", OLD)], "no other node was emptied"


def test_a_pod_that_nothing_ends_fails_the_canary_and_the_old_driver_stays() -> None:
    operator = Operator(("gpu-0",), gpu_pod("train", "gpu-0"))
    operator.stuck.add("train")
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params(on_busy="drain", grace=5))
    assert caught.value.code == "GPU-UPG-FAILED"
    assert operator.versions() == {"gpu-0": OLD}
    assert operator.upgraded == []
    assert "unschedulable" not in operator.node("gpu-0")["spec"]
    assert operator.ended == []


def test_a_rollback_does_not_end_pods_that_nobody_was_asked_about() -> None:
    operator = Operator(("gpu-0",))
    operator.jobs_end = "Failed"
    probe = {"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "probe", "namespace": "team"}}

    def comes_back(_method: str, url: str) -> None:
        if url.partition("?")[0].endswith("/jobs"):
            operator.server.put(gpu_pod("train", "gpu-0"))

    after_each_write(operator, comes_back)
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(operator.api(), params(probe=probe))
    assert caught.value.code == "UPGRADE-BUSY"
    assert "UPGRADE-PROBE" in caught.value.message
    assert operator.versions() == {"gpu-0": NEW}
    assert operator.ended == []
    operator.server.request = operator.request
    with pytest.raises(NotReadyError) as again:
        steps.ensure(operator.api(), params(on_busy="drain"))
    assert again.value.code == "UPGRADE-ROLLED-BACK"
    assert operator.versions() == {"gpu-0": OLD}


def test_a_node_that_restarts_before_its_turn_is_named_and_still_goes_through_the_gate() -> None:
    operator = Operator(("gpu-0", "gpu-1"))

    def restarts(_method: str, _url: str) -> None:
        if operator.upgraded == [("gpu-0", NEW)]:
            operator.restart("gpu-1")

    after_each_write(operator, restarts)
    api = operator.api()
    found = steps.ensure(api, params())["driver_upgrade"]
    assert any("gpu-1 has the new driver before the turn" in one for one in api.warnings)
    assert found["passed"] == ["gpu-0", "gpu-1"]


def test_status_says_what_keeps_a_node_from_its_driver() -> None:
    operator = Operator()
    operator.node("gpu-1")["metadata"]["labels"]["nvidia.com/gpu-driver-upgrade-state"] = "upgrade-failed"
    nothing = {"version": None, "repository": None, "image": None}
    found = steps.ensure(operator.api(), params(action="status", **nothing))["driver_upgrade"]
    assert {(one["node"], one["code"]) for one in found["troubles"]} >= {("gpu-1", "GPU-UPG-FAILED")}
    assert {one["node"] for one in found["troubles"]} == {"gpu-1"}
    assert operator.server.writes() == []


@pytest.mark.parametrize("is_broken", [False, True])
def test_nvsentinel_leaves_the_nodes_alone_until_they_work(is_broken: bool) -> None:
    operator = Operator()
    operator.server.served |= FakeServer("Namespace").served
    operator.server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "nvsentinel"}})
    seen: set[int] = set()

    def opted_out() -> list[str]:
        nodes = [operator.must("Node", node) for node in THREE]
        return [one["metadata"]["name"] for one in nodes if sentinel.MANAGED in one["metadata"]["labels"]]

    after_each_write(operator, lambda _method, _url: seen.add(len(opted_out())))
    if is_broken:
        operator.broken = {("gpu-1", NEW)}
        with pytest.raises(AcceleratorError):
            steps.ensure(operator.api(), params(rollback=False))
    else:
        steps.ensure(operator.api(), params())
    assert 3 in seen, "all nodes of the upgrade at the same time"
    assert opted_out() == (["gpu-1"] if is_broken else [])
