#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_repartition
short_description: Change the MIG geometry of nodes that are there, one after another
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Gives each node of the pools the geometry of its pool. A node that has it stays as it is.
  - Asks before the first write what that ends (O(on_busy)). Then it writes the geometry into the templates
    of the machine sets, and takes one node after the other - it cordons and drains the node, gives it the
    label C(nvidia.com/mig.config), follows the state of the MIG manager, counts every resource that the node
    offers, and makes the node schedulable again.
  - If the MIG manager fails, the node gets its old geometry again, and the task fails with the line of the
    log (C(GPU-MIG-FAILED)). The nodes after it keep their geometry.
  - A change that waits for a reboot of the node fails with C(GPU-MIG-REBOOT), unless the MIG manager may
    reboot it (O(accelerators.openshift.gpu_sharing#module:mig_reboot)).
  - The next run resumes an interrupted one.
  - The configurations have to exist, and the ClusterPolicy has to name them
    (M(accelerators.openshift.gpu_sharing)). The playbook C(repartition) does all of it.
  - Nodes that offer no GPUs yet are left to M(accelerators.openshift.gpu_sharing).
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._drain
  - accelerators.openshift._lock
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  pools:
    description:
      - Pools, as O(accelerators.openshift.gpu_sharing#module:pools). C(sharings) of the plan that
        M(accelerators.openshift.gpu_plan) returns has this form.
      - With O(state=absent), the nodes of these pools that this collection partitioned get whole GPUs.
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
          - The default is the label C(accelerators.openshift/pool=NAME).
        type: dict
      sharing:
        description:
          - How pods share a GPU, as C(sharing) of an entry of C(gpu_pools). Without C(mig), whole GPUs.
        type: dict
      partitions:
        description: With C(mig), the configuration for each instance type.
        type: list
        elements: dict
      expected:
        description: What each node has to offer, as number by resource.
        type: dict
  namespace:
    description: Namespace of the GPU operator.
    type: str
    default: nvidia-gpu-operator
  machine_namespace:
    description: Namespace of the Machine API.
    type: str
    default: openshift-machine-api
  node_timeout:
    description: Seconds in which a drained node has to get its geometry, with a reboot if it needs one.
    type: int
    default: 1800
seealso:
  - module: accelerators.openshift.gpu_sharing
"""

EXAMPLES = r"""
- name: Show what another geometry would end
  accelerators.openshift.gpu_repartition:
    pools: "{{ gpu_plan_result.plan.sharings }}"
    on_busy: drain
  check_mode: true

- name: Give the nodes of all pools their geometry
  accelerators.openshift.gpu_repartition:
    pools: "{{ gpu_plan_result.plan.sharings }}"
    on_busy: drain

- name: Give the nodes of a pool whole GPUs
  accelerators.openshift.gpu_repartition:
    pools: [{name: inference}]
    state: absent
    on_busy: wait
"""

RETURN = r"""
turns:
  description: The nodes whose geometry had to change, with the names of the configurations.
  returned: success
  type: list
  elements: dict
  sample: [{node: gpu-1, pool: inference, before: all-disabled, after: gpu-inference-1f0c9d3a}]
done:
  description: The nodes that got their geometry. A task that fails returns it too.
  returned: always
  type: list
  elements: str
  sample: [gpu-1]
ends:
  description: What the drains end (O(on_busy)), with nodes and pods.
  returned: success
  type: list
  elements: dict
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 187.2
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
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.options import DRAIN
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import health
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import repartition_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.repartition import (
    GpuRepartitionParams,
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
                "sharing": {"type": "dict"},
                "partitions": {"type": "list", "elements": "dict"},
                "expected": {"type": "dict"},
            },
        },
        "namespace": {"type": "str", "default": "nvidia-gpu-operator"},
        "machine_namespace": {"type": "str", "default": "openshift-machine-api"},
        "node_timeout": {"type": "int", "default": 1800},
    },
).merge(AUTH, DRAIN, LOCK, STATE, WAIT)


def ensure(api: Api, params: GpuRepartitionParams) -> dict[str, t.Any]:
    return repartition_steps.ensure(api, params, health.paused)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
