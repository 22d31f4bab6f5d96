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
  - The module warns of quotas that count nothing, also of those of others, which it never changes. A limit of
    a resource that does not exist, scopes that no pod with a device has, keys that are never enforced, and
    another quota that allows less are all in C(quota.findings), each with its code and path.
  - A namespace of the platform (C(default), C(kube-*), C(openshift-*)) gets no quota.
  - O(state=absent) deletes the quota if this collection created it. The namespace stays.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
  - accelerators.openshift._quota
options:
  namespace:
    description: Namespace to cap. Required without O(quotas) and O(cluster_quotas).
    type: str
  create_namespaces:
    description:
      - Whether to create the namespace when it does not exist. Otherwise a missing namespace is an error.
      - A name that is near to the name of an existing namespace is perhaps a typing error. The module does
        not create it unless O(namespaces) has it.
    type: bool
    default: false
  namespaces:
    description:
      - Names of the namespaces that O(create_namespaces) may create. Without this list it may create any name
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
        of a device that no node advertises, or of a DeviceClass that does not exist, unless O(planned) says
        what there will be.
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
    create_namespaces: true
    hard:
      requests.nvidia.com/mig-1g.5gb: 14
      requests.memory: 512Gi
    prove: true

- name: Limit team C to eight GPUs that pods claim as devices
  accelerators.openshift.gpu_quota:
    namespace: team-c
    gpus: 8
    claims: true

- name: Limit training to eight GPUs and batch work to two
  accelerators.openshift.gpu_quota:
    quotas:
      - {namespace: team-a, name: training, gpus: 8, priority_classes: [gpu-training]}
      - {namespace: team-a, name: batch, gpus: 2, priority_classes: [gpu-batch]}

- name: Limit two teams in one task
  accelerators.openshift.gpu_quota:
    quotas:
      - {namespace: team-a, gpus: 8}
      - {namespace: team-d, gpus: 4}

- name: Limit all namespaces of a department together
  accelerators.openshift.gpu_quota:
    cluster_quotas:
      - {name: research, labels: {department: research}, gpus: 16}

- name: Remove the quota
  accelerators.openshift.gpu_quota:
    namespace: team-a
    state: absent
"""

RETURN = r"""
quota:
  description:
    - The quota as the cluster holds it. With O(state=absent) only its name and namespace.
    - C(holders) has each pod or claim that holds what the quota limits. C(use) sums them up, with the ten
      owners that hold most, or is null. In check mode they say what a new quota would count.
  returned: success, without O(quotas)
  type: dict
  sample:
    name: gpu-quota
    namespace: team-a
    resources: {requests.nvidia.com/gpu: {hard: "8", used: "2"}}
    kept: []
    findings:
      - code: QUOTA-STRICTER
        quota: other
        path: spec.hard[requests.nvidia.com/gpu]
        message: ...
        ours: false
    holders: [{pod: train-x2v, owner: {kind: Job, name: train}, requests: {nvidia.com/gpu: 2}}]
    use:
      pods: 1
      requests: {nvidia.com/gpu: 2}
      owners: [{kind: Job, name: train, pods: 1, requests: {nvidia.com/gpu: 2}}]
      more_owners: 0
    proof: >-
      pods "gpu-quota-proof-x" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=7,
      used: ..., limited: ...
quotas:
  description: The same for each quota of O(quotas).
  returned: success, with O(quotas)
  type: list
  elements: dict
cluster_quotas:
  description: The quotas of O(cluster_quotas) with the use of each namespace, the first with most.
  returned: success, with O(cluster_quotas)
  type: list
  elements: dict
  sample:
    - name: research
      resources: {requests.nvidia.com/gpu: {hard: "16", used: "5"}}
      namespaces: [{namespace: team-a, used: {requests.nvidia.com/gpu: "5"}}]
      findings: []
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
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import cluster_quota, steps
from ansible_collections.accelerators.openshift.plugins.module_utils._quota.options import (
    ONE,
    PLANNED,
    GpuQuotaParams,
)

SPEC = ArgumentSpec(
    options={
        "namespace": {"type": "str"},
        **ONE,
        "quotas": {
            "type": "list",
            "elements": "dict",
            "options": {"namespace": {"type": "str", "required": True}, **ONE},
            "mutually_exclusive": [["gpus", "hard"]],
            "required_one_of": [["gpus", "hard"]],
        },
        "cluster_quotas": {
            "type": "list",
            "elements": "dict",
            "options": cluster_quota.OPTIONS,
            "mutually_exclusive": [["gpus", "hard"]],
            "required_one_of": [["gpus", "hard"]],
        },
        "create_namespaces": {"type": "bool", "default": False},
        "namespaces": {"type": "list", "elements": "str"},
        **adoption.OPTION,
        "nodes_exist": {"type": "bool", "default": True},
        "planned": PLANNED,
        "prove": {"type": "bool", "default": False},
    },
    mutually_exclusive=[
        ["gpus", "hard"],
        *(["quotas", one] for one in ("namespace", "gpus", "hard", "priority_classes", "limit_range")),
    ],
    required_one_of=[["namespace", "quotas", "cluster_quotas"]],
    required_if=[["state", "present", ["gpus", "hard", "quotas", "cluster_quotas"], True]],
).merge(AUTH, STATE, WAIT)


def ensure(api: Api, params: GpuQuotaParams) -> dict[str, t.Any]:
    return steps.absent(api, params) if params["state"] == "absent" else steps.present(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
