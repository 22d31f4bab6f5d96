# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  name:
    description: Name of the NodeFeatureDiscovery. Where the namespace already has one of another name, that one is used.
    type: str
    default: nfd-instance
  namespace:
    description: Namespace of the NFD operator, and of the rules and NodeFeatures that are made here.
    type: str
    default: openshift-nfd
  adopt:
    description:
      - What happens to an instance that somebody else made. It is never replaced, never labelled as ours, and O(state=absent) never deletes it.
      - V(report) adds PCI classes that it lacks and changes nothing else. Where another tool (Argo CD, for example) keeps the instance and classes are missing,
        or rules set taints and the instance has taints switched off, the task fails and says what to set.
      - V(take) takes over the fields that the options say - PCI classes, O(label_fields), O(worker_tolerations) beside those that it has, and taints for
        O(rules) that set some. Rules of the same name that somebody else made are taken over, too.
    type: str
    choices: [report, take]
    default: report
  pci_classes:
    description:
      - PCI device classes, by prefix, that become labels; added to those that the instance has.
      - V(02) are all network adapters; V(0200) lets Ethernet through and misses InfiniBand, which is V(0207). V(03) are GPUs with and without a display,
        V(0b40) co-processors, V(12) processing accelerators.
    type: list
    elements: str
    default: ["02", "03", "0b40", "12"]
  label_fields:
    description:
      - Fields that make up the name of a PCI label. The NVIDIA Network Operator needs V(vendor) alone.
      - An instance that already has other fields keeps them, with a warning, unless O(adopt=take).
    type: list
    elements: str
    default: [vendor]
  worker_tolerations:
    description:
      - Tolerations of C(nfd-worker). It tolerates every C(NoSchedule) taint by itself, but no C(NoExecute) taint.
      - For an instance made here, or with O(adopt=take).
    type: list
    elements: dict
  rules:
    description:
      - NodeFeatureRules to keep. They are made in O(namespace), or for the whole cluster where the cluster serves them so; the API group is found out.
      - They are checked before the first request, since C(nfd-master) drops what it does not like with a line in its log and nothing in a status.
      - Rules with C(taints) switch taints on in an instance made here (C(enableTaints)); see O(adopt) for other instances.
      - With O(state=absent) these are deleted, and nothing else; without O(rules) and O(features) all that this collection made, and the instance.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the NodeFeatureRule.
        type: str
        required: true
      rules:
        description: As in C(spec.rules). Needed unless O(state=absent).
        type: list
        elements: dict
        default: []
  features:
    description:
      - What is published of nodes beside C(nfd-worker), as NodeFeature objects, one a node and entry. Nothing has to run on the node for it.
      - NodeFeatures of nodes that an entry no longer selects are deleted. Nodes that come later get theirs by the next run.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the entry; with the node's name it makes the name of the NodeFeature.
        type: str
        required: true
      nodes:
        description: Names of the nodes.
        type: list
        elements: str
      node_selector:
        description: Labels that select the nodes, when O(features[].nodes) is not given. A label whose value is null has to be absent.
        type: dict
      labels:
        description: Labels that the nodes get. A name without a domain gets C(feature.node.kubernetes.io/).
        type: dict
      attributes:
        description: Features with values, for rules to match - C(DOMAIN.FEATURE), then name and value.
        type: dict
      flags:
        description: Features that are there or not - C(DOMAIN.FEATURE), then a list of names.
        type: dict
      instances:
        description: Devices - C(DOMAIN.FEATURE), then a list of devices, each with names and values.
        type: dict
  expect:
    description: Labels that nodes have to carry.
    type: list
    elements: dict
    default: []
    suboptions:
      nodes:
        description: Names of the nodes.
        type: list
        elements: str
      node_selector:
        description: Labels that select the nodes, when O(expect[].nodes) is not given. A label whose value is null has to be absent.
        type: dict
      count:
        description: How many nodes O(expect[].node_selector) has to find at least.
        type: int
        default: 1
      labels:
        description:
          - Label and value that every one of these nodes has to carry. A label whose value is null has to be absent.
          - C(feature.node.kubernetes.io/pci-10de.present) is also met by its longer forms C(pci-0302_10de.present) and C(pci-0300_10de.present).
        type: dict
        required: true
  compare:
    description:
      - Two named sets of nodes whose labels are compared, each with C(nodes) or C(node_selector) as in O(expect).
      - An empty set is every worker that is not in the other.
      - RV(nfd.difference) has what differs, as data and as a table.
    type: dict
  stale_features:
    description:
      - What happens to NodeFeatures of nodes that are gone, which C(nfd-gc) should have taken away.
      - V(ignore) does not look for them, V(report) returns and warns of them, V(remove) deletes them, whoever made them.
    type: str
    choices: [ignore, report, remove]
    default: ignore
  prune:
    description:
      - Whether the labels of an instance made here leave the nodes with it (C(prunerOnDelete)). Without, those that nfd-master does not get to take away stay.
      - Where rules or NodeFeatures of somebody else are there, that is left out, with a warning.
    type: bool
    default: true
  settle:
    description: For how many seconds the labels have to stay before they are believed; a restart of C(nfd-master) drops labels for a moment.
    type: float
    default: 1
  grace:
    description:
      - For how many seconds the instance may be degraded, a label missing while it is available, or a label left after its rule is gone, before the task fails.
      - One look without a label is therefore no loss. Labels that went and came back while the task waited are in RV(nfd.lost).
    type: float
    default: 60
"""
