#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_preemption
short_description: Prove that GPU work of a high priority pushes out work of a low one, and nothing else
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Looks for a node of each pool with two free devices and no pod that a pod of the high class could push
    out. Fills the free devices with a pod of the low class, which requests one, and a pod of the high class,
    which requests the others. Then it asks for one device more with the high class.
  - The scheduler has to end the pod of the low class, and no other. The task fails with C(POLICY-PREEMPTION)
    if no pod ends, or if another pod of the node ends.
  - No pod of others can end. A pool without such a node is not proven, with a warning that says why.
  - The pods are deleted at the end. They end by themselves if the run is killed.
  - Check mode only looks for the nodes.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  pools:
    description:
      - Pools with their priority classes. C(preemptions) of the plan that
        M(accelerators.openshift.gpu_plan) returns has this form.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the pool.
        type: str
        required: true
      node_selector:
        description: Labels of the nodes of the pool.
        type: dict
        required: true
      tolerations:
        description: Tolerations of the pods.
        type: list
        elements: dict
        default: []
      resource:
        description: What the pods request.
        type: str
        default: nvidia.com/gpu
      low:
        description: Name of the priority class whose pod has to end.
        type: str
        required: true
      high:
        description: Name of the priority class for which it ends.
        type: str
        required: true
  namespace:
    description: Namespace of the pods, which has to exist.
    type: str
    default: gpu-validation
  image:
    description: Image of the pods, which only sleep. The default is C(registry.k8s.io/pause:3.10).
    type: str
  grace:
    description: For how many seconds the module waits for the scheduler, each time.
    type: float
    default: 60
seealso:
  - module: accelerators.openshift.gpu_partition
"""

EXAMPLES = r"""
- name: Prove that training pushes out batch work
  accelerators.openshift.gpu_preemption:
    pools:
      - name: training
        node_selector: {accelerators.openshift/pool: training}
        low: gpu-batch
        high: gpu-training
"""

RETURN = r"""
pools:
  description:
    - Each pool with the node of the proof, the pod that ended, and how many pods of that node stayed.
    - C(proven) is false if there was no node for a proof, and null in check mode.
  returned: success
  type: list
  elements: dict
  sample:
    - name: training
      node: gpu-0
      proven: true
      pushed_out: preemption-a1b2c3-low
      stayed: 7
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 3.4
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 2.5
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._policy import preemption_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._policy.preemption import (
    GpuPreemptionParams,
)

SPEC = ArgumentSpec(
    options={
        "pools": {
            "type": "list",
            "elements": "dict",
            "required": True,
            "options": {
                "name": {"type": "str", "required": True},
                "node_selector": {"type": "dict", "required": True},
                "tolerations": {"type": "list", "elements": "dict", "default": []},
                "resource": {"type": "str", "default": "nvidia.com/gpu"},
                "low": {"type": "str", "required": True},
                "high": {"type": "str", "required": True},
            },
        },
        "namespace": {"type": "str", "default": "gpu-validation"},
        "image": {"type": "str"},
        "grace": {"type": "float", "default": 60.0},
    },
).merge(AUTH, WAIT)


def ensure(api: Api, params: GpuPreemptionParams) -> dict[str, t.Any]:
    return preemption_steps.ensure(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
