#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: node_tuning
short_description: Tune the nodes of GPU pools
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Gives the nodes of each pool a TuneD profile. OpenShift's node tuning operator applies it to running
    nodes, and to nodes that come later, without a reboot.
  - The profile is one that the collection ships, the text of a profile of your own, sysctls, or a shipped
    profile with sysctls. It builds on OpenShift's profile C(openshift-node).
  - For each pool the module makes one object C(Tuned) with the name C(gpu-POOL) and the priority 21, so it
    wins against OpenShift's own rules (30 and 40). Over a PerformanceProfile (20) of the pool it has 19, and
    builds on the profile of that.
  - Kernel arguments, isolated CPUs, huge pages and the topology of pods reboot nodes. The module rolls them
    out through one MachineConfigPool for each pool, all changes at once, and only with C(reboot=planned).
  - Before the first write the module refuses what TuneD, the kernel or the machines would not take, and a
    C(Tuned) object of others that would win on one of the nodes.
  - Waits until the C(Profile) of each node is the pool's, current, applied and not degraded.
  - O(state=absent) deletes the objects that this collection made, and waits until the nodes are back on
    their other profile.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._lock
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  pools:
    description:
      - All pools of a run. C(tunings) of the plan that M(accelerators.openshift.gpu_plan) returns has this
        form.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the pool.
        type: str
        required: true
      node_selector:
        description:
          - Labels of the nodes of the pool.
          - The default is the label C(accelerators.openshift/pool=NAME), which
            M(accelerators.openshift.gpu_machineset) gives to nodes.
        type: dict
      tuning:
        description:
          - What to tune, as C(tuning) of an entry of C(gpu_pools). Required with O(state=present).
          - C(profile) is V(accelerator), V(training), V(inference), V(grace), V(virtualization), or the name
            of your own profile, whose text is C(data).
          - C(sysctl) has names and values, which replace those of the profile.
          - With C(defer=true) the profile takes effect when a node restarts.
          - C(kernel_arguments), C(isolate), C(huge_pages), C(topology) and C(vfio) reboot nodes.
          - C(vfio) has the PCI ids of devices that the driver vfio-pci takes for virtual machines.
          - With C(reboot) V(never), the default, the task refuses to reboot nodes and lists them. V(planned)
            lets them reboot, and adds what the profile advises.
        type: dict
      arch:
        description: Architecture of the nodes, if it is known.
        type: str
        choices: [amd64, arm64]
      instance_type:
        description: Instance type of the nodes, if it is known and all nodes have the same.
        type: str
      vcpus:
        description: Number of CPUs of a node, if it is known.
        type: int
      memory_gib:
        description: Memory of a node in GiB, if it is known.
        type: int
      numa_nodes:
        description: Number of NUMA nodes of a node, if it is known.
        type: int
      threads_per_core:
        description: Number of threads of a core, if it is known.
        type: int
  on_busy:
    description:
      - What to do if nodes have to reboot while pods use devices there.
      - V(fail) changes nothing and fails with the nodes and the pods. V(drain) ends these pods. V(wait) waits
        until they have ended by themselves or O(wait_timeout) is over.
      - A TuneD profile alone reboots no node and ends no pod.
    type: str
    choices: [fail, drain, wait]
    default: fail
  grace:
    description:
      - For how many seconds a node may be degraded, or have the profile of another object, before the task
        fails.
    type: float
    default: 30
  go_on:
    description:
      - Whether a pool whose rollout or profile fails does not stop the other pools. The task still fails,
        with the code of the first failure, once every other pool is ready or has failed too.
      - RV(pools) of the failed task then says which pools are ready.
      - If a pool used up O(wait_timeout), the others have two minutes more for their profiles.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Tune the nodes of a pool for training
  accelerators.openshift.node_tuning:
    pools:
      - name: training
        tuning: {profile: training}

- name: Tune all pools of a plan
  accelerators.openshift.node_tuning:
    pools: "{{ gpu_plan_result.plan.tunings }}"

- name: Set sysctls on nodes that another tool made
  accelerators.openshift.node_tuning:
    pools:
      - name: storage
        node_selector: {node-role.kubernetes.io/gpu: ""}
        tuning:
          sysctl: {net.core.rmem_max: 536870912, vm.swappiness: 1}

- name: Give the nodes a profile of your own
  accelerators.openshift.node_tuning:
    pools:
      - name: training
        tuning:
          profile: our-training
          data: |
            [main]
            include=openshift-node
            [vm]
            transparent_hugepages=always

- name: Give the nodes back
  accelerators.openshift.node_tuning:
    pools: [{name: training}]
    state: absent
"""

RETURN = r"""
pools:
  description:
    - Each pool with the name of its profile. With O(state=present) also its nodes, whether all of them run
      the profile, and in C(replaces) the profiles that nodes had before the task, each with its nodes.
    - C(reboots) has the nodes that reboot, in their order, C(machine_config_pool) the pool that they are in,
      and C(new_machines) says whether new machines boot straight into it.
    - C(message) of a node says what it waits for. C(deferred) is true for a node that takes the profile when
      it restarts.
  returned: success
  type: list
  elements: dict
  sample:
    - name: training
      profile: gpu-training
      ready: true
      nodes:
        - name: gpu-1
          active: gpu-training
          ready: true
          deferred: false
          message: "node gpu-1: profile gpu-training is applied"
      replaces: {openshift-node: [gpu-1]}
      reboots: []
      machine_config_pool: ""
      new_machines: ""
rebooted:
  description: The nodes that reboot, of all pools. In check mode those that would reboot.
  returned: success
  type: list
  elements: str
  sample: []
ends:
  description: What the reboots end (O(on_busy)), with nodes and pods, as in a failure with C(REBOOT-BUSY).
  returned: success
  type: list
  elements: dict
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
  sample: 1.2
"""

import typing as t

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
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned.params import (
    NodeTuningParams,
)

SPEC = ArgumentSpec(
    options={
        "pools": {
            "type": "list",
            "elements": "dict",
            "required": True,
            "options": {
                "name": {"type": "str", "required": True},
                "node_selector": {"type": "dict"},
                "tuning": {"type": "dict"},
                "arch": {"type": "str", "choices": ["amd64", "arm64"]},
                "instance_type": {"type": "str"},
                "vcpus": {"type": "int"},
                "memory_gib": {"type": "int"},
                "numa_nodes": {"type": "int"},
                "threads_per_core": {"type": "int"},
            },
        },
        "grace": {"type": "float", "default": 30},
        "go_on": {"type": "bool", "default": False},
    },
).merge(AUTH, LOCK, ON_BUSY, STATE, WAIT)


def ensure(api: Api, params: NodeTuningParams) -> dict[str, t.Any]:
    return steps.absent(api, params) if params["state"] == "absent" else steps.present(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
