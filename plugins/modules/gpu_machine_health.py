#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_machine_health
short_description: Have ill machines of a GPU pool replaced
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Keeps one MachineHealthCheck for a pool, named C(<infrastructure>-<pool>). It deletes machines that are Failed, whose node was not there in time, or whose
    node is gone, not Ready or silent for too long; their machine set then makes new ones.
  - Without it a machine that is Failed (a spot instance that was reclaimed, say) stays so, and the pool has one node less.
  - Only the condition Ready of a node counts. A node that is cordoned or drained for a driver upgrade is not touched, and one that reboots has
    O(unhealthy_after) for that.
  - A check that somebody else made for the same machines is named in a warning, and returned.
  - While this collection replaces machines of the pool itself it pauses the check (annotation C(cluster.x-k8s.io/paused)); a run that was killed leaves it
    paused, and the next run of this module lets it go on. A pause that somebody else set stays.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - kubernetes.core.k8s_auth_options
options:
  name:
    description: Name of the pool.
    type: str
  pool:
    description:
      - The whole pool, an entry of C(gpu_pools) or of what M(accelerators.openshift.gpu_plan) returns. Its C(health) is taken instead of the options below.
      - With C(health=false) in it the check is taken away; a pool that says nothing of it gets one with the defaults.
    type: dict
  startup_timeout:
    description:
      - How long a machine may take to become a node, such as V(20m). V(0) is for ever.
      - By default V(30m) on bare metal and V(20m) elsewhere.
    type: str
  unhealthy_after:
    description:
      - For how long a node may be not Ready, or say nothing. A reboot must fit in.
      - By default V(20m) on bare metal and V(10m) elsewhere.
    type: str
  max_unhealthy:
    description:
      - With how many machines that are not healthy, as a number or a percentage (rounded down) of the pool's, any are still replaced. Machines that start are
        among them. V(0) replaces nothing, and reports only.
      - By default 1, so that a pool that is ill as a whole keeps its machines - GPUs that are given back may be gone. With a market C(capacity_block) always 0,
        since at the end of the block every machine fails, and new ones would fail too, for ever.
    type: raw
  paused:
    description: Whether the check is kept from replacing anything.
    type: bool
    default: false
  namespace:
    description: Namespace of the Machine API.
    type: str
    default: openshift-machine-api
"""

EXAMPLES = r"""
- name: Replace ill machines of the pool
  accelerators.openshift.gpu_machine_health:
    name: training

- name: Patient, and with up to two of them at a time
  accelerators.openshift.gpu_machine_health:
    name: training
    startup_timeout: 45m
    unhealthy_after: 30m
    max_unhealthy: 2

- name: No more
  accelerators.openshift.gpu_machine_health:
    name: training
    state: absent
"""

RETURN = r"""
health_check:
  description: The check as it is now; empty when there is none.
  returned: always
  type: dict
  sample:
    {name: demo-x7k2p-training, startup_timeout: 20m, unhealthy_after: 10m, max_unhealthy: 1, paused: false, expected: 2, healthy: 2}
others:
  description: Names of checks that this collection did not make and that select machines of the pool.
  returned: always
  type: list
  elements: str
  sample: []
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.2
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    STATE,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import health as machine_health
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import plan as machine_plan
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import health
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import plan as pool_plan

OPTIONS = ("startup_timeout", "unhealthy_after", "max_unhealthy")
SPEC = ArgumentSpec(
    options={
        "name": {"type": "str"},
        "pool": {"type": "dict"},
        "startup_timeout": {"type": "str"},
        "unhealthy_after": {"type": "str"},
        "max_unhealthy": {"type": "raw"},
        "paused": {"type": "bool", "default": False},
        "namespace": {"type": "str", "default": "openshift-machine-api"},
    },
    mutually_exclusive=[["name", "pool"], *(["pool", option] for option in OPTIONS)],
    required_one_of=[["name", "pool"]],
).merge(AUTH, STATE)


def ensure(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    given = {key: params[key] for key in OPTIONS if params[key] is not None}
    pool = (
        pool_plan.single({"health": True, **machine_plan.entry(params)})
        if params["pool"]
        else health.single(params["name"], given)
    )
    if params["state"] == "absent" or pool.get("health") is False:
        machine_health.absent(api, pool["name"], params["namespace"])
        return {"health_check": {}, "others": []}
    return machine_health.present(
        api, pool["name"], params["namespace"], pool.get("health") or {}, params["paused"]
    )


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
