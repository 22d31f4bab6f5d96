"""A wait begins with the list that its task has just read, unless that may be outdated."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import pending, ready
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.session import (
    FRESH_SECONDS,
    Listed,
)

CONFIG_MAP = kinds.known("ConfigMap")
ALL = Query(CONFIG_MAP, "x")


def manifest(name: str, namespace: str = "x", **labels: str) -> dict[str, t.Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "data": {},
    }


@pytest.fixture
def server() -> FakeServer:
    server = FakeServer()
    for one in (manifest("a", pool="one"), manifest("b", pool="two"), manifest("c", "elsewhere", pool="one")):
        server.put(one)
    return server


def look(api: Api, query: Query) -> list[str]:
    return sorted(
        one["metadata"]["name"] for one in api.wait({"maps": query}, lambda _seen: ready(), "look")["maps"]
    )


def asked(server: FakeServer) -> list[tuple[str, dict[str, str]]]:
    return [(path, query) for _method, path, query in server.requests]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (ALL, ["a", "b"]),
        (Query(CONFIG_MAP, "x", "b"), ["b"]),
        (Query(CONFIG_MAP, "x", labels="pool=one"), ["a"]),
        (Query(CONFIG_MAP, "elsewhere", labels="pool=one"), ["c"]),
        (Query(CONFIG_MAP, labels="pool=one"), ["a", "c"]),
        (Query(CONFIG_MAP, "x", labels="pool=one,team=ml"), []),
    ],
    ids=["namespace", "name", "labels", "elsewhere", "everywhere", "nothing"],
)
@pytest.mark.parametrize("check_mode", [False, True])
def test_what_was_listed_is_not_listed_again(
    server: FakeServer, query: Query, found: list[str], check_mode: bool
) -> None:
    alone = look(api_on(server, check_mode=check_mode), query)
    api = api_on(server, check_mode=check_mode)
    api.list(CONFIG_MAP)
    before = len(server.requests)
    assert look(api, query) == found == alone
    assert len(server.requests) == before


@pytest.mark.parametrize(
    ("listed", "query"),
    [
        ({"namespace": "x"}, Query(CONFIG_MAP)),
        ({"namespace": "x"}, Query(CONFIG_MAP, "elsewhere")),
        ({"labels": "pool=one"}, ALL),
        ({"labels": "pool=one"}, Query(CONFIG_MAP, labels="pool=two")),
        ({"metadata_only": True}, ALL),
        ({"fields": "metadata.name=a"}, ALL),
        ({"keep": lambda one: one}, ALL),
    ],
    ids=["more", "other place", "fewer labels", "other labels", "no bodies", "fields", "sifted"],
)
def test_a_list_of_something_else_does_not_do(
    server: FakeServer, listed: dict[str, t.Any], query: Query
) -> None:
    alone = look(api_on(server), query)
    api = api_on(server)
    api.list(CONFIG_MAP, **listed)
    before = len(server.requests)
    assert look(api, query) == alone
    assert len(server.requests) == before + 1


@pytest.mark.parametrize("labels", ["pool in (one)", "pool!=one", "pool", "!pool", "pool==one"])
def test_a_selector_that_only_the_server_can_tell_is_asked_of_it(labels: str) -> None:
    api = api_on(FakeServer())
    api.seen.remember(CONFIG_MAP, None, None, Listed([manifest("a", pool="one")], "1"), api.clock())
    assert api.seen.find(Query(CONFIG_MAP, "x", labels=labels), api.clock()) is None
    assert api.seen.find(Query(CONFIG_MAP, "x", labels="pool=one"), api.clock())


def test_after_a_write_the_list_is_read_again(server: FakeServer) -> None:
    api = api_on(server)
    api.list(CONFIG_MAP, "x")
    api.apply(manifest("new"))
    assert look(api, ALL) == ["a", "b", "new"]


def test_a_dry_run_outdates_nothing(server: FakeServer) -> None:
    api = api_on(server, check_mode=True)
    api.list(CONFIG_MAP, "x")
    api.apply(manifest("new"))
    before = len(server.requests)
    assert look(api, ALL) == ["a", "b"]
    assert len(server.requests) == before


def test_the_second_wait_looks_for_itself(server: FakeServer) -> None:
    api = api_on(server)
    api.list(CONFIG_MAP, "x")
    look(api, ALL)
    server.put(manifest("late"))
    assert look(api, ALL) == ["a", "b", "late"]


def test_an_old_list_is_read_again(server: FakeServer) -> None:
    clock = FakeClock()
    api = api_on(server, clock)
    api.list(CONFIG_MAP, "x")
    server.put(manifest("late"))
    clock.sleep(FRESH_SECONDS + 0.1)
    assert look(api, ALL) == ["a", "b", "late"]


def test_the_watch_goes_on_from_the_list(server: FakeServer) -> None:
    """What happened between the list and the wait is not lost."""
    api = api_on(server)
    api.list(CONFIG_MAP, "x")
    server.put(manifest("late"))
    seen = api.wait(
        {"maps": ALL},
        lambda found: ready() if len(found["maps"]) == 3 else pending("Few", "too few"),
        "three",
    )
    assert len(seen["maps"]) == 3
    lists = [query for _path, query in asked(server) if "watch" not in query]
    assert len(lists) == 1
    (watch,) = [query for _path, query in asked(server) if "watch" in query][:1]
    assert watch["resourceVersion"]


def test_an_object_that_was_listed_is_compared_as_it_is(server: FakeServer) -> None:
    api_on(server).apply(manifest("mine"))
    api = api_on(server)
    live = next(one for one in api.list(CONFIG_MAP, "x") if one["metadata"]["name"] == "mine")
    before = len(server.requests)
    api.apply(manifest("mine"), live=live)
    assert len(server.requests) == before
    api.apply({**manifest("mine"), "data": {"new": "1"}}, live=live)
    assert [method for method, _path, query in server.requests[before:] if "dryRun" not in query] == ["PATCH"]
