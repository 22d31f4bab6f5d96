"""gpu_plan checks the networks with the pools, and returns them with their nodes."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.networks.builders import Given, macvlan, sriov
from unit.pools.builders import PARAMS

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import steps

POOLS: t.Final = [
    {"name": name, "existing": {"node_selector": {"rack": name}, "expected": {"nvidia.com/gpu": 8}}}
    for name in ("training", "big")
]


def planned(*networks: t.Any, server: FakeServer | None = None) -> list[Given]:
    given = {**PARAMS, "pools": POOLS, "platform": "baremetal", "networks": list(networks)}
    found: list[Given] = steps.plan(api_on(server or FakeServer()), t.cast(steps.GpuPlanParams, given))[
        "networks"
    ]
    return found


def test_a_network_gets_the_nodes_of_its_pools() -> None:
    storage, rail = planned(macvlan(pools=[]), sriov())
    assert [(pool["name"], pool["node_selector"]) for pool in storage["pools"]] == [
        ("training", {"rack": "training"}),
        ("big", {"rack": "big"}),
    ]
    assert [pool["name"] for pool in rail["pools"]] == ["training"]
    assert rail["resource"] == "openshift.io/rail_0"


@pytest.mark.parametrize(
    ("network", "path"),
    [
        ({**macvlan(), "kind": "vlan"}, "gpu_networks[0].kind"),
        (macvlan(pools=["trainng"]), "gpu_networks[0].pools[0]"),
        ("macvlan", "gpu_networks[0]"),
    ],
)
def test_a_wrong_network_costs_no_request(network: t.Any, path: str) -> None:
    server = FakeServer()
    with pytest.raises(InputError) as caught:
        planned(network, server=server)
    assert caught.value.message.startswith(f"{path}: ")
    assert server.requests == []
