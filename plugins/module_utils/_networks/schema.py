# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The option gpu_networks: its keys, their types, and each network as a value."""

from __future__ import annotations

import dataclasses
import re
import typing as t
from dataclasses import dataclass

from .._core.input import Field, Problems, read_map
from .._core.namespaces import is_of_platform
from .._core.ownership import pool_label
from .._core.syntax import name_fault, resource_fault
from .._frame.nested import near
from . import addresses, cni

Given = dict[str, t.Any]
MACVLAN, IPOIB, HOST_DEVICE = "macvlan", "ipoib", "host_device"
SRIOV, SRIOV_IB, CUSTOM = "sriov", "sriov_ib", "custom"
KINDS: t.Final = (MACVLAN, IPOIB, HOST_DEVICE, SRIOV, SRIOV_IB, CUSTOM)
# Kinds whose pods get a device of their own, with the domain of its resource.
DOMAINS: t.Final = {SRIOV: "openshift.io", SRIOV_IB: "openshift.io", HOST_DEVICE: "nvidia.com"}
# Releases of the SR-IOV operator before 2026-08 take no hyphen.
_RESOURCE: t.Final = re.compile(r"[A-Za-z0-9](\w{0,61}[A-Za-z0-9])?", re.ASCII)
_TEXTS: t.Final = Field("list", entry=Field("text"))


def _like(pattern: str, example: str) -> t.Callable[[str], str]:
    """Return what says why a text does not fit the pattern."""
    return lambda text: "" if re.fullmatch(pattern, text) else f"is not like {example}"


_PCI: t.Final = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_INTERFACE: t.Final = _like(r"[^\s/#]+", "ens1f0np0")


def _share_fault(text: str) -> str:
    number = text.removesuffix("%")
    return "" if number.isdecimal() and int(number) > 0 else "is neither a number of nodes nor a percentage"


_SRIOV: t.Final = {
    "vfs": Field("integer", required=True, low=1, high=128),
    "interfaces": _TEXTS,
    "vendor": Field("text", fault=_like("[0-9a-f]{4}", "15b3")),
    "device": Field("text", fault=_like("[0-9a-f]{4}", "101d")),
    "root_devices": Field("list", entry=Field("text", fault=_like(_PCI, "0000:1b:00.0"))),
    "rdma": Field("flag"),
    "driver": Field("text", choices=("netdevice", "vfio-pci")),
    "max_unavailable": Field("any"),
    "rdma_mode": Field("text", choices=("shared", "exclusive")),
}
_ETHERNET: t.Final = {
    **_SRIOV,
    "vlan": Field("integer", low=0, high=4094),
    "trust": Field("flag"),
    "spoof_check": Field("flag"),
}
OF_KIND: t.Final[dict[str, dict[str, Field]]] = {
    MACVLAN: {
        "master": Field("text", fault=_INTERFACE),
        "mode": Field("text", choices=("bridge", "private", "vepa", "passthru")),
    },
    IPOIB: {"master": Field("text", required=True, fault=_INTERFACE)},
    HOST_DEVICE: {},
    SRIOV: _ETHERNET,
    SRIOV_IB: {**_SRIOV, "vfs": Field("integer", required=True, low=1, high=16)},
    CUSTOM: {"config": Field("any", required=True), "cluster_network": Field("flag")},
}
_IPAM: t.Final = {
    "type": Field("text", required=True, choices=("whereabouts", "nv-ipam", "static", "none")),
    "range": Field("text"),
    "range_start": Field("text"),
    "range_end": Field("text"),
    "gateway": Field("text"),
    "pool": Field("text", fault=name_fault),
    "per_node": Field("integer", low=1),
    "prefix": Field("integer", low=1, high=128),
    "addresses": _TEXTS,
}
_POOL: t.Final = {
    "name": Field("text", required=True, fault=name_fault),
    "node_selector": Field("labels"),
    "nodes": Field("integer", low=0),
}
FIELDS: t.Final = {
    "name": Field("text", required=True, fault=name_fault),
    "kind": Field("text", required=True, choices=KINDS),
    "pools": Field("any"),
    "namespaces": Field("list", required=True, entry=Field("text", fault=name_fault)),
    "resource": Field("text"),
    "ipam": Field("map", fields=_IPAM),
    "mtu": Field("integer", low=68, high=65520),
    **{kind: Field("map", fields=fields) for kind, fields in OF_KIND.items()},
}


@dataclass(frozen=True)
class NodePool:
    """A pool whose nodes have the network. nodes: how many it may have; 0 if that is not known."""

    name: str
    node_selector: t.Mapping[str, str]
    nodes: int = 0


@dataclass(frozen=True)
class Network:
    """A network that the task asks for.

    path: of the option, such as C(gpu_networks[0]). resource: with its domain, or empty. options: those of
    the kind.
    """

    path: str
    name: str
    kind: str
    pools: tuple[NodePool, ...]
    namespaces: tuple[str, ...]
    resource: str
    ipam: t.Mapping[str, t.Any]
    mtu: int | None
    options: t.Mapping[str, t.Any]

    @property
    def is_sriov(self) -> bool:
        return self.kind in (SRIOV, SRIOV_IB)

    @property
    def short_resource(self) -> str:
        """Return the name of the resource without its domain."""
        return self.resource.rpartition("/")[2]

    @property
    def has_pool_of_addresses(self) -> bool:
        """Return True if the network has an IPPool or a CIDRPool of its own."""
        return self.ipam.get("type") == "nv-ipam" and "pool" not in self.ipam

    def policy_name(self, pool: NodePool) -> str:
        """Return the name of the policy for the nodes of a pool."""
        return f"{self.name}-{pool.name}"

    def for_pods(self) -> Given:
        """Return what a pod needs to use the network."""
        return {
            "name": self.name,
            "kind": self.kind,
            "namespaces": list(self.namespaces),
            "annotation": self.name,
            "resources": {self.resource: 1} if self.resource else {},
        }

    def as_result(self) -> Given:
        """Return the network as an entry of the option, which `read` reads again."""
        found = {key: getattr(self, key) for key in ("name", "kind", "resource", "mtu")}
        return {
            **{key: value for key, value in found.items() if value},
            "pools": [dataclasses.asdict(pool) for pool in self.pools],
            "namespaces": list(self.namespaces),
            **({} if self.kind == CUSTOM else {"ipam": dict(self.ipam)}),
            self.kind: dict(self.options),
        }


def read(
    value: t.Any, path: str, problems: Problems, pools: t.Collection[str] | None = None
) -> list[Network]:
    """Return the networks that are valid by themselves. Add a problem for everything else.

    pools: names of the pools that there are; None if nobody knows.
    """
    if not isinstance(value, (list, tuple)):
        problems.add("POOL-TYPE", path, form="a list of networks", value=repr(value))
        return []
    found = [_network(entry, f"{path}[{index}]", problems, pools) for index, entry in enumerate(value)]
    return [network for network in found if network is not None]


def _network(entry: t.Any, path: str, problems: Problems, known: t.Collection[str] | None) -> Network | None:
    given = read_map(entry, FIELDS, path, problems)
    pools = _pools(given.get("pools", []), f"{path}.pools", problems, known)
    kind: str = given.get("kind") or ""
    if kind:
        _check_kind(given, kind, path, problems)
    ipam = given.get("ipam") or {"type": "none"}
    if not problems.at(f"{path}.ipam"):
        addresses.check(ipam, f"{path}.ipam", problems)
    _check_namespaces(given.get("namespaces") or [], f"{path}.namespaces", problems)
    if problems.at(path):
        return None
    options = dict(given.get(kind) or {})
    if kind == CUSTOM:
        options["config"] = cni.read(options["config"], given["name"], f"{path}.custom.config", problems)
    resource = _resource(given, kind, path, problems)
    if problems.at(path):
        return None
    names = tuple(given["namespaces"])
    return Network(path, given["name"], kind, pools, names, resource, ipam, given.get("mtu"), options)


def _pools(
    value: t.Any, path: str, problems: Problems, known: t.Collection[str] | None
) -> tuple[NodePool, ...]:
    """Return the pools. value: names, or maps as gpu_plan returns them. known: as in `read`."""
    if not isinstance(value, (list, tuple)):
        problems.add("POOL-TYPE", path, form="a list of names of pools", value=repr(value))
        return ()
    found: list[NodePool] = []
    for index, entry in enumerate(value):
        given = {"name": entry} if isinstance(entry, str) else entry
        pool = read_map(given, _POOL, f"{path}[{index}]", problems)
        if "name" not in pool:
            continue
        where, name = f"{path}[{index}]", pool["name"]
        if known is not None and name not in known:
            names = ", ".join(known)
            problems.add("POOL-UNKNOWN", where, pool=near(name, known), known=names, option=where)
        elif name in [other.name for other in found]:
            problems.add("POOL-DUPLICATE", where, name=name)
        found.append(NodePool(name, pool.get("node_selector") or pool_label(name), pool.get("nodes", 0)))
    return tuple(found)


def _check_kind(given: Given, kind: str, path: str, problems: Problems) -> None:
    """Add a problem for the options of another kind, and for those that the kind needs or cannot have."""
    for other in KINDS:
        if other in given and other != kind:
            problems.add("POOL-CONFLICT", f"{path}.{other}", other=f"kind {kind}")
    if kind not in given and any(field.required for field in OF_KIND[kind].values()):
        needs = " and ".join(key for key, field in OF_KIND[kind].items() if field.required)
        problems.add("POOL-REQUIRED", f"{path}.{kind}", remedy=f"Set {path}.{kind} with {needs}.")
    if kind == CUSTOM:
        for key in ("ipam", "mtu"):
            if key in given:
                problems.add("POOL-CONFLICT", f"{path}.{key}", other="kind custom, whose config has it")
    if kind in (IPOIB, HOST_DEVICE) and "mtu" in given:
        problems.add("POOL-CONFLICT", f"{path}.mtu", other=f"kind {kind}, which takes that of the interface")
    if kind in (SRIOV, SRIOV_IB):
        _check_sriov(given.get(kind) or {}, f"{path}.{kind}", problems)


def _check_sriov(given: Given, path: str, problems: Problems) -> None:
    share = given.get("max_unavailable")
    if share is not None and (fault := _share_fault(str(share))):
        problems.add("POOL-VALUE", f"{path}.max_unavailable", f"{share!r} {fault}.", 'Write 1 or "20%".')
    if given.get("rdma") and given.get("driver") == "vfio-pci":
        problems.add("POOL-CONFLICT", f"{path}.rdma", other="driver vfio-pci")
    for index, interface in enumerate(given.get("interfaces") or []):
        numbers = vf_range(interface, given.get("vfs", 0))
        if numbers is None or (given.get("vfs") and not 0 <= numbers[0] <= numbers[1] < given["vfs"]):
            why = f"{interface!r} is no name, alone or with functions below vfs (ens1f0np0#0-3)"
            problems.add("NET-VALUE", f"{path}.interfaces[{index}]", why=why)
            continue
        for at, taken in enumerate(given["interfaces"][:index]):
            if meet(interface, given.get("vfs", 1), taken, given.get("vfs", 1)):
                where, other = f"{path}.interfaces[{index}]", f"{path}.interfaces[{at}]"
                problems.add("NET-VF-OVERLAP", where, value=interface, taken=taken, other=other)


def vf_range(interface: str, vfs: int) -> tuple[int, int] | None:
    """Return the first and the last virtual function of C(NAME) or C(NAME#0-3); None for another form."""
    name, mark, numbers = interface.partition("#")
    first, _dash, last = numbers.partition("-")
    if not name or len(name.split()) != 1 or "/" in name:
        return None
    if not mark:
        return (0, vfs - 1)
    return (int(first), int(last)) if first.isdecimal() and last.isdecimal() else None


def meet(one: str, vfs: int, other: str, their_vfs: int) -> bool:
    """Return True if two of C(interfaces) have the same function of one card."""
    if one.partition("#")[0] != other.partition("#")[0]:
        return False
    mine, theirs = vf_range(one, vfs), vf_range(other, their_vfs)
    return mine is None or theirs is None or (mine[0] <= theirs[1] and theirs[0] <= mine[1])


def _check_namespaces(given: t.Sequence[str], path: str, problems: Problems) -> None:
    for index, namespace in enumerate(given):
        if is_of_platform(namespace):
            problems.add("NET-NAMESPACE", f"{path}[{index}]", why=f"{namespace} belongs to the platform")
        elif namespace in given[:index]:
            problems.add("POOL-DUPLICATE", f"{path}[{index}]", name=namespace)


def _resource(given: Given, kind: str, path: str, problems: Problems) -> str:
    """Return the resource that a pod asks for, with its domain, or an empty text."""
    where = f"{path}.resource"
    domain = DOMAINS.get(kind)
    if domain is None:
        found: str = given.get("resource") or ""
        if found and ("/" not in found or resource_fault(found)):
            why = f"{found} is not DOMAIN/NAME, such as rdma/rdma_shared_device_a"
            problems.add("NET-VALUE", where, why=why)
        return found
    name = (given.get("resource") or given["name"].replace("-", "_")).removeprefix(f"{domain}/")
    if not _RESOURCE.fullmatch(name):
        why = f"{name} is not {domain}/NAME, with at most 63 letters and digits, and '_' between them"
        problems.add("NET-VALUE", where, why=why)
    return f"{domain}/{name}"
