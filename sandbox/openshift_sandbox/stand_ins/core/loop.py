# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop that calls the stand-ins: kopf watches, and one thread reconciles after every change.

Only `on.event` of kopf is used: its other handlers would leave annotations and finalizers on the objects.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import itertools
import logging
import math
import os
import threading
import time
import typing as t
from collections.abc import Callable, Sequence
from pathlib import Path

import kopf
from kopf._cogs.clients.errors import APIError
from kopf._cogs.clients.watching import WatchingError

from openshift_sandbox.client import ApiError, Client
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.scenario import LiveScenario
from openshift_sandbox.stand_ins.core.cluster import Cluster
from openshift_sandbox.stand_ins.core.index import Object
from openshift_sandbox.stand_ins.core.kinds import TABLE, split
from openshift_sandbox.stand_ins.core.reconciler import Reconciler

LOG = logging.getLogger("stand-ins")
USER_AGENT: t.Final = "openshift-stand-ins"
CRD: t.Final = "CustomResourceDefinition"
COALESCE: t.Final = 0.05
TICK: t.Final = 0.5
# Where all went well, a reconciler for which nothing changes is called less often: to call all takes 10 ms.
QUIET: t.Final = 2.0
# Every 15 s the lists were most of what an idle API server was asked.
RESYNC: t.Final = 60.0


@dataclasses.dataclass
class _Turn:
    """A reconciler, how often its kinds had changed when it was called, and when a delay of it ends."""

    reconciler: Reconciler
    seen: list[int] | None = None
    wake_at: float = math.inf


class Scheduler:
    """Call the reconcilers in turn. One that raises does not stop the others, and is called again."""

    def __init__(
        self, cluster: Cluster, reconcilers: Sequence[Reconciler], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.cluster = cluster
        self._turns = [_Turn(one) for one in reconcilers]
        self._clock = clock
        self._stopping = threading.Event()
        self._stale: set[str] = set(cluster.kinds)
        self._listed: set[str] = set()
        self._resynced = float("-inf")
        self._complaints: dict[str, str] = {}
        # When all reconcilers were called, and the scenario that they saw.
        self._called = float("-inf")
        self._scenario = cluster.scenario

    def observe(self, kind: str, event: str | None, obj: Object) -> None:
        """Take one event of a watch."""
        if self.cluster.observe(kind, event, obj) and kind == CRD:
            self._stale.update(self.cluster.defined_by(obj))

    def round(self) -> None:
        """Call each reconciler whose kinds have changed or whose delay has ended; now and then, call all.

        Kinds that were never listed are listed first.
        """
        now = self._clock()
        self.cluster.wake_at = math.inf
        if not (self._refresh(now) and self._does("scenario", self.cluster.look)):
            return
        is_new = self.cluster.scenario is not self._scenario
        calls_all = is_new or bool(self._complaints) or now >= self._called + QUIET
        if calls_all:
            self._called, self._scenario = now, self.cluster.scenario
        for turn in self._turns:
            changes = self.cluster.changes(turn.reconciler.kinds)
            if calls_all or changes != turn.seen or now >= turn.wake_at:
                self._call(turn, now)
                turn.seen = changes
        self.cluster.wake_at = min((turn.wake_at for turn in self._turns), default=math.inf)

    def run(self) -> None:
        """Call the reconcilers after every change, until `stop` is called."""
        while not self._stopping.is_set():
            self.round()
            if not self._sleep():
                continue
            self._stopping.wait(COALESCE)
            self.cluster.changed.clear()
        for turn in self._turns:
            turn.reconciler.stop()

    def stop(self) -> None:
        """End `run` after the round that is under way."""
        self._stopping.set()
        self.cluster.changed.set()

    def _call(self, turn: _Turn, now: float) -> None:
        self.cluster.wake_at = math.inf
        reconciler = turn.reconciler
        self._does(type(reconciler).__name__, functools.partial(reconciler.reconcile, self.cluster, now))
        turn.wake_at = self.cluster.wake_at

    def _sleep(self) -> bool:
        """Wait until the next round; return whether that is because of an object that changed."""
        scenario = self.cluster.scenario
        due = self._clock() + TICK if self._complaints else self._called + QUIET
        due = min(due, self.cluster.wake_at)
        while not self.cluster.changed.wait(max(0.01, min(TICK, due - self._clock()))):
            if self._clock() >= due:
                return False
            if not self._does("scenario", self.cluster.look) or self.cluster.scenario is not scenario:
                return False
        return True

    def _refresh(self, now: float) -> bool:
        """List what is stale; return False while a first list is missing.

        A watch that broke may have lost deletions, so everything is listed again from time to time.
        """
        if now - self._resynced >= RESYNC:
            self._stale.update(self.cluster.kinds)
            self._resynced = now
        for kind in sorted(self._stale):
            self._stale.discard(kind)
            try:
                self.cluster.resync(kind)
            except ApiError as error:
                self._stale.add(kind)
                self._complain(f"list of {kind}", error)
            else:
                self._complaints.pop(f"list of {kind}", None)
                self._listed.add(kind)
        return self._listed.issuperset(self.cluster.kinds)

    def _does(self, name: str, work: Callable[[], None]) -> bool:
        """Do a part of a round; log why it failed, and return False."""
        try:
            work()
        except Exception as error:
            self._complain(name, error)
            return False
        self._complaints.pop(name, None)
        return True

    def _complain(self, name: str, error: Exception) -> None:
        """Log an error once, however often it comes back."""
        text = f"{type(error).__name__}: {error}"
        if self._complaints.get(name) != text:
            self._complaints[name] = text
            LOG.error("%s: %s", name, text, exc_info=None if isinstance(error, ApiError) else error)


def serve(directory: Path, reconcilers: Sequence[Reconciler]) -> None:
    """Run the stand-ins until SIGTERM or SIGINT."""
    kubeconfig = Sandbox(directory).component_kubeconfig("stand-ins")
    kinds = sorted({CRD, *(kind for reconciler in reconcilers for kind in reconciler.kinds)})
    cluster = Cluster(Client(kubeconfig, USER_AGENT), LiveScenario(directory), directory, kinds)
    scheduler = Scheduler(cluster, reconcilers)
    os.environ["KUBECONFIG"] = str(kubeconfig)  # kopf's own login reads this
    worker = threading.Thread(target=scheduler.run, name="reconcile")
    worker.start()
    try:
        asyncio.run(watch(kinds, scheduler))
    except asyncio.CancelledError:
        pass
    finally:
        scheduler.stop()
        worker.join()


async def watch(kinds: Sequence[str], scheduler: Scheduler) -> None:
    """Watch until SIGTERM. kopf ends when somebody deletes the CRD of a watched kind: then begin again."""
    while True:
        try:
            await kopf.operator(
                registry=_registry(kinds, scheduler), settings=_settings(), clusterwide=True, standalone=True
            )
        except (APIError, WatchingError) as error:
            LOG.warning("the watches begin again: %s", error)
        else:
            return


def _registry(kinds: Sequence[str], scheduler: Scheduler) -> kopf.OperatorRegistry:
    registry = kopf.OperatorRegistry()
    kopf.on.login(registry=registry)(kopf.login_with_kubeconfig)
    for kind in kinds:
        api_version, plural = TABLE[kind]
        group, version = split(api_version)
        kopf.on.event(group=group, version=version, plural=plural, id=kind, registry=registry)(
            functools.partial(_observed, scheduler, kind)
        )
    return registry


class _NoMemory:
    """In place of the copies of objects that kopf compares for handlers which are not used here."""

    def build(self, **_: t.Any) -> Object:
        return {}

    def fetch(self, **_: t.Any) -> None:
        return None


async def _observed(scheduler: Scheduler, kind: str, *, event: t.Any, **_: t.Any) -> None:
    scheduler.observe(
        kind,
        event["type"],
        {"apiVersion": TABLE[kind][0], "kind": kind.partition(".")[0]} | dict(event["object"]),
    )


def _settings() -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.persistence.diffbase_storage = _NoMemory()
    settings.queueing.exit_timeout = 0.2
    settings.networking.error_backoffs = itertools.repeat(0.5)  # an API server that stopped will start again
    return settings
