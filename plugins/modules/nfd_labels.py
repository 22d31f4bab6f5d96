#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nfd_labels
short_description: Maintain Node Feature Discovery, and check the labels of nodes
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Maintains a NodeFeatureDiscovery instance, NodeFeatureRules and NodeFeatures. Waits until the instance is
    available and the nodes have the labels in O(expect).
  - Merges the PCI device classes into C(workerConfig.configData) of O(name) and removes nothing there. It
    rewrites the text only if something is missing. The text loses its comments then.
  - Uses and completes a foreign instance (O(adopt)), whatever its name, because two instances in one
    namespace would write the same objects. If there is no instance, but a Helm chart installed NFD, the
    module uses that NFD as it is.
  - O(state=absent) deletes the rules, NodeFeatures and the instance that this collection created, and waits
    until their labels, extended resources and taints have left the nodes. Those of others stay.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._lock
  - accelerators.openshift._node_feature
  - accelerators.openshift._auth
seealso:
  - plugin: accelerators.openshift.label_difference
    plugin_type: filter
  - plugin: accelerators.openshift.node_labels
    plugin_type: lookup
  - plugin: accelerators.openshift.feature_file
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Label nodes by their PCI devices, and expect the GPUs of a pool
  accelerators.openshift.nfd_labels:
    expect:
      - node_selector: {accelerators.openshift/pool: training}
        min_nodes: 2
        labels:
          feature.node.kubernetes.io/pci-10de.present: true

- name: Label nodes with local disks as well
  accelerators.openshift.nfd_labels:
    rules:
      - name: local-disk
        rules:
          - name: nvme
            labels: {example.com/nvme: "true"}
            matchFeatures:
              - feature: pci.device
                matchExpressions: {class: {op: In, value: ["0108"]}}

- name: Label two nodes with something that no program on them can detect
  accelerators.openshift.nfd_labels:
    features:
      - name: rack
        nodes: [worker-0, worker-1]
        labels: {example.com/rack: r17}

- name: Compare GPU nodes with other workers
  accelerators.openshift.nfd_labels:
    compare:
      gpu: {node_selector: {accelerators.openshift/pool: training}}
      cpu: {}
  register: labels

- name: Show the differences
  ansible.builtin.debug:
    msg: "{{ labels.nfd.difference.table }}"

- name: Delete one rule and its labels
  accelerators.openshift.nfd_labels:
    rules: [{name: local-disk}]
    state: absent

- name: Delete all rules and the instance
  accelerators.openshift.nfd_labels:
    state: absent
"""

RETURN = r"""
nfd:
  description: The instance, the rules and NodeFeatures, and the feature labels of every node in O(expect).
  returned: success
  type: dict
  contains:
    name:
      description: Name of the instance. Empty if a Helm chart installed NFD.
      type: str
      returned: success
      sample: nfd-instance
    namespace: {description: Namespace of the instance., type: str, returned: success, sample: openshift-nfd}
    manager:
      description: Manager of the instance - this collection, a tool, or another field manager.
      type: str
      returned: success
      sample: Argo CD (gitops)
    available: {description: Whether the instance is Available., type: bool, returned: success}
    pci_classes:
      description: Each class of the instance, and the devices that it covers.
      type: list
      elements: dict
      returned: success
    rules: {description: Names of the NodeFeatureRules., type: list, elements: str, returned: success}
    features:
      description: Names of the entries of O(features).
      type: list
      elements: str
      returned: success
    nodes:
      description:
        - Each node of O(expect) with its feature labels, and the same labels by family (cpu, cpuid, kernel,
          pci, storage, os_release, memory, network, …).
      type: list
      elements: dict
      returned: success
      sample:
        - name: gpu-0
          labels: {feature.node.kubernetes.io/pci-10de.present: "true"}
          families: {pci: {10de.present: "true"}}
    lost:
      description: Labels that disappeared and came back during the task - node, label, seconds.
      type: list
      elements: dict
      returned: success
    stale:
      description:
        - NodeFeatures of deleted nodes, and nodes whose labels name another kernel than the running one.
      type: list
      elements: dict
      returned: success
    difference:
      description:
        - Result of O(compare) - the nodes of each set, each label that differs with the number of nodes per
          value, and a table.
      type: dict
      returned: with O(compare)
      sample:
        sets: {gpu: [gpu-0], cpu: [worker-0]}
        labels:
          - family: pci
            name: 10de.present
            label: feature.node.kubernetes.io/pci-10de.present
            kind: only gpu
            values: {gpu: {"true": 1}, cpu: {}}
        equal: 41
        table: ["FAMILY  LABEL         GPU (1 node)  CPU (1 node)", "pci     10de.present  true          -"]
    removed:
      description: Names of the deleted rules and NodeFeatures.
      type: dict
      returned: with O(state=absent)
left_out:
  description:
    - What the lists of a large result lack. A result has at most 84 KiB, so that it fits into a job event of
      AWX. A list that is cut begins with what is not right.
    - One entry for each such list and each pool in it, with the C(number) of the entries that are missing,
      and the C(sums) of their numbers.
  returned: when a list was cut
  type: list
  elements: dict
  sample:
    - {list: evidence, pool: "", number: 380, sums: {}}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 4.2
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 3.5
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    STATE,
    WAIT,
    ArgumentSpec,
    read,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import removal, steps as nfd_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd.params import (
    OPTIONS,
    NfdLabelsParams,
)

SPEC = ArgumentSpec(options=OPTIONS).merge(AUTH, LOCK, STATE, WAIT)


def ensure(api: Api, params: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    found = read(NfdLabelsParams, params)
    nfd_steps.check(found)
    return {"nfd": removal.absent(api, found) if found.state == "absent" else nfd_steps.present(api, found)}


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
