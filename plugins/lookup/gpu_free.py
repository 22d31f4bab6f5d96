# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Count the GPUs that are free, by node, pool or namespace."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_free
short_description: Count the GPUs that are free, by node, pool or namespace
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Subtracts what pods request from what GPU nodes offer, as the scheduler does. It knows no taints and no
    selectors of pods.
  - Counts every device resource of a GPU vendor, also partitions (MIG) and shares. Devices that pods claim
    through ResourceClaims count under the names that the device plugin would use.
  - Reads the cluster and changes nothing. Connection options that you do not set come from the environment
    (C(K8S_AUTH_*), C(KUBECONFIG)), as for the modules.
extends_documentation_fragment:
  - accelerators.openshift._auth
options:
  _terms:
    description: Names of nodes, pools or namespaces, as O(by) says. The default is all.
    type: list
    elements: str
  by:
    description: What one entry of the result is about.
    type: str
    choices: [node, pool, namespace]
    default: node
  pool:
    description: Only nodes of this pool.
    type: str
  label_selector:
    description: Only nodes that match this label selector.
    type: str
"""

EXAMPLES = r"""
- name: Show how many GPUs of a pool a pod can get now
  ansible.builtin.debug:
    msg: "{{ lookup('accelerators.openshift.gpu_free', 'training', by='pool').free }}"

- name: Show GPU nodes that take no pods
  ansible.builtin.debug:
    msg: "{{ nodes | rejectattr('takes_pods') | map(attribute='name') }}"
  vars:
    nodes: "{{ query('accelerators.openshift.gpu_free') }}"

- name: Show which namespaces hold GPUs, or wait for them
  ansible.builtin.debug:
    msg: "{{ query('accelerators.openshift.gpu_free', by='namespace') }}"
"""

RETURN = r"""
_list:
  description:
    - One entry per node, pool or namespace, sorted by name. Every key with devices is a mapping of resource
      and number.
    - C(free) is C(allocatable) less C(requested), on nodes that are Ready and not cordoned. On all other
      nodes this difference is C(closed), and C(free) is 0.
    - C(spare) is the part of C(requested) that placeholder pods hold, which give way to other pods.
    - A node also has C(pool) and C(takes_pods), a pool also C(nodes), the number of its nodes. GPU nodes
      without a pool are together under the empty name.
    - A namespace has C(requested), C(spare), C(waiting), which its pods without a node ask for, and C(free),
      which is what all nodes have left, or less if a ResourceQuota of the namespace leaves less. Quotas with
      scopes, and those over several namespaces, do not count.
  type: list
  elements: dict
  sample:
    - name: ip-10-0-1-2.us-east-2.compute.internal
      pool: training
      takes_pods: true
      allocatable: {nvidia.com/gpu: 8}
      requested: {nvidia.com/gpu: 6}
      spare: {}
      free: {nvidia.com/gpu: 2}
      closed: {nvidia.com/gpu: 0}
"""

import typing as t

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import free, free_steps
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _lookups


class LookupModule(LookupBase):  # type: ignore[misc]
    """The lookup gpu_free."""

    def run(
        self, terms: list[t.Any], variables: dict[str, t.Any] | None = None, **kwargs: t.Any
    ) -> list[dict[str, t.Any]]:
        """Return one entry per node, pool or namespace; terms: their names.

        Raise AnsibleLookupError for a wrong option or a failed request.
        """
        self.set_options(var_options=variables, direct=kwargs)
        options = self.get_options()
        try:
            _lookups.known_only("gpu_free", kwargs, options)
            with _lookups.connected(options, "gpu_free") as api:
                return look(api, options, [str(term) for term in terms])
        except AcceleratorError as exc:
            # Ansible repeats the message of a cause.
            raise AnsibleLookupError(_lookups.message(exc, variables)) from None


def look(api: Api, options: t.Mapping[str, t.Any], wanted: list[str]) -> list[dict[str, t.Any]]:
    """Return the entries that the lookup documents. wanted: the names of the entries; if empty, all."""
    found = _lookups.gpu_nodes(api, options["pool"], options["label_selector"])
    nodes, slices = free_steps.offering(api, found)
    holders = free_steps.holders(api, slices)
    rows = free.by_node(nodes, holders)
    if options["by"] == "pool":
        rows = free.by_pool(rows)
    elif options["by"] == "namespace":
        rows = free.by_namespace(rows, holders, api.list(known("ResourceQuota")), wanted)
    return [row for row in rows if not wanted or row["name"] in wanted]
