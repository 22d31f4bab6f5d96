# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  name:
    description:
      - Name of the NodeFeatureDiscovery instance. If the namespace has an instance of another name, the
        module uses that one.
    type: str
    default: nfd-instance
  namespace:
    description: Namespace of the NFD operator, and of the rules and NodeFeatures that this module creates.
    type: str
    default: openshift-nfd
  adopt:
    description:
      - What to do with a foreign instance, that is, one that this collection did not create. The module never
        replaces it, never labels it as its own, and O(state=absent) never deletes it.
      - V(report) adds missing PCI classes and changes nothing else. The task fails and says what to set if
        another tool (Argo CD, for example) manages the instance and classes are missing, or if O(rules) set
        taints and the instance has taints switched off.
      - V(take) takes over the fields of the options - PCI classes, O(label_fields), O(worker_tolerations) in
        addition to the existing ones, and taints if O(rules) set some. It also takes over foreign rules of
        the same name.
    type: str
    choices: [report, take]
    default: report
  pci_classes:
    description:
      - PCI device classes, by prefix, that become labels. The module adds them to those of the instance.
      - V(02) covers all network adapters. V(0200) covers Ethernet and misses InfiniBand, which is V(0207).
        V(03) covers GPUs with and without a display, V(0b40) co-processors, V(12) processing accelerators.
    type: list
    elements: str
    default: ["02", "03", "0b40", "12"]
  label_fields:
    description:
      - Fields that form the name of a PCI label. The NVIDIA Network Operator needs V(vendor) alone.
      - An instance with other fields keeps them, with a warning, unless O(adopt=take).
    type: list
    elements: str
    default: [vendor]
  worker_tolerations:
    description:
      - Tolerations of C(nfd-worker). By default it tolerates every C(NoSchedule) taint, but no C(NoExecute)
        taint.
      - Only for an instance that this collection created, or with O(adopt=take).
    type: list
    elements: dict
  rules:
    description:
      - NodeFeatureRules. The module creates them in O(namespace), or for the whole cluster where the cluster
        serves them so. It detects the API group.
      - The module checks them before the first request, because C(nfd-master) ignores an invalid rule and
        reports it only in its log.
      - Rules with C(taints) switch on taints (C(enableTaints)) in an instance of this collection. See
        O(adopt) for other instances.
      - O(state=absent) deletes only these rules. Without O(rules) and O(features) it deletes everything that
        this collection created, and the instance.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the NodeFeatureRule.
        type: str
        required: true
      rules:
        description: As in C(spec.rules). Required unless O(state=absent).
        type: list
        elements: dict
        default: []
  features:
    description:
      - Features that the module publishes about nodes in addition to C(nfd-worker), as NodeFeature objects,
        one per node and entry. Nothing has to run on the node for that.
      - The module deletes NodeFeatures of nodes that an entry no longer selects. Nodes that join later get
        theirs in the next run.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the entry. The NodeFeature's name consists of this name and the node's name.
        type: str
        required: true
      nodes:
        description: Names of the nodes.
        type: list
        elements: str
      node_selector:
        description:
          - Labels that select the nodes, if O(features[].nodes) is not set. A label with the value null must
            be absent.
        type: dict
      labels:
        description: Labels that the nodes get. A name without a domain gets C(feature.node.kubernetes.io/).
        type: dict
      attributes:
        description: Features with values, which rules can match - C(DOMAIN.FEATURE), then name and value.
        type: dict
      flags:
        description: Features without a value - C(DOMAIN.FEATURE), then a list of names.
        type: dict
      instances:
        description: Devices - C(DOMAIN.FEATURE), then a list of devices, each with names and values.
        type: dict
  expect:
    description: Labels that nodes must have.
    type: list
    elements: dict
    default: []
    suboptions:
      nodes:
        description: Names of the nodes.
        type: list
        elements: str
      node_selector:
        description:
          - Labels that select the nodes, if O(expect[].nodes) is not set. A label with the value null must be
            absent.
        type: dict
      min_nodes:
        description: The least number of nodes that O(expect[].node_selector) must find.
        type: int
        default: 1
      labels:
        description:
          - Labels and values that each of these nodes must have. A label with the value null must be absent.
          - C(feature.node.kubernetes.io/pci-10de.present) also accepts the longer forms
            C(pci-0302_10de.present) and C(pci-0300_10de.present).
        type: dict
        required: true
  compare:
    description:
      - Two named sets of nodes whose labels the module compares. Each has C(nodes) or C(node_selector) as in
        O(expect).
      - An empty set means every worker that is not in the other set.
      - RV(nfd.difference) has the differences, as data and as a table.
    type: dict
  stale_features:
    description:
      - What to do with NodeFeatures of deleted nodes, which C(nfd-gc) should have deleted.
      - V(ignore) does not look for them. V(report) returns them and warns. V(remove) deletes them, whoever
        created them.
    type: str
    choices: [ignore, report, remove]
    default: ignore
  prune:
    description:
      - Whether to remove the labels from the nodes together with an instance of this collection
        (C(prunerOnDelete)). Otherwise labels stay that C(nfd-master) has no time to remove.
      - If foreign rules or NodeFeatures exist, the module leaves the labels and warns.
    type: bool
    default: true
  settle:
    description:
      - For how many seconds the labels must stay before the task succeeds. A restart of C(nfd-master) drops
        labels for a moment. A task that changes nothing does not wait if managedFields of the nodes show that
        the labels have been there for longer.
    type: float
    default: 1
  grace:
    description:
      - For how many seconds a trouble may last before the task fails. The instance may be degraded, a label
        may be missing while the instance is available, or a label may still exist after its rule is deleted.
      - A label that is missing for a moment therefore fails nothing. RV(nfd.lost) has the labels that
        disappeared and came back during the task.
    type: float
    default: 60
"""
