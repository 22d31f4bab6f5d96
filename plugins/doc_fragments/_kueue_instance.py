# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
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
