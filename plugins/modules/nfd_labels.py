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
  - Keeps a NodeFeatureDiscovery instance and NodeFeatureRules, waits until the instance is available, and until the nodes carry the labels in O(expect).
  - The PCI device classes are merged with what O(name) already has in C(workerConfig.configData); nothing in there is removed.
    The text is rewritten only when something is missing, and loses its comments then.
  - An instance that somebody else made is used and completed, whatever its name, since two instances in one namespace would fight over the same objects.
  - With O(state=absent) the rules and the instance that this collection made are deleted.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - kubernetes.core.k8s_auth_options
options:
  name:
    description: Name of the NodeFeatureDiscovery. Where the namespace already has one of another name, that one is used.
    type: str
    default: nfd-instance
  namespace:
    description: Namespace of the NFD operator.
    type: str
    default: openshift-nfd
  pci_classes:
    description:
      - PCI device classes, by prefix, that become labels.
      - V(02) are all network adapters; V(0200) would miss InfiniBand.
    type: list
    elements: str
    default: ["02", "03", "0b40", "12"]
  label_fields:
    description:
      - Fields that make up the name of a PCI label. The NVIDIA Network Operator needs V(vendor) alone.
      - An instance that already has other fields keeps them, with a warning.
    type: list
    elements: str
    default: [vendor]
  worker_tolerations:
    description: Tolerations of C(nfd-worker). It tolerates every C(NoSchedule) taint by itself, but no C(NoExecute) taint. Only for an instance made here.
    type: list
    elements: dict
  rules:
    description:
      - NodeFeatureRules to keep. They are made in O(namespace), or for the whole cluster where the cluster serves them so.
      - With O(state=absent) only the named ones are deleted, or all that this collection made when the list is empty.
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
        description: Labels that select the nodes, when O(expect[].nodes) is not given.
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
  settle:
    description: For how many seconds the labels have to stay before they are believed; a restart of C(nfd-master) drops labels for a moment.
    type: float
    default: 1
  grace:
    description: For how many seconds the instance may be degraded, or a label missing while it is available, before the task fails.
    type: float
    default: 60
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

- name: Take rules and instance away
  accelerators.openshift.nfd_labels:
    state: absent
"""

RETURN = r"""
nfd:
  description: The instance, the rules that were kept, and the feature labels of every node in O(expect).
  returned: success
  type: dict
  sample:
    name: nfd-instance
    namespace: openshift-nfd
    available: true
    rules: [local-disk]
    nodes: [{name: gpu-0, labels: {feature.node.kubernetes.io/pci-10de.present: "true"}}]
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 4.2
"""

import contextlib
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _node_feature as node_feature
from ansible_collections.accelerators.openshift.plugins.module_utils._api import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._argspec import AUTH, STATE, WAIT, ArgumentSpec
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import KindNotServedError
from ansible_collections.accelerators.openshift.plugins.module_utils._kinds import Kind, known
from ansible_collections.accelerators.openshift.plugins.module_utils._module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._node_feature_options import OPTIONS
from ansible_collections.accelerators.openshift.plugins.module_utils._node_labels import common_selector
from ansible_collections.accelerators.openshift.plugins.module_utils._ownership import MANAGED_BY, owned, selector

SPEC = ArgumentSpec(options=OPTIONS).merge(AUTH, STATE, WAIT)
INSTANCE = known("NodeFeatureDiscovery")


def ensure(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    if params["state"] == "absent":
        return {"nfd": remove(api, params)}
    live = existing(api, params)
    params = {**params, "name": live["metadata"]["name"] if live else params["name"]}
    if live is None or owned(live):
        api.apply(node_feature.build(params, live), force_conflicts=live is not None, live=live)
    elif patch := node_feature.difference(params, live):
        api.merge_patch(INSTANCE, params["name"], params["namespace"], patch)
    keep_rules(api, params)
    nodes = Query(known("Node"), labels=common_selector([entry["node_selector"] or {} for entry in params["expect"]]))
    queries = {"instances": Query(INSTANCE, params["namespace"]), "nodes": nodes}
    snapshot = api.wait(queries, node_feature.Judge(params, api.clock), "node labels", params["settle"])
    return {"nfd": node_feature.summarize(snapshot, params)}


def existing(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any] | None:
    if api.check_mode and not api.served(INSTANCE):
        return None
    live = node_feature.choose(api.list(INSTANCE, params["namespace"]), params["name"])
    for text in node_feature.doubts(params, live):
        api.warn(text)
    return live


def rule_kind(api: Api) -> Kind | None:
    """Group and scope of NodeFeatureRule depend on the release, so the server is asked."""
    for group in node_feature.RULE_GROUPS:
        with contextlib.suppress(KindNotServedError):
            return api.resolve(f"{group}/v1alpha1", "NodeFeatureRule")
    return None


def keep_rules(api: Api, params: dict[str, t.Any]) -> None:
    kind = rule_kind(api) if params["rules"] else None
    if params["rules"] and kind is None and not api.check_mode:
        raise node_feature.no_rules()
    for rule in node_feature.rules(params, kind.api_version, kind.namespaced) if kind else node_feature.rules(params):
        api.apply(rule)


def remove(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    names = [rule["name"] for rule in params["rules"]]
    if kind := rule_kind(api):
        for rule in api.list(kind, params["namespace"], labels=selector(MANAGED_BY)):
            if not names or rule["metadata"]["name"] in names:
                api.delete(kind, rule["metadata"]["name"], rule["metadata"].get("namespace"))
    api.delete(INSTANCE, params["name"], params["namespace"])
    return {"name": params["name"], "namespace": params["namespace"], "available": False, "rules": [], "nodes": []}


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
