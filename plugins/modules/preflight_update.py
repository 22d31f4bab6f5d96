#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: preflight_update
short_description: Check before an update of OpenShift whether the GPU stack can follow it
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Checks everything that GPUs need to work after an update to another release. Writes nothing.
  - Checks whether the cluster offers the release, and its known risks.
  - Checks operators that hold updates back, and the supported releases of the operators in O(namespaces).
  - Checks the driver of each GPU node and its source for the new kernel, and Modules of the Kernel Module
    Management operator.
  - Checks the pools of the machine-config operator, disruption budgets, and pods that the rollout meets.
  - Asks the cluster whether images are in their registries (an ImageStreamImport that imports nothing). That
    needs the right to C(create) C(imagestreamimports.image.openshift.io) in the namespace of the pods.
  - Returns V(unknown) for what the cluster cannot tell, with the command that finds it out elsewhere.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  version:
    description: The release to update the cluster to, for example V(4.22.9).
    type: str
    required: true
  kernel:
    description:
      - The kernel of that release, if you know it. The cluster does not know it before the update.
      - It is C(KERNEL_VERSION) in C(/etc/driver-toolkit-release.json) of the image
        C(oc adm release info VERSION --image-for=driver-toolkit).
    type: str
  rhcos:
    description:
      - The version of RHCOS in that release, if you know it, for example V(9.8.20260815-0).
        C(oc adm release info VERSION) calls it C(machine-os).
    type: str
  driver_images:
    description:
      - Precompiled driver images in your registry, each with its full name or only its tag. With this list
        and O(kernel), an image that is missing in the list is V(blocking).
      - Without this list the cluster looks for the images.
    type: list
    elements: str
  namespaces:
    description: Namespaces of the operators to check.
    type: list
    elements: str
    default:
      - nvidia-gpu-operator
      - openshift-nfd
      - nvidia-network-operator
      - openshift-sriov-network-operator
      - openshift-kmm
      - openshift-kueue-operator
  gpu_namespace:
    description: Namespace of the GPU operator's DaemonSets.
    type: str
    default: nvidia-gpu-operator
  fail_on:
    description:
      - The mildest verdict that fails the task. The verdicts are V(ok), V(unknown), V(warning) and
        V(blocking), from mild to severe.
      - V(never) only reports.
    type: str
    choices: [blocking, warning, unknown, never]
    default: blocking
seealso:
  - module: accelerators.openshift.special_resource
"""

EXAMPLES = r"""
- name: Check an update to 4.22.9
  accelerators.openshift.preflight_update:
    version: 4.22.9

- name: Check an update with precompiled drivers
  accelerators.openshift.preflight_update:
    version: 4.22.9
    kernel: 5.14.0-611.5.1.el9_7.x86_64
    rhcos: 9.8.20260815-0
    driver_images:
      - registry.example.com/nvidia/gpu-driver-rhel9:595-5.14.0-611.5.1.el9_7.x86_64-rhel9.8
    fail_on: warning
"""

RETURN = r"""
running:
  description: The release that the cluster runs.
  returned: always
  type: str
  sample: 4.22.5
version:
  description: The release to update to.
  returned: always
  type: str
  sample: 4.22.9
verdict:
  description: The most severe verdict.
  returned: always
  type: str
  sample: unknown
checks:
  description:
    - One entry per check, also on failure. C(code) is the code of the failure if this check decides.
  returned: always
  type: list
  elements: dict
  sample:
    - name: machine config pool worker
      verdict: blocking
      message: "is paused: its 5 nodes keep their kernel, and the update of the nodes waits"
      remedy: >-
        Run `oc patch machineconfigpool worker --type merge -p '{"spec":{"paused":false}}'`: its nodes are
        then drained and reboot one by one, and their pods end.
      code: UPDATE-POOL
      evidence: []
table:
  description: The same as text, one line per check.
  returned: always
  type: list
  elements: str
  sample: ["CHECK    VERDICT  WHAT", "release  ok       4.22.9 is recommended from 4.22.5"]
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
    - {list: "checks[5].evidence", pool: "", number: 380, sums: {}}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.4
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._update import steps

OPERATORS = (
    "nvidia-gpu-operator",
    "openshift-nfd",
    "nvidia-network-operator",
    "openshift-sriov-network-operator",
    "openshift-kmm",
    "openshift-kueue-operator",
)
SPEC = ArgumentSpec(
    options={
        "version": {"type": "str", "required": True},
        "kernel": {"type": "str"},
        "rhcos": {"type": "str"},
        "driver_images": {"type": "list", "elements": "str"},
        "namespaces": {"type": "list", "elements": "str", "default": list(OPERATORS)},
        "gpu_namespace": {"type": "str", "default": "nvidia-gpu-operator"},
        "fail_on": {
            "type": "str",
            "choices": ["blocking", "warning", "unknown", "never"],
            "default": "blocking",
        },
    }
).merge(AUTH, WAIT)


def ensure(api: Api, params: steps.PreflightUpdateParams) -> dict[str, t.Any]:
    return steps.check(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
