#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_admission
short_description: Keep devices spare, and tell pods why they do not run on GPU nodes
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Keeps a Deployment of placeholder pods for each pool that wants spare devices. Each of these pods holds
    one device and does no work. It has the priority class C(gpu-spare), so the scheduler ends it as soon as a
    pod that may preempt needs the device. While placeholder pods wait, the cluster autoscaler adds nodes.
  - With O(admission), a ValidatingAdmissionPolicy tells a pod that asks for a device and does not tolerate
    the taints of the pools why it does not run, and which toleration it lacks. The policy also looks at
    Deployments, StatefulSets, Jobs and CronJobs, so that the warning reaches the person who applies them.
  - The same policy tells a pod that uses no device, and tolerates the taint of the GPU nodes by its key, to
    stay away. It leaves pods of DaemonSets and namespaces of the platform (C(openshift-*), C(kube-*)) alone.
  - With O(add_tolerations), a MutatingAdmissionPolicy gives a pod that asks for a device the toleration that
    it lacks. It leaves all other pods alone.
  - The policies have the rules of all pools that tasks gave them, so two files of pools can share a cluster.
  - O(state=absent) takes the placeholder pods and the rules of O(pools) away. The policies go with their last
    pool, and the namespace of the placeholder pods goes with the last of these.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._lock
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  pools:
    description:
      - All pools of a run. C(partitions) of the plan that M(accelerators.openshift.gpu_plan) returns has this
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
      taints:
        description: Taints of the nodes, each with C(key), C(effect) and optionally C(value).
        type: list
        elements: dict
        default: []
      resources:
        description: What the nodes offer to pods. With O(pools[].spare) exactly one resource.
        type: list
        elements: str
        default: [nvidia.com/gpu]
      spare:
        description: Number of placeholder pods, each of which holds one device.
        type: int
        default: 0
  admission:
    description:
      - What the API server does about a pod that breaks a rule.
      - V(warn) answers the client with a warning. V(audit) only notes it in the audit log. V(deny) refuses
        the pod.
      - V(none) makes no policy, and takes the rules of O(pools) out of an existing one.
    type: str
    choices: [none, audit, warn, deny]
    default: none
  add_tolerations:
    description:
      - Whether a pod that asks for a device gets the toleration that it lacks. This needs O(admission).
      - Only tolerations of taints with the key of a device are added, such as C(nvidia.com/gpu). A taint with
        another key, such as C(dedicated), may keep a team off.
      - If pools that offer the same resource have different taints, a pod has to choose, and gets none.
      - On a cluster that serves no MutatingAdmissionPolicy the module only warns.
    type: bool
    default: false
  exempt_namespaces:
    description:
      - Further namespaces that the policies do not look at.
      - They never look at those of the platform, at C(nvidia-gpu-operator) and C(nvidia-network-operator),
        and at pods that an object of an operator owns, such as a ClusterPolicy or a NicClusterPolicy.
    type: list
    elements: str
    default: []
  spare_namespace:
    description: Namespace of the placeholder pods. The module creates it if it does not exist.
    type: str
    default: gpu-spare
  spare_image:
    description:
      - Image of the placeholder pods, which only have to sleep. A disconnected cluster needs a mirror of it.
    type: str
    default: registry.k8s.io/pause:3.10
  prove:
    description:
      - Whether to prove a policy that the task has written. The module sends a dry run of a pod that asks for
        a device and tolerates nothing, and returns what the API server says as C(admission.proof).
      - The task fails with C(POLICY-NOT-ACTIVE) if the API server lets this pod pass without a word.
    type: bool
    default: false
  proof_namespace:
    description: Namespace of that pod. In a namespace that does not exist nothing can be proved.
    type: str
    default: gpu-validation
seealso:
  - module: accelerators.openshift.gpu_quota
"""

EXAMPLES = r"""
- name: Tell pods without the toleration why they do not run
  accelerators.openshift.gpu_admission:
    pools:
      - name: training
        taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
    admission: warn

- name: Add the toleration to pods that ask for GPUs, and keep two GPUs spare
  accelerators.openshift.gpu_admission:
    pools:
      - name: training
        taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
        spare: 2
    admission: warn
    add_tolerations: true

- name: Keep the partition of all pools of a plan
  accelerators.openshift.gpu_admission:
    pools: "{{ gpu_plan_result.plan.partitions }}"

- name: Remove what belongs to a pool
  accelerators.openshift.gpu_admission:
    pools: [{name: training}]
    state: absent
"""

RETURN = r"""
spare:
  description:
    - Each pool, with the spare devices that it wants, and how many placeholder pods ran before the task.
  returned: success
  type: list
  elements: dict
  sample: [{name: training, spare: 2, running: 2}]
admission:
  description:
    - What the policies do, and the pools whose rules they have. C(adds) lists the resources whose pods get a
      toleration. C(proof) is null if the task has proved nothing.
  returned: success
  type: dict
  sample: {action: warn, pools: [training], adds: [nvidia.com/gpu], proof: null}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.4
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._policy import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._policy.options import GpuAdmissionParams

SPEC = ArgumentSpec(
    options={
        "pools": {
            "type": "list",
            "elements": "dict",
            "required": True,
            "options": {
                "name": {"type": "str", "required": True},
                "node_selector": {"type": "dict"},
                "taints": {"type": "list", "elements": "dict", "default": []},
                "resources": {"type": "list", "elements": "str", "default": ["nvidia.com/gpu"]},
                "spare": {"type": "int", "default": 0},
            },
        },
        "admission": {"type": "str", "choices": ["none", "audit", "warn", "deny"], "default": "none"},
        "add_tolerations": {"type": "bool", "default": False},
        "exempt_namespaces": {"type": "list", "elements": "str", "default": []},
        "spare_namespace": {"type": "str", "default": "gpu-spare"},
        "spare_image": {"type": "str", "default": "registry.k8s.io/pause:3.10"},
        "prove": {"type": "bool", "default": False},
        "proof_namespace": {"type": "str", "default": "gpu-validation"},
    },
).merge(AUTH, LOCK, STATE, WAIT)


def ensure(api: Api, params: GpuAdmissionParams) -> dict[str, t.Any]:
    return steps.absent(api, params) if params["state"] == "absent" else steps.present(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
