#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_autoscaler
short_description: Let the cluster autoscaler scale pools of GPU nodes
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Creates one MachineAutoscaler for each machine set of the pools with C(autoscale), and sets GPU limits
    that allow the ClusterAutoscaler to scale the pools up to their C(max).
  - Merges its GPU limits into the ClusterAutoscaler C(default). It raises a limit that is too low for the
    pools and adds a missing one. Every other field and limit stays. An annotation records the limit before.
    When a pool is removed, or has C(replicas) instead, the module restores the old limit, unless somebody has
    changed it since.
  - The type of a limit is the value of the nodes' label C(cluster-api/accelerator), by which the autoscaler
    counts GPUs.
  - If there is no ClusterAutoscaler, the module creates one with these limits. It removes idle nodes. The
    module deletes it with the last pool.
  - Every zone may hold the whole pool, because the GPU limit keeps the pool at its C(max). If the limit is
    higher than the pool needs, or other pools have the same label, each zone gets an even part of C(max)
    instead.
  - Takes pools without C(autoscale) in the list back from the autoscaler.
  - Waits until the machine sets have their bounds and the deployment C(cluster-autoscaler-default) is
    available.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._lock
  - accelerators.openshift._auth
options:
  pools:
    description:
      - All pools, as in RV(accelerators.openshift.gpu_plan#module:plan.pools), or as users write them. Their
        machine sets must already exist.
      - Pass pools with the same accelerator label together, so that the limit is enough for all of them.
      - With O(state=absent) only the names of the pools matter.
    type: list
    elements: dict
    required: true
  namespace:
    description: Namespace of the Machine API.
    type: str
    default: openshift-machine-api
"""

EXAMPLES = r"""
- name: Scale from no node to eight, as pods request GPUs
  accelerators.openshift.gpu_autoscaler:
    pools:
      - name: training
        candidates: [{instance_type: g4dn.xlarge, zones: [us-east-2a, us-east-2b]}]
        autoscale: {min: 0, max: 8}

- name: Stop the autoscaling; the nodes stay
  accelerators.openshift.gpu_autoscaler:
    pools: [{name: training}]
    state: absent
"""

RETURN = r"""
autoscalers:
  description: The MachineAutoscalers of the pools.
  returned: success
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
  returned: success
  type: list
  elements: dict
  sample: [{type: nvidia-t4, min: 0, max: 8}]
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 3.4
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
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import autoscaling
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.draft import Place
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.plan import draft

SPEC = ArgumentSpec(
    options={
        "pools": {"type": "list", "elements": "dict", "required": True},
        "namespace": {"type": "str", "default": "openshift-machine-api"},
    },
).merge(AUTH, LOCK, STATE, WAIT)


def ensure(api: Api, params: autoscaling.GpuAutoscalerParams) -> dict[str, t.Any]:
    if params["state"] == "absent":
        return autoscaling.absent(
            api, [str(pool.get("name") or "") for pool in params["pools"]], params["namespace"]
        )
    pools = draft(params["pools"], "pools").pools(Place())
    return autoscaling.present(api, [pool for pool in pools if not pool.existing], params["namespace"])


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
