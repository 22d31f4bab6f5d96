#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: update_pools
short_description: Hold GPU nodes back during an update of OpenShift, and release them after it
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Pauses the MachineConfigPools whose nodes all have GPUs, so that an update of the cluster does not reboot
    them. Marks each pool that it pauses.
  - Releases the pools that it marked, when the update is complete. Their nodes then reboot one after the
    other. Waits until each node has its configuration.
  - With O(order=last), releases each pool only when every other MachineConfigPool of the cluster is updated,
    one GPU pool after the other.
  - Refuses to release pools while the cluster does not have the release that they wait for.
  - Refuses a pool that has other nodes too, and one whose rollout is under way.
  - Never unpauses a pool that somebody else paused.
  - A paused pool does not get renewed certificates either. Release it within days, not weeks.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._lock
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  state:
    description: V(paused) before the update, V(released) after it.
    type: str
    choices: [paused, released]
    default: paused
  version:
    description: The release of the update, which the mark of a paused pool names.
    type: str
    default: ""
  order:
    description:
      - When pools that this task pauses are released. The mark of the pool has it, so that the task which
        releases the pools needs no such option.
      - V(together) releases them all at once, when the update is complete.
      - V(last) releases them one after the other, each when all MachineConfigPools before it are updated.
        Pools that somebody else paused do not count. O(wait_timeout) is for all of this.
    type: str
    choices: [together, last]
    default: together
  cancelled:
    description:
      - Releases pools also if the cluster does not have the release that they wait for. Set it if there will
        be no update.
    type: bool
    default: false
  on_busy:
    description:
      - What to do if pods use devices on nodes that reboot when their pool is released.
      - V(fail) changes nothing and fails with the nodes and the pods. V(drain) ends these pods. V(wait) waits
        until they have ended by themselves or O(wait_timeout) is over.
    type: str
    choices: [fail, drain, wait]
    default: fail
seealso:
  - module: accelerators.openshift.preflight_update
"""

EXAMPLES = r"""
- name: Hold the GPU nodes back
  accelerators.openshift.update_pools:
    version: 4.22.9

- name: Hold them back until all other nodes are updated
  accelerators.openshift.update_pools:
    version: 4.22.9
    order: last

- name: Let them follow when their jobs have ended
  accelerators.openshift.update_pools:
    state: released
    on_busy: wait
    wait_timeout: 7200
"""

RETURN = r"""
pools:
  description:
    - MachineConfigPools with GPU nodes. C(version) is the release of the mark, C(order) its O(order).
  returned: success
  type: list
  elements: dict
  sample: [{name: gpu-training, nodes: [gpu-0, gpu-1], paused: true, version: 4.22.9, order: together}]
reboots:
  description: What reboots when the pools are released, with the nodes in their order.
  returned: success
  type: list
  elements: dict
  sample: []
ends:
  description: What the reboots end (O(on_busy)), with nodes and pods, as in a failure with C(UPDATE-BUSY).
  returned: success
  type: list
  elements: dict
  sample: []
table:
  description: One line for each pool.
  returned: success
  type: list
  elements: str
  sample: ["paused     MachineConfigPool gpu-training: gpu-0, gpu-1"]
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
  sample: 0.4
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    ON_BUSY,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._update import pause_steps

SPEC = ArgumentSpec(
    options={
        "state": {"type": "str", "choices": ["paused", "released"], "default": "paused"},
        "version": {"type": "str", "default": ""},
        "order": {"type": "str", "choices": ["together", "last"], "default": "together"},
        "cancelled": {"type": "bool", "default": False},
    },
).merge(AUTH, LOCK, ON_BUSY, WAIT)


def ensure(api: Api, params: pause_steps.UpdatePoolsParams) -> dict[str, t.Any]:
    steps = pause_steps.paused if params["state"] == "paused" else pause_steps.released
    return steps(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
