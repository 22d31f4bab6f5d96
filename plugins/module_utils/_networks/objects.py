# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a network, in the order in which they are written."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import MELLANOX, NIC_DRIVER_WAITS
from .._core.objects import KubeObject, name
from .._core.ownership import POOL
from .._kube.kinds import Kind, known
from . import addresses, cni
from .rules import OF_NODES
from .schema import CUSTOM, DOMAINS, HOST_DEVICE, IPOIB, MACVLAN, SRIOV, SRIOV_IB, Network, NodePool

NETWORK: t.Final = "accelerators.openshift/network"
# Annotation of the cluster's Network: the entries of additionalNetworks that this collection added.
ADDED: t.Final = "accelerators.openshift/networks"
SRIOV_NAMESPACE: t.Final = "openshift-sriov-network-operator"
RESOURCE: t.Final = "k8s.v1.cni.cncf.io/resourceName"
CLUSTER_NETWORK: t.Final = Kind("operator.openshift.io/v1", "Network", "networks", False, "OpenShift")
ATTACHMENT: t.Final = known("NetworkAttachmentDefinition")
POLICY: t.Final = known("SriovNetworkNodePolicy")
POOL_CONFIG: t.Final = known("SriovNetworkPoolConfig")
STATE: t.Final = known("SriovNetworkNodeState")
OPERATOR_CONFIG: t.Final = known("SriovOperatorConfig")
# Kind of a network -> the kind of the operator's object that makes its NetworkAttachmentDefinition.
MAKERS: t.Final = {
    MACVLAN: known("MacvlanNetwork"),
    IPOIB: known("IPoIBNetwork"),
    HOST_DEVICE: known("HostDeviceNetwork"),
    SRIOV: known("SriovNetwork"),
    SRIOV_IB: known("SriovIBNetwork"),
}
ADDRESSES: t.Final = (known("IPPool"), known("CIDRPool"))
# The kinds of which each network has an object, by namespace and operator: a cluster has all of one or none.
OF_NETWORKS: t.Final = (
    (None, (MAKERS[MACVLAN], MAKERS[IPOIB], MAKERS[HOST_DEVICE])),
    (SRIOV_NAMESPACE, (MAKERS[SRIOV], MAKERS[SRIOV_IB])),
    (None, (ATTACHMENT,)),
)
# All kinds of objects that belong to networks. A removal deletes them in this order.
KINDS: t.Final = (*MAKERS.values(), ATTACHMENT, *ADDRESSES, POLICY, POOL_CONFIG)
# Keys of operators' objects -> those of the CNI plugins; all others are the same.
_CNI: t.Final = {"linkState": "link_state", "spoofChk": "spoofchk"}
_PLUGINS: t.Final = {
    MACVLAN: "macvlan",
    IPOIB: "ipoib",
    HOST_DEVICE: "host-device",
    SRIOV: "sriov",
    SRIOV_IB: "ib-sriov",
}


def build(networks: t.Sequence[Network], namespace: str, has_operator: bool) -> list[KubeObject]:
    """Return the objects of the networks. namespace: of the network operator.

    has_operator: the cluster serves MacvlanNetwork; without it a macvlan has only attachments of ours.
    """
    found = pool_configs(networks)
    for network in networks:
        found += [policy(network, pool) for pool in network.pools] if network.is_sriov else []
        if network.has_pool_of_addresses:
            found.append(address_pool(network, namespace))
        own = list(network.namespaces)
        if network.kind != CUSTOM and (has_operator or network.kind != MACVLAN):
            found.append(_maker(network, own.pop(0)))
        if not in_cluster_network(network):
            found += [attachment(network, space) for space in own]
    return found


def in_cluster_network(network: Network) -> bool:
    """Return True if the cluster network operator makes the attachments."""
    return bool(network.options.get("cluster_network"))


def operator_config(waits_for_driver: bool) -> KubeObject:
    """Return the SriovOperatorConfig. waits_for_driver: no node is set up before its NIC driver runs."""
    spec: dict[str, t.Any] = {"enableInjector": True, "enableOperatorWebhook": True}
    if waits_for_driver:
        spec["configDaemonNodeSelector"] = {NIC_DRIVER_WAITS: "false", "node-role.kubernetes.io/worker": ""}
    return _object(OPERATOR_CONFIG, {"name": "default", "namespace": SRIOV_NAMESPACE}, spec)


def pool_configs(networks: t.Iterable[Network]) -> list[KubeObject]:
    """Return one SriovNetworkPoolConfig for each pool whose nodes have more than the default."""
    specs: dict[str, dict[str, t.Any]] = {}
    for network in networks:
        given = {key: network.options[key] for key in OF_NODES if key in network.options}
        for pool in network.pools if given else ():
            spec = specs.setdefault(pool.name, {"nodeSelector": {"matchLabels": dict(pool.node_selector)}})
            if "max_unavailable" in given:
                share = str(given["max_unavailable"])
                spec["maxUnavailable"] = int(share) if share.isdigit() else share
            if "rdma_mode" in given:
                spec["rdmaMode"] = given["rdma_mode"]
    return [
        _object(
            POOL_CONFIG,
            {"name": f"gpu-{pool}", "namespace": SRIOV_NAMESPACE, "labels": {POOL: pool}},
            spec,
        )
        for pool, spec in specs.items()
    ]


def policy(network: Network, pool: NodePool) -> KubeObject:
    """Return the SriovNetworkNodePolicy that makes the virtual functions on the nodes of the pool."""
    options = network.options
    selects: dict[str, t.Any] = {
        "vendor": options.get("vendor"),
        "deviceID": options.get("device"),
        "pfNames": options.get("interfaces"),
        "rootDevices": options.get("root_devices"),
    }
    selects = {key: value for key, value in selects.items() if value}
    driver = options.get("driver", "netdevice")
    spec = {
        "resourceName": network.short_resource,
        "numVfs": options["vfs"],
        "nicSelector": selects or {"vendor": MELLANOX},
        "nodeSelector": dict(pool.node_selector),
        "deviceType": driver,
        "isRdma": options.get("rdma", driver == "netdevice"),
        "linkType": "ib" if network.kind == SRIOV_IB else "eth",
        "priority": 99,
        **({"mtu": network.mtu} if network.mtu else {}),
    }
    labels = {NETWORK: network.name, POOL: pool.name}
    metadata = {"name": network.policy_name(pool), "namespace": SRIOV_NAMESPACE, "labels": labels}
    return _object(POLICY, metadata, spec)


def address_pool(network: Network, namespace: str) -> KubeObject:
    """Return the IPPool or CIDRPool of the network, for the nodes of its pools."""
    ipam = network.ipam
    kind = ADDRESSES[1] if "prefix" in ipam else ADDRESSES[0]
    if "prefix" in ipam:
        spec: dict[str, t.Any] = {"cidr": ipam["range"], "perNodeNetworkPrefix": ipam["prefix"]}
    else:
        spec = {"subnet": ipam["range"], "perNodeBlockSize": ipam.get("per_node", addresses.PER_NODE)}
        spec |= {"gateway": ipam["gateway"]} if "gateway" in ipam else {}
    terms = [
        {
            "matchExpressions": [
                {"key": key, "operator": "In", "values": [value]}
                for key, value in sorted(pool.node_selector.items())
            ]
        }
        for pool in network.pools
    ]
    if terms:
        spec["nodeSelector"] = {"nodeSelectorTerms": terms}
    return _object(kind, {**_metadata(network), "namespace": namespace}, spec)


def _maker(network: Network, space: str) -> KubeObject:
    """Return the object from which an operator makes the attachment in the namespace."""
    kind = MAKERS[network.kind]
    spec = {"networkNamespace": space, "ipam": cni.text(_ipam(network)), **_own(network)}
    spec |= {"resourceName": network.short_resource} if network.kind in DOMAINS else {}
    metadata = _metadata(network)
    return _object(kind, {**metadata, "namespace": SRIOV_NAMESPACE} if kind.namespaced else metadata, spec)


def attachment(network: Network, space: str) -> KubeObject:
    """Return the NetworkAttachmentDefinition of a namespace for which no operator makes one."""
    metadata = {**_metadata(network), "namespace": space}
    if network.kind in DOMAINS:
        metadata["annotations"] = {RESOURCE: network.resource}
    return _object(ATTACHMENT, metadata, {"config": cni.text(config(network))})


def additional_network(network: Network, space: str) -> dict[str, str]:
    """Return the entry of additionalNetworks in the cluster's Network."""
    raw = cni.text(config(network))
    return {"name": network.name, "namespace": space, "type": "Raw", "rawCNIConfig": raw}


def added(live: KubeObject) -> set[str]:
    """Return the entries of additionalNetworks that this collection added, as namespace/name."""
    note = str((live["metadata"].get("annotations") or {}).get(ADDED) or "")
    return {entry for entry in note.split(",") if entry}


def config(network: Network) -> cni.Config:
    """Return the CNI configuration, which is that of the operators where they make one."""
    if network.kind == CUSTOM:
        return dict(network.options["config"])
    named = {"cniVersion": cni.VERSION, "name": network.name, "type": _PLUGINS[network.kind]}
    own = {_CNI.get(key, key): value for key, value in _own(network).items()}
    return {**named, "ipam": _ipam(network), **own}


def _own(network: Network) -> dict[str, t.Any]:
    """Return what the kind has for its interfaces, as the operators call it."""
    options, switch = network.options, {True: "on", False: "off", None: None}
    above = {"master": options.get("master"), "mode": options.get("mode"), "mtu": network.mtu}
    functions = {
        "vlan": options.get("vlan"),
        "trust": switch[options.get("trust")],
        "spoofChk": switch[options.get("spoof_check")],
    }
    found: dict[str, dict[str, t.Any]] = {
        **dict.fromkeys((MACVLAN, IPOIB), above),
        SRIOV: functions,
        SRIOV_IB: {"linkState": "enable"},
    }
    return {key: value for key, value in found.get(network.kind, {}).items() if value is not None}


def _ipam(network: Network) -> dict[str, t.Any]:
    return addresses.config(network.ipam, network.name)


def _metadata(network: Network) -> dict[str, t.Any]:
    return {"name": network.name, "labels": {NETWORK: network.name}}


def _object(kind: Kind, metadata: dict[str, t.Any], spec: dict[str, t.Any]) -> KubeObject:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}


def object_name(obj: KubeObject) -> str:
    """Return kind and name of the object, for a message."""
    return f"{obj['kind']} {name(obj)}"
