#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: preflight_update
short_description: See before an update of OpenShift whether the GPU stack can follow it
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Looks at everything that an update to another release needs so that GPUs are there again afterwards, and writes nothing.
  - Whether the release is offered, with the risks that are named; operators that hold updates back; the operators of O(namespaces) and the releases that they
    are made for; the driver of each GPU node and where it would come from for the new kernel; Modules of the Kernel Module Management operator; pools of
    the machine-config operator, disruption budgets and pods that a rollout meets.
  - Whether images are in their registries is asked through the cluster (an ImageStreamImport that imports nothing), which takes the right to C(create)
    C(imagestreamimports.image.openshift.io) in the namespace that they are for.
  - What cannot be found out from inside the cluster is said to be V(unknown), with the command that finds it out elsewhere.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - kubernetes.core.k8s_auth_options
options:
  version:
    description: The release that the cluster is to be updated to, for example V(4.22.9).
    type: str
    required: true
  kernel:
    description:
      - The kernel of that release, if you know it. The cluster does not know it before.
      - It is C(KERNEL_VERSION) in C(/etc/driver-toolkit-release.json) of the image C(oc adm release info VERSION --image-for=driver-toolkit).
    type: str
  rhcos:
    description: The version of RHCOS in that release, if you know it, for example V(9.8.20260815-0). C(oc adm release info VERSION) calls it C(machine-os).
    type: str
  driver_images:
    description:
      - Precompiled driver images that your registry has, each as a whole or as its tag alone. With it and O(kernel) an image that is not in the list blocks.
      - Without it the cluster looks for the images.
    type: list
    elements: str
  namespaces:
    description: Where operators are looked at.
    type: list
    elements: str
    default: [nvidia-gpu-operator, openshift-nfd, nvidia-network-operator, openshift-sriov-network-operator, openshift-kmm, openshift-kueue-operator]
  gpu_namespace:
    description: Where the GPU operator's DaemonSets are.
    type: str
    default: nvidia-gpu-operator
  fail_on:
    description:
      - The mildest verdict with which the task fails. A check is V(ok), V(unknown), V(warning) or V(blocking), from harmless to grave.
      - V(never) only reports.
    type: str
    choices: [blocking, warning, unknown, never]
    default: blocking
seealso:
  - module: accelerators.openshift.special_resource
"""

EXAMPLES = r"""
- name: May the cluster go to 4.22.9?
  accelerators.openshift.preflight_update:
    version: 4.22.9

- name: With precompiled drivers
  accelerators.openshift.preflight_update:
    version: 4.22.9
    kernel: 5.14.0-611.5.1.el9_7.x86_64
    rhcos: 9.8.20260815-0
    driver_images:
      - registry.example.com/nvidia/gpu-driver-rhel9:595-5.14.0-611.5.1.el9_7.x86_64-rhel9.8
    fail_on: warning
"""

RETURN = r"""
version:
  description: The release that the cluster runs.
  returned: always
  type: str
  sample: 4.22.5
target:
  description: The release that was asked for.
  returned: always
  type: str
  sample: 4.22.9
verdict:
  description: The gravest of all verdicts.
  returned: always
  type: str
  sample: unknown
checks:
  description: One entry for each thing that was looked at, on failure as well. C(code) is what the task fails with when this check decides.
  returned: always
  type: list
  elements: dict
  sample:
    - name: machine config pool worker
      verdict: blocking
      message: "is paused: its 5 nodes keep their kernel, and the update of the nodes waits"
      remedy: "`oc patch mcp worker --type merge -p '{\"spec\":{\"paused\":false}}'`"
      code: UPDATE-POOL
      evidence: []
table:
  description: The same for people, a line a check.
  returned: always
  type: list
  elements: str
  sample: ["CHECK    VERDICT  WHAT", "release  ok       4.22.9 is recommended from 4.22.5"]
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.4
"""

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._update.steps import ensure

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


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
