"""What networks cannot have together, or on these nodes."""

from __future__ import annotations

import typing as t

import pytest
from unit.networks.builders import Given, card, macvlan, read, sriov, state

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problems
from ansible_collections.accelerators.openshift.plugins.module_utils._networks import rules
from ansible_collections.accelerators.openshift.plugins.module_utils._networks.schema import NodePool

OTHER: dict[str, object] = {"type": "whereabouts", "range": "10.7.0.0/24"}
STATIC: dict[str, object] = {"type": "static", "addresses": ["192.168.100.7/24"]}
SMALL: dict[str, object] = {"type": "nv-ipam", "range": "10.9.0.0/28", "per_node": 4}


@pytest.mark.parametrize(
    ("first", "second", "code", "path"),
    [
        (macvlan(), macvlan(ipam=OTHER), "POOL-DUPLICATE", "name"),
        (macvlan(), macvlan("b"), "NET-OVERLAP", "ipam.range"),
        (
            macvlan(),
            {
                "name": "b",
                "kind": "custom",
                "namespaces": ["a"],
                "custom": {"config": {"type": "bridge", "ipam": {"range": "192.168.0.0/16"}}},
            },
            "NET-OVERLAP",
            "custom.config",
        ),
        (
            macvlan(),
            {
                "name": "b",
                "kind": "custom",
                "namespaces": ["a"],
                "custom": {
                    "config": {"type": "bridge", "ipam": {"ipRanges": [{"range": "192.168.100.9/28"}]}}
                },
            },
            "NET-OVERLAP",
            "custom.config",
        ),
        (sriov(), sriov("b", resource="rail_0", interfaces=["ens2"]), "NET-SAME-RESOURCE", "resource"),
        (sriov(), macvlan("b", resource="openshift.io/rail_0"), "NET-SAME-RESOURCE", "resource"),
        (sriov(), sriov("b"), "NET-VF-OVERLAP", "sriov.interfaces[0]"),
        (
            sriov(interfaces=["ens1f0np0#0-3"]),
            sriov("b", interfaces=["ens1f0np0#3-7"]),
            "NET-VF-OVERLAP",
            "sriov.interfaces[0]",
        ),
        (sriov(), sriov("b", pools=[]), "NET-VF-OVERLAP", "sriov.interfaces[0]"),
        (sriov(), sriov("b", interfaces=[]), "NET-VF-OVERLAP", "sriov.interfaces"),
        (sriov(interfaces=[]), sriov("b", interfaces=[]), "NET-VF-OVERLAP", "sriov.interfaces"),
        (
            sriov(interfaces=[], root_devices=["0000:1b:00.0"]),
            sriov("b", interfaces=[], root_devices=["0000:1b:00.0"]),
            "NET-VF-OVERLAP",
            "sriov.interfaces",
        ),
        (macvlan(), macvlan("b", ipam=STATIC), "NET-OVERLAP", "ipam.addresses"),
        (
            sriov(max_unavailable=1),
            sriov("b", interfaces=["ens2"], max_unavailable=2),
            "POOL-DIFFERS",
            "sriov.max_unavailable",
        ),
    ],
)
def test_two_networks_cannot_have_the_same(first: Given, second: Given, code: str, path: str) -> None:
    with pytest.raises(InputError) as caught:
        read(first, second)
    assert caught.value.code == code
    assert caught.value.message.startswith(f"gpu_networks[1].{path}: ")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (macvlan(), macvlan("b", ipam=OTHER)),
        (sriov(interfaces=["ens1f0np0#0-3"]), sriov("b", interfaces=["ens1f0np0#4-7"])),
        (sriov(), sriov("b", pools=["big"])),
        (sriov(interfaces=[], device="101d"), sriov("b", interfaces=[], device="1021")),
        (sriov(interfaces=[]), sriov("b", interfaces=[], vendor="8086")),
        (sriov(), sriov("b", interfaces=[], root_devices=["0000:1b:00.1"])),
        (macvlan(resource="rdma/a"), macvlan("b", ipam=OTHER, resource="rdma/a")),
    ],
)
def test_networks_that_share_nothing_go_together(first: Given, second: Given) -> None:
    assert [network.name for network in read(first, second)] == [first["name"], second["name"]]


def test_all_problems_are_named() -> None:
    with pytest.raises(InputError) as caught:
        read(macvlan(), macvlan())
    assert caught.value.code == "POOL-INVALID"
    assert [problem["code"] for problem in caught.value.facts["problems"]] == [
        "POOL-DUPLICATE",
        "NET-OVERLAP",
    ]


def test_a_network_without_pools_is_for_all_of_them() -> None:
    pools = {name: NodePool(name, {"pool": name}, 2) for name in ("training", "big")}
    named, every = rules.placed(read(sriov(), sriov("b", pools=[], interfaces=["x"])), pools)
    assert [pool.name for pool in named.pools] == ["training"]
    assert [pool.node_selector for pool in every.pools] == [{"pool": "training"}, {"pool": "big"}]


def test_policies_of_two_networks_cannot_have_the_same_name() -> None:
    pools = {name: NodePool(name, {"pool": name}, 2) for name in ("b-c", "c")}
    both = read(sriov("a", pools=["b-c"]), sriov("a-b", pools=["c"], interfaces=["x"]))
    with pytest.raises(InputError) as caught:
        rules.placed(both, pools)
    assert caught.value.code == "POOL-DUPLICATE"
    assert "gpu_networks[1].name: a-b-c is listed twice, as the policy" in caught.value.message
    assert caught.value.remedy == "Name it once in gpu_networks."


@pytest.mark.parametrize("nodes", [4, 0])
def test_the_plan_refuses_too_few_addresses_for_its_pools(nodes: int) -> None:
    small = macvlan(ipam={**SMALL, "per_node": 16 if nodes == 0 else 4})
    with pytest.raises(InputError) as caught:
        rules.placed(read(small), {"training": NodePool("training", {}, nodes)})
    assert caught.value.code == "NET-TOO-SMALL"
    assert caught.value.message.startswith("gpu_networks[0].ipam.range: ")


def test_a_pool_that_is_not_there_is_told_with_the_other_problems() -> None:
    problems = Problems()
    given = [{**macvlan(pools=["trainin", "training"]), "kind": "vlan"}]
    rules.checked(given, "gpu_networks", problems, ["training"])
    assert [(problem.code, problem.path) for problem in problems.found] == [
        ("POOL-VALUE", "gpu_networks[0].kind"),
        ("POOL-UNKNOWN", "gpu_networks[0].pools[0]"),
    ]
    assert "has no pool trainin (did you mean training?)" in problems.found[1].message
    assert problems.found[1].remedy == "Set gpu_networks[0].pools[0] to one of training."


@pytest.mark.parametrize(
    ("network", "interface", "code"),
    [
        (sriov(), card(), ""),
        (sriov(), card("ens9", linkType="IB"), ""),
        (sriov(), card(linkType="IB"), "NET-LINK"),
        (sriov(kind="sriov_ib"), card(linkType="IB"), ""),
        (sriov(interfaces=[], device="101d"), card("ens9", linkType="IB"), "NET-LINK"),
        (sriov(interfaces=[], device="101b"), card(linkType="IB"), ""),
        (sriov(interfaces=[]), card(vendor="8086", linkType="IB"), ""),
        (sriov(interfaces=[], root_devices=["0000:1b:00.0"]), card("ens9", linkType="IB"), "NET-LINK"),
        (macvlan(mtu=9000), card(mtu=9000), ""),
        (macvlan(mtu=9000), card(mtu=1500), "NET-VALUE"),
        (macvlan(), card(linkType="IB"), "NET-LINK"),
        (macvlan(macvlan={}), {**card(linkType="IB"), "name": None}, ""),
    ],
)
def test_a_card_is_judged_if_the_network_uses_it(network: Given, interface: Given, code: str) -> None:
    problems = Problems()
    both = [state(name, interface) for name in ("n1", "n3")]
    rules.check_cards([(read(network)[0], ("n1", "n3"))], both, problems)
    assert [problem.code for problem in problems.found] == ([code] if code else [])
    rules.check_cards([(read(network)[0], ["n2"])], [state("n1", interface)], again := Problems())
    assert not again.found


ROOT: t.Final = {"interfaces": [], "root_devices": ["0000:1b:00.0"]}


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        (sriov(), sriov("b", **ROOT), "NET-VF-OVERLAP"),
        (sriov("b", **ROOT), sriov(), "NET-VF-OVERLAP"),
        (sriov(), sriov("b", interfaces=[], device="101d"), "NET-VF-OVERLAP"),
        (sriov(interfaces=["ens2"]), sriov("b", **ROOT), ""),
        (sriov(mtu=9000), macvlan(mtu=9000), ""),
        (macvlan(mtu=9000), sriov(), "NET-VALUE"),
        (sriov(), macvlan(), ""),
    ],
)
def test_two_networks_on_one_card_of_a_node(first: Given, second: Given, code: str) -> None:
    problems = Problems()
    both = [(network, ("n1", "n2")) for network in read(first, second)]
    rules.check_cards(both, [state(name, card(mtu=1500)) for name in ("n1", "n2")], problems)
    assert [problem.code for problem in problems.found] == ([code] if code else [])
    if code == "NET-VF-OVERLAP":
        assert problems.found[0].path == "gpu_networks[1].sriov"
        assert "ens1f0np0 of node n1 in gpu_networks[0].sriov too" in problems.found[0].message
    rules.check_cards([(both[0][0], ["n1"]), (both[1][0], ["n2"])], [state("n1")], again := Problems())
    assert "NET-VF-OVERLAP" not in [problem.code for problem in again.found]
