# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for Multus: a pod gets its networks before its containers start, and an annotation lists them.

The real one runs on each node and calls plugins, which make interfaces. Here a webhook holds a new pod that
asks for networks, until this stand-in has written the annotation.
"""

from __future__ import annotations

import collections
import hashlib
import ipaddress
import json
import typing as t

from openshift_sandbox.hardware.instance_types import of_node
from openshift_sandbox.hardware.ports import function, mac, ports
from openshift_sandbox.stand_ins.cluster_network.attachments import (
    NETWORKS,
    RESOURCE,
    SHARED,
    STATUS,
    Wanted,
    wanted,
)
from openshift_sandbox.stand_ins.core import events
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.webhooks import Patch

HOLD: t.Final = "sandbox.openshift/hold"
DEFINITION: t.Final = "NetworkAttachmentDefinition"
FAILED: t.Final = "FailedCreatePodSandBox"
ENDED: t.Final = ("Succeeded", "Failed")
DEVICE_PLUGINS: t.Final = ("sriov", "ib-sriov", "host-device")


class NetworkError(Exception):
    """Why a pod does not get a network, in the words of Multus or of a plugin."""


def hold(request: Object) -> Patch | None:
    """Let a new pod that asks for networks wait for them."""
    annotations = request["object"]["metadata"].get("annotations") or {}
    if not annotations.get(NETWORKS):
        return None
    value = {HOLD: "ready"} | annotations
    return Patch([{"op": "add", "path": "/metadata/annotations", "value": value}])


class Multus(Reconciler):
    kinds = ("CIDRPool", "IPPool", DEFINITION, "Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for pod in cluster.objects("Pod"):
            annotations = pod["metadata"].get("annotations") or {}
            node = cluster.find("Node", pod["spec"].get("nodeName") or "")
            if annotations.get(NETWORKS) and STATUS not in annotations and node is not None:
                self._attach(cluster, pod, node)

    def _attach(self, cluster: Cluster, pod: Object, node: Object) -> None:
        name, namespace, uid = (pod["metadata"][key] for key in ("name", "namespace", "uid"))
        try:
            entries = [_default(pod), *Attaching(cluster, pod, node).all()]
        except NetworkError as error:
            text = (
                "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create pod network "
                f"sandbox k8s_{name}_{namespace}_{uid}_0: error adding pod {namespace}_{name} to CNI network "
                '"multus-cni-network": plugin type="multus-shim" name="multus-cni-network" failed (add): '
                "CmdAdd (shim): CNI request failed with status 400: 'ERRORED: error configuring pod "
                f"[{namespace}/{name}] networking: [{namespace}/{name}/{uid}]: {error}'"
            )
            events.record(cluster, pod, "kubelet", FAILED, text, "Warning")
            return
        is_held = (pod["metadata"].get("annotations") or {}).get(HOLD) == "ready"
        changes = {STATUS: json.dumps(entries, indent=4)} | ({HOLD: None} if is_held else {})
        cluster.patch("Pod", name, namespace, {"metadata": {"annotations": changes}})


def _default(pod: Object) -> Object:
    """Return the entry of the cluster's network."""
    digest = hashlib.sha256(str(pod["metadata"]["uid"]).encode()).digest()
    address = (pod.get("status") or {}).get("podIP") or f"10.{128 + digest[0] % 4}.{digest[1]}.{digest[2]}"
    return {
        "name": "ovn-kubernetes",
        "interface": "eth0",
        "ips": [address],
        "mac": "0a:58:" + ":".join(f"{int(part):02x}" for part in address.split(".")),
        "default": True,
        "dns": {},
    }


class Attaching:
    """The networks of one pod while it gets them, one after the other."""

    def __init__(self, cluster: Cluster, pod: Object, node: Object) -> None:
        self._cluster = cluster
        self._pod = pod
        self._node = node
        self._ports = ports(node["metadata"]["name"], of_node(node))
        self._used: collections.Counter[str] = collections.Counter()

    def all(self) -> list[Object]:
        """Return the entries of all networks in the annotation. Raises NetworkError."""
        return [self._entry(network, self._definition(network)) for network in wanted(self._pod)]

    def _definition(self, network: Wanted) -> Object:
        own = self._pod["metadata"]["namespace"]
        if network.namespace not in (own, *SHARED):
            raise NetworkError(
                f"{_LOADING}: GetNetworkDelegates: namespace isolation enabled, annotation violates "
                f"permission, pod is in namespace {own} but refers to target namespace {network.namespace}"
            )
        found = self._cluster.find(DEFINITION, network.name, network.namespace)
        if found is None:
            raise NetworkError(
                f"{_LOADING}: GetNetworkDelegates: failed getting the delegate: getKubernetesDelegate: "
                f"cannot find a network-attachment-definition ({network.name}) in namespace "
                f'({network.namespace}): network-attachment-definitions.k8s.cni.cncf.io "{network.name}" '
                "not found"
            )
        return found

    def _entry(self, network: Wanted, definition: Object) -> Object:
        config = json.loads((definition.get("spec") or {}).get("config") or "{}")
        plugin = config["plugins"][0] if config.get("plugins") else config
        self._check_master(network, plugin)
        resource = (definition["metadata"].get("annotations") or {}).get(RESOURCE, "")
        device = self._device(network, plugin, resource)
        entry: Object = {"name": f"{network.namespace}/{network.name}", "interface": network.interface}
        if addresses := self._addresses(network, plugin.get("ipam") or {}):
            entry["ips"] = addresses
        entry["mac"] = mac(str(self._pod["metadata"]["uid"]), network.interface)
        entry |= {"mtu": int(plugin["mtu"])} if plugin.get("mtu") else {}
        entry["dns"] = {}
        return entry | ({"device-info": device} if device else {})

    def _check_master(self, network: Wanted, plugin: Object) -> None:
        """Refuse a master that the node does not have."""
        known, master = [port.name for port in self._ports], plugin.get("master")
        if plugin.get("type") in ("macvlan", "ipoib") and master and master not in known and known:
            raise NetworkError(f'{_adding(network)}: failed to lookup master "{master}": Link not found')

    def _device(self, network: Wanted, plugin: Object, resource: str) -> Object | None:
        """Return the device that the pod got for this network."""
        if plugin.get("type") not in DEVICE_PLUGINS:
            return None
        count = sum(
            int(((one.get("resources") or {}).get("requests") or {}).get(resource, 0))
            for one in self._pod["spec"]["containers"]
        )
        if self._used[resource] >= count or not self._ports:
            raise NetworkError(
                f"{_adding(network)}: SRIOV-CNI failed to load netconf: LoadConf(): VF pci addr is required"
            )
        slot, number = self._used[resource] % len(self._ports), self._used[resource] // len(self._ports)
        self._used[resource] += 1
        port, is_whole = self._ports[slot], plugin["type"] == "host-device"
        address = port.pci if is_whole else function(port.pci, number)
        rdma = port.rdma if is_whole else f"mlx5_{len(self._ports) * (number + 1) + slot}"
        return {"type": "pci", "version": "1.1.0", "pci": {"pci-address": address, "rdma-device": rdma}}

    def _addresses(self, network: Wanted, ipam: Object) -> list[str]:
        """Return the addresses that the IPAM plugin gives."""
        kind, name = ipam.get("type"), f"{network.namespace}/{network.name}"
        if kind == "static":
            fixed = [str(one["address"]) for one in ipam.get("addresses") or []]
            return [str(one).partition("/")[0] for one in network.ips or fixed]
        if kind == "whereabouts":
            ranges = [one["range"] for one in ipam.get("ipRanges") or []] or [ipam["range"]]
            return [_first(one, ipam, _taken(self._cluster, name), network) for one in ranges]
        if kind == "nv-ipam":
            return [_of_pool(self._cluster, self._node, ipam, network)]
        return []


def _adding(network: Wanted) -> str:
    return f'error adding container to network "{network.name}"'


_LOADING: t.Final = (
    "error loading k8s delegates k8s args: TryLoadPodDelegates: error in getting k8s network for pod"
)


def _taken(cluster: Cluster, name: str) -> set[str]:
    """Return the addresses that pods have in a network."""
    return {
        address
        for pod in cluster.objects("Pod")
        if pod.get("status", {}).get("phase") not in ENDED
        for entry in json.loads((pod["metadata"].get("annotations") or {}).get(STATUS) or "[]")
        if entry["name"] == name
        for address in entry.get("ips") or []
    }


def _first(text: str, ipam: Object, taken: t.Collection[str], network: Wanted) -> str:
    """Return the first free address of a range, as whereabouts gives it."""
    start, dash, rest = text.partition("-")
    whole = ipaddress.ip_network(rest if dash else text, strict=False)
    first = ipam.get("range_start") or (start if dash else "")
    last = ipam.get("range_end") or (rest.partition("/")[0] if dash else "")
    excluded = [ipaddress.ip_network(one, strict=False) for one in ipam.get("exclude") or []]
    lowest = int(ipaddress.ip_address(first)) if first else 0
    highest = int(ipaddress.ip_address(last)) if last else int(whole[-1])
    for address in whole.hosts():
        is_inside = lowest <= int(address) <= highest
        if is_inside and str(address) not in taken and not any(address in one for one in excluded):
            return str(address)
    raise NetworkError(
        f"{_adding(network)}: error at storage engine: Could not allocate IP in range: "
        f"ip: {first or whole[0]} / - {last or whole[-1]} / range: {text}"
    )


def _of_pool(cluster: Cluster, node: Object, ipam: Object, network: Wanted) -> str:
    """Return the first free address of the node's part of a pool. Raises NetworkError."""
    kind = "CIDRPool" if ipam.get("poolType") == "cidrpool" else "IPPool"
    pool = next(
        (one for one in cluster.objects(kind) if one["metadata"]["name"] == ipam.get("poolName")), None
    )
    part = next(
        (
            one
            for one in ((pool or {}).get("status") or {}).get("allocations") or []
            if one["nodeName"] == node["metadata"]["name"]
        ),
        None,
    )
    if part is None:
        raise NetworkError(
            f"{_adding(network)}: failed to allocate IP addresses: "
            f'rpc error: code = NotFound desc = configuration for pool "{ipam.get("poolName")}", poolType '
            f'"{kind.lower()}" not found'
        )
    taken = _taken(cluster, f"{network.namespace}/{network.name}")
    if "prefix" in part:
        hosts = [str(one) for one in ipaddress.ip_network(part["prefix"]).hosts()]
    else:
        first, last = (int(ipaddress.ip_address(part[key])) for key in ("startIP", "endIP"))
        hosts = [str(ipaddress.ip_address(number)) for number in range(first, last + 1)]
    for address in hosts:
        if address not in taken and address != part.get("gateway"):
            return address
    raise NetworkError(
        f"{_adding(network)}: failed to allocate IP addresses: "
        f'rpc error: code = ResourceExhausted desc = no free addresses in the pool "{ipam.get("poolName")}"'
    )
