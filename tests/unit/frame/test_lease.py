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

    def task(
        self, run: Run, takes: bool = True, lock_timeout: float = 0, ahead: float = 0, **more: t.Any
    ) -> Api:
        """Return a task of the run. ahead: seconds that the clock of its machine is ahead of ours."""
        api = api_on(self.server, self.clock, lines=self.lines, **more)
        clock = lambda: self.now() + datetime.timedelta(seconds=ahead)  # noqa: E731
        api.guard = Lease(api, run, self.gone.__contains__, takes, lock_timeout, clock)
        return api

    def lives(self, ahead: float) -> Api:
        """Return a task of THEIRS that renews its lease while ours sleeps."""
        other = self.task(THEIRS, ahead=ahead)
        other.apply(config_map(k="1"))
        real = self.clock.sleep

        def sleep(seconds: float) -> None:
            real(seconds)
            other.guard.on_wait()

        self.api.deadline._sleep = sleep
        return other

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
    assert [one.object_name for one in world.api.changes] == ["ConfigMap x/a", "ConfigMap x/a"]


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
    with pytest.raises(AcceleratorError, match=r"eva@laptop \(pid 2, AWX job 12\) holds the lease") as caught:
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
    world.lives(0)
    with pytest.raises(AcceleratorError, match=r"this task saw that run renew it \d s ago"):
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


@pytest.mark.parametrize("ahead", [-86400, -90, 0, 90, 3600])
def test_a_holder_that_lives_keeps_its_lease_whatever_its_clock_says(ahead: float) -> None:
    world = World(lock_timeout=200)
    world.lives(ahead)
    with pytest.raises(AcceleratorError) as caught:
        world.api.apply(config_map(k="2"))
    assert caught.value.code == "RUN-LOCKED"
    assert world.spec["holderIdentity"] == THEIRS.id
    assert world.clock.seconds - 1000 >= 200
    assert world.server.objects["v1", "configmaps", "x", "a"]["data"] == {"k": "1"}


@pytest.mark.parametrize("behind", [90, 86400])
def test_without_a_timeout_the_first_renewal_tells_that_the_holder_lives(behind: float) -> None:
    world = World()
    world.lives(-behind)
    with pytest.raises(AcceleratorError, match="saw that run renew it") as caught:
        world.api.apply(config_map(k="2"))
    assert caught.value.code == "RUN-LOCKED"
    assert world.clock.seconds - 1000 <= 12


@pytest.mark.parametrize("ahead", [-86400, -90, 0, 90, 3600])
def test_a_holder_that_has_ended_is_taken_over_after_it_was_watched_for_the_duration(ahead: float) -> None:
    world = World(lock_timeout=60)
    world.task(THEIRS, ahead=ahead).apply(config_map(k="1"))
    world.api.apply(config_map(k="2"))
    assert world.spec["holderIdentity"] == OURS.id
    assert 30 <= world.clock.seconds - 1000 <= 32
    assert world.spec["leaseTransitions"] == 2


@pytest.mark.parametrize("timeout", [0, 10])
def test_a_short_time_is_named_as_too_short_to_tell_whether_the_holder_has_ended(timeout: float) -> None:
    world = World(lock_timeout=timeout)
    world.task(THEIRS, ahead=3600).apply(config_map(k="1"))
    with pytest.raises(AcceleratorError) as caught:
        world.api.apply(config_map(k="2"))
    assert f"watched it for {timeout} s only: a run that does not renew it for 30 s" in caught.value.message
    assert "renewed its lease" not in caught.value.message
    assert "set gpu_lock_timeout to 60" in caught.value.remedy


def test_a_task_that_ends_before_the_duration_names_its_own_timeout() -> None:
    world = World(lock_timeout=600, seconds=20)
    world.task(THEIRS).apply(config_map(k="1"))
    with pytest.raises(AcceleratorError, match="watched it for 20 s only") as caught:
        world.api.apply(config_map(k="2"))
    assert "wait_timeout) to 60" in caught.value.remedy


def test_a_question_takes_the_lease_of_a_run_that_has_ended_and_no_other_one() -> None:
    world = World()
    guard = world.api.guard
    assert isinstance(guard, Lease)
    guard.ask()
    assert world.asked() == ["GET"]
    world.task(THEIRS, ahead=-86400).apply(config_map(k="1"))
    guard.ask()
    assert world.spec["holderIdentity"] == OURS.id
    slept = world.clock.seconds
    world.task(OURS).apply(config_map(k="2"))  # the tasks that follow need not watch it again
    assert world.clock.seconds == slept


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
    for act in (lambda: world.api.apply(config_map(k="1")), world.api.guard.on_wait):
        with pytest.raises(AcceleratorError, match="has ended") as caught:
            act()
        assert caught.value.code == "RUN-ORPHANED"
    assert world.server.writes() == []


def test_a_waiting_task_renews_the_lease_of_its_run() -> None:
    world = World()
    world.task(OURS).apply(config_map(k="1"))
    waiting = world.task(OURS, takes=False)
    waiting.guard.on_wait()
    assert world.asked() == ["GET", "POST"]
    world.clock.seconds += 11
    waiting.guard.on_wait()
    assert world.spec["renewTime"] == "2026-11-22T12:00:11.000000Z"


def test_a_waiting_task_leaves_the_lease_of_another_run_alone() -> None:
    world = World()
    world.task(THEIRS).apply(config_map(k="1"))
    waiting = world.task(OURS, takes=False)
    world.clock.seconds += 11
    waiting.guard.on_wait()
    assert world.spec["holderIdentity"] == THEIRS.id
    waiting.apply(config_map(k="2"))
    assert world.spec["holderIdentity"] == THEIRS.id


def test_a_server_that_does_not_answer_stops_no_wait() -> None:
    world = World()
    world.api.apply(config_map(k="1"))
    world.clock.seconds += 11
    world.server.faults = [ConnectionResetError("reset")]
    world.api.guard.on_wait()
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
    assert world.api.guard.is_over(OURS.id)  # a task runs after the others of its run
    assert other.guard.is_over("")
    world.gone.add(OURS)
    assert other.guard.is_over(OURS.id)
    world.gone.clear()
    began = world.clock.seconds
    assert other.guard.is_over(OURS.id)
    assert 30 <= world.clock.seconds - began <= 32


@pytest.mark.parametrize("ahead", [-86400, 0, 3600])
def test_a_run_whose_lease_is_renewed_is_not_over(ahead: float) -> None:
    world = World()
    world.lives(ahead)
    assert not world.api.guard.is_over(THEIRS.id)
    assert world.clock.seconds - 1000 <= 12
