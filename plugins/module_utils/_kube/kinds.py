# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds and their paths: a table of known kinds, and what the server says about all others.

A known kind needs no discovery request. For other kinds the client asks for the first group alone: most tasks
have one such group, its answer is small, and a missing CRD costs this one request. For the second group it
reads the aggregated document of all groups, once a task. It asks the group of a kind that is not in the
document before it calls the kind absent: a CRD may be newer than the document, and the document leaves out an
extension server that is down. A server that knows only the older documents costs a request for each group.
The core group (`/api/v1`) has one version and no CRDs; the client always asks it alone.
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass, field
from urllib.parse import quote

Found = t.Iterator["Kind"]
# What a part of a path may hold as it is.
_PLAIN: t.Final = ":@!$&'()*+,;=~"
ALL_GROUPS: t.Final = "/apis"
_DISCOVERY: t.Final = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
ACCEPT_ALL_GROUPS: t.Final = f"{_DISCOVERY.format('v2')},{_DISCOVERY.format('v2beta1')},application/json"


class Kind(t.NamedTuple):
    """One group, version and resource. provider: what brings the CRD, for a message when it is absent."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool = True
    provider: str = ""

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def base(self) -> str:
        return f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"

    @property
    def resource(self) -> str:
        """`plural.group`, as RBAC and `oc` say it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(
        self, namespace: str | None = None, name: str | None = None, subresource: str | None = None
    ) -> str:
        """Return the path. It quotes names: a role's name may have any character; none may lead elsewhere."""
        parts = [self.base]
        if self.namespaced and namespace:
            parts += ["namespaces", _part(namespace)]
        parts.append(self.plural)
        if name:
            parts.append(_part(name))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


def _part(name: str) -> str:
    # HTTP clients resolve these two as parent folders.
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, _PLAIN)


def by_name(name: str) -> str:
    """Return the field selector of one object."""
    return "metadata.name=" + re.sub(r"([\\,=])", r"\\\1", name)


# What brings a kind: the key in the table, and the words for a message.
_PROVIDERS: t.Final = {
    "openshift": "OpenShift",
    "build": "OpenShift's capability Build",
    "console": "OpenShift's capability Console",
    "machines": "OpenShift's Machine API",
    "metal": "OpenShift's bare metal operator",
    "node-health": "the operator node-healthcheck-operator",
    "config": "OpenShift's machine-config operator",
    "olm": "the Operator Lifecycle Manager",
    "olm-v1": "OLM v1",
    "nfd": "the operator nfd (Node Feature Discovery)",
    "gpu": "the operator gpu-operator-certified (NVIDIA GPU Operator)",
    "gpu-26.7": "the operator gpu-operator-certified from 26.7 on (NVIDIA GPU Operator)",
    "4.21": "OpenShift 4.21 or later",
    "domains": "NVIDIA's DRA driver with compute domains",
    "network": "the operator nvidia-network-operator (NVIDIA Network Operator)",
    "maintenance": "NVIDIA's maintenance operator",
    "nmstate": "the operator kubernetes-nmstate-operator",
    "sriov": "the operator sriov-network-operator (SR-IOV Network Operator)",
    "kmm": "the operator kernel-module-management (Kernel Module Management)",
    "sro": "the Special Resource Operator, which no supported OpenShift has",
    "tuning": "OpenShift's node tuning operator",
    "monitoring": "OpenShift's monitoring",
    "virtualization": "the operator kubevirt-hyperconverged (OpenShift Virtualization)",
}
# Each apiVersion with what brings it, and below it its kinds: n for namespaced.
_TABLE = """
v1
  Node
  Namespace
  Pod n
  ConfigMap n
  Secret n
  Service n
  ServiceAccount n
  Event n
  ResourceQuota n
  LimitRange n
  PersistentVolumeClaim n
apps/v1
  Deployment n
  DaemonSet n
  StatefulSet n
  ReplicaSet n
  ControllerRevision n
batch/v1
  Job n
  CronJob n
scheduling.k8s.io/v1
  PriorityClass
coordination.k8s.io/v1
  Lease n
policy/v1
  PodDisruptionBudget n
networking.k8s.io/v1
  NetworkPolicy n
rbac.authorization.k8s.io/v1
  Role n
  RoleBinding n
  ClusterRole
  ClusterRoleBinding
admissionregistration.k8s.io/v1
  ValidatingAdmissionPolicy
  ValidatingAdmissionPolicyBinding
  MutatingAdmissionPolicy
  MutatingAdmissionPolicyBinding
apiextensions.k8s.io/v1
  CustomResourceDefinition
certificates.k8s.io/v1
  CertificateSigningRequest
authorization.k8s.io/v1
  SelfSubjectAccessReview
  SelfSubjectRulesReview
authentication.k8s.io/v1
  SelfSubjectReview
config.openshift.io/v1 openshift
  Infrastructure
  ClusterVersion
  ClusterOperator
  Proxy
  DNS
  OperatorHub
  Image
  Network
  ImageDigestMirrorSet
  ImageTagMirrorSet
operator.openshift.io/v1alpha1 openshift
  ImageContentSourcePolicy
operator.openshift.io/v1 console
  Console
console.openshift.io/v1 console
  ConsolePlugin
image.openshift.io/v1 openshift
  ImageStream n
  ImageStreamImport n
build.openshift.io/v1 build
  Build n
machine.openshift.io/v1beta1 machines
  Machine n
  MachineSet n
  MachineHealthCheck n
remediation.medik8s.io/v1alpha1 node-health
  NodeHealthCheck
metal3.io/v1alpha1 metal
  BareMetalHost n
autoscaling.openshift.io/v1beta1 machines
  MachineAutoscaler n
autoscaling.openshift.io/v1 machines
  ClusterAutoscaler
machineconfiguration.openshift.io/v1 config
  MachineConfigPool
  MachineConfig
  KubeletConfig
performance.openshift.io/v2 tuning
  PerformanceProfile
operators.coreos.com/v1 olm
  OperatorGroup n
operators.coreos.com/v1alpha1 olm
  Subscription n
  InstallPlan n
  ClusterServiceVersion n
  CatalogSource n
olm.operatorframework.io/v1 olm-v1
  ClusterExtension
packages.operators.coreos.com/v1 olm
  PackageManifest n
nfd.openshift.io/v1 nfd
  NodeFeatureDiscovery n
nfd.k8s-sigs.io/v1alpha1 nfd
  NodeFeature n
nvidia.com/v1 gpu
  ClusterPolicy
nvidia.com/v1alpha1 gpu
  NVIDIADriver
nvidia.com/v1alpha1 gpu-26.7
  GPUCluster
resource.k8s.io/v1 4.21
  ResourceSlice
  ResourceClaim n
  ResourceClaimTemplate n
  DeviceClass
resource.nvidia.com/v1beta1 domains
  ComputeDomain n
mellanox.com/v1alpha1 network
  NicClusterPolicy
  NicNodePolicy
  MacvlanNetwork
  IPoIBNetwork
  HostDeviceNetwork
maintenance.nvidia.com/v1alpha1 maintenance
  NodeMaintenance n
nmstate.io/v1beta1 nmstate
  NodeNetworkState
nv-ipam.nvidia.com/v1alpha1 network
  IPPool n
  CIDRPool n
sriovnetwork.openshift.io/v1 sriov
  SriovNetworkNodePolicy n
  SriovNetworkNodeState n
  SriovNetworkPoolConfig n
  SriovNetwork n
  SriovIBNetwork n
  SriovOperatorConfig n
k8s.cni.cncf.io/v1 openshift
  NetworkAttachmentDefinition n
kmm.sigs.x-k8s.io/v1beta1 kmm
  Module n
  NodeModulesConfig
kmm.sigs.x-k8s.io/v1beta2 kmm
  PreflightValidation
  PreflightValidationOCP
sro.openshift.io/v1beta1 sro
  SpecialResource
quota.openshift.io/v1 openshift
  ClusterResourceQuota
tuned.openshift.io/v1 tuning
  Tuned n
  Profile n
monitoring.coreos.com/v1 monitoring
  ServiceMonitor n
  PrometheusRule n
hco.kubevirt.io/v1 virtualization
  HyperConverged n
"""


_PLURALS: t.Final = {
    "preflightvalidationocp": "preflightvalidationsocp",
    "networkattachmentdefinition": "network-attachment-definitions",
}


def _plural(kind: str) -> str:
    name = kind.lower()
    if name in _PLURALS:
        return _PLURALS[name]
    return name[:-1] + "ies" if name.endswith("y") else name + ("es" if name.endswith("s") else "s")


def _read(table: str) -> dict[tuple[str, str], Kind]:
    kinds: dict[tuple[str, str], Kind] = {}
    api_version = provider = ""
    for line in table.strip().splitlines():
        first, *more = line.split()
        if not line.startswith(" "):
            api_version, provider = first, _PROVIDERS[more[0]] if more else ""
            continue
        kinds[api_version, first] = Kind(api_version, first, _plural(first), "n" in more, provider)
    return kinds


KINDS: t.Final = _read(_TABLE)


def find(api_version: str, kind: str) -> Kind | None:
    """Return the kind from the table, or None; the Api then asks the server once."""
    return KINDS.get((api_version, kind))


def known(kind: str) -> Kind:
    """Return the one kind of that name in the table; ValueError if there is none or there are several."""
    (match,) = (entry for (_version, name), entry in KINDS.items() if name == kind)
    return match


@dataclass
class Discovery:
    """What one task has learnt about kinds outside the table.

    groups: groups that were asked alone, as `group/version`. is_aggregated: the document of all groups was
    read.
    """

    kinds: dict[tuple[str, str], Kind] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)
    is_aggregated: bool = False

    def wants_all(self, wanted: Kind) -> bool:
        """Whether the next request is for the document of all groups."""
        return (
            bool(wanted.group) and not self.is_aggregated and bool(self.groups - {wanted.api_version, "v1"})
        )

    def learn(self, found: Found) -> None:
        self.kinds.update(((kind.api_version, kind.kind), kind) for kind in found)


def in_group(api_version: str, body: t.Mapping[str, t.Any]) -> Found:
    """Yield the kinds of an APIResourceList."""
    for entry in body.get("resources", ()):
        if "/" not in entry["name"]:
            yield Kind(api_version, entry["kind"], entry["name"], bool(entry["namespaced"]))


def in_all_groups(body: t.Mapping[str, t.Any]) -> Found:
    """Yield the kinds of an APIGroupDiscoveryList; the older APIGroupList has none, only groups."""
    for group in body.get("items", ()):
        for version in group.get("versions", ()):
            api_version = f"{group['metadata']['name']}/{version['version']}"
            for entry in version.get("resources", ()):
                if kind := (entry.get("responseKind") or {}).get("kind"):
                    yield Kind(api_version, kind, entry["resource"], entry["scope"] == "Namespaced")
