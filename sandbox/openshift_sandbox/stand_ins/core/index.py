# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stand-ins know about one kind: objects by namespace and name, the newest version of each."""

from __future__ import annotations

import threading
import typing as t

Object = dict[str, t.Any]
Key = tuple[str, str]


def key(obj: Object) -> Key:
    """Return namespace and name of an object."""
    metadata = obj["metadata"]
    return metadata.get("namespace") or "", metadata["name"]


def revision(obj: Object) -> int:
    """Return the resourceVersion as a number."""
    return int(obj["metadata"].get("resourceVersion") or 0)


class Index:
    """Objects that arrive in any order from watches, lists and the answers to our own writes."""

    def __init__(self) -> None:
        # How often something changed.
        self.changes = 0
        self._objects: dict[Key, Object] = {}
        self._sorted: list[Object] | None = None
        self._gone: dict[Key, int] = {}
        self._lock = threading.Lock()

    def put(self, obj: Object) -> bool:
        """Take an object; return whether it is news."""
        with self._lock:
            place, version = key(obj), revision(obj)
            known = self._objects.get(place)
            if version <= self._gone.get(place, -1) or (known is not None and version <= revision(known)):
                return False
            self._objects[place] = obj
            self._change()
            return True

    def remove(self, obj: Object) -> bool:
        """Remove an object that was deleted at this version; return whether it is news."""
        with self._lock:
            place, version = key(obj), revision(obj)
            self._gone[place] = max(version, self._gone.get(place, -1))
            known = self._objects.get(place)
            if known is None or revision(known) > version:
                return False
            del self._objects[place]
            self._change()
            return True

    def forget(self, namespace: str, name: str) -> None:
        """Remove an object that the API says does not exist."""
        with self._lock:
            if self._objects.pop((namespace, name), None):
                self._change()

    def versions(self) -> dict[Key, int]:
        """Return the version of each object."""
        with self._lock:
            return {place: revision(obj) for place, obj in self._objects.items()}

    def resync(self, listed: list[Object], before: dict[Key, int]) -> bool:
        """Take a full list.

        Objects known before the list began and not in it are gone. Return whether anything changed.
        """
        changed = sum(self.put(obj) for obj in listed) > 0
        missing = set(before) - {key(obj) for obj in listed}
        with self._lock:
            for place in missing:
                if place in self._objects and revision(self._objects[place]) == before[place]:
                    del self._objects[place]
                    self._change()
                    changed = True
        return changed

    def get(self, name: str, namespace: str) -> Object | None:
        """Return one object, or None."""
        with self._lock:
            return self._objects.get((namespace, name))

    def all(self, namespace: str | None) -> list[Object]:
        """Return all objects, by name."""
        with self._lock:
            if self._sorted is None:
                self._sorted = [self._objects[place] for place in sorted(self._objects)]
            return [obj for obj in self._sorted if namespace is None or key(obj)[0] == namespace]

    def touch(self) -> None:
        """Count a change of the kind itself: the API server begins or ends to serve it."""
        with self._lock:
            self._change()

    def _change(self) -> None:
        self.changes += 1
        self._sorted = None
