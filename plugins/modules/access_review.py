#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: access_review
short_description: Ask before the first write for every right that a playbook needs
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Compares the rights of the identity with a table of everything that the playbook does. Fails with the code
    C(API-RIGHTS), which lists every missing verb and resource, and has the ClusterRole to apply.
  - Asks with a SelfSubjectAccessReview and SelfSubjectRulesReviews. For an administrator that is one request,
    for another identity one more for each namespace. Where an authorizer cannot list its rules, asks for each
    right that the answer lacks.
  - Fails with C(RUN-LOCKED) if another run changes the cluster now and goes on for longer than
    O(lock_timeout). In check mode it only warns.
  - Writes nothing.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._lock
  - accelerators.openshift._auth
options:
  playbook:
    description: Name of the playbook of this collection.
    type: str
    choices:
      - enable_gpus
      - remove_gpus
      - resize_pool
      - replace_node
      - repair_node
      - validate_idle
      - repartition
      - remove_pool
      - tune_nodes
      - drift
      - upgrade_driver
      - before_openshift_update
      - after_openshift_update
      - upgrade_operators
      - rotate_pull_secret
      - monitor_gpus
    required: true
  pools:
    description:
      - Pools, as RV(accelerators.openshift.gpu_plan#module:plan.pools) returns them.
      - Tuning, quotas, priorities, health checks and the autoscaler need rights of their own.
    type: list
    elements: dict
    default: []
  backend:
    description: Backend of the driver stack.
    type: str
    choices: [clusterpolicy, nvidiadriver, dra]
    default: clusterpolicy
  nic:
    description: Whether the playbook manages the NVIDIA network operator.
    type: bool
    default: false
  queues:
    description: Whether the playbook manages queues of Kueue.
    type: bool
    default: false
  queue_operator:
    description: Whether the playbook manages Red Hat's operator of Kueue.
    type: bool
    default: false
  cluster_quotas:
    description: Whether the playbook manages quotas of several namespaces (ClusterResourceQuota).
    type: bool
    default: false
  hardware_profiles:
    description: Whether the playbook manages hardware profiles of OpenShift AI.
    type: bool
    default: false
  networks:
    description:
      - Networks, as RV(accelerators.openshift.gpu_plan#module:plan) returns them in C(networks).
    type: list
    elements: dict
    default: []
  approve_csrs:
    description: Whether the playbook approves certificate requests.
    type: bool
    default: false
  machine_namespace:
    description: Namespace of the Machine API.
    type: str
    default: openshift-machine-api
  nfd_namespace:
    description: Namespace of Node Feature Discovery.
    type: str
    default: openshift-nfd
  gpu_namespace:
    description: Namespace of the GPU operator.
    type: str
    default: nvidia-gpu-operator
  nic_namespace:
    description: Namespace of the NVIDIA network operator.
    type: str
    default: nvidia-network-operator
  kueue_namespace:
    description: Namespace of the operator of Kueue.
    type: str
    default: openshift-kueue-operator
  validation_namespace:
    description: Namespace of the validation pods.
    type: str
    default: gpu-validation
  spare_namespace:
    description: Namespace of the placeholder pods that keep devices spare.
    type: str
    default: gpu-spare
  admission:
    description: Whether admission policies tell pods why they do not run on GPU nodes.
    type: bool
    default: false
  source_namespace:
    description: Namespace of the CatalogSources.
    type: str
    default: openshift-marketplace
  only:
    description: Tags of this run, C(ansible_run_tags). If roles are among them, only those are asked about.
    type: list
    elements: str
    default: []
  skip:
    description: Tags that this run skips, C(ansible_skip_tags). Roles among them are not asked about.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Ask for the rights to remove a pool
  accelerators.openshift.access_review:
    playbook: remove_pool

- name: Show the ClusterRole that the playbook enable_gpus needs
  accelerators.openshift.access_review:
    playbook: enable_gpus
    pools: "{{ result.plan.pools }}"
  register: review
"""

RETURN = r"""
missing:
  description: Rights that the identity lacks. An empty namespace is the whole cluster.
  returned: always
  type: list
  elements: dict
  sample: [{verb: patch, group: operators.coreos.com, resource: installplans, namespace: openshift-nfd}]
cluster_role:
  description: A ClusterRole that grants all that the playbook needs, and reads that it can do without.
  returned: always
  type: dict
  sample:
    apiVersion: rbac.authorization.k8s.io/v1
    kind: ClusterRole
    metadata: {name: accelerators-openshift-remove-pool}
    rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create, get, update]}]
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.02
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._access import needs, steps
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

SPEC = ArgumentSpec(
    options={
        "playbook": {
            "type": "str",
            "choices": [*needs.PARTS],
            "required": True,
        },
        "pools": {"type": "list", "elements": "dict", "default": []},
        "backend": {
            "type": "str",
            "choices": ["clusterpolicy", "nvidiadriver", "dra"],
            "default": "clusterpolicy",
        },
        "nic": {"type": "bool", "default": False},
        "queues": {"type": "bool", "default": False},
        "queue_operator": {"type": "bool", "default": False},
        "cluster_quotas": {"type": "bool", "default": False},
        "hardware_profiles": {"type": "bool", "default": False},
        "networks": {"type": "list", "elements": "dict", "default": []},
        "approve_csrs": {"type": "bool", "default": False},
        "machine_namespace": {"type": "str", "default": "openshift-machine-api"},
        "nfd_namespace": {"type": "str", "default": "openshift-nfd"},
        "gpu_namespace": {"type": "str", "default": "nvidia-gpu-operator"},
        "nic_namespace": {"type": "str", "default": "nvidia-network-operator"},
        "kueue_namespace": {"type": "str", "default": "openshift-kueue-operator"},
        "validation_namespace": {"type": "str", "default": "gpu-validation"},
        "spare_namespace": {"type": "str", "default": "gpu-spare"},
        "admission": {"type": "bool", "default": False},
        "source_namespace": {"type": "str", "default": "openshift-marketplace"},
        "only": {"type": "list", "elements": "str", "default": []},
        "skip": {"type": "list", "elements": "str", "default": []},
    },
).merge(AUTH, LOCK, WAIT)


def ensure(api: Api, params: steps.AccessReviewParams) -> dict[str, t.Any]:
    return steps.ensure(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
