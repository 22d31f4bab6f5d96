#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_node
short_description: Drain or replace one node, or make it schedulable again
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Drains one node, makes it schedulable again, or has its machine set create another machine in its place.
    Draining honours PodDisruptionBudgets.
  - Retries an eviction that a budget refuses until O(wait_timeout) is over. Then the failure names the pod
    and its budget, and the node stays cordoned. The next run continues there.
  - Pods of DaemonSets and static pods of the kubelet stay.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._lock
  - accelerators.openshift._drain
  - accelerators.openshift._joining
  - accelerators.openshift._auth
options:
  name:
    description: Name of the node, or of its machine.
    type: str
    required: true
  machine_uid:
    description:
      - With O(state=replaced), the C(metadata.uid) of the machine to replace, as RV(machine_uid) returned it.
        If the node has another machine by now, nothing is replaced.
      - Without it, a machine that is younger than ten minutes is not replaced by the name of its node
        (C(NODE-YOUNG)). On bare metal the new node has the name of the old one, so a playbook that is started
        again would replace the new machine.
    type: str
  state:
    description:
      - V(drained) - the node is cordoned, and the pods that a drain evicts are gone. The node stays so until
        V(schedulable).
      - V(schedulable) - the node is not cordoned, whoever cordoned it.
      - V(replaced) - the node is drained, its machine is deleted, and every machine of its set is a Ready
        node again. The old machine goes first, because the node may be broken and the account's limit
        reached. To create the new machine first, see
        O(accelerators.openshift.gpu_machineset#module:on_change=replace). For a node that does not exist any
        more the module does nothing.
    type: str
    choices: [drained, replaced, schedulable]
    required: true
  validation:
    description:
      - With O(state=replaced), validates the node of the new machine once it offers the devices of the old
        one. Options as O(accelerators.openshift.gpu_node_repair#module:validation). Without it the module
        does not wait for devices, and validates nothing.
    type: dict
  namespace:
    description: Namespace of the Machine API.
    type: str
    default: openshift-machine-api
seealso:
  - module: accelerators.openshift.gpu_machineset
"""

EXAMPLES = r"""
- name: Drain a node for a repair
  accelerators.openshift.gpu_node:
    name: ip-10-0-12-41.us-east-2.compute.internal
    state: drained
    on_busy: wait

- name: Make the node schedulable again
  accelerators.openshift.gpu_node:
    name: ip-10-0-12-41.us-east-2.compute.internal
    state: schedulable

- name: Replace a broken machine
  accelerators.openshift.gpu_node:
    name: demo-x7k2p-training-us-east-2a-9vw7p
    state: replaced
    on_busy: drain
    delete_emptydir: true
"""

RETURN = r"""
node:
  description: Name of the node. Empty if there is none.
  returned: always
  type: str
  sample: ip-10-0-12-41.us-east-2.compute.internal
machine:
  description: Name of the node's machine. Empty if there is none.
  returned: always
  type: str
  sample: demo-x7k2p-training-us-east-2a-9vw7p
machine_uid:
  description: The C(metadata.uid) of that machine. Empty if there is none.
  returned: always
  type: str
  sample: 5f7c1f1e-6d1b-4f0e-9c53-0a4c0f2f7b11
new_machines:
  description: Names of the machines that replace the node's machine.
  returned: always
  type: list
  elements: str
  sample: [demo-x7k2p-training-us-east-2a-4kq2d]
workload:
  description: The validation, as M(accelerators.openshift.gpu_workload) returns it.
  returned: when the new node was validated
  type: dict
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

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.options import DRAIN, JOINING
from ansible_collections.accelerators.openshift.plugins.module_utils._repair.replaced_steps import ensure

SPEC = ArgumentSpec(
    options={
        "name": {"type": "str", "required": True},
        "machine_uid": {"type": "str"},
        "state": {"type": "str", "choices": ["drained", "replaced", "schedulable"], "required": True},
        "validation": {"type": "dict"},
        "namespace": {"type": "str", "default": "openshift-machine-api"},
    }
).merge(DRAIN, JOINING, AUTH, LOCK, WAIT)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
