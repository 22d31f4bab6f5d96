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
  - Makes one MachineAutoscaler for each machine set of the pools that have C(autoscale), and lets the ClusterAutoscaler grow them to their C(max).
  - The GPU limits of the ClusterAutoscaler C(default) are merged, never replaced. A limit that is too low for the pools is raised, a missing one is
    added, and every other field and limit stays. An annotation remembers what was there before; when a pool is gone, or has C(replicas) instead,
    it is put back, unless somebody has changed the limit since.
  - The type of a limit is the value of the nodes' label C(cluster-api/accelerator), by which the autoscaler counts GPUs.
  - Where there is no ClusterAutoscaler, one is made with these limits. It gives back nodes that nobody needs any more, and goes with the last pool.
  - Every zone may take the whole pool, since the GPU limit keeps it to its C(max). Where the limit does not do that, because it is higher than the
    pool needs or other pools have the same label, each zone gets an even part of C(max).
  - Pools without C(autoscale) in the list are taken back from the autoscaler.
  - Waits until the machine sets have their bounds and the deployment C(cluster-autoscaler-default) is available.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - kubernetes.core.k8s_auth_options
options:
  pools:
    description:
      - All pools, as RV(accelerators.openshift.gpu_plan#module:plan.pools) has them, or as their user writes them. Their machine sets have to be there already.
      - Give pools of the same accelerator label together, so that the limit suffices for all of them.
      - With O(state=absent) only their names count.
    type: list
    elements: dict
    required: true
  namespace:
    description: Namespace of the Machine API.
    type: str
    default: openshift-machine-api
"""

EXAMPLES = r"""
- name: From no node to eight, as pods ask for them
  accelerators.openshift.gpu_autoscaler:
    pools:
      - name: training
        candidates: [{instance_type: g4dn.xlarge, zones: [us-east-2a, us-east-2b]}]
        autoscale: {min: 0, max: 8}

- name: No autoscaler any more; the nodes stay
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
  sample: [{name: demo-x7k2p-training-us-east-2a, pool: training, machine_set: demo-x7k2p-training-us-east-2a, min: 0, max: 8}]
limits:
  description: All GPU limits of the ClusterAutoscaler, those of others too.
  returned: success
  type: list
  elements: dict
  sample: [{type: nvidia-t4, min: 0, max: 8}]
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 3.4
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.autoscaler import (
    steps as autoscaler_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import plan as pool_plan

SPEC = ArgumentSpec(
    options={
        "pools": {"type": "list", "elements": "dict", "required": True},
        "namespace": {"type": "str", "default": "openshift-machine-api"},
    },
).merge(AUTH, STATE, WAIT)


def ensure(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    if params["state"] == "absent":
        return autoscaler_steps.absent(
            api, [str(pool.get("name") or "") for pool in params["pools"]], params["namespace"]
        )
    pools = pool_plan.plan(params["pools"], "pools")["pools"]
    return autoscaler_steps.present(
        api, [pool for pool in pools if not pool["existing"]], params["namespace"]
    )


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
