"""Kinds outside the table: how many requests they cost, and that nothing is called absent which is there."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from unit.engine import CONFIG_MAP, api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import KindNotServedError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds as kube_kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind

WIDGET = Kind("one.example.com/v1", "Widget", "widgets")
GADGET = Kind("one.example.com/v1", "Gadget", "gadgets", namespaced=False)
OTHERS = [
    Kind(f"group{number}.example.com/v1beta1", "Thing", "things", namespaced=bool(number % 2))
    for number in range(8)
]


def server_of(*kinds: Kind) -> FakeServer:
    server = FakeServer()
    server.served |= {(kind.api_version, kind.plural): kind for kind in kinds}
    return server


def resolve(api: Api, *kinds: Kind) -> list[Kind]:
    return [api.resolve(kind.api_version, kind.kind) for kind in kinds]


def paths(server: FakeServer) -> list[str]:
    return [path for _method, path, _query in server.requests]


def test_a_kind_of_the_table_costs_nothing() -> None:
    server = server_of()
    assert api_on(server).resolve("v1", "ConfigMap").plural == "configmaps"
    assert paths(server) == []


def test_the_first_group_costs_one_request_for_all_its_kinds() -> None:
    server = server_of(WIDGET, GADGET)
    assert resolve(api_on(server), WIDGET, GADGET, WIDGET) == [WIDGET, GADGET, WIDGET]
    assert paths(server) == ["/apis/one.example.com/v1"]


def test_any_number_of_groups_costs_two_requests() -> None:
    server = server_of(WIDGET, *OTHERS)
    assert resolve(api_on(server), WIDGET, *OTHERS, *OTHERS) == [WIDGET, *OTHERS, *OTHERS]
    assert paths(server) == ["/apis/one.example.com/v1", "/apis"]


def test_an_older_server_is_asked_group_by_group() -> None:
    server = server_of(WIDGET, *OTHERS)
    server.aggregated = False
    assert resolve(api_on(server), WIDGET, *OTHERS, *OTHERS) == [WIDGET, *OTHERS, *OTHERS]
    assert paths(server) == [
        "/apis/one.example.com/v1",
        "/apis",
        *(f"/apis/{kind.api_version}" for kind in OTHERS),
    ]


def test_the_core_group_is_one_document() -> None:
    core = [
        Kind("v1", "Endpoints", "endpoints"),
        Kind("v1", "PersistentVolume", "persistentvolumes", namespaced=False),
    ]
    server = server_of(*core, WIDGET)
    assert resolve(api_on(server), *core, WIDGET) == [*core, WIDGET]
    assert paths(server) == ["/api/v1", "/apis/one.example.com/v1"]


def test_a_missing_kind_costs_one_request_and_is_asked_again_next_time() -> None:
    server = server_of()
    api = api_on(server)
    with pytest.raises(KindNotServedError, match=r"does not serve Widget.one.example.com"):
        resolve(api, WIDGET)
    assert paths(server) == ["/apis/one.example.com/v1"]
    # This task may just have made it.
    server.served[(WIDGET.api_version, WIDGET.plural)] = WIDGET
    assert resolve(api, WIDGET) == [WIDGET]


def test_a_kind_newer_than_what_was_read_of_all_groups_is_found() -> None:
    server = server_of(WIDGET, OTHERS[0])
    api = api_on(server)
    resolve(api, WIDGET, OTHERS[0])
    with pytest.raises(KindNotServedError):
        resolve(api, OTHERS[1])
    server.served[(OTHERS[1].api_version, OTHERS[1].plural)] = OTHERS[1]
    assert resolve(api, OTHERS[1]) == [OTHERS[1]]
    assert paths(server)[2:] == [f"/apis/{OTHERS[1].api_version}"] * 2


def test_what_one_task_learnt_is_not_known_to_another() -> None:
    server = server_of(WIDGET)
    resolve(api_on(server), WIDGET)
    resolve(api_on(server), WIDGET)
    assert paths(server) == ["/apis/one.example.com/v1"] * 2


@pytest.mark.parametrize("name", ["a?x=1", "a#b", "a/status", "../nodes/n", "a%2fb", "a b", ".", ".."])
def test_a_name_stays_one_part_of_the_path(name: str) -> None:
    path = CONFIG_MAP.path("x", name)
    head, _slash, last = path.rpartition("/")
    assert head == "/api/v1/namespaces/x/configmaps"
    assert unquote(last) == name
    assert not set(last) & set("?# ")
    assert last.strip(".")
    assert CONFIG_MAP.path(name, "a").split("/")[:4] == ["", "api", "v1", "namespaces"]


def test_a_selector_of_a_name_escapes_what_selectors_are_made_of() -> None:
    assert kube_kinds.by_name("a=b,c\\d") == "metadata.name=a\\=b\\,c\\\\d"
    assert kube_kinds.by_name("gpu-node.example.com") == "metadata.name=gpu-node.example.com"
