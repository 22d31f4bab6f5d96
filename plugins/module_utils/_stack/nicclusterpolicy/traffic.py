# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node itself sends through its NVIDIA adapters: a new NIC driver takes them away for a while.

Three sources tell: nmstate's NodeNetworkState, the SR-IOV operator's SriovNetworkNodeState, and an annotation
of OVN-Kubernetes, which has the MAC address of the uplink of br-ex.
"""

from __future__ import annotations

import json
import typing as t

from ..._catalogue.well_known import MELLANOX
from ..._core.objects import KubeObject, at, name

Data = t.Mapping[str, t.Any]
_GATEWAY: t.Final = "k8s.ovn.org/l3-gateway-config"
_DRIVER: t.Final = "mlx5_core"
_SWITCHES: t.Final = ("ovs-bridge", "linux-bridge")
_DEFAULT: t.Final = ("0.0.0.0/0", "::/0")


class Found(t.NamedTuple):
    """used: node, adapter and use, as clauses. unknown: nodes of which nobody tells all uses."""

    used: list[str]
    unknown: list[str]


def find(
    nodes: t.Iterable[KubeObject], states: t.Iterable[KubeObject], networks: t.Iterable[KubeObject]
) -> Found:
    """Return what the nodes send through NVIDIA adapters.

    states: SriovNetworkNodeStates. networks: NodeNetworkStates. Both have the name of their node.
    """
    by_sriov, by_nmstate = ({name(one): one for one in every} for every in (states, networks))
    found = Found([], [])
    for node in nodes:
        state, network = by_sriov.get(name(node), {}), by_nmstate.get(name(node))
        adapters = _adapters(state)
        names = {one["name"] for one in adapters}
        uses = [*_of_gateway(node, adapters), *_of_switches(state, names)]
        if network is None:
            found.unknown.append(name(node))
        else:
            uses += _of_network(network, names)
        found.used.extend(f"{name(node)}: {use}" for use in dict.fromkeys(uses))
    return found


def _adapters(state: Data) -> list[Data]:
    return [one for one in at(state, "status.interfaces") or [] if one.get("vendor") == MELLANOX]


def _of_gateway(node: KubeObject, adapters: t.Iterable[Data]) -> t.Iterator[str]:
    text = (node["metadata"].get("annotations") or {}).get(_GATEWAY) or "{}"
    try:
        mac = str(at(json.loads(text), "default.mac-address") or "").lower()
    except ValueError:
        return
    for one in adapters:
        if mac and str(one.get("mac") or "").lower() == mac:
            yield f"{one['name']} carries the node's network (br-ex has its MAC address {mac})"


def _of_switches(state: Data, names: t.Collection[str]) -> t.Iterator[str]:
    for bridge in at(state, "status.bridges.ovs") or []:
        for uplink in bridge.get("uplinks") or []:
            if uplink.get("name") in names:
                yield f"{uplink['name']} is a port of bridge {bridge.get('name')}"


def _of_network(network: Data, names: t.Collection[str]) -> t.Iterator[str]:
    """Yield the uses that nmstate shows. names: NVIDIA adapters that another source knows."""
    interfaces = {one["name"]: one for one in at(network, "status.currentState.interfaces") or []}
    adapters = {key for key, one in interfaces.items() if key in names or one.get("driver") == _DRIVER}
    routes = at(network, "status.currentState.routes.running") or []
    gateways = {one.get("next-hop-interface") for one in routes if one.get("destination") in _DEFAULT}
    for key, one in interfaces.items():
        below = sorted(adapters & _below(key, interfaces, frozenset()))
        for adapter in below if one.get("state") == "up" else ():
            if one.get("type") in _SWITCHES:
                yield f"{adapter} is a port of bridge {key}"
            if key in gateways:
                yield f"{adapter} carries the node's default route ({key})"
            elif address := _address(one):
                yield f"{adapter} has the node's address {address} ({key}), which storage may use"


def _below(key: str, interfaces: t.Mapping[str, Data], seen: frozenset[str]) -> set[str]:
    """Return the interface and all that it stands on: ports of a bridge or a bond, the base of a VLAN."""
    one = interfaces.get(key) or {}
    ports = [
        *(port.get("name") for port in at(one, "bridge.port") or []),
        *(at(one, "link-aggregation.port") or []),
        at(one, "vlan.base-iface"),
        at(one, "infiniband.base-iface"),
        at(one, "mac-vlan.base-iface"),
    ]
    # An OVS interface that has the name of its bridge carries the bridge's addresses.
    switches = [
        other
        for other, bridge in interfaces.items()
        if one.get("type") == "ovs-interface"
        and any(port.get("name") == key for port in at(bridge, "bridge.port") or [])
    ]
    found = {key}
    for port in (*ports, *switches):
        if port and port not in seen | {key}:
            found |= _below(str(port), interfaces, seen | {key})
    return found


def _address(one: Data) -> str:
    for family in ("ipv4", "ipv6"):
        for entry in at(one, f"{family}.address") or []:
            if not str(entry.get("ip")).startswith("fe80"):
                return str(entry.get("ip"))
    return ""
