#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_sharing_proof
short_description: Prove that pods share GPUs as their pool says, and that no pod more runs
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Looks for a node of each pool whose devices are all free, and starts as many pods on it as the node has
    shares. Each requests one share. When all run at the same time, the module reads from the output of
    C(nvidia-smi -L) which device each of them sees, and asks for one share more.
  - For a shared claim (O(pools[].claims)) it starts two pods that use one claim, and asks for no share more,
    because a claim takes any pod.
  - Each device must have as many pods as the pool has O(pools[].replicas), and the scheduler must refuse the
    pod too many. The task fails with C(WORK-SHARE-APART), C(WORK-SHARE-DEVICE) or C(WORK-SHARE-MORE)
    otherwise.
  - The module never waits for devices, and its pods take no device from another pod. A pool without a free
    node is not proven, with a warning that names the pods. A placeholder pod of a spare device counts as
    such a pod.
  - The proof is remembered in ConfigMap C(gpu-sharing-proof). A later run proves a pool again if its sharing,
    or the driver, the model or the shares of its nodes changed.
  - The pods are deleted at the end. If the run is killed, they end by themselves, and the next run deletes
    them.
  - In check mode nothing runs.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  pools:
    description:
      - Pools that share their GPUs. C(sharing_proofs) of the plan that M(accelerators.openshift.gpu_plan)
        returns has this form.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the pool.
        type: str
        required: true
      node_selector:
        description: Labels of the nodes of the pool.
        type: dict
        required: true
      tolerations:
        description: Tolerations of the pods. They always tolerate C(nvidia.com/gpu:NoSchedule).
        type: list
        elements: dict
        default: []
      resources:
        description: What the pods request. Partitions of several profiles have a resource each.
        type: list
        elements: str
        default: [nvidia.com/gpu]
      replicas:
        description: Number of pods that share a device. For partitions it is 1.
        type: int
        default: 1
      image:
        description: Image of the pods of this pool, which replaces O(image).
        type: str
      claims:
        description:
          - What the shared claims of the pool request, where pods claim devices (backend C(dra)). Each entry
            has C(count), C(device_class), C(profile) and C(models), as C(sharing.claims) of the pool.
          - For each entry the module makes a claim of its own in O(namespace), and two pods that use it. They
            have to run at the same time and see the same devices, or the task fails with
            C(WORK-CLAIM-DEVICE). O(pools[].resources) and O(pools[].replicas) mean nothing then.
        type: list
        elements: dict
  namespace:
    description:
      - Namespace of the pods and of the ConfigMap. If it does not exist, the module creates it, for
        restricted pods only.
    type: str
    default: gpu-validation
  image:
    description:
      - Image of the pods, which only run C(nvidia-smi). The default is
        C(nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubi8).
    type: str
  hold:
    description: For how many seconds all pods have to run together, before the module asks for one more.
    type: float
    default: 3
  grace:
    description: For how many seconds a pod may stay unschedulable, or its image unavailable.
    type: float
    default: 60
  force:
    description: Whether to prove pools again whose proof is remembered.
    type: bool
    default: false
seealso:
  - module: accelerators.openshift.gpu_sharing
  - module: accelerators.openshift.gpu_workload
"""

EXAMPLES = r"""
- name: Prove that four pods share each GPU
  accelerators.openshift.gpu_sharing_proof:
    pools:
      - name: inference
        node_selector: {accelerators.openshift/pool: inference}
        replicas: 4
"""

RETURN = r"""
pools:
  description:
    - Each pool with the node of the proof, and with what ran there. C(devices) is empty if the pool was
      proven before or is not proven, and C(why) says so. C(proven) is null in check mode, and for a pool
      without nodes.
    - An entry of C(devices) has the number of C(shares), which is the number of pods. It has the number of
      C(devices), and the C(uuids) that the pods saw. C(overlap_seconds) is for how many seconds all of them
      ran, and C(refused) has the scheduler's words about one more.
  returned: success, or a failed proof
  type: list
  elements: dict
  sample:
    - name: inference
      node: gpu-0
      proven: true
      why: ""
      devices:
        - resource: nvidia.com/gpu
          replicas: 4
          shares: 4
          devices: 1
          uuids: [GPU-0f]
          overlap_seconds: 3.4
          refused: "0/6 nodes are available: 1 Insufficient nvidia.com/gpu."
failed_pools:
  description: Names of the pools whose sharing is disproved.
  returned: a failed proof
  type: list
  elements: str
  sample: [inference]
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 6.4
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 5.5
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs import (
    sharing_proof_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs.sharing_proof import (
    GpuSharingProofParams,
)

SPEC = ArgumentSpec(
    options={
        "pools": {
            "type": "list",
            "elements": "dict",
            "required": True,
            "options": {
                "name": {"type": "str", "required": True},
                "node_selector": {"type": "dict", "required": True},
                "tolerations": {"type": "list", "elements": "dict", "default": []},
                "resources": {"type": "list", "elements": "str", "default": ["nvidia.com/gpu"]},
                "replicas": {"type": "int", "default": 1},
                "image": {"type": "str"},
                "claims": {"type": "list", "elements": "dict"},
            },
        },
        "namespace": {"type": "str", "default": "gpu-validation"},
        "image": {"type": "str"},
        "hold": {"type": "float", "default": 3.0},
        "grace": {"type": "float", "default": 60.0},
        "force": {"type": "bool", "default": False},
    },
).merge(AUTH, WAIT)


def ensure(api: Api, params: GpuSharingProofParams) -> dict[str, t.Any]:
    return sharing_proof_steps.ensure(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
