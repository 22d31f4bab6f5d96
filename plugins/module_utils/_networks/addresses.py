# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses of networks: the option ipam, what it becomes, and whether ranges overlap or are too small."""

from __future__ import annotations

import ipaddress
import typing as t

from .._core.input import Problems

Given = t.Mapping[str, t.Any]
Range: t.TypeAlias = "ipaddress.IPv4Network | ipaddress.IPv6Network"
# Type -> the keys that it takes; the first is required.
_KEYS: t.Final = {
    "whereabouts": ("range", "range_start", "range_end", "gateway"),
    "nv-ipam": ("range", "pool", "per_node", "prefix", "gateway"),
    "static": ("addresses", "gateway"),
    "none": (),
}
_NOT_BESIDE: t.Final = {"pool": ("range", "per_node", "prefix"), "prefix": ("per_node", "gateway")}
PER_NODE: t.Final = 32


def check(given: Given, path: str, problems: Problems) -> None:
    """Add a problem for a key of another type, for what is no address, and for one outside the range."""
    kind = given["type"]
    for key in sorted(given.keys() - {"type", *_KEYS[kind]}):
        problems.add("POOL-CONFLICT", f"{path}.{key}", other=f"type {kind}")
    for key, others in _NOT_BESIDE.items():
        for other in others if key in given else ():
            if other in given:
                problems.add("POOL-CONFLICT", f"{path}.{key}", other=other)
    first = _KEYS[kind][0] if _KEYS[kind] else ""
    if first and not given.get(first) and not given.get("pool"):
        problems.add("POOL-REQUIRED", f"{path}.{first}", remedy=f"Set {path}.{first}.")
    inside = _whole(given, path, problems)
    texts = [
        (f"{path}.{key}", given[key], True) for key in ("range_start", "range_end", "gateway") if key in given
    ]
    texts += [
        (f"{path}.addresses[{at}]", text, False) for at, text in enumerate(given.get("addresses") or [])
    ]
    for where, text, is_single in texts:
        try:
            found = ipaddress.ip_interface(text)
            if is_single:
                ipaddress.ip_address(text)
        except ValueError as exc:
            problems.add("NET-VALUE", where, why=str(exc))
            continue
        if inside and not _is_in(found.network, inside):
            problems.add("NET-VALUE", where, why=f"{text} is not in {inside}")
    _check_masks(given, path, problems)
    if inside and "prefix" in given and not inside.prefixlen <= given["prefix"] <= inside.max_prefixlen:
        problems.add("NET-VALUE", f"{path}.prefix", why=f"/{given['prefix']} is not a part of {inside}")


def _whole(given: Given, path: str, problems: Problems) -> Range | None:
    try:
        return ipaddress.ip_network(given["range"]) if "range" in given else None
    except ValueError as exc:
        problems.add("NET-VALUE", f"{path}.range", why=str(exc))
        return None


def _check_masks(given: Given, path: str, problems: Problems) -> None:
    """Add a problem for what has no mask, and for a range that ends before it starts."""
    texts = [(f"{path}.range", given.get("range", "/"))]
    texts += [(f"{path}.addresses[{at}]", text) for at, text in enumerate(given.get("addresses") or [])]
    for where, text in texts:
        if not problems.at(where) and "/" not in text:
            problems.add("NET-VALUE", where, why=f"{text} has no mask, such as /24")
    if not problems.at(path) and any(low > high for _version, low, high in spans(given)):
        problems.add("NET-VALUE", f"{path}.range_start", why="it is after the end of the range")


def _is_in(inner: Range, outer: Range) -> bool:
    return inner.version == outer.version and bool(inner.subnet_of(outer))  # type: ignore[arg-type]


def spans(given: Given) -> list[tuple[int, int, int]]:
    """Return the addresses that the network gives away, as version, first and last."""
    if "range" not in given:
        return [
            (address.version, int(address), int(address))
            for address in (ipaddress.ip_interface(text).ip for text in given.get("addresses") or [])
        ]
    whole = ipaddress.ip_network(given["range"])
    ends = (("range_start", whole[0]), ("range_end", whole[-1]))
    first, last = (int(ipaddress.ip_address(given.get(key, end))) for key, end in ends)
    return [(whole.version, first, last)]


def overlap(one: Given, other: Given) -> bool:
    """Return True if two networks give away the same address."""
    return any(
        mine[0] == theirs[0] and mine[1] <= theirs[2] and theirs[1] <= mine[2]
        for mine in spans(one)
        for theirs in spans(other)
    )


def whole(value: t.Any) -> str:
    """Return the range of an address with a mask, such as 10.1.0.0/16 of 10.1.0.7/16; "" for what is none."""
    try:
        return str(ipaddress.ip_network(value, strict=False)) if isinstance(value, str) else ""
    except ValueError:
        return ""


def holds(given: Given, cidr: str) -> bool:
    """Return True if the network gives away an address of this range."""
    return overlap(given, {"range": whole(cidr)})


def capacity(given: Given) -> int | None:
    """Return for how many nodes, or for how many pods, the addresses are enough; None if nobody knows."""
    if "range" not in given:
        return None
    whole = ipaddress.ip_network(given["range"])
    if given["type"] == "nv-ipam":
        if "prefix" in given:
            return int(2 ** (given["prefix"] - whole.prefixlen))
        return int(_usable(whole) // given.get("per_node", PER_NODE))
    ((_version, first, last),) = spans(given)
    is_part = "range_start" in given or "range_end" in given
    return (last - first + 1 if is_part else _usable(whole)) - ("gateway" in given)


def _usable(whole: Range) -> int:
    """Return the number of addresses without those of the network and of broadcast."""
    return whole.num_addresses - (2 if whole.prefixlen < whole.max_prefixlen - 1 else 0)


def config(given: Given, name: str) -> dict[str, t.Any]:
    """Return the part ipam of a CNI configuration. name: of the network, and of its pool of addresses."""
    kind = given["type"]
    if kind == "whereabouts":
        return dict(given)
    if kind == "nv-ipam":
        pool_type = {"poolType": "cidrpool"} if "prefix" in given else {}
        return {"type": kind, "poolName": given.get("pool", name), **pool_type}
    if kind == "static":
        gateway = {"gateway": given["gateway"]} if "gateway" in given else {}
        return {"type": kind, "addresses": [{"address": text, **gateway} for text in given["addresses"]]}
    return {}
