# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What networks cannot have together, or on these nodes: names, addresses, and virtual functions."""

from __future__ import annotations

import dataclasses
import itertools
import typing as t

from .._catalogue.well_known import MELLANOX
from .._core.input import Problems, read_map
from .._core.objects import KubeObject, name, number_of
from . import addresses, cni, schema
from .schema import DOMAINS, IPOIB, SRIOV_IB, Network, NodePool

# Options of a network that its nodes have once, in a SriovNetworkPoolConfig.
OF_NODES: t.Final = ("max_unavailable", "rdma_mode")
Card = t.Mapping[str, t.Any]
_OF_CARDS: t.Final = {"vendor": MELLANOX, "device": ""}


def read(value: t.Any, path: str) -> list[Network]:
    """Return the networks. Raises InputError with every problem; sends no request."""
    problems = Problems()
    networks = checked(value, path, problems)
    problems.raise_if_any()
    return networks


def names(value: t.Sequence[t.Mapping[str, t.Any]], path: str) -> list[str]:
    """Return the names of the networks, which may have nothing else. Raises InputError."""
    problems, fields = Problems(), {"name": schema.FIELDS["name"]}
    read_in = [
        read_map({"name": network.get("name")}, fields, f"{path}[{index}]", problems)
        for index, network in enumerate(value)
    ]
    problems.raise_if_any()
    return [network["name"] for network in read_in]


def checked(
    value: t.Any, path: str, problems: Problems, pools: t.Collection[str] | None = None
) -> list[Network]:
    """Return the networks; add every problem. pools: as in `schema.read`."""
    networks = schema.read(value, path, problems, pools)
    for index, network in enumerate(networks):
        for other in networks[:index]:
            _check_pair(network, other, problems)
    return networks


def placed(networks: t.Sequence[Network], pools: t.Mapping[str, NodePool]) -> list[Network]:
    """Return the networks with the pools that they name, or with all pools. Raises InputError.

    pools: those of the plan, by name.
    """
    problems, found = Problems(), []
    policies: dict[str, str] = {}
    for network in networks:
        mine = [pool.name for pool in network.pools] or list(pools)
        those = tuple(pools[pool] for pool in mine)
        found.append(dataclasses.replace(network, pools=those))
        for policy in map(network.policy_name, those) if network.is_sriov else ():
            if (other := policies.setdefault(policy, network.path)) != network.path:
                also = f", as the policy of a pool here and of another pool in {other}"
                problems.add("POOL-DUPLICATE", f"{network.path}.name", name=policy, also=also)
        check_size(network, sum(pool.nodes for pool in those), problems)
    problems.raise_if_any()
    return found


def _check_pair(network: Network, other: Network, problems: Problems) -> None:
    """Add a problem for what this network cannot have beside an earlier one."""
    if network.name == other.name:
        problems.add("POOL-DUPLICATE", f"{network.path}.name", name=network.name)
    have_devices = network.kind in DOMAINS or other.kind in DOMAINS
    if have_devices and network.resource == other.resource:
        problems.add("NET-SAME-RESOURCE", f"{network.path}.resource", name=network.resource, other=other.path)
    for mine in _addresses(network):
        for theirs in _addresses(other):
            if addresses.overlap(mine, theirs):
                ranges = f"{other.path} ({_shown(theirs)})"
                problems.add("NET-OVERLAP", _range_path(network), value=_shown(mine), other=ranges)
    if network.is_sriov and other.is_sriov:
        _check_cards(network, other, problems)


def _range_path(network: Network) -> str:
    own = "ipam.range" if "range" in network.ipam else "ipam.addresses"
    return f"{network.path}.{'custom.config' if network.kind == schema.CUSTOM else own}"


def _shown(given: addresses.Given) -> str:
    return str(given.get("range") or ", ".join(given.get("addresses") or []))


def _addresses(network: Network) -> list[addresses.Given]:
    """Return the ranges of the network; of a user's own configuration those of whereabouts."""
    if network.kind != schema.CUSTOM:
        return [network.ipam]
    found = [plugin.get("ipam") for plugin in cni.plugins_of(network.options["config"])]
    for ipam in [ipam for ipam in found if isinstance(ipam, dict)]:
        found += ipam["ipRanges"] if isinstance(ipam.get("ipRanges"), list) else []
    ranges = [addresses.whole(entry.get("range")) for entry in found if isinstance(entry, dict)]
    return [{"range": text} for text in ranges if text]


def _check_cards(network: Network, other: Network, problems: Problems) -> None:
    """Add a problem for two networks of the same nodes that use a virtual function, or set the node up."""
    names = {pool.name for pool in other.pools}
    # A network without pools is for all of them.
    if network.pools and names and not names & {pool.name for pool in network.pools}:
        return
    mine, theirs = network.options, other.options
    if network.kind == other.kind and _may_meet(mine, theirs):
        where, also = f"{network.path}.{network.kind}.interfaces", f"{other.path}.{other.kind}"
        problems.add("NET-VF-OVERLAP", where, value="the network", taken="the cards", other=also)
    for index, interface in enumerate(mine.get("interfaces") or []):
        for taken in theirs.get("interfaces") or []:
            if schema.meet(interface, mine["vfs"], taken, theirs["vfs"]):
                where = f"{network.path}.{network.kind}.interfaces[{index}]"
                also = f"{other.path}.{other.kind}.interfaces"
                problems.add("NET-VF-OVERLAP", where, value=interface, taken=taken, other=also)
    for key in OF_NODES:
        if key in mine and key in theirs and str(mine[key]) != str(theirs[key]):
            where, there = f"{network.path}.{network.kind}.{key}", f"{other.path}.{other.kind}.{key}"
            text, once = f"{theirs[key]!r} in {there}", "a node"
            remedy, value = f"Give {where} and {there} one value.", repr(mine[key])
            problems.add("POOL-DIFFERS", where, remedy=remedy, value=value, other=text, once=once)


def _may_meet(one: t.Mapping[str, t.Any], other: t.Mapping[str, t.Any]) -> bool:
    """Return True if one of these names no interfaces, and nothing says that its cards are others."""
    roots = [set(options.get("root_devices") or []) for options in (one, other)]
    named_cards = [options.get("interfaces") for options in (one, other)]
    if all(named_cards) or any(one.get(key, own) != other.get(key, own) for key, own in _OF_CARDS.items()):
        return False
    return bool(roots[0] & roots[1]) if all(roots) else not (any(roots) and any(named_cards))


def check_size(network: Network, nodes: int, problems: Problems) -> None:
    """Add a problem if the addresses are not enough for this number of nodes."""
    enough = addresses.capacity(network.ipam)
    if enough is not None and max(nodes, 1) > enough:
        where, value = f"{network.path}.ipam.range", network.ipam["range"]
        places, having = number_of(enough, "node"), number_of(nodes, "node")
        problems.add("NET-TOO-SMALL", where, value=value, enough=places, nodes=having)


def check_cluster(network: Network, live: KubeObject, problems: Problems) -> None:
    """Add a problem if pods or Services have addresses of this range. live: Network C(cluster)."""
    found = live.get("spec") or {}
    used = [("pods", entry.get("cidr")) for entry in found.get("clusterNetwork") or []]
    used += [("Services", cidr) for cidr in found.get("serviceNetwork") or []]
    for whose, cidr in used:
        for given in _addresses(network):
            if cidr and addresses.holds(given, cidr):
                other = f"{cidr}, which the cluster gives to {whose}"
                problems.add("NET-OVERLAP", _range_path(network), value=_shown(given), other=other)


def check_cards(
    networks: t.Iterable[tuple[Network, t.Collection[str]]],
    states: t.Iterable[KubeObject],
    problems: Problems,
) -> None:
    """Add a problem for cards whose link is of the other type: the SR-IOV operator would change it.

    Also for functions that two networks have, as no webhook compares names with addresses, and for an MTU
    above that of the interface. networks: each with the names of its nodes. states: SriovNetworkNodeStates; a
    node without one is not judged.
    """
    for state in states:
        for card in (state.get("status") or {}).get("interfaces") or []:
            using = [
                network for network, nodes in networks if name(state) in nodes and is_card(network, card)
            ]
            for index, network in enumerate(using):
                _check_link(network, name(state), card, problems)
                _check_mtu(network, using, name(state), card, problems)
                for other in using[:index] if network.is_sriov else ():
                    _check_functions(network, other, name(state), card, problems)


def is_card(network: Network, card: Card) -> bool:
    """Return True if the network uses this interface of a node state."""
    options = network.options
    if not network.is_sriov:
        return "master" in options and bool(card.get("name") == options["master"])
    names = [interface.partition("#")[0] for interface in options.get("interfaces") or []]
    roots, device = options.get("root_devices") or [], options.get("device")
    is_vendor = names or roots or card.get("vendor") == options.get("vendor", MELLANOX)
    return bool(
        is_vendor
        and (not names or card.get("name") in names)
        and (not roots or card.get("pciAddress") in roots)
        and (not device or card.get("deviceID") == device)
    )


def _check_link(network: Network, node: str, card: Card, problems: Problems) -> None:
    where, link = f"{network.path}.kind", str(card.get("linkType") or "").upper()
    wanted = "IB" if network.kind in (SRIOV_IB, IPOIB) else "ETH"
    if link and link != wanted and not problems.at(where):
        words = {"IB": "InfiniBand", "ETH": "Ethernet"}
        kind, needs, has = network.kind, words[wanted], words.get(link, link)
        interface = card.get("name")
        problems.add("NET-LINK", where, kind=kind, needs=needs, interface=interface, node=node, link=has)


def _check_mtu(
    network: Network, using: t.Iterable[Network], node: str, card: Card, problems: Problems
) -> None:
    """Add a problem for a macvlan above an interface that no network of functions gives its MTU."""
    where, mtu = f"{network.path}.mtu", int(card.get("mtu") or 0)
    highest = max(mtu, *(other.mtu or 0 for other in using if other.is_sriov), 0)
    if network.kind == schema.MACVLAN and mtu and (network.mtu or 0) > highest and not problems.at(where):
        why = f"interface {network.options['master']} of node {node} has an MTU of {highest}"
        problems.add("NET-VALUE", where, remedy=f"Set {where} to {highest} at most.", why=why)


def _check_functions(network: Network, other: Network, node: str, card: Card, problems: Problems) -> None:
    where, vfs = f"{network.path}.{network.kind}", [network.options["vfs"], other.options.get("vfs", 0)]
    pairs = itertools.product(_functions(network, card), _functions(other, card))
    if not problems.at(where) and any(schema.meet(mine, vfs[0], taken, vfs[1]) for mine, taken in pairs):
        also, taken = f"{other.path}.{other.kind}", f"{card.get('name')} of node {node}"
        problems.add("NET-VF-OVERLAP", where, value="the network", taken=taken, other=also)


def _functions(network: Network, card: Card) -> list[str]:
    """Return the functions of the card that the network has, as C(interfaces) has them."""
    # A card that the kernel has no driver for has no name.
    card_name = str(card.get("name") or "")
    given = network.options.get("interfaces") or ([card_name] if network.is_sriov else [])
    return [interface for interface in given if interface.partition("#")[0] == card_name]
