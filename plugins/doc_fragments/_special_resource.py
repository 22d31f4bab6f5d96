# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  backend:
    description:
      - What installs the driver. V(clusterpolicy) is the ClusterPolicy of the NVIDIA GPU Operator.
      - V(nvidiadriver) is that ClusterPolicy with NVIDIADriver objects, one driver for each pool.
      - V(dra) is a GPUCluster (dynamic resource allocation; pods claim devices) with NVIDIADriver objects for
        the driver.
      - V(nicclusterpolicy) is the NicClusterPolicy of the NVIDIA Network Operator.
      - V(custom) is any object of any operator. O(custom) describes it and says when it is ready.
      - V(kmm) is a Module of Kernel Module Management; see O(kmm).
      - V(sro) is a SpecialResource of the Special Resource Operator, which existed up to OpenShift 4.11; see
        O(sro).
    type: str
    choices: [clusterpolicy, nvidiadriver, dra, nicclusterpolicy, custom, kmm, sro]
    default: clusterpolicy
  name:
    description:
      - Name of the backend's object. The default for a ClusterPolicy is V(gpu-cluster-policy).
      - A GPUCluster is always named V(gpu-cluster), a NicClusterPolicy always V(nic-cluster-policy).
      - A cluster has one ClusterPolicy. The task refuses a second one, because the operator would ignore it.
    type: str
  namespace:
    description:
      - Namespace of the operator and of its operands.
      - The default is V(nvidia-gpu-operator) for the GPU operator's objects, and V(nvidia-network-operator)
        for the NicClusterPolicy.
    type: str
  tolerations:
    description:
      - Tolerations for every operand. Do not repeat taints that C(taints) of O(pools) names.
      - The module merges them with the existing tolerations and with C(nvidia.com/gpu:NoSchedule). It removes
        none.
    type: list
    elements: dict
    default: []
  spec:
    description: Raw part of C(spec), merged last. Its keys are those of the API.
    type: dict
    default: {}
  pools:
    description:
      - The pools whose nodes the module judges. Other nodes do not matter. Each pool has C(name),
        C(node_selector), C(expected) (resource and number per node), and C(min_replicas) or C(replicas) (the
        least number of nodes, 1 by default). The module ignores other keys, so you can pass pools of
        M(accelerators.openshift.gpu_plan).
      - With C(clusterpolicy) and C(nvidiadriver) a pool with C(workload) V(vm_passthrough) or V(vm_vgpu), and
        its C(virtual_machines), gives its GPUs to virtual machines. The module labels its nodes, and permits
        the devices in HyperConverged under the names that the nodes offer.
      - With O(state=absent) the labels of such pools go, and what this collection wrote into HyperConverged.
      - Without pools the module judges only the ClusterPolicy itself.
    type: list
    elements: dict
    default: []
  adopt:
    description:
      - What to do with a foreign object, that is, one that this collection did not create.
      - With V(report) the module writes nothing. It returns the differences as C(differs) and the manager of
        the object as C(manager), and warns.
      - With V(take) the module writes the wanted fields that differ. The object does not become this
        collection's, so O(state=absent) does not delete it.
      - The same holds for each field of an object of this collection. A field that the task does not ask for
        keeps the value that another manager set, for example with C(oc patch). If the task asks for another
        value, V(report) fails with C(API-CONFLICT), which names both values and the manager, and V(take)
        sets the field.
    type: str
    choices: [report, take]
    default: report
  only_pools:
    description:
      - Whether O(state=absent) takes away only what pools of virtual machines have, and leaves the stack to
        others. Only with C(clusterpolicy) and C(nvidiadriver).
    type: bool
    default: false
  remove_labels:
    description:
      - Whether O(state=absent) of the backends C(clusterpolicy), C(nvidiadriver) and C(dra) also takes away
        labels that the GPU operator leaves.
      - On nodes these are C(nvidia.com/gpu.present), C(nvidia.com/gpu.deploy.*) (a value C(false) is a user's
        and stays), C(nvidia.com/gpu-operator.driver.owner) and C(nvidia.com/gpu-driver-upgrade-state).
      - On the operator's namespace these are C(openshift.io/cluster-monitoring) and
        C(pod-security.kubernetes.io/*), if the operator alone set them.
      - They stay, with a warning, while a ClusterPolicy or GPUCluster that this collection did not make
        exists.
    type: bool
    default: false
  on_busy:
    description:
      - What to do if the write makes the operator replace or remove the driver on nodes where pods use
        devices. Such a write changes what the driver's pods are made from, for example by a toleration for
        the taint of another pool, or deletes the object (O(state=absent)).
      - V(fail) changes nothing and fails with the code C(GPU-BUSY) or C(NIC-BUSY), which names the nodes and
        the pods. V(drain) writes, and the operator ends these pods. V(wait) first waits until they have ended
        by themselves or O(wait_timeout) is over.
      - Where the driver itself stays the same, GPU operator 26.7 and later only restarts the driver's pods,
        which ends no other pod.
      - The backends V(custom), V(kmm) and V(sro) ignore this option.
    type: str
    choices: [fail, drain, wait]
    default: fail
  settle:
    description: For how many seconds the stack must stay ready before the task succeeds.
    type: float
    default: 0
  node_timeout:
    description:
      - Seconds by which O(wait_timeout) grows for each node whose driver an operator replaces. A node needs 2
        to 10 minutes, and an operator takes one node after the other.
      - A node adds its seconds when its turn comes. So a node that is stuck does not use up those of others.
    type: int
    default: 600
  grace:
    description:
      - For how many seconds a trouble that may pass by itself may last before the task fails. Examples are a
        crashing driver, an image that cannot be pulled, and nodes without PCI labels.
      - By default 60 seconds, and 300 seconds for containers that crash and images that cannot be pulled,
        since a node waits that long between two attempts. A value counts for all of them.
    type: float
  go_on:
    description:
      - Whether a pool whose stack fails does not end the wait for the other pools. The task still fails, with
        the code of the first failure, once every other pool is ready or has failed too.
      - The field C(pools) of RV(special_resource) of the failed task then says which pools are ready.
      - A failure that belongs to no pool, such as one of the operator, always ends the wait.
    type: bool
    default: false
  given_up:
    description:
      - Names of pools that an earlier task gave up, for example because a PodDisruptionBudget holds up the
        update of a node. With O(go_on) the task does not wait for them.
      - The task fails if one of them is not ready once every other pool is ready or has failed.
    type: list
    elements: str
    default: []
"""
