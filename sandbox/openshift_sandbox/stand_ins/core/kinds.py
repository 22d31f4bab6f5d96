# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds that stand-ins watch or write, with the path that serves each."""

from __future__ import annotations

import typing as t

TABLE: t.Final[dict[str, tuple[str, str]]] = {
    "BareMetalHost": ("metal3.io/v1alpha1", "baremetalhosts"),
    "Build": ("build.openshift.io/v1", "builds"),
    "CIDRPool": ("nv-ipam.nvidia.com/v1alpha1", "cidrpools"),
    "CertificateSigningRequest": ("certificates.k8s.io/v1", "certificatesigningrequests"),
    "ClusterAutoscaler": ("autoscaling.openshift.io/v1", "clusterautoscalers"),
    "ClusterOperator": ("config.openshift.io/v1", "clusteroperators"),
    "ClusterPolicy": ("nvidia.com/v1", "clusterpolicies"),
    "ClusterQueue": ("kueue.x-k8s.io/v1beta2", "clusterqueues"),
    "ClusterResourceQuota": ("quota.openshift.io/v1", "clusterresourcequotas"),
    "ClusterRole": ("rbac.authorization.k8s.io/v1", "clusterroles"),
    "ClusterRoleBinding": ("rbac.authorization.k8s.io/v1", "clusterrolebindings"),
    "ClusterVersion": ("config.openshift.io/v1", "clusterversions"),
    "ConfigMap": ("v1", "configmaps"),
    "ControllerRevision": ("apps/v1", "controllerrevisions"),
    "CustomResourceDefinition": ("apiextensions.k8s.io/v1", "customresourcedefinitions"),
    "DaemonSet": ("apps/v1", "daemonsets"),
    "Deployment": ("apps/v1", "deployments"),
    "DeviceClass": ("resource.k8s.io/v1", "deviceclasses"),
    "Event": ("v1", "events"),
    "Exec": ("kwok.x-k8s.io/v1alpha1", "execs"),
    "FpgaStack": ("fpga.example.com/v1", "fpgastacks"),
    "GPUCluster": ("nvidia.com/v1alpha1", "gpuclusters"),
    "HostDeviceNetwork": ("mellanox.com/v1alpha1", "hostdevicenetworks"),
    "HyperConverged": ("hco.kubevirt.io/v1beta1", "hyperconvergeds"),
    "IPPool": ("nv-ipam.nvidia.com/v1alpha1", "ippools"),
    "IPoIBNetwork": ("mellanox.com/v1alpha1", "ipoibnetworks"),
    "ImageStream": ("image.openshift.io/v1", "imagestreams"),
    "Infrastructure": ("config.openshift.io/v1", "infrastructures"),
    "Issuer": ("cert-manager.io/v1", "issuers"),
    "ComputeDomain": ("resource.nvidia.com/v1beta1", "computedomains"),
    "CronJob": ("batch/v1", "cronjobs"),
    "Job": ("batch/v1", "jobs"),
    "KubeVirt": ("kubevirt.io/v1", "kubevirts"),
    "KubeletConfig": ("machineconfiguration.openshift.io/v1", "kubeletconfigs"),
    "Kueue": ("kueue.openshift.io/v1", "kueues"),
    "LocalQueue": ("kueue.x-k8s.io/v1beta2", "localqueues"),
    "Logs": ("kwok.x-k8s.io/v1alpha1", "logs"),
    "Machine": ("machine.openshift.io/v1beta1", "machines"),
    "MachineAutoscaler": ("autoscaling.openshift.io/v1beta1", "machineautoscalers"),
    "MachineConfig": ("machineconfiguration.openshift.io/v1", "machineconfigs"),
    "MachineConfigPool": ("machineconfiguration.openshift.io/v1", "machineconfigpools"),
    "MachineHealthCheck": ("machine.openshift.io/v1beta1", "machinehealthchecks"),
    "MachineSet": ("machine.openshift.io/v1beta1", "machinesets"),
    "MacvlanNetwork": ("mellanox.com/v1alpha1", "macvlannetworks"),
    "Module": ("kmm.sigs.x-k8s.io/v1beta1", "modules"),
    "MutatingWebhookConfiguration": ("admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations"),
    "NVIDIADriver": ("nvidia.com/v1alpha1", "nvidiadrivers"),
    "Namespace": ("v1", "namespaces"),
    "Network": ("operator.openshift.io/v1", "networks"),
    "NetworkAttachmentDefinition": ("k8s.cni.cncf.io/v1", "network-attachment-definitions"),
    "NetworkPolicy": ("networking.k8s.io/v1", "networkpolicies"),
    "NicClusterPolicy": ("mellanox.com/v1alpha1", "nicclusterpolicies"),
    "NicNodePolicy": ("mellanox.com/v1alpha1", "nicnodepolicies"),
    "Node": ("v1", "nodes"),
    "NodeFeature": ("nfd.k8s-sigs.io/v1alpha1", "nodefeatures"),
    "NodeFeature.nfd.openshift.io": ("nfd.openshift.io/v1alpha1", "nodefeatures"),
    "NodeFeatureDiscovery": ("nfd.openshift.io/v1", "nodefeaturediscoveries"),
    "NodeFeatureRule": ("nfd.k8s-sigs.io/v1alpha1", "nodefeaturerules"),
    "NodeFeatureRule.nfd.openshift.io": ("nfd.openshift.io/v1alpha1", "nodefeaturerules"),
    "NodeModulesConfig": ("kmm.sigs.x-k8s.io/v1beta1", "nodemodulesconfigs"),
    "NodeNetworkState": ("nmstate.io/v1beta1", "nodenetworkstates"),
    "PerformanceProfile": ("performance.openshift.io/v2", "performanceprofiles"),
    "Pod": ("v1", "pods"),
    "PodDisruptionBudget": ("policy/v1", "poddisruptionbudgets"),
    "PreflightValidation": ("kmm.sigs.x-k8s.io/v1beta2", "preflightvalidations"),
    "PreflightValidationOCP": ("kmm.sigs.x-k8s.io/v1beta2", "preflightvalidationsocp"),
    "Profile": ("tuned.openshift.io/v1", "profiles"),
    "PrometheusRule": ("monitoring.coreos.com/v1", "prometheusrules"),
    "Proxy": ("config.openshift.io/v1", "proxies"),
    "ResourceClaim": ("resource.k8s.io/v1", "resourceclaims"),
    "ResourceClaimTemplate": ("resource.k8s.io/v1", "resourceclaimtemplates"),
    "ResourceFlavor": ("kueue.x-k8s.io/v1beta2", "resourceflavors"),
    "ResourceQuota": ("v1", "resourcequotas"),
    "ResourceSlice": ("resource.k8s.io/v1", "resourceslices"),
    "Role": ("rbac.authorization.k8s.io/v1", "roles"),
    "RoleBinding": ("rbac.authorization.k8s.io/v1", "rolebindings"),
    "RuntimeClass": ("node.k8s.io/v1", "runtimeclasses"),
    "Secret": ("v1", "secrets"),
    "SecurityContextConstraints": ("security.openshift.io/v1", "securitycontextconstraints"),
    "ServiceAccount": ("v1", "serviceaccounts"),
    "ServiceMonitor": ("monitoring.coreos.com/v1", "servicemonitors"),
    "SpecialResource": ("sro.openshift.io/v1beta1", "specialresources"),
    "SriovIBNetwork": ("sriovnetwork.openshift.io/v1", "sriovibnetworks"),
    "SriovNetwork": ("sriovnetwork.openshift.io/v1", "sriovnetworks"),
    "SriovNetworkNodePolicy": ("sriovnetwork.openshift.io/v1", "sriovnetworknodepolicies"),
    "SriovNetworkNodeState": ("sriovnetwork.openshift.io/v1", "sriovnetworknodestates"),
    "SriovNetworkPoolConfig": ("sriovnetwork.openshift.io/v1", "sriovnetworkpoolconfigs"),
    "SriovOperatorConfig": ("sriovnetwork.openshift.io/v1", "sriovoperatorconfigs"),
    "Subscription": ("operators.coreos.com/v1alpha1", "subscriptions"),
    "Tuned": ("tuned.openshift.io/v1", "tuneds"),
    "ValidatingWebhookConfiguration": (
        "admissionregistration.k8s.io/v1",
        "validatingwebhookconfigurations",
    ),
    "VirtualMachine": ("kubevirt.io/v1", "virtualmachines"),
    "VirtualMachineInstance": ("kubevirt.io/v1", "virtualmachineinstances"),
    "Workload": ("kueue.x-k8s.io/v1beta2", "workloads"),
}


def split(api_version: str) -> tuple[str, str]:
    """Return group ('' for the core group) and version."""
    group, _slash, version = api_version.rpartition("/")
    return group, version


def key_of(api_version: str, kind: str) -> str:
    """Return an object's key in the table: its kind, or kind.group where two groups serve the same kind."""
    qualified = f"{kind}.{split(api_version)[0]}"
    return qualified if qualified in TABLE else kind
