#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_diagnose
short_description: Find out why GPUs do not work, in all layers from the machine to the metrics
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Looks once at machines, nodes, MachineConfigPools, operators, Node Feature Discovery, drivers, container
    toolkit, device plugin, sharing, dynamic resource allocation, network cards, quotas, scheduling,
    validation and metrics. Writes nothing.
  - Reads logs, events and the last state of containers only where something is not ready.
  - Tells causes from consequences. Each cause has a code (docs/errors.md), what was seen, one remedy, and
    what the remedy ends.
  - A layer that it may not read does not hide the others; C(unread) names it.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  pools:
    description:
      - The pools to judge, C(plan.groups) of M(accelerators.openshift.gpu_plan).
      - Without it, the pools that the labels of the nodes name, and all other nodes with GPUs.
    type: list
    elements: dict
  namespace:
    description: Namespace of the GPU operator, if it is not C(nvidia-gpu-operator).
    type: str
  pod:
    description: A pod, as C(NAMESPACE/NAME), of which to say why it does not run.
    type: str
    default: ""
seealso:
  - module: accelerators.openshift.special_resource
"""

EXAMPLES = r"""
- name: Find out what is wrong
  accelerators.openshift.gpu_diagnose:
  register: gpu_found

- name: Find out why a pod does not run
  accelerators.openshift.gpu_diagnose:
    pod: team-a/train-0
"""

RETURN = r"""
diagnosis:
  description:
    - What was found. C(healthy) is true if nothing is wrong, C(code) is that of the first cause.
    - C(layers) has the verdict of each layer, C(ok), C(trouble), C(waits) (for another layer), C(busy)
      (ends by itself), C(absent) or C(unread).
    - C(troubles) begins with the causes. A consequence names in C(cause) the layer of its cause. C(nodes) has
      at most ten of the C(number) nodes.
  returned: success
  type: dict
  sample:
    healthy: false
    summary: "GPU-DTK-STREAM: Node gpu-0: the driver pod could not use the Driver Toolkit."
    code: GPU-DTK-STREAM
    layers:
      - {name: driver, verdict: trouble, code: GPU-DTK-STREAM, cause: ""}
      - {name: toolkit, verdict: waits, code: GPU-OPERAND-CRASH, cause: driver}
    troubles:
      - layer: driver
        code: GPU-DTK-STREAM
        about: Node gpu-0
        message: "Node gpu-0: the driver pod could not use the Driver Toolkit."
        remedy: Run `oc get imagestream driver-toolkit -n openshift`.
        ends: ""
        since: "2026-11-23T08:57:30Z"
        evidence: ["nvidia-driver-daemonset-x/driver: failed to install elfutils packages"]
        cause: ""
        busy: false
        pool: training
        nodes: [gpu-0]
        number: 1
    notes: []
    unread: []
table:
  description: The same as text.
  returned: success
  type: list
  elements: str
  sample:
    - Nothing is wrong on 4 GPU nodes.
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 1.4
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import options, walk
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

SPEC = ArgumentSpec(
    options={
        "pools": {"type": "list", "elements": "dict"},
        "namespace": {"type": "str"},
        "pod": {"type": "str", "default": ""},
    }
).merge(AUTH, WAIT)


def ensure(api: Api, params: options.GpuDiagnoseParams) -> dict[str, t.Any]:
    options.check(params)
    return walk.look(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
