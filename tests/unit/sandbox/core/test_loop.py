"""The loop: a broken stand-in stops no other, delays wake it up in time."""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import threading
import typing as t
from pathlib import Path

import kopf
import pytest
from kopf._cogs.clients.errors import APIError, APINotFoundError
from kopf._cogs.clients.watching import WatchingError
from unit.sandbox.core.test_index import node
from unit.sandbox.fake_api import World

from openshift_sandbox.client import ApiError
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.stand_ins.core.cluster import Cluster
from openshift_sandbox.stand_ins.core.conditions import condition, merged
from openshift_sandbox.stand_ins.core.kinds import TABLE, key_of
from openshift_sandbox.stand_ins.core.loop import Scheduler, watch
from openshift_sandbox.stand_ins.core.reconciler import Reconciler
from openshift_sandbox.stand_ins.registry import reconcilers


class Broken(Reconciler):
    kinds = ("Node",)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        raise ValueError("broken")


class Counting(Reconciler):
    """A stand-in that remembers when it was called, and does something each time."""

    kinds = ("Node",)

    def __init__(self, do: t.Callable[[Cluster], None] = lambda _cluster: None) -> None:
        self.times: list[float] = []
        self._do = do

    @property
    def rounds(self) -> int:
        return len(self.times)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        self.times.append(now)
        self._do(cluster)


class CountingPods(Counting):
    kinds = ("Pod",)


class Until(threading.Event):
    """In place of the event that an object has changed: to wait for it moves the clock of a world."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def wait(self, timeout: float | None = None) -> bool:
        if not self.is_set():
            self._world.time += timeout or 0.0
        return self.is_set()


def unreadable(*_arguments: object) -> t.NoReturn:
    raise FileNotFoundError("scenario.json")


def pauses(world: World, counting: Counting, *others: Reconciler) -> set[float]:
    """Return the seconds between the calls of a stand-in, rounded, in a run of the loop."""

    def stop(_cluster: Cluster) -> None:
        if counting.rounds == 4:
            scheduler.stop()

    world.cluster.changed = Until(world)
    scheduler = Scheduler(world.cluster, [counting, *others, Counting(stop)], clock=lambda: world.time)
    scheduler.run()
    return {round(after - before, 2) for before, after in itertools.pairwise(counting.times)}


class TestScheduler:
    def test_a_broken_stand_in_is_logged_once_and_stops_no_other(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        counting = Counting()
        world = World(Broken(), counting)
        with caplog.at_level(logging.ERROR, "stand-ins"):
            world.settle(2.0)
        assert counting.rounds == 5
        assert [record.message for record in caplog.records] == ["Broken: ValueError: broken"]

    def test_a_scenario_that_cannot_be_read_ends_no_round(
        self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        counting = Counting()
        world = World(counting)
        scheduler = Scheduler(world.cluster, [counting], clock=lambda: world.time)

        with monkeypatch.context() as broken, caplog.at_level(logging.ERROR, "stand-ins"):
            broken.setattr(type(world.scenario), "now", property(unreadable), raising=False)
            Cluster(t.cast(t.Any, world.api), t.cast(t.Any, world.scenario), Path("/nonexistent"), ["Node"])
            scheduler.round()
        assert counting.rounds == 0
        assert [record.message for record in caplog.records] == ["scenario: FileNotFoundError: scenario.json"]
        scheduler.round()
        assert counting.rounds == 1

    def test_a_delay_that_has_ended_does_not_hurry_a_loop_without_a_scenario(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        counting = Counting(lambda cluster: cluster.again())
        world = World(counting)
        scheduler = Scheduler(world.cluster, [counting], clock=lambda: world.time)
        scheduler.round()
        assert world.cluster.wake_at == world.time

        monkeypatch.setattr(world.cluster, "look", unreadable)
        scheduler.round()
        assert world.cluster.wake_at == math.inf

    def test_a_change_is_shown_to_the_stand_ins_of_its_kind(self) -> None:
        nodes, pods = Counting(), CountingPods()
        world = World(nodes, pods)
        scheduler = Scheduler(world.cluster, [nodes, pods], clock=lambda: world.time)
        scheduler.round()
        world.cluster.observe("Node", "ADDED", node(1))
        scheduler.round()
        assert (nodes.rounds, pods.rounds) == (2, 1)
        world.cluster.observe("Node", "DELETED", node(2))
        scheduler.round()
        scheduler.round()
        assert (nodes.rounds, pods.rounds) == (3, 1)
        world.time += 2.0
        scheduler.round()
        assert (nodes.rounds, pods.rounds) == (4, 2)

    def test_a_kind_that_is_served_now_is_a_change(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pods = CountingPods()
        world = World(pods)
        scheduler = Scheduler(world.cluster, [pods], clock=lambda: world.time)

        def unknown(*_arguments: object) -> t.NoReturn:
            raise ApiError(404, "the server could not find the requested resource")

        with monkeypatch.context() as before:
            before.setattr(world.api, "list", unknown)
            scheduler.round()
        assert not world.cluster.served("Pod")
        world.cluster.resync("Pod")
        scheduler.round()
        scheduler.round()
        assert world.cluster.served("Pod")
        assert pods.rounds == 2

    def test_a_step_without_a_write_is_followed_by_the_next(self) -> None:
        counting = Counting(lambda cluster: cluster.again() if counting.rounds < 3 else None)
        world = World(counting)
        scheduler = Scheduler(world.cluster, [counting], clock=lambda: world.time)
        for _time in range(5):
            scheduler.round()
        assert counting.rounds == 3

    def test_a_stand_in_is_called_seldom_where_nothing_changes(self) -> None:
        counting = Counting()
        assert pauses(World(counting), counting) == {2.0}

    def test_a_delay_ends_in_time(self) -> None:
        def step(cluster: Cluster) -> None:
            cluster.due("a", "step", 0.8)

        counting = Counting(step)
        assert pauses(World(counting), counting) == {0.8, 1.2, 2.0}

    def test_what_failed_is_tried_again_soon(self) -> None:
        counting = Counting()
        assert pauses(World(counting), counting, Broken()) == {0.5}

    def test_a_new_scenario_counts_soon(self) -> None:
        def change(_cluster: Cluster) -> None:
            world.scenario.now = Scenario("other")

        counting = Counting(change)
        world = World(counting)
        assert pauses(world, counting) == {0.5}

    def test_nothing_is_reconciled_while_the_first_list_fails(self) -> None:
        counting = Counting()
        world = World(counting)
        world.api.down = True
        scheduler = Scheduler(world.cluster, [counting], clock=lambda: world.time)
        scheduler.round()
        assert counting.rounds == 0
        world.api.down = False
        scheduler.round()
        assert counting.rounds == 1

    def test_an_established_crd_names_the_kinds_it_serves(self) -> None:
        world = World(Counting())
        crd = {
            "spec": {"group": "", "names": {"plural": "nodes"}},
            "status": {"conditions": [condition("Established", True)]},
        }
        assert world.cluster.defined_by(crd) == ["Node"]
        assert world.cluster.defined_by(crd | {"status": {}}) == []


class TestDelays:
    def test_due_waits_the_scenario_s_delay_and_says_when_to_wake(self) -> None:
        world = World(Counting(), delays={"step": 3})
        assert not world.cluster.due("uid", "step", 1.0)
        assert world.cluster.wake_at == world.time + 3
        world.time += 3
        assert world.cluster.due("uid", "step", 1.0)

    def test_a_restarted_delay_begins_anew(self) -> None:
        world = World(Counting())
        assert not world.cluster.due("uid", "step", 1.0)
        world.time += 1
        world.cluster.restart("uid", "step")
        assert not world.cluster.due("uid", "step", 1.0)


def test_a_write_is_seen_by_the_next_read_and_wakes_the_loop() -> None:
    world = World(Counting())
    world.cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "spec": {}})
    assert world.cluster.changed.is_set()
    world.cluster.patch("Node", "a", None, {"spec": {"unschedulable": True}})
    node = world.cluster.find("Node", "a")
    assert node is not None
    assert node["spec"] == {"unschedulable": True}


def test_a_transition_time_moves_only_with_the_status() -> None:
    known = [condition("Ready", True, "A", lastTransitionTime="2026-01-01T00:00:00Z")]
    assert merged(known, [condition("Ready", True, "A")]) == known
    [changed] = merged(known, [condition("Ready", False, "B")])
    assert changed["status"] == "False"
    assert changed["lastTransitionTime"] != known[0]["lastTransitionTime"]


def test_every_watched_kind_is_in_the_table() -> None:
    watched = {kind for one in reconcilers() for kind in one.kinds}
    assert watched <= set(TABLE)
    assert {
        key_of(api_version, kind.partition(".")[0]) for kind, (api_version, _plural) in TABLE.items()
    } == set(TABLE)


@pytest.mark.parametrize(
    "error",
    [
        WatchingError("unable to decode"),
        APINotFoundError("not found", status=404, headers={}),
        APIError("no storage", status=500, headers={}),
    ],
)
def test_the_watches_begin_again_when_a_kind_goes(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[Exception | None] = [error, error, None]

    async def operator(**_arguments: t.Any) -> None:
        if (end := ends.pop(0)) is not None:
            raise end

    monkeypatch.setattr(kopf, "operator", operator)
    world = World(Counting())
    asyncio.run(watch(["Node"], Scheduler(world.cluster, ())))
    assert ends == []
