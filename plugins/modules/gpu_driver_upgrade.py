#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_driver_upgrade
short_description: Upgrade the GPU driver node by node, with a canary, gates and a rollback
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Gives GPU nodes another driver, first one node (the canary), then the others in waves. After each wave the
    module checks the whole stack of its nodes, validates their GPUs, and runs the user's probe.
  - The GPU operator's upgrade controller replaces the drivers. It empties a node of pods with GPUs first. The
    module never deletes a driver pod. It holds back the nodes whose turn has not come, by the label
    C(nvidia.com/gpu-driver-upgrade.skip=true).
  - Works with the driver of a ClusterPolicy and with NVIDIADriver objects, one for each pool.
  - Pods that belong together (a JobSet, a LeaderWorkerSet, a pod group, a Job with completion indexes, a
    training job of Kubeflow) end together. With O(on_busy=drain) the module evicts such a gang whole before
    the controller begins with one of its nodes, or not at all if a PodDisruptionBudget keeps a part of it.
  - At the first failure the module stops. It writes the old driver back where the upgrade failed, and leaves
    the nodes that worked as they are.
  - Keeps the state of the upgrade in the ConfigMap C(gpu-driver-upgrade) of O(namespace). A later run, also
    one on another machine, goes on where an earlier one was killed, paused or ended.
  - In check mode the result has the plan, the pods that would end, and the first writes.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._lock
  - accelerators.openshift._drain
  - accelerators.openshift._auth
options:
  action:
    description:
      - V(run) begins an upgrade, or goes on with an interrupted one. A paused one stays paused.
      - V(pause) asks the run that upgrades to stop after its wave. It needs no lease, so it works while that
        run goes on.
      - V(resume) goes on with a paused upgrade, whatever driver the options name.
      - V(status) returns how far the upgrade is, and writes nothing.
    type: str
    choices: [pause, resume, run, status]
    default: run
  version:
    description: Version of the driver. O(repository) and O(image) are required with it.
    type: str
  repository:
    description: Repository of the driver's image, such as C(nvcr.io/nvidia).
    type: str
  image:
    description: Name of the driver's image, such as C(driver).
    type: str
  branch:
    description:
      - Branch of the driver, such as V(580), instead of O(version). The module knows the newest version of
        each branch that NVIDIA publishes for the GPU operator.
      - O(repository) and O(image) name a mirror of it. The default is C(nvcr.io/nvidia/driver).
    type: str
  pools:
    description:
      - Pools whose nodes are upgraded. Each entry has C(name) and C(node_selector), and may have
        C(expected), as C(groups) in RV(accelerators.openshift.gpu_plan#module:plan) returns them.
      - By default all nodes on which the GPU operator runs a driver.
    type: list
    elements: dict
    default: []
  only:
    description:
      - Names of the pools to upgrade. By default all. A name that O(pools) does not have is refused
        (C(POOL-UNKNOWN)).
      - Without O(pools), the nodes of these pools have the label C(accelerators.openshift/pool).
    type: list
    elements: str
    default: []
  canary:
    description:
      - Name of the node that is upgraded first and alone. The default is the node with the fewest pods with
        GPUs.
    type: str
  wave:
    description:
      - How many nodes of a pool are upgraded together after the canary, as a number or as a percentage of the
        pool. A number larger than the largest pool is refused.
    type: str
    default: "1"
  window:
    description: Hours of the day in UTC in which a wave may begin, such as V(22:00-04:00).
    type: str
  outside_window:
    description:
      - What the task does outside O(window). V(end) ends the task with success, and the next run goes on.
        V(wait) waits for the window, without the lease.
    type: str
    choices: [end, wait]
    default: end
  wait_for:
    description:
      - Label selector of pods for which the upgrade controller waits before it empties a node, such as
        V(app=training). The module writes it to C(upgradePolicy.waitForCompletion) for the time of the
        upgrade.
    type: str
  probe:
    description:
      - Manifest of a Job. It runs on each upgraded node, with the node's name in its node selector. If it
        fails, the wave has failed.
    type: dict
  rollback:
    description: Whether to write the old driver back where the upgrade failed.
    type: bool
    default: true
  validate:
    description: Whether to validate the GPUs of each wave, as M(accelerators.openshift.gpu_workload) does.
    type: bool
    default: true
  validation:
    description:
      - Options of that validation. C(namespace), C(programs), C(expectations), C(tolerance), C(image),
        C(benchmark), C(claims), C(hold) and C(grace) mean what they mean in
        M(accelerators.openshift.gpu_workload). A program that fails, or whose figure is too low, stops the
        upgrade.
    type: dict
  queues:
    description:
      - What to do with the ClusterQueues of Kueue that give GPUs of the upgraded pools to Workloads. Without
        Kueue in the cluster the option has no meaning.
      - V(hold) sets C(stopPolicy) to C(Hold). The queue then admits nothing new while its pool is upgraded.
      - V(drain) sets it to C(HoldAndDrain), so that Kueue also requeues all Workloads of the queue, and waits
        until those on the pool are gone. It needs O(on_busy=drain).
      - V(leave) does not touch queues.
      - By default the task drains a queue with O(on_busy=drain), and holds it otherwise. It only holds one
        that also has Workloads on other nodes, since C(HoldAndDrain) would end these too.
      - A queue that somebody else stopped stays as it is. The others get their C(stopPolicy) back when their
        pool is done, when the upgrade fails or pauses, and from the next run after one that was killed.
      - A task with O(wait=false) touches no queue.
    type: str
    choices: [drain, hold, leave]
  adopt:
    description:
      - What to do with a ClusterPolicy or NVIDIADriver that this collection did not create. V(report) refuses
        the upgrade, V(take) changes its driver.
    type: str
    choices: [report, take]
    default: report
  namespace:
    description: Namespace of the GPU operator.
    type: str
    default: nvidia-gpu-operator
  node_timeout:
    description: How many seconds one node may take. A wave may take that long for each of its nodes.
    type: int
    default: 1800
  grace:
    description:
      - For how many seconds a trouble may last before the wave fails. The default is 60 s, and 300 s for
        containers that crash, for images, and for a controller that does not begin.
    type: float
  settle:
    description: For how many seconds the stack of a wave has to stay whole before the wave counts as done.
    type: float
    default: 5
seealso:
  - module: accelerators.openshift.special_resource
  - module: accelerators.openshift.gpu_workload
"""

EXAMPLES = r"""
- name: Show the plan, and the pods that would end
  accelerators.openshift.gpu_driver_upgrade:
    branch: "580"
  check_mode: true

- name: Upgrade two nodes at a time after the canary, and let pods with GPUs end
  accelerators.openshift.gpu_driver_upgrade:
    repository: nvcr.io/nvidia
    image: driver
    version: 580.173.02
    wave: "2"
    on_busy: drain

- name: Stop after the wave that is under way
  accelerators.openshift.gpu_driver_upgrade:
    action: pause
"""

RETURN = r"""
driver_upgrade:
  description:
    - The upgrade. C(phase) is C(done), C(running), C(paused), C(outside-window), C(failed), C(rolling-back),
      C(rolled-back), or C(none) if there never was one. C(plan) has the nodes in their order,
      with the seconds of the last upgrade, then queues and gangs. C(stopped_queues) has the ClusterQueues
      that are stopped now. C(ends) has the pods that end. With O(action=status), C(troubles)
      has node, code, message and remedy of what keeps nodes from the driver.
  returned: success, or a failed wave
  type: dict
  sample:
    phase: done
    wanted: {repository: nvcr.io/nvidia, image: driver, version: 580.173.02}
    waves: []
    passed: [gpu-0, gpu-1]
    failed: []
    failure: ""
    pausing: false
    stopped_queues: []
    plan: ["canary: gpu-0 (last time 204 s)", "wave 1: gpu-1 (last time 198 s)"]
    nodes:
      - name: gpu-0
        pool: all
        driver: nvcr.io/nvidia/driver:580.173.02-rhel9.6
        state: upgrade-done
        held: false
        seconds: 211.4
    ends: []
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
    - {list: driver_upgrade.nodes, pool: training, number: 380, sums: {seconds: 91200.0}}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 431.7
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 402.2
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.adoption import OPTION as ADOPT
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    WAIT,
    ArgumentSpec,
    read,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.options import DRAIN
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.options import (
    GpuDriverUpgradeParams,
)

SPEC = ArgumentSpec(
    options={
        "action": {"type": "str", "choices": ["pause", "resume", "run", "status"], "default": "run"},
        "version": {"type": "str"},
        "repository": {"type": "str"},
        "image": {"type": "str"},
        "branch": {"type": "str"},
        "pools": {"type": "list", "elements": "dict", "default": []},
        "only": {"type": "list", "elements": "str", "default": []},
        "canary": {"type": "str"},
        "wave": {"type": "str", "default": "1"},
        "window": {"type": "str"},
        "outside_window": {"type": "str", "choices": ["end", "wait"], "default": "end"},
        "wait_for": {"type": "str"},
        "probe": {"type": "dict"},
        "rollback": {"type": "bool", "default": True},
        "validate": {"type": "bool", "default": True},
        "validation": {"type": "dict"},
        "queues": {"type": "str", "choices": ["drain", "hold", "leave"]},
        **ADOPT,
        "namespace": {"type": "str", "default": "nvidia-gpu-operator"},
        "node_timeout": {"type": "int", "default": 1800},
        "grace": {"type": "float"},
        "settle": {"type": "float", "default": 5},
    },
).merge(DRAIN, AUTH, LOCK, WAIT)


def ensure(api: Api, params: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    return steps.ensure(api, read(GpuDriverUpgradeParams, params))


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
