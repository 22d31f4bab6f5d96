# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of the NIC stack."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "NIC-ALLOC",
        "Node {node}: it offers {number} of {wanted} {resource}.",
        "Correct the resource's selectors (vendors, device_ids, link_types, if_names) in "
        "`nvidia_network_operator_nic_cluster_policy` (module option `nic_cluster_policy`), so that they "
        "match the node's adapters.",
    ),
    Code(
        "NIC-BUSY",
        "The write would replace or remove the NIC driver of nodes on which pods use devices. The message "
        "names the nodes and the pods. Nothing was changed.",
        "Set `gpu_on_busy` (module option `on_busy`) to wait or drain.",
    ),
    Code(
        "NIC-DRV",
        "The NIC driver's DaemonSet or pod does not exist, or the driver is not loaded yet.",
        "Run `oc get pods -n nvidia-network-operator -o wide`, then `oc logs {pod} -n "
        "nvidia-network-operator` for the node's mofed pod.",
    ),
    Code(
        "NIC-DRV-BUILD",
        "The NIC driver has not been built.",
        "Run `oc logs -n {namespace} {pod}`; if the build is only slow, raise `ofed_driver.startup_probe` "
        "in `nvidia_network_operator_nic_cluster_policy`.",
    ),
    Code(
        "NIC-DRV-CRASH",
        "The NIC driver's pod crashes. The message explains the log where it is known.",
        "Run `oc logs {pod} -n nvidia-network-operator --previous`.",
    ),
    Code(
        "NIC-DRV-IN-USE",
        "Modules of storage or of another RDMA driver hold the NIC driver that is to be replaced.",
        'Add {name: UNLOAD_STORAGE_MODULES, value: "true"} to ofed_driver.env in '
        "nvidia_network_operator_nic_cluster_policy (`spec.ofedDriver.env` of the NicClusterPolicy); it "
        "unloads storage modules, so drain the node first, which ends its pods.",
    ),
    Code(
        "NIC-DRV-OUTDATED",
        "Node {node}: pod {pod} of the NIC driver is of an older revision.",
        "Set ofed_driver.upgrade_policy to {autoUpgrade: true} in "
        "`nvidia_network_operator_nic_cluster_policy` (module option `nic_cluster_policy`). The operator "
        "then empties node after node, and their pods end.",
    ),
    Code(
        "NIC-IGNORED",
        "NicClusterPolicy {policy} is ignored: {why}.",
        "Run `oc get nicclusterpolicy`, and delete the other one. With a policy that counts, the NIC "
        "driver goes, and pods with its devices end.",
    ),
    Code(
        "NIC-IMAGE",
        "An image of the NIC stack cannot be pulled for longer than `grace`.",
        "Mirror the image, or correct the component's `repository`, `image` and `version`.",
    ),
    Code(
        "NIC-LABEL",
        "Node {node}: label feature.node.kubernetes.io/pci-15b3.present is missing, so the operator "
        "leaves the node out.",
        "Add 02 to `node_feature_discovery_pci_classes` (option `pci_classes` of nfd_labels; 0200 misses "
        "InfiniBand), with vendor as the only one of its label_fields; the machine must have the adapter.",
    ),
    Code(
        "NIC-OPERAND",
        "A component has no DaemonSet for a node, or its pod is not Ready.",
        "Run `oc get events -n nvidia-network-operator`.",
    ),
    Code(
        "NIC-OPERAND-CRASH",
        "A component's pod crashes.",
        "Run `oc logs {pod} -n nvidia-network-operator --previous`.",
    ),
    Code(
        "NIC-STATE",
        "{policy} is not ready: {why}.",
        "Run `oc describe {policy}`, then `oc logs -n nvidia-network-operator "
        "deployment/nvidia-network-operator-controller-manager`.",
    ),
    Code(
        "NIC-TAINT",
        "Node {node}: taint {taints} is not tolerated by {who}.",
        "Run `oc adm taint nodes {node} {away}`, or add the taint to `gpu_tolerations` (module option "
        "`tolerations`).",
    ),
    Code(
        "NIC-TRAFFIC",
        "{why}, and nodes send through adapters that are away while the NIC driver is replaced: {uses}. "
        "Nothing was changed.",
        "Move this traffic to other adapters, or set `nvidia_network_operator_node_traffic: accept` (module "
        "option `node_traffic`): the nodes may lose their network or storage for minutes.",
    ),
    Code(
        "NIC-TWICE",
        "{where}: NicNodePolicy {other} has {section} as well, and the operator takes a section from the "
        "NicClusterPolicy or from NicNodePolicies, never from both. Nothing was changed.",
        "Take {where} out of the task, or run `oc delete nicnodepolicy {other}`: its nodes lose their NIC "
        "driver or plugin, and pods with its devices end.",
    ),
    Code(
        "NIC-UPG",
        "The upgrade of a node's NIC driver is still running, or failed.",
        "Run `oc adm drain NODE --dry-run=client` to find the pods that block it; after a failure check the "
        "node's mofed pod.",
    ),
)
