# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of secondary networks."""

from __future__ import annotations

import typing as t

from .code import Code

_DAEMONS: t.Final = "Run `oc get pods -n openshift-sriov-network-operator -o wide`"

CODES: t.Final = (
    Code(
        "NET-ADDRESSES",
        "Node {node}: pool of addresses {pool} ({range}) gives it none; {given} have some.",
        "Set `ipam.range` of the network in gpu_networks to a larger range, or `per_node` to less.",
    ),
    Code(
        "NET-ALLOC",
        "Node {node}: it offers {number} of {wanted} {resource}.",
        "Run `oc get pods -A -o wide --field-selector spec.nodeName={node}`, and read the log of the device "
        "plugin.",
    ),
    Code(
        "NET-ATTACHMENT",
        "network {network}: NetworkAttachmentDefinition {network} does not exist in namespace {namespace}",
        "Run `oc logs -n openshift-sriov-network-operator deployment/sriov-network-operator`, or that of "
        "the operator which makes the network.",
    ),
    Code(
        "NET-BUSY",
        "Pods use devices on nodes that the SR-IOV operator would drain or reboot. The message names the "
        "nodes and the pods. Nothing was changed.",
        "Set `gpu_on_busy` (module option `on_busy`) to wait or drain.",
    ),
    Code(
        "NET-ERROR",
        "{kind} {name}: the network operator reports an error: {answer}",
        "Run `oc describe {kind} {name}`, and correct the network in gpu_networks.",
    ),
    Code(
        "NET-FOREIGN",
        "{object} exists, and this collection did not make it. Nothing was changed.",
        "Give the network another name, or run `oc get {kind} {name}{also} -o yaml`, and let its owner "
        "remove it.",
    ),
    Code(
        "NET-LEFT",
        "Node {node}: the SR-IOV operator has not removed its virtual functions yet.",
        _DAEMONS + ", and read the log of the node's sriov-network-config-daemon.",
    ),
    Code(
        "NET-LINK",
        "{path}: {kind} needs {needs}, and interface {interface} of node {node} has {link}.",
        "Set `{path}` to the kind of network for {link}, or name another interface.",
    ),
    Code(
        "NET-NAMESPACE",
        "{path}: {why}.",
        "Set `{path}` to a namespace of a team that exists.",
    ),
    Code(
        "NET-NO-CARD",
        "Node {node}: no interface fits network {network}; the node has {interfaces}.",
        "Correct `interfaces`, `vendor`, `device` or `root_devices` of the network in gpu_networks.",
    ),
    Code(
        "NET-NO-OPERATOR",
        "{path}: the cluster does not serve {kind}; {by} provides it.",
        "Run `ansible-playbook accelerators.openshift.enable_gpus -e @FILE`: it installs the SR-IOV "
        "operator, and the network operator if FILE has nvidia_network_operator_nic_cluster_policy.",
    ),
    Code(
        "NET-NO-STATE",
        "Node {node}: the SR-IOV operator has not read its network cards.",
        _DAEMONS + ": a sriov-network-config-daemon runs on each node that configDaemonNodeSelector of "
        "SriovOperatorConfig default chooses.",
    ),
    Code(
        "NET-OVERLAP",
        "{path}: {value} overlaps with {other}.",
        "Set `{path}` to a range of addresses that nobody uses.",
    ),
    Code(
        "NET-PENDING",
        "Not all networks are ready. The message says what they lack.",
        "Run `oc get network-attachment-definitions -A`, then `oc get sriovnetworknodestates -A`.",
    ),
    Code(
        "NET-REFUSED",
        "{path}: the SR-IOV operator refuses SriovNetworkNodePolicy {name}: {answer}",
        "Correct `{path}`, as the operator says.",
    ),
    Code(
        "NET-SAME-RESOURCE",
        "{path}: {name} is the resource of {other} too, and a pod could not say which of the two it wants.",
        "Set `{path}` to another name.",
    ),
    Code(
        "NET-STATE",
        "Node {node}: the SR-IOV operator still sets it up (syncStatus {sync}, desired {desired}, current "
        "{current}).",
        _DAEMONS + ": the node may reboot, which takes a while.",
    ),
    Code(
        "NET-SYNC",
        "Node {node}: the SR-IOV operator cannot set up its cards: {answer}",
        _DAEMONS + ", and read the log of the node's sriov-network-config-daemon.",
    ),
    Code(
        "NET-TOO-SMALL",
        "{path}: {value} is enough for {enough}, and the network has {nodes}.",
        "Set `{path}` to a larger range of addresses.",
    ),
    Code(
        "NET-VALUE",
        "{path}: {why}.",
        "Correct `{path}`, as docs/networks.md has it.",
    ),
    Code(
        "NET-VF-OVERLAP",
        "{path}: {value} has virtual functions of {taken} in {other} too.",
        "Give each network functions of its own in `{path}`, such as ens1f0np0#0-3 and ens1f0np0#4-7.",
    ),
)
