#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: access_grant
short_description: Give each playbook a service account with exactly the rights that it needs
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Creates for each playbook a ServiceAccount and the ClusterRoles that the folder C(rbac) has. Binds them
    with a ClusterRoleBinding for what the playbook does in the whole cluster, and with a RoleBinding in each
    namespace for what it does only there. So no playbook reads the Secrets of other namespaces.
  - Creates namespaces of operators, of validation pods and of quotas that are missing, so that a RoleBinding
    can be there. The module never deletes a namespace.
  - Gives tenants the rights to submit GPU work in their namespaces.
  - Takes away bindings of an earlier run that these options do not ask for any more.
  - Needs an administrator of the cluster. Fails before its first write with C(API-RIGHTS) for another
    identity, and with C(API-CONFLICT) if others created an object of the same name.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  playbooks:
    description:
      - Names of the playbooks that get their rights, or lose them. Others keep what they have.
      - By default every playbook that works on a cluster. C(plan) uses the rights of C(enable_gpus).
    type: list
    elements: str
    default: []
  namespace:
    description: Namespace of the service accounts. The module creates it.
    type: str
    default: accelerators-openshift
  namespaces:
    description:
      - "Namespaces that differ from the usual ones, such as C({gpu: my-operator, quota: [team-a, team-b]})."
      - The keys are V(nfd), V(gpu), V(nic), V(validation), V(machines), V(marketplace), V(openshift),
        V(tuning), V(kmm), V(sriov), V(default), V(quota) and V(networks). V(quota) and V(networks) have to
        list the namespaces of teams with quotas, and those of C(gpu_networks).
    type: dict
    default: {}
  subjects:
    description:
      - Users, groups and service accounts that get the rights too.
      - The keys of each are C(kind) (C(User), C(Group) or C(ServiceAccount)), C(name), C(namespace) (of a
        service account), and C(playbooks) (by default all of O(playbooks)).
      - A group of everybody, such as C(system:authenticated), is refused.
    type: list
    elements: dict
    default: []
  tenants:
    description:
      - Teams that submit GPU work to the cluster. Each gets a Role and a RoleBinding in each of its
        namespaces. They allow to read quotas, pods and logs there, and to make Jobs, JobSets,
        LeaderWorkerSets and training jobs.
      - The keys of each are C(name), C(namespaces) (they have to exist), C(subjects) (as in O(subjects),
        without C(playbooks)), C(queues) (LocalQueues of Kueue that the tenant may read) and
        C(priority_classes).
      - RBAC cannot say who may use a priority class. With C(priority_classes) each namespace gets a
        ResourceQuota that gives no C(nvidia.com/gpu) to pods with another class, or with none.
      - RBAC cannot say who may use a LocalQueue either. A job may name any LocalQueue of its own namespace.
      - Tenants of an earlier run that are not in the list lose all this. Without the option they keep it.
        With O(state=absent) the tenants of the list lose it, or all tenants if neither O(playbooks) nor
        O(tenants) is set.
    type: list
    elements: dict
"""

EXAMPLES = r"""
- name: Give each playbook its service account
  accelerators.openshift.access_grant:

- name: Let a group of people resize pools and replace nodes
  accelerators.openshift.access_grant:
    playbooks: [resize_pool, replace_node]
    subjects:
      - {kind: Group, name: gpu-operators}

- name: Let a team submit GPU work with one priority class
  accelerators.openshift.access_grant:
    tenants:
      - name: vision
        namespaces: [vision-train]
        subjects: [{kind: Group, name: vision}]
        queues: [vision]
        priority_classes: [gpu-batch]

- name: Take all of it away
  accelerators.openshift.access_grant:
    state: absent
"""

RETURN = r"""
accounts:
  description: The service account of each playbook.
  returned: success
  type: list
  elements: dict
  sample:
    - {playbook: resize_pool, name: accelerators-openshift-resize-pool, namespace: accelerators-openshift}
table:
  description: The same as text, one line per playbook.
  returned: success
  type: list
  elements: str
  sample: ["resize_pool: system:serviceaccount:accelerators-openshift:accelerators-openshift-resize-pool"]
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.6
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._access import grant_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

SPEC = ArgumentSpec(
    options={
        "playbooks": {"type": "list", "elements": "str", "default": []},
        "namespace": {"type": "str", "default": "accelerators-openshift"},
        "namespaces": {"type": "dict", "default": {}},
        "subjects": {"type": "list", "elements": "dict", "default": []},
        "tenants": {"type": "list", "elements": "dict"},
    },
).merge(AUTH, STATE, WAIT)


def ensure(api: Api, params: grant_steps.AccessGrantParams) -> dict[str, t.Any]:
    return grant_steps.ensure(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
