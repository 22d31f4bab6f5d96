# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
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
  priority_classes:
    description:
      - Names of PriorityClasses. The quota counts only pods of one of them (a C(scopeSelector)). Without
        names it counts all pods.
      - Claims of devices have no priority class, so such a quota cannot limit them.
    type: list
    elements: str
  limit_range:
    description:
      - Default requests of containers, in a LimitRange C(NAME-defaults) beside the quota. Where a quota
        counts C(requests.cpu) or the like, the API server refuses each pod without such a request.
      - The LimitRange has only what a quota of the namespace forces and no other LimitRange has. Where
        C(limits.cpu) or C(limits.memory) is counted, the value is the default limit too.
      - It applies to all containers of the namespace that say nothing themselves. It goes with the quota, and
        when the option is removed.
    type: dict
    suboptions:
      cpu: &default_cpu
        description: Default of cpu, such as C(500m).
        type: str
      memory: &default_memory
        description: Default of memory, such as C(2Gi).
        type: str
  quotas:
    description:
      - Several quotas, instead of O(namespace), O(name), O(gpus), O(claims), O(hard), O(priority_classes) and
        O(limit_range).
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
      priority_classes:
        description: As O(priority_classes).
        type: list
        elements: str
      limit_range:
        description: As O(limit_range).
        type: dict
        suboptions:
          cpu: *default_cpu
          memory: *default_memory
  cluster_quotas:
    description:
      - ClusterResourceQuotas of OpenShift, each one limit for all namespaces that have its labels and
        annotations. On a cluster without them the module fails with C(QUOTA-NOT-SERVED) before the first
        write.
      - O(prove) does not prove them. One that this collection did not create is refused, unless
        O(adopt=take).
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the ClusterResourceQuota.
        type: str
        required: true
      labels:
        description: Labels of the namespaces.
        type: dict
      annotations:
        description: Annotations of the namespaces.
        type: dict
      gpus:
        description: Number of GPUs that all these namespaces together may request.
        type: int
      hard:
        description: Limit per resource, as O(hard). Claims of devices are not counted.
        type: dict
  planned:
    description:
      - What the cluster will have once its pools are there. A new limit of another resource, or of another
        priority class, that the cluster does not have either is a warning, also with O(nodes_exist=false).
    type: dict
    suboptions:
      resources:
        description: Extended resources that nodes will advertise, such as C(nvidia.com/gpu).
        type: list
        elements: str
      priority_classes:
        description: Names of PriorityClasses that will exist.
        type: list
        elements: str
"""

    KUEUE = r"""
options:
  instance:
    description:
      - The object Kueue C(cluster), with which Red Hat's operator (package C(kueue-operator)) brings Kueue to
        the cluster. The module creates it and waits until it is available, before it writes the queues.
      - The operator needs cert-manager. Without that, or beside another Kueue, the module refuses before its
        first write.
      - In check mode the operator may be missing. The module then returns what it would create.
      - An object that this collection did not create keeps its frameworks. With O(adopt=take) it gets
        the missing ones of O(instance.frameworks).
      - With O(state=absent) the module deletes the object, if this collection created it. It stays while
        there are other ClusterQueues, or Workloads that have not ended. Only Kueue can let go of these.
    type: dict
    suboptions:
      frameworks:
        description: Kinds of jobs that Kueue manages. JobSet and LeaderWorkerSet need operators of their own.
        type: list
        elements: str
        choices: [BatchJob, RayJob, RayCluster, RayService, JobSet, MPIJob, PaddleJob, PyTorchJob, TFJob,
                  TrainJob, XGBoostJob, JaxJob, AppWrapper, Pod, Deployment, StatefulSet, LeaderWorkerSet,
                  SparkApplication]
        default: [BatchJob]
      namespace:
        description: Namespace of the operator.
        type: str
        default: openshift-kueue-operator
"""
