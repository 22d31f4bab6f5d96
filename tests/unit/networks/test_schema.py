"""The option gpu_networks: what is read, and what is refused with its path."""

from __future__ import annotations

import typing as t

import pytest
from unit.networks.builders import Given, macvlan, read, sriov

from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problems
from ansible_collections.accelerators.openshift.plugins.module_utils._networks import schema


def found(*given: t.Any) -> list[tuple[str, str]]:
    """Return code and path of each problem."""
    problems = Problems()
    schema.read(list(given), "gpu_networks", problems)
    return [(problem.code, problem.path.removeprefix("gpu_networks[0].")) for problem in problems.found]


def test_a_network_is_read_with_its_defaults() -> None:
    (network,) = read(sriov())
    assert (network.resource, network.short_resource, network.is_sriov) == (
        "openshift.io/rail_0",
        "rail_0",
        True,
    )
    (pool,) = network.pools
    assert pool.node_selector == {"accelerators.openshift/pool": "training"}


@pytest.mark.parametrize(
    "given",
    [
        macvlan(mtu=9000, resource="rdma/rdma_a"),
        sriov(max_unavailable="20%"),
        {"name": "nic", "kind": "host_device", "namespaces": ["a"], "resource": "hostdev"},
        {"name": "own", "kind": "custom", "namespaces": ["a"], "custom": {"config": '{"type": "bridge"}'}},
    ],
)
def test_what_the_plan_returns_is_read_again(given: Given) -> None:
    (network,) = read(given)
    assert read(network.as_result()) == [network]


@pytest.mark.parametrize(
    ("given", "code", "path"),
    [
        (macvlan(ipoib={"master": "ib0"}), "POOL-CONFLICT", "ipoib"),
        ({"name": "a", "kind": "ipoib", "namespaces": ["a"]}, "POOL-REQUIRED", "ipoib"),
        ({**macvlan(), "kind": "vlan"}, "POOL-VALUE", "kind"),
        (macvlan(namespaces=["openshift-monitoring"]), "NET-NAMESPACE", "namespaces[0]"),
        (macvlan(namespaces=[]), "POOL-EMPTY", "namespaces"),
        (macvlan(namespaces=["a", "a"]), "POOL-DUPLICATE", "namespaces[1]"),
        (macvlan(pools="training"), "POOL-TYPE", "pools"),
        (macvlan(pools=""), "POOL-TYPE", "pools"),
        (macvlan(macvlan={"master": "ens1f0np0#0-3"}), "POOL-VALUE", "macvlan.master"),
        (sriov(vendor="0x15b3"), "POOL-VALUE", "sriov.vendor"),
        (sriov(device="101D"), "POOL-VALUE", "sriov.device"),
        (sriov(root_devices=["1b:00.0"]), "POOL-VALUE", "sriov.root_devices[0]"),
        (macvlan(pools=["training", "training"]), "POOL-DUPLICATE", "pools[1]"),
        (macvlan(resource="rdma_a"), "NET-VALUE", "resource"),
        (sriov(resource="rail-0"), "NET-VALUE", "resource"),
        (sriov(resource="nvidia.com/rail"), "NET-VALUE", "resource"),
        (sriov(resource="r" * 64), "NET-VALUE", "resource"),
        (sriov(resource="rail_"), "NET-VALUE", "resource"),
        (sriov(driver="vfio-pci", rdma=True), "POOL-CONFLICT", "sriov.rdma"),
        (sriov(interfaces=["ens1#0-3", "ens1#2-5"]), "NET-VF-OVERLAP", "sriov.interfaces[1]"),
        (sriov(interfaces=["ens1", "ens1"]), "NET-VF-OVERLAP", "sriov.interfaces[1]"),
        (sriov(vfs=0), "POOL-VALUE", "sriov.vfs"),
        (sriov(kind="sriov_ib", vfs=17), "POOL-VALUE", "sriov_ib.vfs"),
        (sriov(max_unavailable="some"), "POOL-VALUE", "sriov.max_unavailable"),
        (sriov(interfaces=["ens1f0np0#4-8"]), "NET-VALUE", "sriov.interfaces[0]"),
        (sriov(interfaces=["ens1f0np0#x"]), "NET-VALUE", "sriov.interfaces[0]"),
        (sriov(interfaces=["ens1f0np0#²-3"]), "NET-VALUE", "sriov.interfaces[0]"),
        (sriov(interfaces=["#0-3"]), "NET-VALUE", "sriov.interfaces[0]"),
        (sriov(interfaces=["ens1 f0"]), "NET-VALUE", "sriov.interfaces[0]"),
        (sriov(max_unavailable="²"), "POOL-VALUE", "sriov.max_unavailable"),
        (sriov(kind="sriov_ib", vlan=3), "POOL-UNKNOWN-KEY", "sriov_ib.vlan"),
        ({**macvlan(), "mtus": 3}, "POOL-UNKNOWN-KEY", "mtus"),
    ],
)
def test_a_wrong_option_is_refused_with_its_path(given: Given, code: str, path: str) -> None:
    assert found(given) == [(code, path)]


def test_what_is_no_list_is_refused() -> None:
    problems = Problems()
    assert schema.read("macvlan", "gpu_networks", problems) == []
    assert [problem.code for problem in problems.found] == ["POOL-TYPE"]


def test_functions_of_an_interface_are_a_range_or_all() -> None:
    assert schema.vf_range("ens1f0np0", 8) == (0, 7)
    assert schema.vf_range("ens1f0np0#2-3", 8) == (2, 3)
    assert schema.vf_range("ens1f0np0#2", 8) is None
