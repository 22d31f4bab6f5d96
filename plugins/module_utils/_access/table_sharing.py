# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the table of rights about shared and partitioned GPUs."""

from __future__ import annotations

import typing as t

TEXT: t.Final = """
gpu_sharing
  gpu          get,list                             ConfigMap
gpu_sharing pools
  -            list                                 ClusterPolicy
  -            get,list,watch,patch                 Node
  -            list?,watch?                         Pod
  gpu          get,create,patch                     ConfigMap
  gpu          get,list,watch,delete                Pod
  machines     get?,patch?                          Machine
gpu_sharing claims
  -            list,watch                           ResourceClaim
  -            get                                  Namespace
  -            list?                                Pod
  -            create?                              Pod/eviction
  claims       get,create,patch,delete              ResourceClaim
repartition
  -            list                                 ClusterPolicy
  -            get,list,watch,patch                 Node
  -            list,watch                           Pod
  -            create                               Pod/eviction
  machines     get,list,patch                       MachineSet
  machines     get,patch                            Machine
  machines     get?,list?,patch?                    MachineHealthCheck
  gpu          get                                  ConfigMap
  gpu          get,list,watch,delete                Pod
  gpu          get?                                 Pod/log
gpu_sharing absent
  gpu          get,list                             ConfigMap
  -            list                                 ResourceClaim
gpu_sharing claims absent
  -            list,watch                           ResourceClaim
  -            list?                                Pod
  -            create?                              Pod/eviction
  claims       get,delete                           ResourceClaim
gpu_sharing pools absent
  -            list                                 ClusterPolicy
  -            get,list,patch                       Node
  -            list,watch                           Pod
  gpu          get,list,watch,patch,delete          ConfigMap
  machines     get?,patch?                          Machine
gpu_sharing mig absent
  -            list                                 ClusterPolicy
  -            get,list,watch,patch                 Node
  -            list,watch                           Pod
  -            create                               Pod/eviction
  machines     get,list,patch                       MachineSet
  machines     get,patch                            Machine
  machines     get?,list?,patch?                    MachineHealthCheck
  gpu          get                                  ConfigMap
  gpu          get,list,watch,delete                Pod
  gpu          get?                                 Pod/log
"""
