#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_node_repair
short_description: Reboot a node whose GPUs are broken, validate it, and else replace its machine
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Looks at one node. It needs a repair if it is not Ready, if fewer devices are allocatable than it has, or
    if a condition about GPUs is True. On other nodes the module changes nothing.
  - Drains the node, reboots it, waits until it is back with its devices, runs a CUDA program on every GPU,
    and makes it schedulable again. A node that was cordoned before stays cordoned.
  - Returns what the form of a vendor asks for. What nothing in the cluster tells is in C(form.unknown), with
    the reason.
  - Writes a record to the annotation C(accelerators.openshift/repair) of the node before it asks for the
    reboot. A run after a killed one goes on there, and does not reboot the node twice.
  - The module always waits. O(wait=false) is refused.
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
  repair:
    description:
      - What to do with a node that needs a repair.
      - V(auto) reboots it. With O(replace), a node that is as broken after the reboot gets another machine.
        A node with an Xid for which NVIDIA advises a replacement gets it without a reboot.
      - V(reboot) reboots it, also after an earlier reboot did not help, and replaces nothing.
      - V(replace) has its machine replaced, as M(accelerators.openshift.gpu_node) does.
      - V(reset) is refused with C(REPAIR-RESET). OpenShift has no supported way to reset a GPU.
    type: str
    choices: [auto, reboot, replace, reset]
    default: auto
  replace:
    description: Whether O(repair=auto) may replace the machine.
    type: bool
    default: false
  reboot_with:
    description:
      - How to reboot the node.
      - V(auto) and V(bare_metal_host) annotate the BareMetalHost of its machine, and the bare metal operator
        restarts it. This needs no privileges on the node. A node without such a host is refused with
        C(REPAIR-NO-REBOOT).
      - V(pod) runs one privileged pod on the node, which calls C(systemctl reboot), as C(oc debug node/NAME)
        does. The identity needs the right to create such a pod in the namespace C(default).
    type: str
    choices: [auto, bare_metal_host, pod]
    default: auto
  reboot_image:
    description:
      - Image of that pod. It needs C(/bin/sh) and C(chroot).
      - The default is the image of the machine-config daemon on the node, which needs no pull.
    type: str
  validation:
    description:
      - Options of the validation after the reboot, as in M(accelerators.openshift.gpu_workload) -
        C(namespace), C(programs), C(expectations), C(tolerance), C(image), C(benchmark), C(claims), C(hold)
        and C(grace). A node whose figures are too low is as broken.
      - With this option the node of a new machine is validated too.
    type: dict
  grace:
    description:
      - For how many seconds devices may be missing after the reboot while the device plugin is Ready. After
        that the node counts as broken.
    type: float
    default: 120
  remove_rejected:
    description:
      - Whether to delete pods on the node that ended with C(UnexpectedAdmissionError). The device plugin had
        no device for them when the node started, and they never run again.
      - Without it a warning names them.
    type: bool
    default: false
  namespace:
    description: Namespace of the Machine API.
    type: str
    default: openshift-machine-api
seealso:
  - module: accelerators.openshift.gpu_node
"""

EXAMPLES = r"""
- name: Repair a node on bare metal
  accelerators.openshift.gpu_node_repair:
    name: gpu-0.example.com
    on_busy: drain

- name: Repair a node in a cloud, and replace its machine if a reboot does not help
  accelerators.openshift.gpu_node_repair:
    name: ip-10-0-12-41.us-east-2.compute.internal
    reboot_with: pod
    replace: true
    on_busy: wait
"""

RETURN = r"""
node:
  description: Name of the node.
  returned: always
  type: str
  sample: gpu-0.example.com
machine:
  description: Name of its machine. Empty if there is none.
  returned: always
  type: str
  sample: demo-x7k2p-training-0-9vw7p
action:
  description:
    - C(nothing) - the node needs no repair. C(rebooted) - it was rebooted and validated. C(resumed) - an
      earlier run rebooted it, and this one validated it. C(replaced) - its machine was replaced. C(stays) -
      it is as broken after the reboot.
    - In check mode, what a run would do first.
  returned: always
  type: str
  sample: rebooted
faults:
  description: A line for everything that was wrong with the node.
  returned: always
  type: list
  elements: str
  sample: [7 of 8 nvidia.com/gpu are allocatable]
xids:
  description: Xids that logs, conditions and events name, with NVIDIA's C(advice), and where C(seen).
  returned: always
  type: list
  elements: dict
  sample:
    - xid: 79
      device: GPU-5f7c1f1e-6d1b-4f0e-9c53-0a4c0f2f7b11
      meaning: the GPU has fallen off the bus
      advice: reboot
      seen: log of nvidia-gpu-operator/nvidia-device-plugin-daemonset-abcde
rebooted_with:
  description: How this run rebooted the node. Empty if it did not.
  returned: always
  type: str
  sample: bare_metal_host
cordoned:
  description: Whether the node is cordoned at the end.
  returned: always
  type: bool
new_machines:
  description: Names of the machines that replace the node's machine.
  returned: always
  type: list
  elements: str
  sample: []
rejected_pods:
  description: Namespaces and names of the pods that the kubelet refused for lack of their devices.
  returned: on success
  type: list
  elements: str
  sample: [team-a/trainer-7c9d4-x2x7p]
form:
  description:
    - What the form of a vendor asks for. C(gpus) has the GPUs with an Xid; without one, those whose UUID the
      cluster tells. C(server) is what the inspection of a BareMetalHost found.
    - C(unknown) has the reason for each key that is empty.
  returned: always
  type: dict
  sample:
    node: gpu-0.example.com
    machine: demo-x7k2p-training-0-9vw7p
    provider_id: baremetalhost:///openshift-machine-api/gpu-0/5f7c1f1e
    instance_type: ""
    driver_version: 595.91.07
    gpu_model: NVIDIA-H100-80GB-HBM3
    kernel: 5.14.0-611.5.1.el9_7.x86_64
    os_image: Red Hat Enterprise Linux CoreOS 9.8.20260901-0 (Plow)
    boot_id: 0a4c0f2f-6d1b-4f0e-9c53-5f7c1f1e7b11
    gpus:
      - uuid: GPU-5f7c1f1e-6d1b-4f0e-9c53-0a4c0f2f7b11
        serial: ""
        xid: 79
        device: GPU-5f7c1f1e-6d1b-4f0e-9c53-0a4c0f2f7b11
        meaning: the GPU has fallen off the bus
        advice: reboot
        seen: log of nvidia-gpu-operator/nvidia-device-plugin-daemonset-abcde
    server: {host: gpu-0, manufacturer: Dell Inc., product: PowerEdge XE9680, serial: ABC1234}
    unknown: {gpus.serial: nothing in the cluster tells the serial number of a GPU}
workload:
  description: The validation, as M(accelerators.openshift.gpu_workload) returns it.
  returned: when the node was validated
  type: dict
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 512.3
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 480.1
"""

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.options import DRAIN, JOINING
from ansible_collections.accelerators.openshift.plugins.module_utils._repair.steps import ensure

SPEC = ArgumentSpec(
    options={
        "name": {"type": "str", "required": True},
        "repair": {"type": "str", "choices": ["auto", "reboot", "replace", "reset"], "default": "auto"},
        "replace": {"type": "bool", "default": False},
        "reboot_with": {"type": "str", "choices": ["auto", "bare_metal_host", "pod"], "default": "auto"},
        "reboot_image": {"type": "str"},
        "validation": {"type": "dict"},
        "grace": {"type": "float", "default": 120},
        "remove_rejected": {"type": "bool", "default": False},
        "namespace": {"type": "str", "default": "openshift-machine-api"},
    }
).merge(DRAIN, JOINING, AUTH, LOCK, WAIT)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
