# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Redact what conformance.yml read of a cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
name: conformance
short_description: Redact what conformance.yml read of a cluster
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Keeps versions, kinds that are served, labels and conditions of nodes, and what operands say of
    themselves.
  - Names of nodes become C(node-1), C(node-2) and so on, in the order of the names. Addresses, UUIDs,
    registries, annotations, specifications and labels of others are left out.
options:
  _input:
    description:
      - A map with C(cluster) (result of M(kubernetes.core.k8s_cluster_info)), C(read) (results of
        M(kubernetes.core.k8s_info)) and C(stack)
        (RV(accelerators.openshift.special_resource#module:special_resource)).
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Show what the cluster has, without its names
  ansible.builtin.debug:
    msg: "{{ {'cluster': cluster, 'read': read.results, 'stack': {}} | accelerators.openshift.conformance }}"
"""

RETURN = r"""
_value:
  description: What was seen. C(unread) says what could not be read, and why.
  type: dict
  sample:
    kubernetes: v1.35.2
    served: {nvidia.com/v1: [ClusterPolicy]}
    nodes: [{name: node-1, labels: {nvidia.com/gpu.count: "8"}, conditions: [{type: Ready, status: "True"}]}]
    objects: {}
    stack: {}
    unread: []
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.plugin_utils._filters import checked


@checked("conformance", "a map with cluster, read and stack, as conformance.yml makes it")
def conformance(seen: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return what was seen of a cluster, redacted."""
    # Ansible loads every filter of a collection with the first one, in each task, and compiles it.
    from ansible_collections.accelerators.openshift.plugins.module_utils._report import conformance as report

    return report.conformance(seen)


class FilterModule:
    """The filter conformance."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return name -> filter."""
        return {"conformance": conformance}
