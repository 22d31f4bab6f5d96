#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_machine_health
short_description: Have unhealthy machines of a GPU pool replaced
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Maintains one MachineHealthCheck for a pool, named C(<infrastructure>-<pool>). The check deletes a machine
    that is Failed, whose node did not appear in time, or whose node is gone, not Ready or silent for too
    long. The machine set then creates a new machine.
  - Without a check, a Failed machine (for example a reclaimed spot instance) stays Failed, and the pool has
    one node less.
  - Only the condition Ready of a node counts. The check does not touch a node that is cordoned or drained for
    a driver upgrade. A node that reboots has O(unhealthy_after) for the reboot.
  - Returns the names of foreign checks for the same machines, and warns about them.
  - While this collection replaces machines of the pool, it pauses the check (annotation
    C(cluster.x-k8s.io/paused)). A killed run leaves the check paused, and the next run of this module ends
    the pause. A foreign pause stays.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._lock
  - accelerators.openshift._state
  - accelerators.openshift._auth
options:
  name:
    description: Name of the pool.
    type: str
  pool:
    description:
      - The whole pool, an entry of C(gpu_pools) or of the pools that M(accelerators.openshift.gpu_plan)
        returns. Its C(health) replaces the options below.
      - C(health=false) removes the check. A pool without C(health) gets a check with the defaults.
    type: dict
  startup_timeout:
    description:
      - How long a machine may take to become a node, for example V(20m). V(0) means without limit.
      - The default is V(30m) on bare metal and V(20m) elsewhere.
    type: str
  unhealthy_after:
    description:
      - How long a node may be not Ready or silent. This must be longer than a reboot.
      - The default is V(20m) on bare metal and V(10m) elsewhere.
    type: str
  max_unhealthy:
    description:
      - The largest number of unhealthy machines with which the check still replaces machines, as a number or
        a percentage (rounded down) of the pool's machines. Starting machines count as unhealthy. V(0)
        replaces nothing and only reports.
      - The default is 1, so that a pool that is ill as a whole keeps its machines. The cloud may not have the
        GPUs again. With the market C(capacity_block) the value is always 0, because every machine fails at
        the end of the block, and new ones would fail for ever.
    type: raw
  paused:
    description: Whether to pause the check, so that it replaces nothing.
    type: bool
    default: false
  namespace:
    description: Namespace of the Machine API.
    type: str
    default: openshift-machine-api
"""

EXAMPLES = r"""
- name: Replace unhealthy machines of the pool
  accelerators.openshift.gpu_machine_health:
    name: training

- name: Wait longer, and replace up to two machines at a time
  accelerators.openshift.gpu_machine_health:
    name: training
    startup_timeout: 45m
    unhealthy_after: 30m
    max_unhealthy: 2

- name: Remove the check
  accelerators.openshift.gpu_machine_health:
    name: training
    state: absent
"""

RETURN = r"""
health_check:
  description: The check as it is now. Empty if there is none.
  returned: always
  type: dict
  sample:
    name: demo-x7k2p-training
    startup_timeout: 20m
    unhealthy_after: 10m
    max_unhealthy: 1
    paused: false
    expected: 2
    healthy: 2
others:
  description: Names of foreign checks that select machines of the pool.
  returned: always
  type: list
  elements: str
  sample: []
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.2
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
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import health as steps
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import health

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
).merge(AUTH, LOCK, STATE)


def ensure(api: Api, params: steps.GpuMachineHealthParams) -> dict[str, t.Any]:
    if params["pool"]:
        name, options = health.of_pool(params["pool"])
    else:
        given: dict[str, t.Any] = {key: params.get(key) for key in OPTIONS}
        name, options = health.of_name(
            params["name"], {key: value for key, value in given.items() if value is not None}
        )
    if params["state"] == "absent" or options is False:
        steps.absent(api, name, params["namespace"])
        return {"health_check": {}, "others": []}
    return steps.present(api, name, params["namespace"], options, params["paused"])


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
