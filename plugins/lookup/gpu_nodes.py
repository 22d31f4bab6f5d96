# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""List the GPU nodes of a cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_nodes
short_description: List the GPU nodes of a cluster
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Lists nodes that belong to a pool of this collection, that Node Feature Discovery or the GPU operator has
    labelled, or that offer GPUs.
  - Reads the cluster and changes nothing. Connection options that you do not set come from the environment
    (C(K8S_AUTH_*), C(KUBECONFIG)), as for the modules.
extends_documentation_fragment:
  - accelerators.openshift._auth
options:
  _terms:
    description: Names of nodes. The default is all GPU nodes.
    type: list
    elements: str
  pool:
    description: Only nodes of this pool.
    type: str
  label_selector:
    description: Only nodes that match this label selector.
    type: str
  labels:
    description:
      - Whether to return the labels of each node too. A node with all its features has about a hundred.
    type: bool
    default: false
  query:
    description: A JMESPath expression. The lookup applies it to the list of nodes and returns the result.
    type: str
"""

EXAMPLES = r"""
- name: Show nodes that have a GPU but offer none
  ansible.builtin.debug:
    msg: "{{ query('accelerators.openshift.gpu_nodes', query='[?!allocatable].name') }}"

- name: Show the drivers of a pool
  ansible.builtin.debug:
    msg: "{{ nodes | map(attribute='driver_version') | unique }}"
  vars:
    nodes: "{{ query('accelerators.openshift.gpu_nodes', pool='training') }}"
"""

RETURN = r"""
_list:
  description: One entry per node, or the result of O(query).
  type: list
  elements: raw
  sample:
    - name: ip-10-0-1-2.us-east-2.compute.internal
      pool: training
      zone: us-east-2a
      instance_type: p4d.24xlarge
      ready: true
      schedulable: true
      model: NVIDIA-A100-SXM4-40GB
      driver_version: 580.95.05
      allocatable: {nvidia.com/gpu: 8}
      taints: [{key: nvidia.com/gpu, value: training, effect: NoSchedule}]
"""

import typing as t

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.expression import Expression
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import pool_of
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import (
    devices,
    formatting as node_formatting,
    node as node_facts,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _lookups


class LookupModule(LookupBase):  # type: ignore[misc]
    """The lookup gpu_nodes."""

    def run(
        self, terms: list[t.Any], variables: dict[str, t.Any] | None = None, **kwargs: t.Any
    ) -> list[t.Any]:
        """Return one entry per GPU node, or the result of option query; terms: names of nodes.

        Raise AnsibleLookupError for a wrong option or a failed request.
        """
        self.set_options(var_options=variables, direct=kwargs)
        options = self.get_options()
        try:
            _lookups.known_only("gpu_nodes", kwargs, options)
            pool, query = options.pop("pool"), options.pop("query")
            with_labels = options.pop("labels")
            labels = _lookups.selectors(pool, options.pop("label_selector"))
            expression = Expression("query", query) if query else None
            nodes = found(options, labels, terms, with_labels)
            return searched(expression, nodes) if expression else nodes
        except AcceleratorError as exc:
            # Ansible repeats the message of a cause.
            raise AnsibleLookupError(_lookups.message(exc, variables)) from None


def found(
    options: dict[str, t.Any], labels: str | None, names: list[t.Any], with_labels: bool
) -> list[dict[str, t.Any]]:
    """Return the summaries of the nodes that match the label selector labels.

    names: of the wanted nodes; if empty, all GPU nodes. Display the warnings of the connection.
    """
    with _lookups.connected(options, "gpu_nodes") as api:
        return api.list(
            known("Node"),
            labels=labels,
            keep=lambda node: summary(node, with_labels) if is_wanted(node, names) else None,
        )


def is_wanted(node: dict[str, t.Any], names: list[t.Any]) -> bool:
    """Return whether names contains the node, or, if names is empty, whether it is a GPU node."""
    return node_facts.name(node) in names if names else devices.is_gpu_node(node)


def summary(node: dict[str, t.Any], with_labels: bool) -> dict[str, t.Any]:
    """Return the facts of a node that the lookup documents; allocatable: resource -> number."""
    spec = node.get("spec") or {}
    return {
        "name": node_facts.name(node),
        "pool": pool_of(node),
        "zone": node_formatting.zone(node),
        "instance_type": node_formatting.instance_type(node),
        "ready": node_facts.is_ready(node),
        "schedulable": not spec.get("unschedulable", False),
        "model": devices.product(node),
        "driver_version": devices.driver_version(node),
        "allocatable": devices.resources(node),
        "taints": spec.get("taints") or [],
        **({"labels": labels(node)} if with_labels else {}),
    }


def searched(expression: Expression, nodes: list[dict[str, t.Any]]) -> list[t.Any]:
    """Return the result of the expression as a list; empty if it is null."""
    result = expression.evaluate(nodes)
    if result is None:
        return []
    return result if isinstance(result, list) else [result]
