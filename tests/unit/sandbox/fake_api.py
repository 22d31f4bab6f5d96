"""An API in memory: versions, generations, names, finalizers, the status subresource."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
import itertools
import typing as t
from pathlib import Path

from openshift_sandbox.client import ApiError
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.stand_ins.core.cluster import Cluster
from openshift_sandbox.stand_ins.core.kinds import TABLE, key_of
from openshift_sandbox.stand_ins.core.loop import Scheduler
from openshift_sandbox.stand_ins.core.reconciler import Reconciler

Object = dict[str, t.Any]
Place = tuple[str, str, str]


class FakeApi:
    """Take the place of the stand-ins' Client."""

    def __init__(self) -> None:
        self.objects: dict[Place, Object] = {}
        self.writes: list[tuple[str, str, str]] = []
        self.down = False
        self.budgeted: set[str] = set()
        self._applied: dict[Place, Object] = {}
        self._versions = itertools.count(1)
        self._names = itertools.count(11111)

    def list(
        self, api_version: str, plural: str, namespace: str | None = None, labels: str | None = None
    ) -> list[Object]:
        if self.down:
            raise ApiError(0, "connection refused")
        kind = _kind(api_version, plural)
        return [
            copy.deepcopy(obj) for (where, _namespace, _name), obj in self.objects.items() if where == kind
        ]

    def create(self, obj: Object, namespace: str | None = None) -> Object:
        metadata = obj["metadata"]
        name = metadata.get("name") or f"{metadata['generateName']}{next(self._names)}"
        place = (key_of(obj["apiVersion"], obj["kind"]), metadata.get("namespace", ""), name)
        if place in self.objects:
            raise ApiError(409, "already exists")
        made = copy.deepcopy(obj)
        made["metadata"] |= {
            "name": name,
            "uid": f"uid-{name}",
            "generation": 1,
            "creationTimestamp": f"2026-01-01T00:00:{len(self.objects):02}Z",
        }
        return self._store("create", place, made)

    def apply(self, obj: Object, force: bool = True) -> Object:
        place = (
            key_of(obj["apiVersion"], obj["kind"]),
            obj["metadata"].get("namespace", ""),
            obj["metadata"]["name"],
        )
        before, self._applied[place] = self._applied.get(place, {}), copy.deepcopy(obj)
        if place not in self.objects:
            return self.create(obj)
        live = self.objects[place]
        changed = _merge(_pruned(live, before, obj), obj)
        if changed == live:
            return copy.deepcopy(live)
        changed["metadata"]["generation"] += changed.get("spec") != live.get("spec")
        return self._store("apply", place, changed)

    def patch(
        self,
        api_version: str,
        plural: str,
        name: str,
        namespace: str | None,
        body: Object,
        subresource: str | None = None,
    ) -> Object:
        place = (_kind(api_version, plural), namespace or "", name)
        if place not in self.objects:
            raise ApiError(404, "not found")
        live = self.objects[place]
        kept = (
            {"status": body["status"]}
            if subresource in {"status", "approval"}
            else {key: value for key, value in body.items() if key != "status"}
        )
        changed = _merge(live, kept)
        if changed.get("spec") != live.get("spec"):
            changed["metadata"]["generation"] += 1
        return self._store(f"patch {subresource}" if subresource else "patch", place, changed)

    def delete(
        self, api_version: str, plural: str, name: str, namespace: str | None = None, orphan: bool = False
    ) -> bool:
        place = (_kind(api_version, plural), namespace or "", name)
        if place not in self.objects:
            return False
        self.writes.append(("orphan" if orphan else "delete", place[0], name))
        if self.objects[place]["metadata"].get("finalizers"):
            self.objects[place]["metadata"] |= {
                "deletionTimestamp": "2026-01-01T00:01:00Z",
                "resourceVersion": str(next(self._versions)),
            }
        else:
            del self.objects[place]
        return True

    def request(self, method: str, path: str, body: t.Any = None, **_: t.Any) -> tuple[int, Object]:
        """Serve evictions and forced deletions of pods, and dry runs of new ones."""
        if path.endswith("/pods"):
            return 201, body
        namespace, name = path.split("/")[4], path.split("/")[6]
        self.writes.append((f"{method} {path.rpartition('/')[2]}", "Pod", name))
        if path.endswith("/eviction") and name in self.budgeted:
            return 429, {"message": "Cannot evict pod as it would violate the pod's disruption budget."}
        return (200, {}) if self.objects.pop(("Pod", namespace, name), None) else (404, {})

    def get(self, kind: str, name: str, namespace: str = "") -> Object:
        return self.objects[(kind, namespace, name)]

    def all(self, kind: str) -> builtins.list[Object]:
        return [obj for (where, _namespace, _name), obj in sorted(self.objects.items()) if where == kind]

    def _store(self, verb: str, place: Place, obj: Object) -> Object:
        obj["metadata"]["resourceVersion"] = str(next(self._versions))
        self.writes.append((verb, place[0], place[2]))
        if obj["metadata"].get("deletionTimestamp") and not obj["metadata"].get("finalizers"):
            self.objects.pop(place, None)
        else:
            self.objects[place] = obj
        return copy.deepcopy(obj)


class LivingScenario:
    def __init__(self, **data: t.Any) -> None:
        self.now = Scenario("test", data.get("cluster", {}), data.get("delays", {}), data.get("troubles", []))


class _Cluster(Cluster):
    """Note what a stand-in reads without naming it: the loop would not call it after a change."""

    reader: Reconciler | None = None

    def __init__(self, *arguments: t.Any, **more: t.Any) -> None:
        super().__init__(*arguments, **more)
        self.unnamed: set[str] = set()

    def called(self, reader: Reconciler, reconcile: t.Callable[..., None], *arguments: t.Any) -> None:
        self.reader = reader
        try:
            reconcile(*arguments)
        finally:
            self.reader = None

    def objects(self, kind: str, namespace: str | None = None) -> builtins.list[Object]:
        self._check(kind)
        return super().objects(kind, namespace)

    def find(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        self._check(kind)
        return super().find(kind, name, namespace)

    def served(self, kind: str) -> bool:
        self._check(kind)
        return super().served(kind)

    def _check(self, kind: str) -> None:
        if self.reader and kind not in self.reader.kinds:
            self.unnamed.add(f"{type(self.reader).__name__} reads {kind}")


class World:
    """Reconcilers on a fake API, with a clock that only the test moves."""

    def __init__(
        self, *reconcilers: Reconciler, directory: Path = Path("/nonexistent"), **scenario: t.Any
    ) -> None:
        self.api = FakeApi()
        self.time = 100.0
        self.scenario = LivingScenario(**scenario)
        kinds = sorted({kind for one in reconcilers for kind in one.kinds})
        self.cluster = _Cluster(
            t.cast(t.Any, self.api), t.cast(t.Any, self.scenario), directory, kinds, clock=lambda: self.time
        )
        for one in reconcilers:
            one.reconcile = functools.partial(  # type: ignore[method-assign]
                self.cluster.called, one, one.reconcile
            )
        self.cluster.look()
        self._seen = copy.deepcopy(self.scenario.now)
        self._scheduler = Scheduler(self.cluster, reconcilers, clock=lambda: self.time)

    def settle(self, seconds: float = 0.0, step: float = 0.5) -> None:
        """Let time pass; at each step call the stand-ins until nothing changes."""
        end = self.time + seconds
        # The loop finds a scenario that was written again as another object.
        if self.scenario.now != self._seen:
            self.scenario.now = dataclasses.replace(self.scenario.now)
            self._seen = copy.deepcopy(self.scenario.now)
        while True:
            for _time in range(20):
                before = len(self.api.writes)
                for kind in self.cluster.kinds:
                    self.cluster.resync(kind)
                self._scheduler.round()
                if len(self.api.writes) == before:
                    break
            else:
                raise AssertionError(f"the stand-ins never rest: {self.api.writes[-10:]}")
            assert not self.cluster.unnamed, f"not in its `kinds`: {self.cluster.unnamed}"
            if self.time >= end:
                return
            self.time += step


def _kind(api_version: str, plural: str) -> str:
    return next(kind for kind, served in TABLE.items() if served == (api_version, plural))


def _pruned(live: Object, before: Object, now: Object) -> Object:
    """Return the object without what the last apply had and this one does not."""
    kept = {}
    for key, value in live.items():
        if isinstance(value, dict) and isinstance(before.get(key), dict) and isinstance(now.get(key), dict):
            kept[key] = _pruned(value, before[key], now[key])
        elif key in now or key not in before:
            kept[key] = value
    return kept


def _merge(base: Object, over: Object) -> Object:
    merged = dict(base)
    for key, value in over.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            merged[key] = _merge(base.get(key) or {}, value)
        else:
            merged[key] = copy.deepcopy(value)
    return merged
