#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_node
short_description: Drain, replace or give back one node
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Takes one node out of use, keeping to PodDisruptionBudgets, gives it back, or has its machine set make another machine in its place.
  - An eviction that a budget refuses is tried again until O(wait_timeout) is over; then the pod and its budget are named, and the node stays cordoned.
    The next run goes on from there.
  - Pods of DaemonSets and the kubelet's own stay.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._drain
  - accelerators.openshift._joining
  - kubernetes.core.k8s_auth_options
options:
  name:
    description: Name of the node, or of its machine.
    type: str
    required: true
  state:
    description:
      - V(drained) - cordoned, and free of pods that a drain is about. It stays so until V(schedulable).
      - V(schedulable) - not cordoned, whoever did it.
      - V(replaced) - drained, its machine deleted, and every machine of its set a Ready node again. The old machine goes first, since the node may be broken
        and the account's limit reached; for a new machine first see O(accelerators.openshift.gpu_machineset#module:on_change=replace).
        A node that is not there any more needs nothing.
    type: str
    choices: [drained, replaced, schedulable]
    required: true
  namespace:
    description: Namespace of the Machine API.
    type: str
    default: openshift-machine-api
seealso:
  - module: accelerators.openshift.gpu_machineset
"""

EXAMPLES = r"""
- name: Out of use for a repair
  accelerators.openshift.gpu_node:
    name: ip-10-0-12-41.us-east-2.compute.internal
    state: drained
    on_busy: wait

- name: Back again
  accelerators.openshift.gpu_node:
    name: ip-10-0-12-41.us-east-2.compute.internal
    state: schedulable

- name: Another machine in the place of a broken one
  accelerators.openshift.gpu_node:
    name: demo-x7k2p-training-us-east-2a-9vw7p
    state: replaced
    on_busy: drain
    delete_emptydir: true
"""

RETURN = r"""
node:
  description: Name of the node; empty when there is none.
  returned: always
  type: str
  sample: ip-10-0-12-41.us-east-2.compute.internal
machine:
  description: Name of its machine; empty when there is none.
  returned: always
  type: str
  sample: demo-x7k2p-training-us-east-2a-9vw7p
new_machines:
  description: Names of the machines that were made in its place.
  returned: always
  type: list
  elements: str
  sample: [demo-x7k2p-training-us-east-2a-4kq2d]
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 187.2
"""

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.change_options import DRAIN
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.node_steps import ensure
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.options import JOINING

SPEC = ArgumentSpec(
    options={
        "name": {"type": "str", "required": True},
        "state": {"type": "str", "choices": ["drained", "replaced", "schedulable"], "required": True},
        "namespace": {"type": "str", "default": "openshift-machine-api"},
    }
).merge(DRAIN, JOINING, AUTH, WAIT)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
