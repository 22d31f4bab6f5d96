#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_quota
short_description: Cap the accelerators that a namespace may request
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Maintains a ResourceQuota whose keys the API server really counts, and returns how much of it is used.
  - The API accepts keys such as C(nvidia.com/gpu) and C(limits.nvidia.com/gpu) in a ResourceQuota and never
    enforces them. This module refuses them and names the right key.
  - A namespace may have several quotas. Use one task with its own O(name) for each.
  - O(state=absent) deletes the quota if this collection created it. The namespace stays.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  namespace:
    description: Namespace to cap.
    type: str
    required: true
  name:
    description: Name of the ResourceQuota.
    type: str
    default: gpu-quota
  gpus:
    description:
      - Number of GPUs that all pods of the namespace together may request.
      - Same as O(hard) with only the key C(requests.nvidia.com/gpu), or with O(claims) only the key
        C(gpu.nvidia.com.deviceclass.resource.k8s.io/devices).
    type: int
  claims:
    description:
      - Whether O(gpus) counts devices that pods claim (dynamic resource allocation) instead of an extended
        resource that they request.
    type: bool
    default: false
  hard:
    description:
      - Limit per resource, as in C(spec.hard) of a ResourceQuota, for example
        C(requests.nvidia.com/mig-1g.5gb).
      - Extended resources need the prefix C(requests.) and a whole number.
      - Devices that pods claim count by their class, as
        C(gpu.nvidia.com.deviceclass.resource.k8s.io/devices). A claim counts until it is deleted.
    type: dict
  create_namespace:
    description:
      - Whether to create the namespace when it does not exist. Otherwise a missing namespace is an error.
    type: bool
    default: false
  prove:
    description:
      - Whether to prove the quota. The module sends a dry run of a pod, or a claim, that requests more than
        is left, and returns the API server's refusal as C(quota.proof).
      - The task fails with C(QUOTA-NOT-ENFORCED) if the API server would admit such a pod. Check mode skips
        the proof.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Limit team A to eight GPUs
  accelerators.openshift.gpu_quota:
    namespace: team-a
    gpus: 8

- name: Limit team B to MIG slices, and prove the limit
  accelerators.openshift.gpu_quota:
    namespace: team-b
    name: mig-quota
    create_namespace: true
    hard:
      requests.nvidia.com/mig-1g.5gb: 14
      requests.memory: 512Gi
    prove: true

- name: Limit team C to eight GPUs that pods claim as devices
  accelerators.openshift.gpu_quota:
    namespace: team-c
    gpus: 8
    claims: true

- name: Remove the quota
  accelerators.openshift.gpu_quota:
    namespace: team-a
    state: absent
"""

RETURN = r"""
quota:
  description: The quota as the cluster holds it. With O(state=absent) only its name and namespace.
  returned: success
  type: dict
  sample:
    name: gpu-quota
    namespace: team-a
    resources: {requests.nvidia.com/gpu: {hard: "8", used: "2"}}
    holders: [{pod: trainer-0, requests: {nvidia.com/gpu: 2}}]
    proof: >-
      pods "gpu-quota-proof-x" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=7,
      used: ..., limited: ...
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.2
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import steps

SPEC = ArgumentSpec(
    options={
        "namespace": {"type": "str", "required": True},
        "name": {"type": "str", "default": "gpu-quota"},
        "gpus": {"type": "int"},
        "claims": {"type": "bool", "default": False},
        "hard": {"type": "dict"},
        "create_namespace": {"type": "bool", "default": False},
        "prove": {"type": "bool", "default": False},
    },
    mutually_exclusive=[["gpus", "hard"]],
    required_if=[["state", "present", ["gpus", "hard"], True]],
).merge(AUTH, STATE, WAIT)


def ensure(api: Api, params: steps.GpuQuotaParams) -> dict[str, t.Any]:
    return steps.absent(api, params) if params["state"] == "absent" else steps.present(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
