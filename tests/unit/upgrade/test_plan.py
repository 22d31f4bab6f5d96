# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of an upgrade: the canary, then waves pool by pool."""

from __future__ import annotations

import copy
import typing as t

import pytest
from unit.stack.builders import FIXTURE
from unit.upgrade.in_memory.builders import gpu_pod

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import plan
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.node_driver import (
    SKIP,
    NodeDriver,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.options import Triple
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.targets import Target

NEW: t.Final = Triple("r", "i", "2")
POOLS: t.Final = [{"name": one, "node_selector": {"accelerators.openshift/pool": one}} for one in ("a", "b")]


def cluster(*names: str) -> tuple[list[Target], dict[str, NodeDriver]]:
    """Return nodes such as a-0: the pool, and a number."""
    drivers = {}
    for object_name in names:
        node = copy.deepcopy(FIXTURE["nodes"][0])
        node["metadata"]["name"] = object_name
        node["metadata"]["labels"]["accelerators.openshift/pool"] = object_name.partition("-")[0]
        drivers[object_name] = NodeDriver(node, None, "r/i:1-rhel9.6", False)
    live: KubeObject = {"metadata": {"name": "p"}, "spec": {"driver": {}}}
    return [Target("ClusterPolicy", live, names)], drivers


def build(names: str, wave: str = "1", canary: str | None = None, **more: t.Any) -> plan.Plan:
    targets, drivers = cluster(*names.split())
    skipped = more.pop("skipped", "")
    if skipped:
        drivers[skipped].node["metadata"]["labels"][SKIP] = "true"
    pods = more.pop("pods", [])
    return plan.build(targets, drivers, more.pop("pools", POOLS), (NEW, wave, canary), pods, **more)


def test_waves_stay_in_their_pool_and_that_of_the_canary_is_first() -> None:
    found = build("a-0 a-1 a-2 b-0 b-1 b-2", wave="2", canary="b-1")
    assert found.waves == (("b-1",), ("b-0", "b-2"), ("a-0", "a-1"), ("a-2",))


def test_the_canary_is_the_node_with_the_fewest_pods() -> None:
    pods = [gpu_pod("one", "a-0"), gpu_pod("two", "a-1"), gpu_pod("three", "a-1")]
    assert build("a-0 a-1 b-0", pods=pods).waves[0] == ("b-0",)
    assert build("a-0 a-1 b-0", pods=[*pods, *(gpu_pod(str(n), "b-0") for n in range(3))]).waves[0] == (
        "a-0",
    )


def test_an_interrupted_run_keeps_its_order() -> None:
    found = build("a-0 a-1 a-2 b-0", before=(("gone",), ("a-2", "a-1"), ("b-0",)))
    assert found.waves == (("a-2", "a-1"), ("b-0",), ("a-0",))


def test_a_node_that_has_the_driver_and_did_not_pass_the_gate_is_gone_through_again() -> None:
    targets, drivers = cluster("a-0", "a-1")
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    pod = {"metadata": {"name": "driver"}, "spec": {}, "status": ready}
    drivers["a-0"].node["metadata"]["labels"]["nvidia.com/gpu-driver-upgrade-state"] = "upgrade-done"
    drivers["a-0"] = drivers["a-0"]._replace(pod=pod, image="r/i:2-rhel9.6", is_current=True)
    wishes = (NEW, "1", None)
    assert plan.build(targets, drivers, POOLS[:1], wishes, []).waves == (("a-1",),)
    again = plan.build(targets, drivers, POOLS[:1], wishes, [], before=(("a-0",), ("a-1",)))
    assert again.waves == (("a-0",), ("a-1",))


def test_nodes_of_other_pools_and_skipped_ones_stay() -> None:
    found = build("a-0 a-1 b-0", pools=POOLS[:1], skipped="a-1")
    assert (found.nodes, found.outside, found.skipped) == (("a-0",), ("b-0",), ("a-1",))
    assert found.lines({"a-0": 12.4}) == [
        "canary: a-0 (last time 12 s)",
        f"left out, label {SKIP}=true: a-1",
        "in no chosen pool, keep their driver: b-0",
    ]


def test_what_does_not_fit_the_pools_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        build("a-0 b-0", canary="c-0")
    assert caught.value.code == "UPGRADE-CANARY"
    with pytest.raises(InputError) as caught:
        build("a-0 b-0", wave="2")
    assert caught.value.code == "UPGRADE-WAVE"
    with pytest.raises(NotReadyError) as missing:
        build("aa-0")
    assert missing.value.code == "UPGRADE-NO-NODE"
    assert missing.value.message.startswith("Pool a (did you mean aa?) has no node")
    assert missing.value.message.endswith("Pools that have some: aa.")


def test_a_pool_that_the_autoscaler_has_emptied_stops_no_other() -> None:
    pools = [POOLS[0], {**POOLS[1], "min_nodes": 0}]
    found = build("a-0", pools=pools)
    assert (found.nodes, found.empty) == (("a-0",), (str(POOLS[1]["name"]),))
    assert (
        found.lines({})[-1] == f"without a node now, get the new driver with their nodes: {POOLS[1]['name']}"
    )
    with pytest.raises(NotReadyError) as missing:
        build("", pools=pools)
    assert missing.value.code == "UPGRADE-NO-NODE"


def test_the_impact_names_the_pods_that_end() -> None:
    found = plan.impact(build("a-0 b-0"), [gpu_pod("train", "a-0")], ["a-0"])
    assert found is not None
    assert [one.object_name for one in found.endings] == ["team/train"]
    assert "becomes 2" in found.line
    assert plan.impact(build("a-0 b-0"), [gpu_pod("train", "a-0")], ["b-0"]) is None
