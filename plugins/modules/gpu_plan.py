#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_plan
short_description: Check the description of GPU pools and plan what the roles need
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Checks the whole list of pools before any write. Reports every problem with the path of the option, a code
    and a remedy. Returns the normalised pools with everything that the roles need.
  - Refuses a pool whose options contradict each other or another pool, and unknown options, so it ignores
    nothing silently.
  - Where another cluster hosts the control plane (ROSA and ARO with hosted control planes, other NodePools)
    and where Red Hat operates the cluster, the nodes of a pool with C(candidates) come from a machine pool.
    They are those with the label C(gpu-pool=NAME), and count as existing nodes. Without such nodes the module
    fails (C(MACH-NO-API)), and RV(machine_pools) has what makes them.
  - Writes nothing. Without O(platform) it reads the Infrastructure object of the cluster, otherwise it reads
    nothing.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  pools:
    description:
      - The pools. Each has C(name), C(candidates) (a list of C(instance_type) and C(zones)) and C(replicas),
        or C(autoscale) with C(min) and C(max). A pool of existing nodes has C(name) and C(existing)
        (C(node_selector) and C(expected) devices per node).
      - Optional are C(market) (C(on_demand), C(spot), C(capacity_block), or a mapping with C(type),
        C(max_price), C(reservation)), C(taints), C(labels), C(accelerator), C(disk) (C(size_gib), C(type),
        C(iops), C(throughput_mib)), C(quota), C(priority) and C(validate).
      - C(source_machine_set) is a list of machine sets to copy from, one for each zone. With
        C(node_role=false) the nodes do not get the label C(node-role.kubernetes.io/gpu).
      - For an instance type that is newer than the catalogue, add C(gpus) and C(gpu_model) to the candidate,
        and other known values - C(gpu_memory_gib), C(gpu_share), C(vendor), C(driver), C(vcpus),
        C(memory_gib), C(arch). Or describe it in O(catalogue).
      - A type with devices from another vendor than NVIDIA is refused, unless C(accelerator) confirms it, for
        example C(amd-mi300x).
      - A pool or a candidate can have options of its platform. M(accelerators.openshift.gpu_machineset)
        describes them.
      - A value that is no list is refused with an example of how to write it.
    type: raw
    required: true
  gpu_pools_name:
    description: Name of the variable that holds the list. Paths in messages begin with it.
    type: str
    default: gpu_pools
  platform:
    description:
      - Platform of the pools. V(other) means any platform without options of its own.
      - By default the module reads it from the cluster.
    type: str
    choices: [aws, azure, gcp, ibm, oci, baremetal, vsphere, openstack, nutanix, other]
  accelerator_limits:
    description:
      - Types that have a GPU limit in the ClusterAutoscaler (C(spec.resourceLimits.gpus[].type)).
      - If set, the module refuses a pool with C(autoscale) whose accelerator label is not in this list.
      - By default the module reads the limits if a pool has C(autoscale). It refuses the pool only if another
        manager (for example Argo CD) maintains the limits. Otherwise M(accelerators.openshift.gpu_machineset)
        adds a missing limit.
    type: list
    elements: str
  backend:
    description:
      - With V(dra) pods claim GPUs as devices. Quotas then count claims, and options that only a device
        plugin supports are refused (C(POOL-DRA)). C(sharing.claims) of a pool needs it.
    type: str
    choices: [dra]
  replicas:
    description:
      - Numbers of nodes that pools get instead of their own C(replicas), by name of the pool.
      - A name that O(pools) does not have is refused (C(POOL-UNKNOWN)), and so is a pool with C(autoscale) or
        C(existing) (C(POOL-CONFLICT)).
    type: dict
    default: {}
  leftovers:
    description:
      - Whether to list quotas, priority classes, objects of a tuning and networks that this collection made
        and that O(pools) and O(networks) do not ask for, in C(leftovers) of RV(plan). They stay.
      - Also refuses a priority class that exists with another value or preemption policy, or whose
        description another field manager set (C(POOL-PRIORITY)).
      - This needs seven requests, and three more with both operators of networks. What an identity may not
        list is left out.
    type: bool
    default: false
  incomplete:
    description:
      - Names of pools that did not get their machines. The later roles then cover the nodes that these pools
        have, and wait for no number of them.
    type: list
    elements: str
    default: []
  catalogue:
    description:
      - Your own instance types, as the option of the same name of
        P(accelerators.openshift.gpu_instance_types#lookup) describes them.
      - Their values are part of the plan, so later tasks that get the plan's pools need no catalogue.
    type: list
    elements: dict
    default: []
  queues:
    description:
      - The queues of M(accelerators.openshift.gpu_queue). Quotas need not cover the devices of pools that
        queues give away, so the module does not warn of these.
    type: list
    elements: raw
    default: []
  networks:
    description:
      - The networks of M(accelerators.openshift.gpu_network). A wrong one, and one with too few addresses for
        the nodes of its pools, is refused with its path. C(networks) of RV(plan) has them with their nodes.
    type: list
    elements: raw
    default: []
  prices:
    description: Price of one node per hour, by instance type, in your currency. The collection has no prices.
    type: dict
  cost_classes:
    description:
      - Classes of cost, each with its lowest cost per hour. The default is C(low) from 0, C(medium) from 10,
        C(high) from 100.
    type: dict
"""

EXAMPLES = r"""
- name: Plan the pools
  accelerators.openshift.gpu_plan:
    pools:
      - name: inference
        candidates: [{instance_type: g4dn.xlarge, zones: [us-east-2a, us-east-2b]}]
        replicas: 2
        taints: [{key: nvidia.com/gpu, value: inference, effect: NoSchedule}]
        quota: [{namespace: team-a, gpus: 2}]
  register: result

- name: Check a description without a cluster
  accelerators.openshift.gpu_plan:
    pools: "{{ gpu_pools }}"
    platform: aws
"""

RETURN = r"""
plan:
  description: The normalised pools, and what the roles need for them.
  returned: success
  type: dict
  contains:
    pools:
      description:
        - The pools with all defaults, the facts about their instance types, and the expected devices per
          node.
      type: list
      elements: dict
    stack:
      description:
        - The backend of M(accelerators.openshift.special_resource) that the pools need, and their common
          driver.
      type: dict
    tolerations:
      description: Tolerations that operands and workloads need to run on every pool.
      type: list
      elements: dict
    quotas:
      description: Resource quotas, one per namespace and name.
      type: list
      elements: dict
    priorities:
      description: Priority classes.
      type: list
      elements: dict
    validations:
      description: Programs to run on the nodes of each pool.
      type: list
      elements: dict
    proofs:
      description: Pools of each proof, as O(accelerators.openshift.gpu_workload#module:prove) takes them.
      type: dict
    expected_labels:
      description: Labels that the nodes of each pool must get from Node Feature Discovery.
      type: list
      elements: dict
    networks:
      description: The networks, with all pools if they name none.
      type: list
      elements: dict
    attachments:
      description:
        - What pods need for each network, as O(accelerators.openshift.gpu_workload#module:networks) takes it.
      type: list
      elements: dict
    limits:
      description:
        - Limits of the provider's account (AWS, Azure, Google Cloud) that the pools count towards, and how
          much of each they need.
        - Only the provider knows how high a limit is. C(is_name) is false if the provider's own name for the
          limit is not known for certain.
      type: list
      elements: dict
    costs:
      description: Lowest and highest cost of each pool per hour, and its class. Empty without O(prices).
      type: list
      elements: dict
    leftovers:
      description:
        - With O(leftovers), objects that are no longer asked for, each with the command that removes it.
      type: list
      elements: dict
    cost:
      description: The same for all pools together. Null without O(prices).
      type: dict
    machine_pools:
      description: RV(machine_pools) of all pools whose nodes are made from outside of the cluster.
      type: list
      elements: dict
  sample:
    pools:
      - name: inference
        candidates:
          - instance_type: g4dn.xlarge
            zones: [us-east-2a]
            arch: amd64
            vendor: nvidia
            gpus_per_node: 1
            gpu_model: T4
            gpu_memory_gib: 16
        replicas: 2
        expected: {nvidia.com/gpu: 1}
        node_selector: {accelerators.openshift/pool: inference}
    tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
    quotas: [{namespace: team-a, name: gpu-quota, hard: {requests.nvidia.com/gpu: "2"}}]
problems:
  description: Every problem of the pools.
  returned: failure
  type: list
  elements: dict
  sample:
    - code: POOL-UNKNOWN-KEY
      path: "gpu_pools[0].replica"
      message: replica is not an option here.
      remedy: "Did you mean replicas?"
machine_pools:
  description: What makes the nodes of pools whose machines cannot be made from inside of the cluster.
  returned: if nodes of such a pool are missing
  type: list
  elements: dict
  contains:
    pool:
      description: Name of the pool.
      type: str
    command:
      description: The whole command of the provider's tool, or the one that applies C(manifests).
      type: str
    manifests:
      description:
        - The NodePool, and before it the ConfigMap with the tuning of its nodes, for the cluster that hosts
          the control plane. Empty if no cluster does. C(playbooks/render.yml) writes them to a file.
      type: list
      elements: dict
    placeholders:
      description: Words in C(command) and C(manifests) for what the cluster does not tell, with meanings.
      type: dict
    left_out:
      description: What the pool asks for and C(command) does not say.
      type: list
      elements: str
    ends:
      description: What C(command) ends. Empty if it ends nothing.
      type: str
  sample:
    - pool: t4
      command: >-
        rosa create machinepool --cluster CLUSTER_NAME --name t4 --instance-type g4dn.xlarge
        --availability-zone us-east-2a --replicas 2 --labels gpu-pool=t4
      placeholders: {CLUSTER_NAME: the name of this cluster}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.02
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import steps

SPEC = ArgumentSpec(
    options={
        "pools": {"type": "raw", "required": True},
        "gpu_pools_name": {"type": "str", "default": "gpu_pools"},
        "platform": {
            "type": "str",
            "choices": [
                "aws",
                "azure",
                "gcp",
                "ibm",
                "oci",
                "baremetal",
                "vsphere",
                "openstack",
                "nutanix",
                "other",
            ],
        },
        "accelerator_limits": {"type": "list", "elements": "str"},
        "backend": {"type": "str", "choices": ["dra"]},
        "replicas": {"type": "dict", "default": {}},
        "leftovers": {"type": "bool", "default": False},
        "incomplete": {"type": "list", "elements": "str", "default": []},
        "catalogue": {"type": "list", "elements": "dict", "default": []},
        "queues": {"type": "list", "elements": "raw", "default": []},
        "networks": {"type": "list", "elements": "raw", "default": []},
        "prices": {"type": "dict"},
        "cost_classes": {"type": "dict"},
    },
).merge(AUTH, WAIT)


def ensure(api: Api, params: steps.GpuPlanParams) -> dict[str, t.Any]:
    return {"plan": steps.plan(api, params)}


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
