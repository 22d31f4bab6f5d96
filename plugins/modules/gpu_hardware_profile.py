#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_hardware_profile
short_description: Offer the GPUs of pools to users of OpenShift AI
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Makes a profile for each device of a pool, for its users to choose. Pools in O(queues) have no profile of
    their own - the queue has one, which sends pods to its LocalQueue.
  - Takes the newest kind that the cluster serves - C(HardwareProfile) of C(infrastructure.opendatahub.io) or
    of C(dashboard.opendatahub.io), or C(AcceleratorProfile).
  - The profile of a pool that is no longer in the list goes. Profiles of others stay.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._lock
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  pools:
    description:
      - All pools of a run, as RV(accelerators.openshift.gpu_plan#module:plan) has them in C(pools).
      - O(state=absent) needs only their names, and deletes the profiles that offer nothing else.
        O(hardware_profiles=false) needs only their names too.
    type: list
    elements: dict
    required: true
  queues:
    description: The queues, as O(accelerators.openshift.gpu_queue#module:queues) takes them.
    type: list
    elements: dict
    default: []
  claims:
    description: Whether pods claim the devices (dynamic resource allocation). Such pools get no profiles.
    type: bool
    default: false
  hardware_profiles:
    description:
      - Whether users can choose the pools. V(false) deletes our profiles of these pools. One with which a
        workbench or a model runs stays, and a warning names both. An identity that may not list profiles
        finds none.
    type: bool
    default: true
  namespace:
    description: Namespace of the dashboard. By default that of the DSCInitialization, or Red Hat's.
    type: str
  adopt:
    description:
      - What to do with fields of our profiles that somebody else set. V(report) fails if they differ from the
        task. V(take) changes them. Profiles of others are never changed.
    type: str
    choices: [report, take]
    default: report
"""

EXAMPLES = r"""
- name: Plan the pools
  accelerators.openshift.gpu_plan:
    pools: "{{ gpu_pools }}"
  register: planned

- name: Offer the pools to users of OpenShift AI
  accelerators.openshift.gpu_hardware_profile:
    pools: "{{ planned.plan.pools }}"
"""

RETURN = r"""
profiles:
  description: The profiles. With O(state=absent) only the names of those that are gone.
  returned: success
  type: list
  elements: dict
  sample: [{name: training, title: A100 (training)}]
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.3
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import adoption
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._hardware_profiles import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

SPEC = ArgumentSpec(
    options={
        "pools": {"type": "list", "elements": "dict", "required": True},
        "queues": {"type": "list", "elements": "dict", "default": []},
        "claims": {"type": "bool", "default": False},
        "hardware_profiles": {"type": "bool", "default": True},
        "namespace": {"type": "str"},
        **adoption.OPTION,
    },
).merge(AUTH, LOCK, STATE, WAIT)


def ensure(api: Api, params: steps.GpuHardwareProfileParams) -> dict[str, t.Any]:
    return steps.absent(api, params) if params["state"] == "absent" else steps.present(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
