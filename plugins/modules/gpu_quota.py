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
  - A namespace may have several quotas, each with its own O(name). O(quotas) sets any number of quotas in one
    task, which reads the nodes once, and only if a limit changes.
  - A namespace of the platform (C(default), C(kube-*), C(openshift-*)) gets no quota.
  - O(state=absent) deletes the quota if this collection created it. The namespace stays.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  namespace:
    description: Namespace to cap. Required without O(quotas).
    type: str
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
  quotas:
    description:
      - Several quotas, instead of O(namespace), O(name), O(gpus), O(claims) and O(hard).
      - A quota that fails does not keep the others from being set. The task then fails with the first one.
    type: list
    elements: dict
    suboptions:
      namespace:
        description: Namespace to cap.
        type: str
        required: true
      name:
        description: Name of the ResourceQuota.
        type: str
        default: gpu-quota
      gpus:
        description: As O(gpus).
        type: int
      claims:
        description: As O(claims).
        type: bool
        default: false
      hard:
        description: As O(hard).
        type: dict
  create_namespace:
    description:
      - Whether to create the namespace when it does not exist. Otherwise a missing namespace is an error.
      - A name that is near to the name of an existing namespace is perhaps a typing error. The module does
        not create it unless O(namespaces) has it.
    type: bool
    default: false
  namespaces:
    description:
      - Names of the namespaces that O(create_namespace) may create. Without this list it may create any name
        that is not near to an existing one.
    type: list
    elements: str
  adopt:
    description:
      - What to do with a limit that another field manager set, for example C(oc edit), and with a quota that
        this collection did not create.
      - V(report) keeps it, warns with both values and the manager, and returns it as C(quota.kept).
      - V(take) sets the limits of the task.
    type: str
    choices: [report, take]
    default: report
  nodes_exist:
    description:
      - Whether the nodes with these devices exist already. With V(false) the module does not warn of a limit
        of a device that no node advertises, or of a DeviceClass that does not exist.
    type: bool
    default: true
  prove:
    description:
      - Whether to prove the quota. The module sends a dry run of a pod, or a claim, that requests more than
        is left, and returns the API server's refusal as C(quota.proof).
      - The task fails with C(QUOTA-NOT-ENFORCED) if the API server would admit such a pod. Check mode skips
        the proof.
      - Any other refusal, for example that of a policy engine or of a webhook that takes no dry runs, is a
        warning, and C(quota.proof) begins with C(not proven).
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

- name: Limit two teams in one task
  accelerators.openshift.gpu_quota:
    quotas:
      - {namespace: team-a, gpus: 8}
      - {namespace: team-d, gpus: 4}

- name: Remove the quota
  accelerators.openshift.gpu_quota:
    namespace: team-a
    state: absent
"""

RETURN = r"""
quota:
  description: The quota as the cluster holds it. With O(state=absent) only its name and namespace.
  returned: success, without O(quotas)
  type: dict
  sample:
    name: gpu-quota
    namespace: team-a
    resources: {requests.nvidia.com/gpu: {hard: "8", used: "2"}}
    kept: []
    holders: [{pod: trainer-0, requests: {nvidia.com/gpu: 2}}]
    proof: >-
      pods "gpu-quota-proof-x" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=7,
      used: ..., limited: ...
quotas:
  description: The same for each quota of O(quotas).
  returned: success, with O(quotas)
  type: list
  elements: dict
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.2
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 3.5
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import adoption
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._quota.options import GpuQuotaParams

SPEC = ArgumentSpec(
    options={
        "namespace": {"type": "str"},
        "name": {"type": "str", "default": "gpu-quota"},
        "gpus": {"type": "int"},
        "claims": {"type": "bool", "default": False},
        "hard": {"type": "dict"},
        "quotas": {
            "type": "list",
            "elements": "dict",
            "options": {
                "namespace": {"type": "str", "required": True},
                "name": {"type": "str", "default": "gpu-quota"},
                "gpus": {"type": "int"},
                "claims": {"type": "bool", "default": False},
                "hard": {"type": "dict"},
            },
            "mutually_exclusive": [["gpus", "hard"]],
            "required_one_of": [["gpus", "hard"]],
        },
        "create_namespace": {"type": "bool", "default": False},
        "namespaces": {"type": "list", "elements": "str"},
        **adoption.OPTION,
        "nodes_exist": {"type": "bool", "default": True},
        "prove": {"type": "bool", "default": False},
    },
    mutually_exclusive=[["gpus", "hard"], *(["quotas", one] for one in ("namespace", "gpus", "hard"))],
    required_one_of=[["namespace", "quotas"]],
    required_if=[["state", "present", ["gpus", "hard", "quotas"], True]],
).merge(AUTH, STATE, WAIT)


def ensure(api: Api, params: GpuQuotaParams) -> dict[str, t.Any]:
    return steps.absent(api, params) if params["state"] == "absent" else steps.present(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
