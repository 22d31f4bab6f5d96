# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node itself sends through its NVIDIA adapters."""

from __future__ import annotations

import json
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import traffic

Data = dict[str, t.Any]
MAC: t.Final = "B8:3F:D2:00:00:01"


def node(mac: str = "") -> Data:
    gateway = json.dumps({"default": {"mode": "shared", "mac-address": mac}})
    annotations = {"k8s.ovn.org/l3-gateway-config": gateway} if mac else {}
    return {"metadata": {"name": "gpu-0", "annotations": annotations}}


def sriov(**bridges: t.Any) -> Data:
    interfaces = [
        {"name": "ens1f0np0", "vendor": "15b3", "mac": MAC.lower()},
        {"name": "eno1", "vendor": "8086", "mac": "aa:bb:cc:dd:ee:ff"},
    ]
    return {"metadata": {"name": "gpu-0"}, "status": {"interfaces": interfaces, **bridges}}


def nmstate(*interfaces: Data, gateway: str = "") -> Data:
    adapter = {"name": "ens1f0np0", "type": "ethernet", "state": "up", "driver": "mlx5_core"}
    named = {one["name"]: {"state": "up", **one} for one in (adapter, *interfaces)}
    routes = [{"destination": "0.0.0.0/0", "next-hop-interface": gateway}] if gateway else []
    state = {"interfaces": list(named.values()), "routes": {"running": routes}}
    return {"metadata": {"name": "gpu-0"}, "status": {"currentState": state}}


def used(network: Data) -> list[str]:
    return traffic.find([node()], [], [network]).used


def address(name: str, **more: t.Any) -> Data:
    return {"name": name, "ipv4": {"address": [{"ip": "10.1.1.1", "prefix-length": 24}]}, **more}


BOND: t.Final[Data] = {"name": "bond0", "type": "bond", "link-aggregation": {"port": ["ens1f0np0", "eno1"]}}
VLAN: t.Final[Data] = {"name": "bond0.7", "type": "vlan", "vlan": {"base-iface": "bond0"}}
BR_EX: t.Final[Data] = {
    "name": "br-ex",
    "type": "ovs-bridge",
    "bridge": {"port": [{"name": "bond0.7"}, {"name": "br-ex"}]},
}


def test_the_uplink_of_the_cluster_network_is_known_by_its_mac_address() -> None:
    found = traffic.find([node(MAC.lower())], [sriov()], [])
    assert found.used == [
        f"gpu-0: ens1f0np0 carries the node's network (br-ex has its MAC address {MAC.lower()})"
    ]
    assert traffic.find([node("aa:bb:cc:dd:ee:ff")], [sriov()], []).used == [], "of another vendor"
    broken = node()
    broken["metadata"]["annotations"] = {"k8s.ovn.org/l3-gateway-config": "{"}
    assert traffic.find([broken], [sriov()], []).used == []


def test_a_bridge_of_the_sriov_operator() -> None:
    state = sriov(bridges={"ovs": [{"name": "br-0000", "uplinks": [{"name": "ens1f0np0"}]}]})
    assert traffic.find([node()], [state], []).used == ["gpu-0: ens1f0np0 is a port of bridge br-0000"]


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (nmstate(address("ens1f0np0", driver="mlx5_core")), ["has the node's address 10.1.1.1 (ens1f0np0)"]),
        (nmstate(gateway="ens1f0np0"), ["carries the node's default route (ens1f0np0)"]),
        (nmstate(BOND, {**VLAN, **address("bond0.7")}), ["has the node's address 10.1.1.1 (bond0.7)"]),
        (
            nmstate({"name": "br1", "type": "linux-bridge", "bridge": {"port": [{"name": "ens1f0np0"}]}}),
            ["is a port of bridge br1"],
        ),
    ],
)
def test_what_nmstate_shows(network: Data, said: list[str]) -> None:
    found = used(network)
    assert len(found) == len(said)
    assert all(words in line for words, line in zip(said, found, strict=True))


def test_the_default_route_over_an_ovs_bridge_a_vlan_and_a_bond() -> None:
    inner = {"name": "br-ex", "type": "ovs-bridge", **BR_EX}
    own = address("br-ex0", type="ovs-interface")
    inner["bridge"] = {"port": [{"name": "bond0.7"}, {"name": "br-ex0"}]}
    found = used(nmstate(BOND, VLAN, inner, own, gateway="br-ex0"))
    assert found == [
        "gpu-0: ens1f0np0 is a port of bridge br-ex",
        "gpu-0: ens1f0np0 carries the node's default route (br-ex0)",
    ]


def test_an_adapter_that_the_node_does_not_use() -> None:
    link_local = {"name": "ens1f0np0", "ipv6": {"address": [{"ip": "fe80::1"}]}, "driver": "mlx5_core"}
    other = address("eno1", type="ethernet", driver="igb")
    found = traffic.find([node()], [sriov()], [nmstate(link_local, other, gateway="eno1")])
    assert found == traffic.Found([], [])
    down = nmstate(address("ens1f0np0", driver="mlx5_core", state="down"))
    assert used(down) == []


def test_a_node_that_nobody_shows_is_unknown() -> None:
    assert traffic.find([node()], [sriov()], []).unknown == ["gpu-0"]
    assert traffic.find([node()], [], [nmstate()]).unknown == []
