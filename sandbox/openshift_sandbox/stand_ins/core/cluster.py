# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-ins' view of the cluster.

They read from indexes, see their own writes at once, and ask for delays and troubles here.
"""

from __future__ import annotations

import math
import threading
import time
import typing as t
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path

from openshift_sandbox.client import ApiError, Client
from openshift_sandbox.scenario import LiveScenario, Scenario
from openshift_sandbox.stand_ins.core.conditions import holds
from openshift_sandbox.stand_ins.core.index import Index, Object, key
from openshift_sandbox.stand_ins.core.kinds import TABLE, key_of, split


class Cluster:
    """What a stand-in reads and writes. Objects belong to the index: read them, never change them."""

    def __init__(
        self,
        client: Client,
        scenario: LiveScenario,
        directory: Path,
        kinds: Iterable[str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.client = client
        self.directory = directory
        self.clock = clock
        self.changed = threading.Event()
        self.wake_at = math.inf
        # What the last `look` found. The constructor does not look: a file that is broken now may be mended.
        self.scenario = Scenario("")
        self._live = scenario
        self._indexes: dict[str, Index] = {kind: Index() for kind in kinds}
        self._served: set[str] = set()
        self._started: dict[tuple[Hashable, str], float] = {}

    # Reading

    @property
    def kinds(self) -> list[str]:
        """The kinds that are watched."""
        return list(self._indexes)

    def objects(self, kind: str, namespace: str | None = None) -> list[Object]:
        """Return all objects of a watched kind, by name; none while its CRD does not exist."""
        return self._indexes[kind].all(namespace)

    def find(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """Return one object of a watched kind, or None."""
        return self._indexes[kind].get(name, namespace or "")

    def served(self, kind: str) -> bool:
        """Return whether the API server serves a kind."""
        return kind in self._served

    def available(self, deployment: str, namespace: str) -> bool:
        """Return whether a Deployment is Available.

        The stand-in of an operator works only while the operator's Deployment is.
        """
        return holds(self.find("Deployment", deployment, namespace), "Available")

    # Delays and troubles

    def delay(self, step: str, default: float = 0.0) -> float:
        """Return how many seconds a step takes."""
        return self.scenario.delay(step, default)

    def troubles(self, kind: str, **match: t.Any) -> list[Object]:
        """Return the troubles of a type that match."""
        return self.scenario.troubles_of(kind, **match)

    def trouble(self, kind: str, **match: t.Any) -> Object | None:
        """Return the first trouble of a type that matches, or None."""
        return self.scenario.trouble(kind, **match)

    def due(self, subject: Hashable, step: str, default: float = 0.0, slower: float = 0.0) -> bool:
        """Return whether the delay of a step has passed for a subject (a uid); the loop wakes up when it has.

        The delay begins with the first call. `slower` adds seconds to it.
        """
        now = self.clock()
        at = self._started.setdefault((subject, step), now) + self.delay(step, default) + slower
        if now >= at:
            return True
        self.wake_at = min(self.wake_at, at)
        return False

    def again(self) -> None:
        """Have this stand-in called once more, after a step that wrote nothing."""
        self.wake_at = self.clock()

    def restart(self, subject: Hashable, step: str) -> None:
        """Start the delay of a step again."""
        self._started.pop((subject, step), None)

    # Writing: the answer goes into the index, so that the next read sees it before the watch does

    def create(self, obj: Object) -> Object:
        """Create an object."""
        return self._keep(self.client.create(obj))

    def apply(self, obj: Object, force: bool = True) -> Object:
        """Apply an object server-side."""
        return self._keep(self.client.apply(obj, force))

    def apply_status(self, obj: Object) -> Object:
        """Apply the status of an object server-side."""
        return self._keep(self.client.apply_status(obj))

    def patch(
        self, kind: str, name: str, namespace: str | None, body: Object, subresource: str | None = None
    ) -> Object | None:
        """Send a merge patch.

        Return None when the object is gone or is newer than the resourceVersion in the body.
        """
        api_version, plural = TABLE[kind]
        try:
            answer = self.client.patch(api_version, plural, name, namespace, body, subresource)
        except ApiError as error:
            if error.status == 404:
                self._forget(kind, name, namespace)
            elif error.status != 409:
                raise
            return None
        return self._keep({"apiVersion": api_version, "kind": kind.partition(".")[0]} | answer)

    def delete(self, kind: str, name: str, namespace: str | None = None, orphan: bool = False) -> bool:
        """Delete an object; return False when it was gone already.

        The index changes with the watch, since finalizers may keep the object.
        """
        api_version, plural = TABLE[kind]
        found = self.client.delete(api_version, plural, name, namespace, orphan)
        if not found:
            self._forget(kind, name, namespace)
        return found

    # Called by the loop

    def look(self) -> None:
        """Take the scenario as it is now. Stand-ins ask for it a hundred times in one call."""
        self.scenario = self._live.now

    def resync(self, kind: str) -> bool:
        """List a kind again; return False when nothing changed or the kind is not served."""
        api_version, plural = TABLE[kind]
        before = self._indexes[kind].versions()
        try:
            listed = self.client.list(api_version, plural)
        except ApiError as error:
            if error.status != 404:
                raise
            self._note_served(kind, False)
            listed = []
        else:
            self._note_served(kind, True)
        return self._indexes[kind].resync(listed, before)

    def observe(self, kind: str, event: str | None, obj: Object) -> bool:
        """Take one event of a watch; return whether it changes the index."""
        self._note_served(kind, True)
        index = self._indexes[kind]
        news = index.remove(obj) if event == "DELETED" else index.put(obj)
        if news:
            self.changed.set()
        return news

    def changes(self, kinds: Iterable[str]) -> list[int]:
        """Return how often each of these kinds has changed."""
        return [self._indexes[kind].changes for kind in kinds]

    def defined_by(self, crd: Object) -> list[str]:
        """Return the watched kinds that an established CRD serves."""
        if not holds(crd, "Established"):
            return []
        spec = crd["spec"]
        return [
            kind
            for kind in self._indexes
            if (split(TABLE[kind][0])[0], TABLE[kind][1]) == (spec["group"], spec["names"]["plural"])
        ]

    def _note_served(self, kind: str, is_served: bool) -> None:
        if is_served == self.served(kind):
            return
        if is_served:
            self._served.add(kind)
        else:
            self._served.discard(kind)
        self._indexes[kind].touch()

    def _keep(self, obj: Object) -> Object:
        index = self._indexes.get(key_of(obj["apiVersion"], obj["kind"]))
        if index is not None:
            gone = (
                obj["metadata"].get("deletionTimestamp")
                and not obj["metadata"].get("finalizers")
                and obj["kind"] != "Pod"
            )
            if gone:
                index.forget(*key(obj))
            if gone or index.put(obj):
                self.changed.set()
        return obj

    def _forget(self, kind: str, name: str, namespace: str | None) -> None:
        if kind in self._indexes:
            self._indexes[kind].forget(namespace or "", name)
