# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lease of the cluster: who holds it, who waits, and who may not write any more."""

from __future__ import annotations

import datetime
import typing as t

import pytest
from unit.engine import FakeClock, api_on, config_map
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ForbiddenError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import lease as frame_lease
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.lease import Lease
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

KEY: t.Final = ("coordination.k8s.io/v1", "leases", "default", frame_lease.NAME)
OURS: t.Final = Run("root", "bastion", "here", 1, "1")
THEIRS: t.Final = Run("eva", "laptop", "there", 2, "2", "12")
START: t.Final = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.UTC)


class World:
    """A server, a clock that all see, and a task of OURS. gone: runs whose process has ended."""

    def __init__(self, **more: t.Any) -> None:
        self.server, self.clock = FakeServer("ConfigMap", "Lease"), FakeClock()
        self.gone: set[Run] = set()
        self.lines: list[str] = []
        self.api = self.task(OURS, **more)

    def now(self) -> datetime.datetime:
        return START + datetime.timedelta(seconds=self.clock.seconds - 1000)

    def task(self, run: Run, takes: bool = True, lock_timeout: float = 0, **more: t.Any) -> Api:
        api = api_on(self.server, self.clock, lines=self.lines, **more)
        api.guard = Lease(api, run, self.gone.__contains__, takes, lock_timeout, self.now)
        return api

    def lets_go(self, other: Api, after: float) -> None:
        """Let another task give its lease back while ours sleeps. after: time of the clock."""
        real = self.clock.sleep

        def sleep(seconds: float) -> None:
            real(seconds)
            if self.clock.seconds > after:
                t.cast(Lease, other.guard).let_go()

        self.api.deadline._sleep = sleep

    @property
    def spec(self) -> dict[str, t.Any]:
        spec: dict[str, t.Any] = self.server.objects[KEY]["spec"]
        return spec

    def asked(self) -> list[str]:
        return [method for method, path, _query in self.server.requests if "/leases" in path]

    def maps(self) -> int:
        return sum(key[1] == "configmaps" for key in self.server.objects)


def test_the_first_write_takes_the_lease_and_the_next_ones_ask_nothing() -> None:
    world = World()
    world.api.apply(config_map(k="1"))
    world.api.apply(config_map(k="2"))
    assert world.asked() == ["GET", "POST"]
    assert world.spec["holderIdentity"] == OURS.id
    assert (world.spec["leaseDurationSeconds"], world.spec["leaseTransitions"]) == (30, 1)
    assert world.spec["renewTime"] == "2026-11-22T12:00:00.000000Z"
    assert [one.title for one in world.api.changes] == ["ConfigMap x/a", "ConfigMap x/a"]


def test_reading_a_dry_run_and_a_write_that_is_not_needed_take_no_lease() -> None:
    world = World()
    world.server.put(config_map(k="1"))
    world.api.dry_run_create({**config_map(), "metadata": {"name": "b", "namespace": "x"}})
    world.task(OURS, check_mode=True).apply(config_map(k="2"))
    assert world.asked() == []


def test_after_ten_seconds_a_write_renews_the_lease() -> None:
    world = World()
    world.api.apply(config_map(k="1"))
    world.clock.seconds += 11
    world.api.apply(config_map(k="2"))
    assert world.asked() == ["GET", "POST", "GET", "PUT"]
    assert world.spec["renewTime"] == "2026-11-22T12:00:11.000000Z"
    assert world.spec["acquireTime"] == "2026-11-22T12:00:00.000000Z"
    assert world.spec["leaseTransitions"] == 1


def test_the_next_task_of_the_same_run_goes_on() -> None:
    world = World()
    world.api.apply(config_map(k="1"))
    world.task(OURS).apply(config_map(k="2"))
    assert world.maps() == 1
    assert world.spec["leaseTransitions"] == 1


def test_another_run_is_refused_at_once_and_writes_nothing() -> None:
    world = World()
    world.task(THEIRS).apply(config_map(k="1"))
    world.clock.seconds += 5
    writes = len(world.server.writes())
    with pytest.raises(AcceleratorError, match=r"eva@laptop \(pid 2, AWX job 12\) changes") as caught:
        world.api.apply(config_map(k="2"))
    assert (caught.value.code, caught.value.layer) == ("RUN-LOCKED", "run")
    assert "gpu_lock_timeout" in caught.value.remedy
    assert len(world.server.writes()) == writes


def test_a_reader_sees_who_holds_the_lease_and_asks_nothing_else() -> None:
    world = World()
    guard = world.api.guard
    assert isinstance(guard, Lease)
    assert guard.other_holder() == ""
    world.task(THEIRS).apply(config_map(k="1"))
    writes = world.server.writes()
    assert guard.other_holder() == "eva@laptop (pid 2, AWX job 12)"
    world.gone.add(THEIRS)
    assert guard.other_holder() == ""
    assert world.server.writes() == writes


def test_a_run_that_waits_gets_the_lease_when_the_holder_gives_it_back() -> None:
    world = World(lock_timeout=100)
    other = world.task(THEIRS)
    other.apply(config_map(k="1"))
    world.lets_go(other, after=1020)
    world.api.apply(config_map(k="2"))
    assert world.spec["holderIdentity"] == OURS.id
    assert 1020 < world.clock.seconds < 1025
    assert any("waiting for the run of eva@laptop" in line for line in world.lines)


def test_a_waiting_run_gives_up_after_its_time_if_the_holder_lives() -> None:
    world = World(lock_timeout=60)
    other = world.task(THEIRS)
    other.apply(config_map(k="1"))
    real = world.clock.sleep

    def sleep(seconds: float) -> None:
        real(seconds)
        other.guard.look()

    world.api.deadline._sleep = sleep
    with pytest.raises(AcceleratorError, match="changes this cluster now"):
        world.api.apply(config_map(k="2"))
    assert 60 <= world.clock.seconds - 1000 <= 62


def test_a_silent_holder_is_taken_over_when_its_time_is_over() -> None:
    world = World()
    world.task(THEIRS).apply(config_map(k="1"))
    world.clock.seconds += 20  # it may be dead, or between two tasks
    world.api.apply(config_map(k="2"))
    assert world.spec["holderIdentity"] == OURS.id
    assert 30 <= world.clock.seconds - 1020 <= 32
    assert world.spec["leaseTransitions"] == 2


def test_a_holder_that_was_killed_on_this_machine_is_taken_over_at_once() -> None:
    world = World()
    world.task(THEIRS).apply(config_map(k="1"))
    world.gone.add(THEIRS)
    world.api.apply(config_map(k="2"))
    assert world.spec["holderIdentity"] == OURS.id
    assert world.clock.slept == []


def test_a_lease_of_yesterday_is_taken_over_at_once() -> None:
    world = World()
    world.task(THEIRS).apply(config_map(k="1"))
    world.clock.seconds += 86400
    world.task(OURS).apply(config_map(k="2"))
    assert world.clock.slept == []


def test_a_run_that_lost_its_lease_writes_nothing_more() -> None:
    world = World()
    world.api.apply(config_map(k="1"))
    world.clock.seconds += 100
    world.task(THEIRS).apply(config_map(k="2"))
    with pytest.raises(AcceleratorError, match="took it over") as caught:
        world.api.apply(config_map(k="3"))
    assert caught.value.code == "RUN-LOST"
    assert world.server.objects["v1", "configmaps", "x", "a"]["data"] == {"k": "2"}


def test_a_task_whose_playbook_was_killed_neither_writes_nor_waits() -> None:
    world = World()
    world.gone.add(OURS)
    for act in (lambda: world.api.apply(config_map(k="1")), world.api.guard.look):
        with pytest.raises(AcceleratorError, match="has ended") as caught:
            act()
        assert caught.value.code == "RUN-ORPHANED"
    assert world.server.writes() == []


def test_a_waiting_task_renews_the_lease_of_its_run() -> None:
    world = World()
    world.task(OURS).apply(config_map(k="1"))
    waiting = world.task(OURS, takes=False)
    waiting.guard.look()
    assert world.asked() == ["GET", "POST"]
    world.clock.seconds += 11
    waiting.guard.look()
    assert world.spec["renewTime"] == "2026-11-22T12:00:11.000000Z"


def test_a_waiting_task_leaves_the_lease_of_another_run_alone() -> None:
    world = World()
    world.task(THEIRS).apply(config_map(k="1"))
    waiting = world.task(OURS, takes=False)
    world.clock.seconds += 11
    waiting.guard.look()
    assert world.spec["holderIdentity"] == THEIRS.id
    waiting.apply(config_map(k="2"))
    assert world.spec["holderIdentity"] == THEIRS.id


def test_a_server_that_does_not_answer_stops_no_wait() -> None:
    world = World()
    world.api.apply(config_map(k="1"))
    world.clock.seconds += 11
    world.server.faults = [ConnectionResetError("reset")]
    world.api.guard.look()
    assert world.spec["renewTime"] == "2026-11-22T12:00:00.000000Z"


def test_a_refused_permission_is_named_with_the_lease() -> None:
    world = World()
    refusal = status(403, "Forbidden", 'leases is forbidden: User "eva" cannot create resource "leases"')
    answers: list[Answer] = [refusal]
    real = world.server.answer

    def request(method: str, url: str, **more: t.Any) -> Answer:
        return answers.pop() if method == "POST" else real(method, url, **more)

    world.server.request = request
    with pytest.raises(ForbiddenError, match="may not create leases") as caught:
        world.api.apply(config_map(k="1"))
    assert "hold the Lease default/accelerators-openshift" in caught.value.message
    assert world.maps() == 0


def test_two_runs_that_find_no_lease_do_not_both_get_it() -> None:
    world = World()
    real = world.server.answer

    def request(method: str, url: str, **more: t.Any) -> Answer:
        if method == "POST":
            world.server.request = real
            world.task(THEIRS).apply(config_map(k="1"))
        return real(method, url, **more)

    world.server.request = request
    with pytest.raises(AcceleratorError, match="eva@laptop"):
        world.api.apply(config_map(k="2"))
    assert world.server.objects["v1", "configmaps", "x", "a"]["data"] == {"k": "1"}


def test_a_run_is_over_when_it_has_lost_the_lease_or_has_ended() -> None:
    world = World()
    world.api.apply(config_map(k="1"))
    other = world.task(THEIRS)
    assert not other.guard.is_over(OURS.id)
    assert world.api.guard.is_over(OURS.id)  # a task runs after the others of its run
    assert other.guard.is_over("")
    world.gone.add(OURS)
    assert other.guard.is_over(OURS.id)
    world.gone.clear()
    world.clock.sleep(61)
    assert other.guard.is_over(OURS.id)
