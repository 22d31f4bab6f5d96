# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""List the labels of nodes, by family."""

from __future__ import annotations

DOCUMENTATION = r"""
name: node_labels
short_description: List the labels of nodes, by family
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Lists nodes with their labels, and again the labels of Node Feature Discovery by family.
  - Reads the cluster and changes nothing. Connection options that you do not set come from the environment
    (C(K8S_AUTH_*), C(KUBECONFIG)), as for the modules.
extends_documentation_fragment:
  - accelerators.openshift._auth
options:
  _terms:
    description: Names of nodes. The default is all nodes.
    type: list
    elements: str
  label_selector:
    description: Only nodes that match this label selector.
    type: str
seealso:
  - plugin: accelerators.openshift.label_difference
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show the kernel labels of a pool
  ansible.builtin.debug:
    msg: "{{ nodes | map(attribute='families.kernel') }}"
  vars:
    nodes: "{{ query('accelerators.openshift.node_labels', label_selector=selector) }}"
    selector: accelerators.openshift/pool=training
"""

RETURN = r"""
_list:
  description: One entry per node, sorted by name.
  type: list
  elements: dict
  sample:
    - name: gpu-0
      labels: {kubernetes.io/arch: amd64, feature.node.kubernetes.io/pci-10de.present: "true"}
      families: {pci: {10de.present: "true"}}
"""

import typing as t

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import (
    label_difference,
    node as node_facts,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _lookups


class LookupModule(LookupBase):  # type: ignore[misc]
    """The lookup node_labels."""

    def run(
        self, terms: list[t.Any], variables: dict[str, t.Any] | None = None, **kwargs: t.Any
    ) -> list[t.Any]:
        """Return one entry per node, sorted by name; terms: names of nodes, all by default.

        Raise AnsibleLookupError for a wrong option or a failed request.
        """
        self.set_options(var_options=variables, direct=kwargs)
        options = self.get_options()
        try:
            _lookups.known_only("node_labels", kwargs, options)
            selector = options.pop("label_selector")
            with _lookups.connected(options, "node_labels") as api:
                found = api.list(
                    known("Node"),
                    labels=selector,
                    keep=lambda node: entry(node) if not terms or node_facts.name(node) in terms else None,
                )
        except AcceleratorError as exc:
            # Ansible repeats the message of a cause.
            raise AnsibleLookupError(_lookups.message(exc, variables)) from None
        return sorted(found, key=lambda row: str(row["name"]))


def entry(node: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return name, labels and families of labels of a node."""
    marks = labels(node)
    return {"name": node_facts.name(node), "labels": marks, "families": label_difference.families(marks)}
