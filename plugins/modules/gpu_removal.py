#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_removal
short_description: Check what a removal of GPU pools takes away, what stays, and which pods it ends
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Looks at the whole cluster before a removal and writes nothing. The playbooks C(remove_gpus) and
    C(remove_pool) run it before their first write.
  - Lists the pods that use devices on nodes which lose their machine or their driver. Fails with
    C(NODE-BUSY) while such pods run, unless O(on_busy) allows that they end.
  - Lists the shared parts (driver stack, operators, Node Feature Discovery) that stay because something else
    needs them. These are other pools, nodes with GPUs in no pool of this removal, objects that this
    collection did not make (ClusterPolicy, NVIDIADriver, GPUCluster, NicClusterPolicy, NodeFeatureRule,
    NodeFeature, Subscriptions of the GPU and network operators, and others), Modules of KMM, operators that
    declare that they need Node Feature Discovery, and DaemonSets that select nodes by its labels.
  - Kueue stays for ClusterQueues that stay, and for Workloads that have not ended. Only Kueue can take its
    finalizers from these.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._drain
  - accelerators.openshift._auth
options:
  pools:
    description:
      - The pools to remove, as RV(accelerators.openshift.gpu_plan#module:plan) has them. Only C(name),
        C(node_selector) and C(workload) count. By default C(node_selector) is the label of the pool.
    type: list
    elements: dict
    required: true
  parts:
    description:
      - The shared parts that are to be removed after the pools, as far as nothing else needs them.
      - V(gpu_policy) is the Red Hat build of Kueue, which the role of that name installs.
      - V(virtual_machines) is what this collection permits to virtual machines in HyperConverged. It goes
        with V(gpu_operator) too, if a pool of O(pools) has a C(workload) of virtual machines.
    type: list
    elements: str
    choices: [gpu_operator, nvidia_network_operator, node_feature_discovery, gpu_policy, virtual_machines]
    default: []
  machines:
    description:
      - Whether the machine sets of the pools go too. If not, their nodes only lose what O(parts) brings.
    type: bool
    default: true
  namespace:
    description: Namespace of the Machine API.
    type: str
    default: openshift-machine-api
  gpu_namespace:
    description: Namespace of the GPU operator.
    type: str
    default: nvidia-gpu-operator
  nic_namespace:
    description: Namespace of the NVIDIA network operator.
    type: str
    default: nvidia-network-operator
  nfd_namespace:
    description: Namespace of the operator of Node Feature Discovery.
    type: str
    default: openshift-nfd
  kueue_namespace:
    description: Namespace of the operator of Kueue.
    type: str
    default: openshift-kueue-operator
  queues:
    description:
      - Names of queues that go with the pools. Queues of this collection that give away only O(pools) go too.
    type: list
    elements: str
    default: []
seealso:
  - module: accelerators.openshift.gpu_machineset
  - module: accelerators.openshift.special_resource
"""

EXAMPLES = r"""
- name: Ask what the removal of a pool ends
  accelerators.openshift.gpu_removal:
    pools: [{name: training}]

- name: Ask what stays if the pool and the driver stack go
  accelerators.openshift.gpu_removal:
    pools: [{name: training}]
    parts: [gpu_operator, node_feature_discovery]
    on_busy: drain
  register: removal

- name: Show it
  ansible.builtin.debug:
    msg: "{{ removal.table }}"
"""

RETURN = r"""
removes:
  description: What the removal takes away, in words.
  returned: always
  type: list
  elements: str
  sample: ["pool training (1 machine set, 2 machines)"]
stays:
  description:
    - The shared parts of O(parts) that stay. C(needed_by) says for whom, C(message) is
        the sentence for people. C(keeps) is C(all), or C(operator)
      if the objects that this collection made go and only the operator stays.
  returned: always
  type: list
  elements: dict
  sample:
    - part: node_feature_discovery
      keeps: all
      what: Node Feature Discovery
      message: Node Feature Discovery stays. It is needed by ClusterPolicy theirs (made by Argo CD).
      needed_by: ["ClusterPolicy theirs (made by Argo CD)"]
ends:
  description: Pods with devices that would end, with their node, owner, why and by what.
  returned: always
  type: list
  elements: dict
  sample:
    - node: ip-10-0-1-2
      namespace: team-a
      pod: training-7c9fd
      owner: Job training
      why: pool training loses the node
      by: drain by this run
table:
  description: All of it as lines of text.
  returned: always
  type: list
  elements: str
  sample:
    - remove  pool training (1 machine set, 2 machines)
    - keep    Node Feature Discovery, needed by ClusterPolicy theirs (made by Argo CD)
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
    - {list: "ends[0].pods", pool: "", number: 380, sums: {}}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.3
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 3.5
"""

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.options import DRAIN
from ansible_collections.accelerators.openshift.plugins.module_utils._removal.steps import check as ensure

SPEC = ArgumentSpec(
    options={
        "pools": {"type": "list", "elements": "dict", "required": True},
        "parts": {
            "type": "list",
            "elements": "str",
            "choices": [
                *("gpu_operator", "nvidia_network_operator", "node_feature_discovery", "gpu_policy"),
                "virtual_machines",
            ],
            "default": [],
        },
        "machines": {"type": "bool", "default": True},
        "namespace": {"type": "str", "default": "openshift-machine-api"},
        "gpu_namespace": {"type": "str", "default": "nvidia-gpu-operator"},
        "nic_namespace": {"type": "str", "default": "nvidia-network-operator"},
        "nfd_namespace": {"type": "str", "default": "openshift-nfd"},
        "kueue_namespace": {"type": "str", "default": "openshift-kueue-operator"},
        "queues": {"type": "list", "elements": "str", "default": []},
    }
).merge(DRAIN, AUTH, WAIT)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
