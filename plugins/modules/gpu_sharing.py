#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_sharing
short_description: Share GPUs between pods by time-slicing, MPS, MIG or claims
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Writes one profile for each pool into the ConfigMap of NVIDIA's device plugin, and gives the nodes of the
    pool the label C(nvidia.com/device-plugin.config) with the name of that profile. A node that joins later
    gets it from its machine set (M(accelerators.openshift.gpu_machineset)), so it offers its shares too.
  - Profiles of others in the same ConfigMap stay as they are.
  - The ConfigMap takes effect once the ClusterPolicy names it. RV(config) is what
    O(accelerators.openshift.special_resource#module:device_plugin) needs for that; the playbook
    C(enable_gpus) passes it on.
  - The device plugin reads its profile when it starts. If the content of a profile changes, the module
    restarts the pods that read it, on the nodes of that profile only.
  - Time-slicing ends no pod. A change from or to MPS ends the CUDA contexts of pods on the node, so the
    module asks for it first (O(on_busy)).
  - For MIG it writes one configuration for each geometry of a pool into the ConfigMap of the MIG manager, and
    gives nodes without a driver stack the label C(nvidia.com/mig.config). Nodes that offer GPUs keep their
    geometry, because a change needs them empty (M(accelerators.openshift.gpu_repartition)).
  - With O(claims) it makes a ResourceClaim for each shared claim of a pool. The spec of a claim cannot
    change, so the module replaces it. It asks first if pods use a claim that has to go (O(on_busy)).
  - Waits until each node offers its GPUs times the replicas, under the right name and labels. It leaves out
    nodes whose device plugin does not read the ConfigMap yet.
  - O(state=absent) takes labels and profiles away, and with O(claims) the shared claims. The ConfigMap goes
    with its last profile, unless a ClusterPolicy names it.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._lock
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  pools:
    description:
      - All pools of a run. C(sharings) of the plan that M(accelerators.openshift.gpu_plan) returns has this
        form.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the pool. Its profile is C(gpu-NAME).
        type: str
        required: true
      node_selector:
        description:
          - Labels of the nodes of the pool.
          - The default is the label C(accelerators.openshift/pool=NAME), which
            M(accelerators.openshift.gpu_machineset) gives to nodes.
        type: dict
      sharing:
        description:
          - How pods share a GPU, as C(sharing) of an entry of C(gpu_pools). Without it the nodes of the pool
            get their whole GPUs back.
          - C(time_slicing) has C(replicas) (2 or more), C(rename) (pods then request
            C(nvidia.com/gpu.shared)) and C(fail_requests_greater_than_one), which is V(true) by default,
            because a pod with two shares does not get more of the GPU than a pod with one.
          - C(mps) has C(replicas) (2 to 48), C(rename) and C(fail_requests_greater_than_one), of which
            V(false) needs GPU operator 26.7; device plugins before v0.20.0 refuse such pods anyway. Each
            client gets its part of the memory and of the threads of the GPU.
          - C(mig) has C(strategy), V(single) or V(mixed), and one of C(slices) (equal parts, which needs
            O(pools[].partitions)), C(profile), C(layout) (partitions of each GPU, as number by profile) and
            C(config) (entries as in a file of mig-parted). With C(time_slicing) too, pods share each
            partition. C(mps) cannot be used with C(mig).
          - C(claims) (with O(claims) alone) is a list. Each entry has C(name) and C(namespace) of a
            ResourceClaim, C(count) (devices, V(1) by default), C(device_class) (V(gpu.nvidia.com), or
            V(mig.nvidia.com) for partitions, with C(profile)), and C(models) (GPU models, by default any).
        type: dict
      partitions:
        description:
          - With C(mig), the configuration for each instance type, as
            M(accelerators.openshift.gpu_plan) returns it. Each entry has C(instance_type), empty for all
            nodes, C(config), entries as in a file of mig-parted, and C(expected), what such a node has to
            offer.
          - By default one configuration, made from O(pools[].sharing).
        type: list
        elements: dict
      expected:
        description:
          - What each node has to offer, as number by resource.
          - By default the GPUs that GPU feature discovery found, times the replicas.
        type: dict
  claims:
    description:
      - Whether pods claim devices (backend C(dra)). The module then looks after shared claims, whose
        namespaces have to exist, instead of profiles. With O(state=absent) it removes both.
    type: bool
    default: false
  config_map:
    description:
      - Name of the ConfigMap.
      - By default the one that the ClusterPolicy names, else V(gpu-sharing).
    type: str
  namespace:
    description: Namespace of the GPU operator.
    type: str
    default: nvidia-gpu-operator
  only_add:
    description:
      - Whether profiles and labels that a pool no longer needs stay for now. The module asks about their end
        all the same.
    type: bool
    default: false
  on_change:
    description:
      - What to do if nodes that offer GPUs have another geometry than their pool.
      - V(fail) changes nothing and fails with C(GPU-MIG-CHANGE). V(keep) leaves it to
        M(accelerators.openshift.gpu_repartition), and writes the rest.
    type: str
    choices: [fail, keep]
    default: fail
  mig_reboot:
    description:
      - Whether the MIG manager may reboot a node whose MIG mode changes only by that, as on many virtual
        machines. RV(mig_manager) has the environment variable for it.
      - The MIG manager reboots the node at once. Nodes that are there are emptied before
        (M(accelerators.openshift.gpu_repartition)), and a new node has no pods with GPUs yet.
    type: bool
    default: false
  on_busy:
    description:
      - What to do if the way of sharing changes from or to MPS on nodes where pods use GPUs, or if pods use a
        shared claim that has to go.
      - V(fail) changes nothing and fails with the nodes and the pods. V(drain) goes on, and these pods lose
        the GPU; those of a claim are evicted. V(wait) waits for their end, up to O(wait_timeout).
    type: str
    choices: [fail, drain, wait]
    default: fail
seealso:
  - module: accelerators.openshift.gpu_repartition
  - module: accelerators.openshift.special_resource
"""

EXAMPLES = r"""
- name: Let four pods share each GPU of a pool
  accelerators.openshift.gpu_sharing:
    pools:
      - name: inference
        sharing: {time_slicing: {replicas: 4}}
  register: gpu_sharing_result

- name: Have the device plugin read the profiles
  accelerators.openshift.special_resource:
    backend: clusterpolicy
    device_plugin:
      config: "{{ gpu_sharing_result.config }}"

- name: Share the GPUs of all pools of a plan
  accelerators.openshift.gpu_sharing:
    pools: "{{ gpu_plan_result.plan.sharings }}"
    on_busy: wait

- name: Let pods of a team share a GPU where pods claim devices
  accelerators.openshift.gpu_sharing:
    claims: true
    pools:
      - name: inference
        sharing: {claims: [{name: shared-gpu, namespace: team-a}]}

- name: Give the nodes of a pool their whole GPUs back
  accelerators.openshift.gpu_sharing:
    pools: [{name: inference}]
    state: absent
"""

RETURN = r"""
config_map:
  description: Name of the ConfigMap.
  returned: success
  type: str
  sample: gpu-sharing
found:
  description: Whether a ConfigMap of shared GPUs, or a shared claim of the pools, existed before the task.
  returned: success
  type: bool
  sample: true
config:
  description:
    - What C(devicePlugin.config) of the ClusterPolicy has to be. Empty if no pool of this collection shares
      its GPUs.
  returned: success
  type: dict
  sample: {name: gpu-sharing, default: whole-gpus}
is_named:
  description: Whether the ClusterPolicy named the ConfigMap before the task.
  returned: success
  type: bool
  sample: true
mig:
  description: What C(mig) of the ClusterPolicy has to be. Empty if no pool of this collection uses MIG.
  returned: success
  type: dict
  sample: {strategy: mixed}
mig_manager:
  description: What C(migManager) of the ClusterPolicy has to have, in the same way.
  returned: success
  type: dict
  sample: {config: {name: gpu-mig, default: ""}}
pools:
  description:
    - Each pool with its profile, its MIG configurations, the shares of a GPU, the resource that pods request,
      and its nodes.
    - C(ready) of a node says whether it offers all its shares.
  returned: success
  type: list
  elements: dict
  sample:
    - name: inference
      profile: gpu-inference
      replicas: 4
      resource: nvidia.com/gpu
      mig_configs: []
      nodes: [{name: gpu-1, ready: true}]
claims:
  description:
    - The shared claims of the pools. C(is_allocated) says whether a claim has devices now, and C(users) has
      the pods that use it.
  returned: success
  type: list
  elements: dict
  sample:
    - pool: inference
      namespace: team-a
      name: shared-gpu
      device_class: gpu.nvidia.com
      profile: ""
      count: 1
      models: [A100]
      is_allocated: true
      users: [server-0, server-1]
ends:
  description:
    - What a change from or to MPS, or the removal of a claim, ends (O(on_busy)), with nodes and pods.
  returned: success
  type: list
  elements: dict
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 1.2
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    ON_BUSY,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.options import GpuSharingParams

SPEC = ArgumentSpec(
    options={
        "pools": {
            "type": "list",
            "elements": "dict",
            "required": True,
            "options": {
                "name": {"type": "str", "required": True},
                "node_selector": {"type": "dict"},
                "sharing": {"type": "dict"},
                "expected": {"type": "dict"},
                "partitions": {"type": "list", "elements": "dict"},
            },
        },
        "claims": {"type": "bool", "default": False},
        "config_map": {"type": "str"},
        "namespace": {"type": "str", "default": "nvidia-gpu-operator"},
        "only_add": {"type": "bool", "default": False},
        "mig_reboot": {"type": "bool", "default": False},
        "on_change": {"type": "str", "choices": ["fail", "keep"], "default": "fail"},
    },
).merge(AUTH, LOCK, ON_BUSY, STATE, WAIT)


def ensure(api: Api, params: GpuSharingParams) -> dict[str, t.Any]:
    return steps.absent(api, params) if params["state"] == "absent" else steps.present(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
