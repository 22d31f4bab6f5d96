#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nfd_labels
short_description: Have node feature discovery label the nodes, and expect labels
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Keeps a NodeFeatureDiscovery instance, NodeFeatureRules and NodeFeatures, waits until the instance is available, and until the nodes carry the labels in
    O(expect).
  - The PCI device classes are merged with what O(name) already has in C(workerConfig.configData); nothing in there is removed.
    The text is rewritten only when something is missing, and loses its comments then.
  - An instance that somebody else made is used and completed (O(adopt)), whatever its name, since two instances in one namespace would fight over the same
    objects. Where there is none, but an NFD that a Helm chart installed, that one is used as it is.
  - With O(state=absent) the rules, NodeFeatures and the instance that this collection made are deleted, and the task waits until what they put on the nodes
    is gone. What others put there stays.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._node_feature
  - kubernetes.core.k8s_auth_options
seealso:
  - plugin: accelerators.openshift.label_difference
    plugin_type: filter
  - plugin: accelerators.openshift.node_labels
    plugin_type: lookup
  - plugin: accelerators.openshift.feature_file
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Label nodes by their PCI devices, and see the GPUs of a pool
  accelerators.openshift.nfd_labels:
    expect:
      - node_selector: {accelerators.openshift/pool: training}
        count: 2
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

- name: Say of two nodes what no program on them can see
  accelerators.openshift.nfd_labels:
    features:
      - name: rack
        nodes: [worker-0, worker-1]
        labels: {example.com/rack: r17}

- name: What GPU nodes have that other workers have not
  accelerators.openshift.nfd_labels:
    compare:
      gpu: {node_selector: {accelerators.openshift/pool: training}}
      cpu: {}
  register: labels

- name: Show it
  ansible.builtin.debug:
    msg: "{{ labels.nfd.difference.table }}"

- name: Take one rule away, and its labels
  accelerators.openshift.nfd_labels:
    rules: [{name: local-disk}]
    state: absent

- name: Take rules and instance away
  accelerators.openshift.nfd_labels:
    state: absent
"""

RETURN = r"""
nfd:
  description: The instance, what was kept or removed, and the feature labels of every node in O(expect).
  returned: success
  type: dict
  contains:
    name: {description: "Name of the instance; empty where a Helm chart's NFD is used.", type: str, returned: success, sample: nfd-instance}
    namespace: {description: Where it is., type: str, returned: success, sample: openshift-nfd}
    manager: {description: "Who keeps it - this collection, a tool, or somebody.", type: str, returned: success, sample: Argo CD (gitops)}
    available: {description: Whether it says Available., type: bool, returned: success}
    pci_classes: {description: "Each class of the instance, and what it lets through.", type: list, elements: dict, returned: success}
    rules: {description: Names of the rules that were kept., type: list, elements: str, returned: success}
    features: {description: Names of the entries of O(features) that were kept., type: list, elements: str, returned: success}
    nodes:
      description: Each node of O(expect) with its feature labels, and the same by family (cpu, cpuid, kernel, pci, storage, os_release, memory, network, …).
      type: list
      elements: dict
      returned: success
      sample: [{name: gpu-0, labels: {feature.node.kubernetes.io/pci-10de.present: "true"}, families: {pci: {10de.present: "true"}}}]
    lost: {description: "Labels that went and came back while the task waited - node, label, seconds.", type: list, elements: dict, returned: success}
    stale: {description: What speaks of a node that is gone or has another kernel by now., type: list, elements: dict, returned: success}
    difference:
      description: What O(compare) found - the nodes of each set, each label that differs with the number of nodes per value, and the table.
      type: dict
      returned: with O(compare)
      sample:
        sets: {gpu: [gpu-0], cpu: [worker-0]}
        labels: [{family: pci, name: 10de.present, label: feature.node.kubernetes.io/pci-10de.present, kind: only gpu, values: {gpu: {"true": 1}, cpu: {}}}]
        equal: 41
        table: ["FAMILY  LABEL         GPU (1 node)  CPU (1 node)", "pci     10de.present  true          -"]
    removed: {description: Names of the rules and NodeFeatures that were deleted., type: dict, returned: with O(state=absent)}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 4.2
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import removal
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import steps as nfd_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd.options import OPTIONS

SPEC = ArgumentSpec(options=OPTIONS).merge(AUTH, STATE, WAIT)


def ensure(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    nfd_steps.check(params)
    return {
        "nfd": removal.absent(api, params) if params["state"] == "absent" else nfd_steps.present(api, params)
    }


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
