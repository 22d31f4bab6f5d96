# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the labels of two sets of nodes."""

from __future__ import annotations

DOCUMENTATION = r"""
name: label_difference
short_description: Compare the labels of two sets of nodes, as data and as a table
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Compares the labels of nodes, as the lookup P(accelerators.openshift.node_labels#lookup) returns them, and
    omits equal labels.
  - Does not compare labels that differ between any two nodes (host name, zone).
positional: other
options:
  _input:
    description: The nodes of the first set, each with C(name) and C(labels).
    type: list
    elements: dict
    required: true
  other:
    description: The nodes of the second set.
    type: list
    elements: dict
    required: true
  names:
    description: Names of the two sets.
    type: list
    elements: str
    default: [first, second]
  only:
    description: Only labels of these families, for example V(pci) or V(cpu).
    type: list
    elements: str
seealso:
  - module: accelerators.openshift.nfd_labels
"""

EXAMPLES = r"""
- name: Compare GPU nodes with CPU nodes
  ansible.builtin.debug:
    msg: "{{ (gpu | accelerators.openshift.label_difference(cpu, names=['gpu', 'cpu'])).table }}"
  vars:
    gpu: "{{ query('accelerators.openshift.node_labels', label_selector=training) }}"
    training: accelerators.openshift/pool=training
    cpu: "{{ query('accelerators.openshift.node_labels', label_selector=others) }}"
    others: node-role.kubernetes.io/worker,!accelerators.openshift/pool
"""

RETURN = r"""
_value:
  description:
    - The nodes of each set, each label that differs with the number of nodes per value, and lines of text.
  type: dict
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
"""

import typing as t

from ansible.errors import AnsibleFilterError

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import (
    label_difference as node_label_difference,
)
from ansible_collections.accelerators.openshift.plugins.plugin_utils._filters import checked

Data = t.Mapping[str, t.Any]


@checked("label_difference", "two lists of nodes, as the lookup node_labels returns them")
def label_difference(
    nodes: t.Sequence[Data],
    other: t.Sequence[Data],
    names: t.Sequence[str] = ("first", "second"),
    only: t.Sequence[str] = (),
) -> Data:
    """Return the labels that differ between two sets of nodes, as data and as a table.

    nodes, other: maps with name and labels. only: families of labels to compare; all by default. Raise
    AnsibleFilterError for a set without nodes, a node without name or labels, or names that are not two.
    """
    if len(set(names)) != 2:
        raise AnsibleFilterError(f"label_difference: names has to hold two names, and is {list(names)}")
    sets = dict(zip(names, (_labels(nodes), _labels(other)), strict=True))
    if empty := next((name for name, found in sets.items() if not found), None):
        raise AnsibleFilterError(f"label_difference: there is no node in {empty}")
    wanted = (
        {name: {node: _chosen(marks, only) for node, marks in found.items()} for name, found in sets.items()}
        if only
        else sets
    )
    return node_label_difference.difference(wanted)


def _labels(nodes: t.Sequence[Data]) -> dict[str, dict[str, str]]:
    try:
        return {str(node["name"]): dict(node["labels"]) for node in nodes}
    except (KeyError, TypeError):
        raise AnsibleFilterError(
            "label_difference: every node needs name and labels, as the lookup node_labels returns them"
        ) from None


def _chosen(marks: Data, only: t.Sequence[str]) -> dict[str, str]:
    return {label: value for label, value in marks.items() if node_label_difference.split(label)[0] in only}


class FilterModule:
    """The filter label_difference."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return name -> filter."""
        return {"label_difference": label_difference}
