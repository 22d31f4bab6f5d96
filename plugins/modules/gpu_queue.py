#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_queue
short_description: Give the GPUs of pools to namespaces through queues of Kueue
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Maintains a ResourceFlavor for each pool, a ClusterQueue for each queue, and a LocalQueue in each
    namespace of a queue. A Job with the label C(kueue.x-k8s.io/queue-name=<local queue>) then waits until the
    queue has GPUs for all of its pods, and runs on the nodes of the pool that it got.
  - The cluster has to serve Kueue (C(kueue.x-k8s.io), version v1beta2 or v1beta1), unless O(instance) brings
    it there. The Red Hat build of Kueue manages the Jobs of namespaces with a label alone, so the module
    gives them that label.
  - A queue counts the GPUs of its pools, under every name that their nodes offer. It does not count
    processors and memory, unless O(queues[].pools[].resources) limits them.
  - A ResourceQuota of a namespace must not refuse pods of Jobs that Kueue has admitted. The module takes such
    limits out of the quotas that this collection created, refuses those of O(pools), and warns of others.
  - Waits until each queue is active. A C(stopPolicy) that somebody set stays, with a warning.
  - O(state=absent) deletes the queues of O(queues) and the queues that give away only O(pools), if this
    collection created them. Jobs that wait in them stay suspended. With O(instance) it deletes Kueue too.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._quota.kueue
  - accelerators.openshift._lock
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  pools:
    description: All pools of a run, as RV(accelerators.openshift.gpu_plan#module:plan) has them in C(pools).
    type: list
    elements: dict
    required: true
  queues:
    description: The queues.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the ClusterQueue.
        type: str
        required: true
      cohort:
        description: Name of the cohort. Queues of one cohort lend one another the GPUs that they do not use.
        type: str
      pools:
        description: The pools of the queue. A Job gets the first one that has enough GPUs left.
        type: list
        elements: dict
        required: true
        suboptions:
          name:
            description: Name of the pool, and of its ResourceFlavor.
            type: str
            required: true
          gpus:
            description:
              - Number of GPUs of the pool that belong to the queue. Shares of a GPU count one each.
              - By default all GPUs of the pool at its highest number of nodes, if no other queue has it.
            type: int
          resources:
            description:
              - Amount of each resource, such as 14 for C(nvidia.com/mig-1g.5gb) if the nodes of the pool
                offer several, or C(512Gi) for C(memory).
            type: dict
          borrow:
            description: How many more GPUs the queue may borrow in its cohort. By default all that are free.
            type: int
          lend:
            description: How many of its GPUs the queue lends. By default all that it does not use.
            type: int
      namespaces:
        description: Namespaces whose Jobs may use the queue.
        type: list
        elements: str
        required: true
      local_queue:
        description: Name of the LocalQueue in each namespace. By default the name of the queue.
        type: str
      strategy:
        description:
          - V(StrictFIFO) admits nothing before the Job that came first. With V(BestEffortFIFO) a Job that
            fits does not wait for one that does not.
        type: str
        choices: [BestEffortFIFO, StrictFIFO]
        default: BestEffortFIFO
      preemption:
        description: Which Jobs Kueue may end for a Job that waits. By default none.
        type: dict
        suboptions:
          within_queue:
            description: Jobs of the same queue.
            type: str
            choices: [Never, LowerPriority, LowerOrNewerEqualPriority]
            default: Never
          reclaim:
            description: Jobs of other queues that borrow GPUs of this queue.
            type: str
            choices: [Never, LowerPriority, Any]
            default: Never
          borrowing:
            description:
              - Jobs of lower priority in other queues, to borrow their GPUs. It needs another
                O(queues[].preemption.reclaim) than V(Never).
            type: str
            choices: [Never, LowerPriority]
            default: Never
  tolerate:
    description:
      - Whether Kueue gives the pods of admitted Jobs the tolerations for the taints of the pool. With
        V(false) it admits only Jobs whose pods have them.
    type: bool
    default: true
  topology:
    description:
      - Labels of nodes that tell which nodes are near to one another, the widest first, such as
        C(topology.kubernetes.io/zone) and C(kubernetes.io/hostname). The flavors of the pools get a Topology
        of these levels, and Kueue admits a Job only when nodes have free GPUs for its pods. A Job asks for a
        level by the annotation C(kueue.x-k8s.io/podset-required-topology) of its pods.
      - By default Kueue counts quotas alone.
    type: list
    elements: str
    default: []
  claims:
    description:
      - Whether pods claim the devices of the pools (dynamic resource allocation). Such pools cannot have
        queues.
    type: bool
    default: false
  create_namespaces:
    description: Whether to create a namespace that does not exist. Otherwise it is an error.
    type: bool
    default: false
  namespaces:
    description:
      - Names of the namespaces that O(create_namespaces) may create. Without this list it may create any name
        that is not near to an existing one.
    type: list
    elements: str
  adopt:
    description:
      - What to do with an object that this collection did not create, or with fields that another field
        manager set. V(report) fails if they differ from the task. V(take) changes them.
    type: str
    choices: [report, take]
    default: report
  on_busy:
    description:
      - What O(state=absent) does with Workloads that hold GPUs of the queues. V(fail) refuses before the
        first write and names them. V(drain) has Kueue end them (C(HoldAndDrain)). V(wait) has the queues
        admit nothing more (C(Hold)), and waits until the Workloads have ended.
    type: str
    choices: [fail, drain, wait]
    default: fail
"""

EXAMPLES = r"""
- name: Plan the pools
  accelerators.openshift.gpu_plan:
    pools: "{{ gpu_pools }}"
  register: planned

- name: Share the pool training between two teams that lend each other free GPUs
  accelerators.openshift.gpu_queue:
    pools: "{{ planned.plan.pools }}"
    queues:
      - name: research
        cohort: gpus
        pools: [{name: training, gpus: 12}]
        namespaces: [team-a]
        preemption: {reclaim: Any}
      - name: products
        cohort: gpus
        pools: [{name: training, gpus: 4, borrow: 8}]
        namespaces: [team-b, team-c]

- name: Let the operator kueue-operator bring Kueue, and make a queue
  accelerators.openshift.gpu_queue:
    pools: "{{ planned.plan.pools }}"
    instance: {frameworks: [BatchJob, Pod]}
    queues:
      - name: research
        pools: [{name: training}]
        namespaces: [team-a]

- name: Remove the queues of the pools when their Jobs have ended
  accelerators.openshift.gpu_queue:
    pools: "{{ planned.plan.pools }}"
    on_busy: wait
    state: absent
"""

RETURN = r"""
queues:
  description: The queues. With O(state=absent) only the names of those that are gone.
  returned: success
  type: list
  elements: dict
  sample:
    - name: research
      cohort: gpus
      active: true
      namespaces: [team-a]
      local_queue: research
      pending: 3
      admitted: 1
      pools: [{name: training, resources: {nvidia.com/gpu: {quota: 12, used: "8"}}}]
handed_over:
  description: ResourceQuotas, as C(NAMESPACE/NAME), that no longer limit what the queues count.
  returned: success, with O(state=present)
  type: list
  elements: str
  sample: [team-a/gpu-quota]
instance:
  description: Object Kueue of Red Hat's operator, and whether Kueue is available.
  returned: success, with O(instance) and O(state=present)
  type: dict
  sample: {name: cluster, available: true}
needed_by:
  description: Who needs Kueue, so that its object stays.
  returned: success, with O(instance) and O(state=absent)
  type: list
  elements: str
  sample: [ClusterQueue theirs (made by Argo CD)]
ends:
  description: Workloads, as C(NAMESPACE/NAME), that Kueue ends (O(on_busy)).
  returned: success, with O(state=absent)
  type: list
  elements: str
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.6
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 0.3
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import adoption
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    ON_BUSY,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._queue import removal_steps, steps
from ansible_collections.accelerators.openshift.plugins.module_utils._queue.options import GpuQueueParams
from ansible_collections.accelerators.openshift.plugins.module_utils._queue.spec import INSTANCE, QUEUE

SPEC = ArgumentSpec(
    options={
        "pools": {"type": "list", "elements": "dict", "required": True},
        "queues": {"type": "list", "elements": "dict", "default": [], "options": QUEUE},
        "instance": {"type": "dict", "options": INSTANCE},
        "tolerate": {"type": "bool", "default": True},
        "topology": {"type": "list", "elements": "str", "default": []},
        "claims": {"type": "bool", "default": False},
        "create_namespaces": {"type": "bool", "default": False},
        "namespaces": {"type": "list", "elements": "str"},
        **adoption.OPTION,
    },
).merge(AUTH, LOCK, ON_BUSY, STATE, WAIT)


def ensure(api: Api, params: GpuQueueParams) -> dict[str, t.Any]:
    return removal_steps.absent(api, params) if params["state"] == "absent" else steps.present(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
