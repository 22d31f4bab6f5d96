# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of Node Feature Discovery."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "NFD-ABSENT",
        "{stack} needs Node Feature Discovery, and the cluster has no NodeFeatureDiscovery: new nodes get no "
        "driver, and after an update of OpenShift the driver does not find its toolkit.",
        "Run `ansible-playbook playbooks/enable_gpus.yml -e @FILE`, which installs the operator nfd and its "
        "NodeFeatureDiscovery.",
    ),
    Code(
        "NFD-COMPARE",
        "`compare` does not name two sets of nodes, or one of them matches no node.",
        "Correct `node_feature_discovery_compare` (module option `compare`); `oc get nodes --show-labels` "
        "shows what a set can match.",
    ),
    Code(
        "NFD-CONFIG",
        "The workerConfig.configData of the NodeFeatureDiscovery is {problem}.",
        "Repair spec.workerConfig.configData by hand, with `oc edit nodefeaturediscovery -n "
        "openshift-nfd`; this module does not replace it.",
    ),
    Code(
        "NFD-DEGRADED",
        "NodeFeatureDiscovery {name} is Degraded: {why}.",
        "Run `oc get daemonset,deployment,pods -n {namespace}`.",
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
        "Node {node} still has {labels}.",
        "Run `oc logs -n openshift-nfd deployment/nfd-master`, which removes the labels that no rule and "
        "no NodeFeature sets.",
    ),
    Code(
        "NFD-LABEL-MISSING",
        "Node {node}: {labels}.",
        "Run `oc get nodefeature -A -l nfd.node.kubernetes.io/node-name={node} -o yaml`, and read the log "
        "of the nfd-worker pod of that node.",
    ),
    Code(
        "NFD-MANAGED",
        "NodeFeatureDiscovery {name} lacks PCI classes, and belongs to {manager}, which would revert a "
        "change.",
        "Set workerConfig.configData there, as in the evidence, or set `node_feature_discovery_adopt: "
        "take` (module option `adopt`) to take it from {manager}.",
    ),
    Code(
        "NFD-NODES",
        "Label expectations: {number}.",
        "Run `oc get nodes --show-labels`.",
    ),
    Code(
        "NFD-NOT-READY",
        "{object} is not Available yet{also}.",
        "Run `oc get daemonset,deployment,pods -n {namespace}`, then `oc logs {log} --tail=50`.",
    ),
    Code(
        "NFD-PCI",
        "pci_classes[{index}] is {entry}: a class begins with hexadecimal digits in lower case.",
        'Write it in quotes in `node_feature_discovery_pci_classes`, for example "02" or "0b40": YAML '
        "reads some as numbers otherwise.",
    ),
    Code(
        "NFD-RULE",
        "A rule has something that nfd-master ignores silently.",
        "Correct the entry of `node_feature_discovery_rules` (module option `rules`) that the message names.",
    ),
    Code(
        "NFD-TAINT",
        "Node {node}: {labels}; nfd-worker cannot run there because of the taint {taints}.",
        "Add a toleration of the taint to `node_feature_discovery_worker_tolerations` (module option "
        "`worker_tolerations`).",
    ),
    Code(
        "NFD-TAINTS",
        "The rules set taints, but NodeFeatureDiscovery {name}, which this collection did not create, has "
        "them switched off (enableTaints).",
        "Set `node_feature_discovery_adopt: take` (module option `adopt`) to switch them on. Then every "
        "rule of this cluster sets its taints, also those of other owners.",
    ),
)
