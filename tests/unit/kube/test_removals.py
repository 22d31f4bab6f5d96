"""Deletes: of exactly the object that was looked at, and until it is gone."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import CONFIG_MAP, FakeClock, api_on, config_map
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ApiError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.removals import (
    judge_gone,
    wait_gone,
)

OWNER = {"app.kubernetes.io/managed-by": "accelerators.openshift"}


def test_check_mode_deletes_nothing() -> None:
    server = FakeServer()
    api_on(server).apply(config_map(x="1"))
    before = len(server.writes())
    assert api_on(server, check_mode=True).delete(CONFIG_MAP, "a", "x")
    assert len(server.writes()) == before
    assert api_on(server).get(CONFIG_MAP, "a", "x")


@pytest.mark.parametrize(("size", "shown"), [(10, True), (10000, False)])
def test_the_diff_of_a_deleted_object_shows_its_spec_unless_it_is_long(size: int, shown: bool) -> None:
    server = FakeServer("Pod")
    server.put(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "x", "labels": OWNER},
            "spec": {"text": "x" * size},
        }
    )
    api = api_on(server)
    api.delete(kinds.known("Pod"), "p", "x", wait=False)
    assert ("spec" in api.changes[0].before) is shown
    assert api.changes[0].after == {}


DELETE_RACES = {
    "already under way": (
        "ensuring all content is removed",
        {"deletionTimestamp": "2026-01-01T00:00:00Z"},
        True,
    ),
    "replaced by another of ours": (
        "Precondition failed: UID in precondition",
        {"uid": "2", "labels": dict(MANAGED_BY)},
        True,
    ),
    "replaced by another client": (
        "Precondition failed: UID in precondition",
        {"uid": "2", "labels": {}},
        False,
    ),
}


@pytest.mark.parametrize("race", DELETE_RACES)
def test_a_delete_that_meets_another_one(race: str) -> None:
    words, now, deleted = DELETE_RACES[race]
    server = FakeServer()
    live = server.put(
        {
            **config_map(x="1"),
            "metadata": {"name": "a", "namespace": "x", "uid": "1", "labels": dict(MANAGED_BY)},
        }
    )
    api, real = api_on(server), server.request
    met: list[str] = []

    def racing(method: str, url: str, **more: t.Any) -> Answer:
        if method == "DELETE" and not met:
            met.append(method)
            live["metadata"].update(now)
            return status(409, "Conflict", f'Operation cannot be fulfilled on configmaps "a": {words}')
        return real(method, url, **more)

    server.request = racing
    assert api.delete(CONFIG_MAP, "a", "x", wait=False) is deleted
    assert len(api.changes) == deleted


def test_a_conflict_that_stays_is_an_error() -> None:
    server, clock = FakeServer(), FakeClock()
    server.put(
        {
            **config_map(x="1"),
            "metadata": {"name": "a", "namespace": "x", "uid": "1", "labels": dict(MANAGED_BY)},
        }
    )
    api, real = api_on(server, clock), server.request
    faster = "Operation cannot be fulfilled: the object has been modified"
    server.request = lambda method, url, **more: (
        status(409, "Conflict", faster) if method == "DELETE" else real(method, url, **more)
    )
    with pytest.raises(ApiError) as caught:
        api.delete(CONFIG_MAP, "a", "x")
    assert caught.value.code == "API-CONFLICT"
    assert len(clock.slept) == 10
    assert api.changes == []


def test_a_deleted_object_of_the_same_name_but_another_uid_counts_as_gone() -> None:
    server = FakeServer()
    first = server.put(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "x", "uid": "1"}}
    )
    api = api_on(server)
    old = {**first, "metadata": {**first["metadata"], "uid": "0"}}
    wait_gone(api, CONFIG_MAP, old)
    assert len(server.objects) == 1


def test_deletion_that_hangs_names_the_finalizers() -> None:
    stuck = {
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "x", "uid": "1", "finalizers": ["example.com/hold"]},
    }
    verdict = judge_gone(stuck)({"gone": [stuck]})
    assert verdict.code == "WAIT-DELETE"
    assert "example.com/hold" in verdict.message
    assert "`oc get configmap a -n x -o yaml`" in verdict.remedy
