# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of Node Feature Discovery."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "NFD-COMPARE",
        "`compare` does not name two sets of nodes, or one of them matches no node.",
        "Correct `node_feature_discovery_compare` (module option `compare`); `oc get nodes --show-labels` "
        "shows what a set can match.",
    ),
    Code(
        "NFD-CONFIG",
        "The configuration in an existing NodeFeatureDiscovery is not a YAML mapping.",
        "Correct spec.workerConfig.configData with `oc edit nodefeaturediscovery -n openshift-nfd`; the "
        "collection does not replace it.",
    ),
    Code(
        "NFD-DEGRADED",
        "The NodeFeatureDiscovery is Degraded for longer than `grace`.",
        "Run `oc get daemonset,deployment,pods -n openshift-nfd`.",
    ),
    Code(
        "NFD-FEATURE",
        "An entry of `features` cannot become a NodeFeature.",
        "Correct the entry of `node_feature_discovery_features` (module option `features`) that the message "
        "names.",
    ),
    Code(
        "NFD-FILE",
        "A feature file has a line, a name or a size that nfd-worker would skip.",
        "Correct the line that the message names; `ansible-doc -t filter "
        "accelerators.openshift.feature_file` describes what is allowed.",
    ),
    Code(
        "NFD-LABEL-LEFT",
        "A label, extended resource or taint is still on a node, although no rule and no NodeFeature gives "
        "it any more.",
        "Run `oc logs -n openshift-nfd deployment/nfd-master`.",
    ),
    Code(
        "NFD-LABEL-MISSING",
        "A node does not have an expected label. The message names the labels of each node.",
        "Run `oc get nodefeature -A -l nfd.node.kubernetes.io/node-name=NODE -o yaml`.",
    ),
    Code(
        "NFD-MANAGED",
        "The NodeFeatureDiscovery lacks PCI classes, and another tool, for example Argo CD, would undo the "
        "change.",
        "Add the classes in that tool, or set `node_feature_discovery_adopt: take`.",
    ),
    Code(
        "NFD-NODES",
        "Fewer nodes match an expectation than it needs.",
        "Run `oc get nodes --show-labels`.",
    ),
    Code(
        "NFD-NOTREADY",
        "The NodeFeatureDiscovery is not Available.",
        "Run `oc get pods -n openshift-nfd`, then `oc logs -n openshift-nfd "
        "deployment/nfd-controller-manager`.",
    ),
    Code(
        "NFD-PCI",
        "An entry of `pci_classes` is not a PCI class.",
        'Quote each entry of `node_feature_discovery_pci_classes`: "02", "0302", "0b40".',
    ),
    Code(
        "NFD-RULE",
        "A rule has something that nfd-master ignores silently.",
        "Correct the entry of `node_feature_discovery_rules` (module option `rules`) that the message names.",
    ),
    Code(
        "NFD-TAINT",
        "nfd-worker cannot run on a node, because it does not tolerate the node's taint.",
        "Add a toleration of the taint to `node_feature_discovery_worker_tolerations` (module option "
        "`worker_tolerations`).",
    ),
    Code(
        "NFD-TAINTS",
        "The rules set taints, but a NodeFeatureDiscovery that the collection did not make does not allow "
        "taints.",
        "Set `node_feature_discovery_adopt: take`; then the taints of every rule in the cluster take effect.",
    ),
)
