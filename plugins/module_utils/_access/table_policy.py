# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the table of rights for the role gpu_policy; the table itself says how to read them."""

from __future__ import annotations

import typing as t

TEXT: t.Final = """
gpu_policy
  -            get                                  ValidatingAdmissionPolicy
  spare        list                                 Deployment
gpu_policy absent
  -            get                                  ValidatingAdmissionPolicy
  spare        list                                 Deployment
gpu_policy spare
  -            get,create,patch                     Namespace
  spare        get,list,watch,create,patch,delete   Deployment
gpu_policy spare absent
  -            get,list,watch,delete                Namespace
  spare        get,list,watch,delete                Deployment
  spare        list                                 Pod StatefulSet DaemonSet Job CronJob
  spare        list                                 PersistentVolumeClaim Service
gpu_policy admission
  -            get,list,watch,create,patch,delete   ValidatingAdmissionPolicy
  -            get,list,watch,create,patch,delete   ValidatingAdmissionPolicyBinding
  -            get?,list?,watch?                    MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
  -            create?,patch?,delete?               MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
gpu_policy admission absent
  -            get,list,watch,patch,delete          ValidatingAdmissionPolicy
  -            get,list,watch,delete                ValidatingAdmissionPolicyBinding
  -            get?,list?,watch?,patch?,delete?     MutatingAdmissionPolicy
  -            get?,list?,watch?,delete?            MutatingAdmissionPolicyBinding
gpu_policy priority
  -            get,create,patch                     PriorityClass
gpu_policy priority absent
  -            get,list,watch,delete                PriorityClass
gpu_policy quota
  -            get,list,create,patch                Namespace
  -            list                                 Node
  quota        get,list,watch,create,patch          ResourceQuota
  quota        list,create                          Pod
  quota        list?                                LimitRange
  -            list?                                ResourceQuota PriorityClass
gpu_policy cluster_quotas
  -            get,list,watch,create,patch          ClusterResourceQuota
gpu_policy cluster_quotas absent
  -            get,list,watch,delete                ClusterResourceQuota
gpu_policy limit_range
  quota        get,list,watch,create,patch,delete   LimitRange
gpu_policy queues
  -            list                                 Namespace
  -            get?,create?,patch?                  Namespace
  -            list?                                Node ResourceQuota cohorts.kueue.x-k8s.io
  -            get,list,create,patch                resourceflavors.kueue.x-k8s.io
  -            get,list,watch,create,patch          clusterqueues.kueue.x-k8s.io
  -            get,list,watch,create,patch          localqueues.kueue.x-k8s.io
  -            delete?                              localqueues.kueue.x-k8s.io
  -            get?,list?,create?,patch?            topologies.kueue.x-k8s.io
  quota        list                                 ResourceQuota
  quota        get?,watch?,patch?,delete?           ResourceQuota
gpu_policy queue_operator
  -            get,list,watch,create,patch          kueues.kueue.openshift.io
  -            list                                 Deployment ClusterExtension
gpu_policy claims
  quota        list,create                          ResourceClaim
  -            list?                                DeviceClass
gpu_policy queues absent
  -            get,list,watch,delete                resourceflavors.kueue.x-k8s.io
  -            get,list,watch,patch,delete          clusterqueues.kueue.x-k8s.io
  -            get,list,watch,delete                localqueues.kueue.x-k8s.io
  -            list,watch                           workloads.kueue.x-k8s.io
  -            list,get?,watch?,delete?             topologies.kueue.x-k8s.io
gpu_policy queue_operator absent
  -            get,list,watch,delete                kueues.kueue.openshift.io
  -            list?                                clusterqueues.kueue.x-k8s.io workloads.kueue.x-k8s.io
gpu_policy limit_range absent
  quota        get,list,watch,delete                LimitRange
gpu_policy quota absent
  quota        get,list,watch,delete                ResourceQuota
"""
