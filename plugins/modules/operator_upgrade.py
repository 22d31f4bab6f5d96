#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: operator_upgrade
short_description: Upgrade the operators of the GPU stack release by release, one InstallPlan at a time
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Upgrades operators that this collection has installed, in the order that their makers ask for - Node
    Feature Discovery, the NVIDIA network operator, the NVIDIA GPU operator, Kernel Module Management.
  - Finds the way through the channels of each package before the first write. A release that its maker does
    not let an upgrade pass is a stop on the way.
  - Before each InstallPlan waits until the stack of the operator works, shows what the plan changes in
    CustomResourceDefinitions, and asks for what it ends. Then approves exactly that plan. After the last one
    waits for the stack again.
  - Refuses before the first write - a channel or a release that does not exist, a downgrade, an operator of
    another client, a plan that also installs another operator, pods with devices that would end, and another
    driver.
  - In check mode shows the whole way. A second run writes nothing.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._lock
  - accelerators.openshift._auth
options:
  operators:
    description:
      - The operators to upgrade. The order of the list does not matter.
      - The default is every operator of the four that this collection has installed, each in its channel.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - Name of the package - V(nfd), V(nvidia-network-operator), V(gpu-operator-certified) or
            V(kernel-module-management). V(nic), V(gpu) and V(kmm) work too.
        type: str
        required: true
      channel:
        description:
          - Channel to follow. The default is the channel of the Subscription, or with O(operators[].to) the
            channel that leads there.
        type: str
      to:
        description:
          - The release to go to, as a CSV or a version, for example V(26.7.0). The default is the head of the
            channel.
        type: str
  driver_change:
    description:
      - What to do if an upgrade of C(gpu-operator-certified) would change the GPU driver.
      - V(ask) changes nothing and fails with the code C(OLM-DRIVER-CHANGE). V(pin) first writes the running
        driver into the ClusterPolicy, so that the driver stays. V(allow) accepts the new driver.
    type: str
    choices: [ask, pin, allow]
    default: ask
  on_busy:
    description:
      - What to do if an upgrade makes an operator replace the driver on nodes where pods use devices, also
        with the same driver, because each release has another driver manager.
      - V(fail) changes nothing and fails with the code C(OLM-BUSY), which names the nodes and the pods.
        V(drain) goes on, and the operator ends these pods node by node. V(wait) first waits until they have
        ended.
    type: str
    choices: [fail, drain, wait]
    default: fail
  allow_csvs:
    description: Additional CSVs that an InstallPlan may contain. Shell patterns such as V(nfd.*) work.
    type: list
    elements: str
    default: []
  repair:
    description:
      - Begin even if the stack of an operator does not work, because the upgrade is to repair it. Later steps
        still wait until it works.
    type: bool
    default: false
  grace:
    description: For how many seconds a catalogue may be away before the task fails.
    type: float
    default: 60
notes:
  - O(wait_timeout) is the time for each step. Each node whose driver an operator replaces makes it longer.
seealso:
  - module: accelerators.openshift.olm_operator
  - module: accelerators.openshift.special_resource
"""

EXAMPLES = r"""
- name: Upgrade every operator that the collection has installed, each in its channel
  accelerators.openshift.operator_upgrade:

- name: Upgrade the GPU operator to another release, and keep the driver
  accelerators.openshift.operator_upgrade:
    operators:
      - name: gpu-operator-certified
        to: 26.7.0
    driver_change: pin
    on_busy: wait
"""

RETURN = r"""
operators:
  description:
    - One entry for each operator, in the order of the upgrades. C(steps) has the steps that were done, then
      those that are ahead as the catalogue predicts them (C(install_plan) is null). Failures have it too.
  returned: when the ways are known
  type: list
  elements: dict
  sample:
    - package: gpu-operator-certified
      installed: gpu-operator-certified.v26.3.0
      target: gpu-operator-certified.v26.7.0
      channel: v26.7
      steps:
        - from: gpu-operator-certified.v26.3.0
          to: gpu-operator-certified.v26.7.0
          channel: v26.7
          install_plan: install-x7k2p
          crds: []
          truth: "ClusterPolicy gpu-cluster-policy: 2 GPU nodes ready"
ends:
  description:
    - What the upgrades end, as far as it is known before the first write. Each entry says why (C(because)),
      by whom (C(by)), in what order, whether that is certain, on which nodes, and which pods with devices.
  returned: success
  type: list
  elements: dict
  sample: []
table:
  description: The steps as text, one line for each. Failures have it too.
  returned: when the ways are known
  type: list
  elements: str
  sample: ["OPERATOR  FROM          TO            CHANNEL  PLAN           STACK"]
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
  sample: 96.1
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 93.5
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
from ansible_collections.accelerators.openshift.plugins.module_utils._operators import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.params import (
    OperatorUpgradeParams,
)

SPEC = ArgumentSpec(
    options={
        "operators": {
            "type": "list",
            "elements": "dict",
            "options": {
                "name": {"type": "str", "required": True},
                "channel": {"type": "str"},
                "to": {"type": "str"},
            },
        },
        "driver_change": {"type": "str", "choices": ["ask", "pin", "allow"], "default": "ask"},
        "allow_csvs": {"type": "list", "elements": "str", "default": []},
        "repair": {"type": "bool", "default": False},
        "grace": {"type": "float", "default": 60},
    }
).merge(AUTH, LOCK, ON_BUSY, WAIT)


def ensure(api: Api, params: OperatorUpgradeParams) -> dict[str, t.Any]:
    return steps.upgrade(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
