#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_machineset
short_description: Create, scale and repair the GPU nodes of a pool by machine sets
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Derives one machine set per zone from a plain worker machine set of the same zone, named
    C(INFRASTRUCTURE-POOL-ZONE). Spreads the replicas evenly, and waits until every machine is a Ready
    node with the labels and taints of the pool.
  - Copies only known fields of the worker set. It does not copy how that set's machines are bought, grouped
    or balanced.
  - In an existing set the image and all other copied fields stay as they are now. The module changes
    replicas, labels, taints, disk and market. Labels and taints reach existing machines and nodes too.
    Another instance type is refused (C(POOL-DRIFT)), unless O(on_change=replace).
  - Deletes the pool's sets in zones that the pool no longer has, once the others are ready.
  - Fails at once with the provider's own text when a machine is C(Failed), and after O(capacity_timeout) when
    the provider has no capacity.
  - With O(health), or C(health) in O(pool), maintains one MachineHealthCheck for the pool, named
    C(INFRASTRUCTURE-POOL), once the machines are complete. The check deletes a machine that is Failed,
    whose node did not appear in time, or whose node is gone, not Ready or silent for too long. The machine
    set then creates a new machine. Without a check, a Failed machine (for example a reclaimed spot instance)
    stays Failed, and the pool has one node less.
  - Only the condition Ready of a node counts for the check. It does not touch a node that is cordoned or
    drained for a driver upgrade. A node that reboots has C(unhealthy_after) for the reboot.
  - While this collection replaces machines of the pool, it pauses the check (annotation
    C(cluster.x-k8s.io/paused)). A killed run leaves the check paused, and the next run ends the pause. A
    foreign pause stays.
  - For a pool with C(autoscale), creates one MachineAutoscaler for each machine set, and merges GPU limits
    into the ClusterAutoscaler C(default) that let it scale the pool up to its C(max). It raises a limit that
    is too low and adds a missing one. Every other field and limit stays. An annotation records the limit
    before. When the pool is removed, or has C(replicas) instead, the module restores the old limit, unless
    somebody has changed it since.
  - The type of a limit is the value of the nodes' label C(cluster-api/accelerator), by which the autoscaler
    counts GPUs. If there is no ClusterAutoscaler, the module creates one with these limits. It removes idle
    nodes. The module deletes it with the last pool.
  - Every zone may hold the whole pool, because the GPU limit keeps the pool at its C(max). If the limit is
    higher than the pool needs, or other pools have the same label, each zone gets an even part of C(max)
    instead.
  - With O(wait=false) the module only asks for machines. The health check and the autoscaler come when it
    waits.
  - Supports AWS, Azure, Google Cloud, bare metal, vSphere, OpenStack, Nutanix and IBM Cloud, and with
    O(provider_spec_patch) any other platform with a Machine API.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._lock
  - accelerators.openshift._changes
  - accelerators.openshift._drain
  - accelerators.openshift._joining
  - accelerators.openshift._machines
  - accelerators.openshift._platforms
  - accelerators.openshift._auth
options:
  name:
    description: Name of the pool.
    type: str
  pool:
    description:
      - The whole pool, an entry of C(gpu_pools) or of the pools that M(accelerators.openshift.gpu_plan)
        returns. It replaces O(name) and the options about machines.
      - For a pool with C(autoscale) this module creates the first machines, and hands the pool to the
        autoscaler. After that the module keeps the number of machines, unless it is below C(min). If
        C(autoscale) is removed from a pool, the module first takes the pool back from the autoscaler.
    type: dict
  candidates:
    description: Instance types with their zones, as in RV(accelerators.openshift.gpu_plan#module:plan.pools).
    type: list
    elements: dict
  instance_type:
    description: Instance type, instead of O(candidates).
    type: str
  zones:
    description: Zones of O(instance_type).
    type: list
    elements: str
  replicas:
    description: The number of nodes in all zones together.
    type: int
    default: 1
  min_replicas:
    description:
      - The least number of nodes that is enough if no candidate has all; the default is O(replicas).
      - With fewer nodes the task fails, and the pool keeps what it got. O(state=absent) gives it back.
    type: int
  mixed:
    description: Whether the pool may have several instance types, each from its own candidate.
    type: bool
    default: false
  reselect:
    description:
      - Whether a pool that was complete once may move to another candidate when its own has no capacity. The
        new nodes are ready before the old ones are drained and removed.
    type: bool
    default: false
  on_scaled:
    description:
      - What happens to a machine set that somebody scaled by hand (C(oc scale), the console) since the pool
        was complete. A warning says which tool did it, when, and from which number to which.
      - V(keep) keeps the live number. V(take) sets the pool's number again.
    type: str
    choices: [keep, take]
    default: keep
  adopt:
    description:
      - What to do with a field of the pool's machine sets that another field manager set to another value.
      - V(report) fails with C(API-CONFLICT) before anything is changed, and names the field, both values and
        the manager. V(take) sets the field.
      - It does not concern C(replicas) (O(on_scaled)) and boot images, which OpenShift updates.
    type: str
    choices: [report, take]
    default: report
  health:
    description:
      - The pool's MachineHealthCheck, as C(health) of O(pool). V(true) is a check with the defaults, V(false)
        removes the check, and a mapping sets C(startup_timeout), C(unhealthy_after), C(max_unhealthy) or
        C(paused). Without it the module neither makes nor removes a check.
      - C(startup_timeout) is how long a machine may take to become a node, for example V(20m). V(0) means
        without limit. The default is V(30m) on bare metal and V(20m) elsewhere.
      - C(unhealthy_after) is how long a node may be not Ready or silent. This must be longer than a reboot.
        The default is V(20m) on bare metal and V(10m) elsewhere.
      - C(max_unhealthy) is the largest number of unhealthy machines with which the check still replaces
        machines, as a number or a percentage (rounded down) of the pool's machines. Starting machines count
        as unhealthy. V(0) replaces nothing and only reports. The default is 1, so that a pool that is ill as
        a whole keeps its machines. The cloud may not have the GPUs again. With the market C(capacity_block)
        the value is always 0, because every machine fails at the end of the block, and new ones would fail
        for ever.
      - C(paused) pauses the check, so that it replaces nothing.
    type: raw
  other_pools:
    description:
      - The other pools, for a pool with C(autoscale), as in
        RV(accelerators.openshift.gpu_plan#module:plan.pools) or as users write them. The GPUs of those with
        the same accelerator label count against the same limit of the ClusterAutoscaler. An entry for the
        pool itself means nothing.
    type: list
    elements: dict
    default: []
  source_machine_set:
    description:
      - Name of the machine set to copy from, or a list with one for each zone.
      - The default in each zone is the first plain worker set by name. Not taken are sets of Windows
        machines, of another architecture, with GPUs, with taints, of another role such as infra, and sets
        that are being deleted. A warning names them.
      - C(source_machine_set) inside O(pool) wins.
    type: list
    elements: str
    default: []
  namespace:
    description: Namespace of the Machine API.
    type: str
    default: openshift-machine-api
"""

EXAMPLES = r"""
- name: Create two T4 nodes in two zones
  accelerators.openshift.gpu_machineset:
    name: inference
    instance_type: g4dn.xlarge
    zones: [us-east-2a, us-east-2b]
    replicas: 2

- name: Create a tainted pool of spot instances with a large disk
  accelerators.openshift.gpu_machineset:
    name: training
    candidates:
      - {instance_type: p4d.24xlarge, zones: [us-east-2a]}
    replicas: 1
    market: spot
    labels: {team: ml}
    taints:
      - {key: nvidia.com/gpu, value: training, effect: NoSchedule}
    disk: {size_gib: 200, type: gp3, iops: 6000}
    wait_timeout: 3600

- name: Replace one unhealthy machine at a time, and wait longer for a node that reboots
  accelerators.openshift.gpu_machineset:
    name: inference
    instance_type: g4dn.xlarge
    zones: [us-east-2a]
    health: {unhealthy_after: 30m}

- name: Scale from no node to eight, as pods request GPUs
  accelerators.openshift.gpu_machineset:
    pool:
      name: training
      candidates: [{instance_type: g4dn.xlarge, zones: [us-east-2a, us-east-2b]}]
      autoscale: {min: 0, max: 8}

- name: Remove the pool
  accelerators.openshift.gpu_machineset: {name: training, state: absent}
"""

RETURN = r"""
machine_sets:
  description: The pool's machine sets.
  returned: always
  type: list
  elements: dict
  sample:
    - name: demo-x7k2p-inference-us-east-2a
      zone: us-east-2a
      instance_type: g4dn.xlarge
      replicas: 1
      ready_replicas: 1
machines:
  description: The machines of these sets, also on failure.
  returned: always
  type: list
  elements: dict
  sample:
    - name: demo-x7k2p-inference-us-east-2a-9vw7p
      machine_set: demo-x7k2p-inference-us-east-2a
      phase: Running
      node: ip-10-0-1-2
      error: ""
troubled:
  description:
    - The last message of each machine that got no instance or lost it. The machine itself may be gone,
      because the task moved on or a health check deleted it.
    - If the pool was not complete, this also lists the machines that a health check deleted within the last
      hour (C(MACH-REMEDIATED)), from the events about them.
    - C(since) is the time of the provider's first such message.
  returned: always
  type: list
  elements: dict
  sample:
    - name: demo-x7k2p-training-us-east-2a-4kq2d
      phase: Provisioning
      code: MACH-CAPACITY
      error: no capacity
      since: "2026-11-21T10:00:00Z"
nodes:
  description: The nodes of these machines, with the devices that each node should offer.
  returned: always
  type: list
  elements: dict
  sample:
    - name: ip-10-0-1-2
      zone: us-east-2a
      instance_type: g4dn.xlarge
      ready: true
      expected: {nvidia.com/gpu: 1}
drift:
  description:
    - Differences between the live pool and its description, by field. C(machines) lists the machines that
      have the live value. Boot images do not count.
  returned: when the pool's machines are complete
  type: list
  elements: dict
  sample:
    - {machine_set: demo-x7k2p-inference-us-east-2a, field: labels.team, live: ml, wanted: ai, machines: []}
other_pools:
  description: Names of the other pools that have machine sets of this collection.
  returned: success
  type: list
  elements: str
  sample: [inference]
health_check:
  description: The pool's MachineHealthCheck as it is now.
  returned: success, for a pool with C(health)
  type: dict
  sample:
    name: demo-x7k2p-training
    startup_timeout: 20m
    unhealthy_after: 10m
    max_unhealthy: 1
    paused: false
    expected: 2
    healthy: 2
other_checks:
  description: Names of foreign health checks that select machines of the pool. A warning names them too.
  returned: success, for a pool with C(health)
  type: list
  elements: str
  sample: []
autoscalers:
  description: The MachineAutoscalers of the pool.
  returned: success, for a pool with C(autoscale)
  type: list
  elements: dict
  sample:
    - name: demo-x7k2p-training-us-east-2a
      pool: training
      machine_set: demo-x7k2p-training-us-east-2a
      min: 0
      max: 8
limits:
  description: All GPU limits of the ClusterAutoscaler, including foreign ones.
  returned: success, for a pool with C(autoscale)
  type: list
  elements: dict
  sample: [{type: nvidia-t4, min: 0, max: 8}]
removed:
  description:
    - Machines that the pool lost because it got smaller, or gave up a zone or an instance type. In check
      mode, machines that it would lose.
  returned: success
  type: list
  elements: dict
  sample:
    - machine: demo-x7k2p-inference-us-east-2a-9vw7p
      machine_set: demo-x7k2p-inference-us-east-2a
      node: ip-10-0-1-2
replaced:
  description: Machines that O(on_change=replace) replaced. In check mode, machines that it would replace.
  returned: when the pool's machines are complete
  type: list
  elements: dict
  sample: []
attempts:
  description: What the task requested from the provider, and the outcome.
  returned: when machines did not become nodes
  type: list
  elements: dict
  sample:
    - instance_type: p5.48xlarge
      zones: [us-east-2a]
      wanted: 2
      obtained: 0
      code: MACH-CAPACITY
      message: no capacity
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
    - {list: nodes, pool: "", number: 380, sums: {expected: {nvidia.com/gpu: 380}}}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 211.4
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 3.5
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    STATE,
    WAIT,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.options import CHANGES
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.pool_options import (
    MACHINES,
    GpuMachinesetParams,
    check,
    draft,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import machines

SPEC = MACHINES.merge(CHANGES, AUTH, LOCK, STATE, WAIT)


def ensure(api: Api, params: GpuMachinesetParams) -> dict[str, t.Any]:
    name = str((params.get("pool") or params).get("name") or "")
    check(params, name)
    if params["state"] == "absent":
        return machines.absent(api, name, params)
    return machines.present(api, draft(params), params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
