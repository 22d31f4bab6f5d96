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
      - What brings the driver. V(clusterpolicy) is the ClusterPolicy of the NVIDIA GPU Operator.
      - V(nvidiadriver) is that ClusterPolicy with a driver for each pool, by NVIDIADriver objects.
      - V(dra) is a GPUCluster (dynamic resource allocation, pods claim devices) with NVIDIADriver objects for the driver.
      - V(nicclusterpolicy) is the NicClusterPolicy of the NVIDIA Network Operator.
      - V(custom) is any object of any operator, described and judged by O(custom).
      - V(kmm) is a Module of Kernel Module Management, O(kmm).
      - V(sro) is a SpecialResource of the Special Resource Operator, O(sro), as it was up to OpenShift 4.11.
    type: str
    choices: [clusterpolicy, nvidiadriver, dra, nicclusterpolicy, custom, kmm, sro]
    default: clusterpolicy
  name:
    description:
      - Name of the backend's object; V(gpu-cluster-policy) for the ClusterPolicy.
      - A GPUCluster is always V(gpu-cluster), a NicClusterPolicy always V(nic-cluster-policy).
      - A cluster has one ClusterPolicy; a second one is refused, because the operator would ignore it.
    type: str
  namespace:
    description:
      - Namespace of the operator and of its operands.
      - V(nvidia-gpu-operator) for the GPU operator's objects, V(nvidia-network-operator) for the NicClusterPolicy.
    type: str
  tolerations:
    description:
      - Taints of the pools, as tolerations for every operand. Those that C(taints) of O(pools) name need not be repeated here.
      - They are merged with those that are there and with C(nvidia.com/gpu:NoSchedule); nobody's toleration is taken away.
    type: list
    elements: dict
    default: []
  spec:
    description: Raw part of C(spec), merged last; its keys are the API's own.
    type: dict
    default: {}
  pools:
    description:
      - The pools whose nodes are judged; other nodes do not matter. Each has C(name), C(node_selector), C(expected) (resource to number per node) and
        C(min_replicas) or C(replicas) (how many nodes there are at least, 1 by default).
        Other keys are ignored, so pools of M(accelerators.openshift.gpu_plan) fit.
      - Without pools only the ClusterPolicy itself is judged.
    type: list
    elements: dict
    default: []
  adopt:
    description:
      - What becomes of the backend's object when somebody else made it.
      - With V(report) nothing is written. What differs from what is asked comes back as C(differs), with who looks after the object, and as a warning.
      - With V(take) only what was asked for and differs is written. The object never becomes this collection's, so O(state=absent) leaves it.
    type: str
    choices: [report, take]
    default: report
  settle:
    description: For how many seconds the stack has to stay ready.
    type: float
    default: 0
  grace:
    description:
      - For how many seconds a trouble that may pass by itself may last before the task fails.
        Examples are a crashing driver, an image that cannot be pulled, and nodes without PCI labels.
    type: float
    default: 60
"""
