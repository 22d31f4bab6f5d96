# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of what each playbook does on the cluster: verbs and kinds, by role and place."""

from __future__ import annotations

import typing as t

# Below a part: place (- is the whole cluster), verbs, kinds. A dry run needs the verbs of the write. An apply
# that creates needs create and patch; a delete that waits needs get, list and watch. Kinds outside the table
# of kinds are plural.group. A verb with a question mark is useful: a run does without it, or only some runs
# use it.
TEXT: t.Final = """
lease
  default      get,create,update                    Lease
lease read
  default      get                                  Lease
plan
  -            get                                  Infrastructure
  -            get?                                 ClusterVersion
  -            list?                                Node
plan machines
  -            list                                 HyperConverged
leftovers
  -            list?                                ResourceQuota PriorityClass Tuned MachineConfigPool
  -            list?                                MacvlanNetwork IPoIBNetwork HostDeviceNetwork
  -            list?                                NetworkAttachmentDefinition
  -            get?                                 networks.operator.openshift.io
  sriov        list?                                SriovNetwork SriovIBNetwork
removal
  machines     list                                 MachineSet Machine
  -            list,watch                           Pod
  -            list                                 Node DaemonSet ClusterServiceVersion Module Subscription
  -            list                                 ClusterPolicy NVIDIADriver GPUCluster NicClusterPolicy
  -            list                                 NodeFeatureDiscovery NodeFeature
  -            list                                 nodefeatures.nfd.openshift.io
  -            list                                 nodefeaturerules.nfd.openshift.io
  -            list                                 nodefeaturerules.nfd.k8s-sigs.io
  -            list?                                kueues.kueue.openshift.io
  -            list?                                clusterqueues.kueue.x-k8s.io workloads.kueue.x-k8s.io
  -            list?                                hostdevicenetworks.mellanox.com
  -            list?                                ipoibnetworks.mellanox.com macvlannetworks.mellanox.com
  -            list?                                HyperConverged virtualmachines.kubevirt.io
permits
  -            get?,list?,patch?                    HyperConverged
  -            list?                                virtualmachines.kubevirt.io
update pools
  -            get                                  ClusterVersion
  -            get,list,watch,patch                 MachineConfigPool
  -            list,watch                           Node Pod
  -            list?                                PodDisruptionBudget
gpu_node_pool
  -            get                                  Infrastructure
  machines     get,list,watch,create,patch,delete   MachineSet
  machines     get,list,watch,patch,delete          Machine
  machines     list                                 MachineHealthCheck Event
  machines     get?,patch?                          MachineHealthCheck
  machines     list?,watch?                         BareMetalHost
  -            list?,watch?                         CertificateSigningRequest
  -            get,list,watch,patch                 Node
  -            list,watch                           Pod
  -            create                               Pod/eviction
  -            list                                 NodeMaintenance
  -            get?                                 Namespace
gpu_node_pool health
  machines     get,list,watch?,create,patch,delete  MachineHealthCheck
  -            list?                                NodeHealthCheck
gpu_node_pool autoscale
  machines     get,list,watch,create,patch,delete   MachineAutoscaler
  machines     list,watch                           Deployment
  -            get,create,patch                     ClusterAutoscaler
repair
  -            list?                                Event ResourceSlice
  machines     get?,patch?                          BareMetalHost
  gpu          get?                                 Pod/log
gpu_node_pool csr
  -            get,list,watch                       CertificateSigningRequest
  -            patch                                CertificateSigningRequest/approval
gpu_node_pool absent
  machines     get,list,watch,patch,delete          MachineSet
  machines     get,list,watch,patch                 Machine
  machines     get,list,watch,delete                MachineHealthCheck MachineAutoscaler
  -            get,list,watch,patch                 Node
  -            list,watch                           Pod
  -            create                               Pod/eviction
  -            list                                 NodeMaintenance
gpu_node_pool autoscale absent
  -            get,list,watch,patch,delete          ClusterAutoscaler
node_tuning tuned
  -            list,watch                           Node
  tuning       list,watch                           Profile
  tuning       get,list,watch,create,patch          Tuned
  -            list                                 MachineConfigPool
node_tuning reboots
  -            get,list,watch,create,patch,delete   MachineConfigPool
  -            get,list,watch,create,patch,delete   MachineConfig KubeletConfig PerformanceProfile
  -            list,watch                           Pod PodDisruptionBudget
  machines     get,list,watch,create,patch,delete   Secret
  machines     get,list,patch                       MachineSet
node_tuning absent
  tuning       list,watch                           Profile
  tuning       get,list,watch,delete                Tuned
  -            list                                 MachineConfigPool
node_tuning reboots absent
  -            get,list,watch,patch,delete          MachineConfigPool
  -            get,list,watch,delete                MachineConfig KubeletConfig PerformanceProfile
  -            list,watch                           Node Pod PodDisruptionBudget
  machines     get,list,watch,delete                Secret
  machines     get,list,patch                       MachineSet
node_feature_discovery
  -            list                                 Deployment ClusterExtension
  -            list,watch                           NodeFeatureDiscovery Node
  nfd          get,create,patch                     NodeFeatureDiscovery
  -            watch?                               Deployment
  -            get?,list?,create?,patch?            nodefeaturerules.nfd.openshift.io
  -            get?,list?,create?,patch?            nodefeaturerules.nfd.k8s-sigs.io
  -            get?,list?,watch?,create?            NodeFeature nodefeatures.nfd.openshift.io
  -            patch?,delete?                       NodeFeature nodefeatures.nfd.openshift.io
node_feature_discovery absent
  -            list                                 NodeFeatureDiscovery nodefeaturerules.nfd.openshift.io
  nfd          get,list,watch,patch,delete          NodeFeatureDiscovery
  -            get,list,watch,patch                 Node
  -            list                                 NodeFeature nodefeatures.nfd.openshift.io
  -            list                                 nodefeaturerules.nfd.k8s-sigs.io
  -            list                                 nodefeaturegroups.nfd.k8s-sigs.io
  -            get?,watch?,delete?                  NodeFeature nodefeatures.nfd.openshift.io
  -            get?,watch?,delete?                  nodefeaturerules.nfd.openshift.io
  -            get?,watch?,delete?                  nodefeaturerules.nfd.k8s-sigs.io
gpu_operator
  -            list                                 ClusterExtension Deployment GPUCluster NVIDIADriver
  -            get,list,watch,create,patch          ClusterPolicy
  -            list,watch                           Node Pod
  gpu          list,watch                           DaemonSet Pod ControllerRevision
  gpu          get                                  Pod/log
  gpu          list                                 Event
  gpu          list?                                ServiceMonitor
  gpu          get?,list?,watch?                    ConfigMap
  gpu          create?,patch?,delete?               ConfigMap
  gpu          get?                                 Secret ResourceClaim ResourceClaimTemplate
  gpu          create?                              ImageStreamImport
  openshift    list,watch                           ImageStream
gpu_operator clusterpolicy
  -            list                                 NicClusterPolicy NicNodePolicy NodeFeature
  -            get?,watch?,delete?                  NVIDIADriver
  -            get?,patch?                          Node
  gpu          get?,delete?                         DaemonSet
gpu_operator nvidiadriver
  -            get,list,watch,create,patch,delete   NVIDIADriver
gpu_operator machines
  -            get,list,patch                       HyperConverged
  -            patch                                Node
  -            create?                              Pod/eviction
  machines     get?,patch?                          Machine
gpu_operator machines absent
  -            get,list,patch                       HyperConverged
  -            patch                                Node
  -            create?                              Pod/eviction
  machines     get?,patch?                          Machine
gpu_operator dra
  -            get,list,watch,create,patch,delete   GPUCluster NVIDIADriver
  -            list,watch                           ResourceSlice ResourceClaim
  -            get                                  ClusterVersion
gpu_operator absent
  -            get,list,watch,delete                ClusterPolicy GPUCluster NVIDIADriver
  -            list                                 Node
  -            list,watch                           Pod
  -            list?                                ResourceClaim
  -            get?,patch?                          Node Namespace
  gpu          list,watch                           DaemonSet Pod
  -            get                                  Namespace ConsolePlugin
  -            get?,patch?                          Console
  -            list?,watch?,delete?                 ConsolePlugin
  gpu          get?,list?,watch?,delete?            Deployment Service
  gpu          get,list?,watch?,delete?             ConfigMap ServiceMonitor PrometheusRule
  console      get,list?,watch?,delete?             ConfigMap
nvidia_network_operator
  -            list                                 ClusterExtension Deployment
  -            get,list,watch,create,patch          NicClusterPolicy
  -            list,watch                           NicNodePolicy
  -            list                                 SriovNetworkNodeState NodeNetworkState
  -            list,watch                           Node Pod
  nic          list,watch                           DaemonSet Pod
  nic          get                                  Pod/log
  nic          list                                 Event
nvidia_network_operator absent
  -            get,list,watch,delete                NicClusterPolicy
  -            list                                 SriovNetworkNodeState NodeNetworkState
  -            list,watch                           Node Pod
  nic          list,watch                           DaemonSet Pod
gpu_network
  -            list,watch                           Node Pod NetworkAttachmentDefinition
  -            list,get?,create?,patch?             Namespace
  -            get,patch?                           networks.operator.openshift.io
  -            get?,list,watch?,create?,patch?,delete? MacvlanNetwork IPoIBNetwork HostDeviceNetwork
  nic          get?,list,watch?,create?,patch?,delete? IPPool CIDRPool
  sriov        get?,list,watch?,create?,patch?,delete? SriovNetworkNodePolicy SriovNetworkPoolConfig
  sriov        get?,list,watch?,create?,patch?,delete? SriovNetwork SriovIBNetwork
  sriov        list,watch?                          SriovNetworkNodeState
  networks     get,create,patch,delete              NetworkAttachmentDefinition
gpu_network sriov
  sriov        get,list,watch,create,patch          SriovNetworkNodePolicy SriovNetwork SriovIBNetwork
  sriov        get,create,patch                     SriovOperatorConfig SriovNetworkPoolConfig
  sriov        list,watch                           SriovNetworkNodeState
gpu_network absent
  -            list                                 Node
  -            list,watch                           Pod
  sriov        get?,list,watch?,delete?             SriovNetworkNodePolicy SriovNetworkPoolConfig
  sriov        list,watch?                          SriovNetworkNodeState
gpu_network networks absent
  -            list,watch                           NetworkAttachmentDefinition
  -            get,patch?                           networks.operator.openshift.io
  -            get?,list,watch?,delete?             MacvlanNetwork IPoIBNetwork HostDeviceNetwork
  nic          get?,list,watch?,delete?             IPPool CIDRPool
  sriov        get?,list,watch?,delete?             SriovNetwork SriovIBNetwork SriovOperatorConfig
  networks     get,delete                           NetworkAttachmentDefinition
gpu_network sriov absent
  sriov        get,list,watch,delete                SriovNetworkNodePolicy SriovNetwork SriovIBNetwork
  sriov        get,list,watch,delete                SriovOperatorConfig
driver_upgrade
  -            get,list,watch,patch                 Node ClusterPolicy
  -            get?                                 Namespace
  -            list,watch                           Pod
  -            get?,list?,patch?                    NVIDIADriver clusterqueues.kueue.x-k8s.io
  -            get?,list?,watch?,create?,delete?    Job
  -            list?,watch?                         PodDisruptionBudget workloads.kueue.x-k8s.io
  -            create?                              Pod/eviction
  -            list                                 NodeMaintenance
  -            list?                                resourceflavors.kueue.x-k8s.io
  gpu          list,watch                           DaemonSet Pod ControllerRevision
  gpu          get                                  Pod/log
  gpu          list                                 Event ClusterServiceVersion
  gpu          get,create,patch                     ConfigMap
  gpu          create?                              ImageStreamImport
  openshift    list,watch                           ImageStream
gpu_validation
  -            get,create,patch                     Namespace
  -            list                                 Node Pod
  validation   get,create,patch                     ConfigMap
  validation   get,list,watch,create,delete         Pod
  validation   get                                  Pod/log
  validation   list,watch                           ServiceAccount
  validation   get,list,watch,create,delete         Job
  validation   create?                              Service ComputeDomain
  -            get?,patch?                          Node
gpu_validation gate
  -            get,list,patch                       Node
  -            get,patch                            Node/status
  -            get,create,patch                     ClusterRole ClusterRoleBinding
  machines     get,patch                            Machine
  machines     list                                 MachineSet
  machines     get,create,patch                     Role RoleBinding
  validation   get,create,patch                     ServiceAccount Role RoleBinding CronJob
  openshift    get                                  ImageStream
gpu_validation gate absent
  -            get,list,watch,delete                ClusterRole ClusterRoleBinding
  machines     get,list,watch,delete                Role RoleBinding
  validation   get,list,watch,delete                ServiceAccount Role RoleBinding CronJob
idle
  -            get,create,patch                     PriorityClass
gpu_validation claims
  -            list                                 ResourceSlice ResourceClaim
  validation   get,list,watch,create,delete         ResourceClaimTemplate
  validation   get?,list?,watch?,create?,delete?    ResourceClaim
gpu_validation absent
  -            get,list,watch,delete                Namespace
  -            get?,list?,watch?,delete?            PriorityClass
  -            list                                 Node
  validation   get,list,watch,delete                Pod
  validation   get,list,watch,patch,delete          ConfigMap
  validation   list?                                Deployment StatefulSet DaemonSet Job CronJob Service
  validation   list?                                PersistentVolumeClaim ServiceAccount Secret ResourceQuota
operator_upgrade
  -            list                                 Subscription Node Pod
  -            get?,patch?                          Node
  -            get?                                 Namespace
  -            get                                  ClusterVersion CustomResourceDefinition
  -            list?,watch?                         NodeFeatureDiscovery ClusterPolicy NVIDIADriver
  -            list?,watch?                         NicClusterPolicy NicNodePolicy Module
  -            list?                                HyperConverged
  -            watch                                Node Pod
  -            get?,patch?                          ClusterPolicy
  gpu          get,list,watch,patch                 Subscription InstallPlan
  gpu          list,watch                           ClusterServiceVersion DaemonSet Pod ControllerRevision
  gpu          get                                  Pod/log
  gpu          list                                 Event
  gpu          create?                              ImageStreamImport
  nfd          get,list,watch,patch                 Subscription InstallPlan
  nfd          list,watch                           ClusterServiceVersion DaemonSet Deployment
  nic          get?,list?,watch?,patch?             Subscription InstallPlan
  nic          list?,watch?                         ClusterServiceVersion DaemonSet Pod ControllerRevision
  kmm          get?,list?,watch?,patch?             Subscription InstallPlan
  kmm          list?,watch?                         ClusterServiceVersion
  openshift    list,watch                           ImageStream
  marketplace  get,list                             PackageManifest
  marketplace  get,list,watch                       CatalogSource
  marketplace  get?                                 ConfigMap
  marketplace  list?                                Job Pod
  -            get?                                 OperatorHub
olm
  -            list                                 Subscription
  -            get                                  ClusterVersion
  -            get,create,patch                     Namespace
  *            get,list,watch,create,patch          Subscription
  *            get,list,create,patch                OperatorGroup
  *            get,list,watch,patch                 InstallPlan
  *            list,watch                           ClusterServiceVersion
  marketplace  get,list                             PackageManifest
  marketplace  get,list,watch                       CatalogSource
  marketplace  get?                                 ConfigMap
  marketplace  list?                                Job Pod
  -            get?                                 OperatorHub
olm absent
  -            get,list,watch,delete                Namespace
  *            get,list,watch,delete                Subscription OperatorGroup ClusterServiceVersion
  *            list                                 ConfigMap Secret Service Pod PersistentVolumeClaim
  *            list                                 Deployment StatefulSet DaemonSet Job CronJob
  *            list                                 ServiceMonitor
pull_secret
  -            list                                 ClusterPolicy NVIDIADriver GPUCluster
  -            list                                 NicClusterPolicy NicNodePolicy Module
  gpu          list                                 Pod DaemonSet ServiceAccount
  gpu          get,create,patch,delete              Secret
  gpu          create?                              ImageStreamImport
  nic          list?                                Pod DaemonSet ServiceAccount
  nic          get?,create?,patch?,delete?          Secret
  nic          create?                              ImageStreamImport
  kmm          list?                                Pod DaemonSet
  kmm          get?,create?,patch?,delete?          Secret
  kmm          create?                              ImageStreamImport
  validation   list?                                Pod DaemonSet ServiceAccount
  validation   get?,create?,patch?,delete?          Secret
  validation   create?                              ImageStreamImport
gpu_monitoring
  -            list                                 ClusterPolicy GPUCluster
  -            get                                  Namespace
  -            get?,patch?                          ClusterPolicy GPUCluster
  -            patch?                               Namespace
  gpu          get,list,watch,create,patch,delete   ConfigMap ServiceMonitor PrometheusRule
  console      get,list,watch,create,patch,delete   ConfigMap
  monitoring   get?                                 ConfigMap
  monitoring   get?                                 prometheuses/api.monitoring.coreos.com
  -            get                                  ConsolePlugin
  -            get?                                 ClusterVersion
  -            list?,watch?                         ConsolePlugin
  -            create?,patch?,delete?               ConsolePlugin
  -            get?,patch?                          Console
  gpu          get?,list?,watch?                    Deployment Service Pod
  gpu          create?,patch?,delete?               Deployment Service
gpu_use
  -            get?                                 Namespace
  console      get                                  ConfigMap
  monitoring   get                                  prometheuses/api.monitoring.coreos.com
diagnosis
  -            list                                 Node
  -            get,list?                            Namespace
  -            list?                                ClusterPolicy GPUCluster NVIDIADriver NicClusterPolicy
  -            list?                                MachineConfigPool NodeFeatureDiscovery Subscription
  -            list?                                HyperConverged
  -            list?                                ResourceQuota Pod Event PodDisruptionBudget
  -            list?                                CertificateSigningRequest Job ResourceSlice
  -            list?                                OperatorGroup Deployment NodeFeature DeviceClass
  -            list?                                clusterqueues.kueue.x-k8s.io workloads.kueue.x-k8s.io
  -            list?                                localqueues.kueue.x-k8s.io
  -            get?                                 Pod ClusterServiceVersion InstallPlan OperatorHub
  default      get?                                 Lease
  machines     list?                                Machine MachineSet BareMetalHost
  marketplace  list?                                CatalogSource
  monitoring   get?                                 ConfigMap
  openshift    get?                                 ImageStream
  nfd          list?                                DaemonSet
  gpu          list                                 DaemonSet Pod ControllerRevision
  gpu          get?                                 Pod/log ConfigMap
  gpu          list?                                ServiceMonitor ClusterServiceVersion InstallPlan
  gpu          list?                                Event Secret
  nic          list?                                DaemonSet Pod ControllerRevision Event
  nic          get?                                 Pod/log ConfigMap
must_gather
  -            get?,list?                           ClusterVersion
  -            list?                                ClusterOperator Infrastructure Proxy Node Pod
  -            list?                                ImageDigestMirrorSet ImageTagMirrorSet MachineConfigPool
  -            list?                                ImageContentSourcePolicy ResourceQuota
  -            list?                                ClusterResourceQuota
  -            list?                                ClusterPolicy NVIDIADriver GPUCluster NicClusterPolicy
  -            list?                                NodeFeatureDiscovery Subscription NicNodePolicy
  -            list?                                ResourceClaim ResourceSlice DeviceClass
  -            list?                                hyperconvergeds.hco.kubevirt.io kubevirts.kubevirt.io
  -            list?                                clusterqueues.kueue.x-k8s.io localqueues.kueue.x-k8s.io
  -            list?                                resourceflavors.kueue.x-k8s.io workloads.kueue.x-k8s.io
  -            get?                                 Namespace
  default      list?                                Event
  gpu          list?                                DaemonSet Deployment Event InstallPlan OperatorGroup
  gpu          list?                                ClusterServiceVersion ConfigMap ControllerRevision
  gpu          list?                                ServiceMonitor
  gpu          get?                                 Pod/log
  nfd          list?                                DaemonSet Deployment Event InstallPlan OperatorGroup
  nfd          list?                                ClusterServiceVersion ConfigMap NodeFeature
  nfd          get?                                 Pod/log
  nic          list?                                DaemonSet Deployment Event InstallPlan OperatorGroup
  nic          list?                                ClusterServiceVersion ConfigMap ControllerRevision
  nic          get?                                 Pod/log
  kmm          list?                                DaemonSet Deployment Event InstallPlan OperatorGroup
  kmm          list?                                ClusterServiceVersion ConfigMap
  kmm          get?                                 Pod/log
  machines     list?                                Machine MachineSet Event
  marketplace  list?                                CatalogSource Event
  openshift    list?                                ImageStream
images
  -            get?                                 OperatorHub ClusterVersion Proxy Network Namespace
  -            get?                                 images.config.openshift.io
  -            list?                                ImageDigestMirrorSet ImageTagMirrorSet Node Subscription
  -            list?                                ImageContentSourcePolicy
  marketplace  get,list?                            PackageManifest
  marketplace  list?                                CatalogSource
  openshift    get?                                 ImageStream
  config       get?                                 ConfigMap
  default      create?                              ImageStreamImport
  gpu          create?                              ImageStreamImport
  gpu          get?                                 ClusterServiceVersion
  nfd          get?                                 ClusterServiceVersion
  nic          get?                                 ClusterServiceVersion
  kueue        get?                                 ClusterServiceVersion
preflight
  -            get                                  ClusterVersion
  -            list                                 ClusterOperator ClusterServiceVersion Node Pod
  -            list                                 ClusterPolicy MachineConfigPool PodDisruptionBudget
  -            list?                                NicClusterPolicy NicNodePolicy DaemonSet Module
  -            list?                                PreflightValidation PreflightValidationOCP
  openshift    get                                  ImageStream
  gpu          list                                 DaemonSet Pod
  gpu          create?                              ImageStreamImport
rbac
  -            get,list,create,patch                Namespace
  -            get,list,create,patch,delete         ServiceAccount ClusterRoleBinding RoleBinding
  -            get,list,create,patch,delete         ClusterRole Role
  -            bind,escalate                        ClusterRole Role
  -            get?,list?,create?,patch?,delete?    ResourceQuota
  -            get?                                 PriorityClass
  -            list?                                localqueues.kueue.x-k8s.io
  -            create?                              ServiceAccount/token
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
gpu_policy hardware_profiles
  -            get                                  Namespace
  -            get,list,watch,create,patch,delete   hardwareprofiles.infrastructure.opendatahub.io
  -            get?,list,watch?,create?,patch?,delete? hardwareprofiles.dashboard.opendatahub.io
  -            get?,list,watch?,create?,patch?,delete? acceleratorprofiles.dashboard.opendatahub.io
  -            list?                                dscinitializations.dscinitialization.opendatahub.io
  -            list?                                notebooks.kubeflow.org
  -            list?                                inferenceservices.serving.kserve.io
gpu_policy hardware_profiles absent
  -            get,list,watch,delete                hardwareprofiles.infrastructure.opendatahub.io
  -            get?,list,watch?,delete?             hardwareprofiles.dashboard.opendatahub.io
  -            get?,list,watch?,delete?             acceleratorprofiles.dashboard.opendatahub.io
gpu_policy limit_range absent
  quota        get,list,watch,delete                LimitRange
gpu_policy quota absent
  quota        get,list,watch,delete                ResourceQuota
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
  -            list                                 NodeMaintenance
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
  -            list                                 NodeMaintenance
  machines     get,list,patch                       MachineSet
  machines     get,patch                            Machine
  machines     get?,list?,patch?                    MachineHealthCheck
  gpu          get                                  ConfigMap
  gpu          get,list,watch,delete                Pod
  gpu          get?                                 Pod/log
"""
