# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Kinds and their paths: a table of known kinds, and what the server says about all others.

A known kind needs no discovery request. For other kinds the client asks for the first group alone: most tasks
have one such group, its answer is small, and a missing CRD costs this one request. For the second group it
reads the aggregated document of all groups, once a task. It asks the group of a kind that is not in the
document before
it calls the kind absent: a CRD may be newer than the document, and the document leaves out an extension
server that is down. A server that knows only the older documents costs a request for each group. The core
group (`/api/v1`) has one version and no CRDs; the client always asks it alone.
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
ACCEPT_ALL_GROUPS: t.Final = ",".join(
    (
        *(
            f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
            for version in ("v2", "v2beta1")
        ),
        "application/json",
    )
)


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
    "machines": "OpenShift's Machine API",
    "metal": "OpenShift's bare metal operator",
    "config": "OpenShift's machine-config operator",
    "olm": "the Operator Lifecycle Manager",
    "olm-v1": "OLM v1",
    "nfd": "the operator nfd (Node Feature Discovery)",
    "gpu": "the operator gpu-operator-certified (NVIDIA GPU Operator)",
    "gpu-26.7": "the operator gpu-operator-certified from 26.7 on (NVIDIA GPU Operator)",
    "4.21": "OpenShift 4.21 or later",
    "network": "the operator nvidia-network-operator (NVIDIA Network Operator)",
    "kmm": "the operator kernel-module-management (Kernel Module Management)",
    "sro": "the Special Resource Operator, which no supported OpenShift has",
    "tuning": "OpenShift's node tuning operator",
    "monitoring": "OpenShift's monitoring",
    "-": "",
}
# Each apiVersion, and below it: kind, plural, n for namespaced, what brings it.
_TABLE = """
v1
  Node                      nodes                      - -
  Namespace                 namespaces                 - -
  Pod                       pods                       n -
  ConfigMap                 configmaps                 n -
  Secret                    secrets                    n -
  Service                   services                   n -
  ServiceAccount            serviceaccounts            n -
  Event                     events                     n -
  ResourceQuota             resourcequotas             n -
  LimitRange                limitranges                n -
  PersistentVolumeClaim     persistentvolumeclaims     n -
apps/v1
  Deployment                deployments                n -
  DaemonSet                 daemonsets                 n -
  StatefulSet               statefulsets               n -
  ReplicaSet                replicasets                n -
  ControllerRevision        controllerrevisions        n -
batch/v1
  Job                       jobs                       n -
  CronJob                   cronjobs                   n -
scheduling.k8s.io/v1
  PriorityClass             priorityclasses            - -
coordination.k8s.io/v1
  Lease                     leases                     n -
policy/v1
  PodDisruptionBudget       poddisruptionbudgets       n -
networking.k8s.io/v1
  NetworkPolicy             networkpolicies            n -
rbac.authorization.k8s.io/v1
  Role                      roles                      n -
  RoleBinding               rolebindings               n -
  ClusterRole               clusterroles               - -
  ClusterRoleBinding        clusterrolebindings        - -
admissionregistration.k8s.io/v1
  ValidatingAdmissionPolicy        validatingadmissionpolicies       - -
  ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings - -
  MutatingAdmissionPolicy          mutatingadmissionpolicies         - -
  MutatingAdmissionPolicyBinding   mutatingadmissionpolicybindings   - -
apiextensions.k8s.io/v1
  CustomResourceDefinition  customresourcedefinitions  - -
certificates.k8s.io/v1
  CertificateSigningRequest certificatesigningrequests - -
authorization.k8s.io/v1
  SelfSubjectAccessReview   selfsubjectaccessreviews   - -
  SelfSubjectRulesReview    selfsubjectrulesreviews    - -
authentication.k8s.io/v1
  SelfSubjectReview         selfsubjectreviews         - -
config.openshift.io/v1
  Infrastructure            infrastructures            - openshift
  ClusterVersion            clusterversions            - openshift
  ClusterOperator           clusteroperators           - openshift
  Proxy                     proxies                    - openshift
  DNS                       dnses                      - openshift
  OperatorHub               operatorhubs               - openshift
  ImageDigestMirrorSet      imagedigestmirrorsets      - openshift
  ImageTagMirrorSet         imagetagmirrorsets         - openshift
operator.openshift.io/v1alpha1
  ImageContentSourcePolicy  imagecontentsourcepolicies - openshift
image.openshift.io/v1
  ImageStream               imagestreams               n openshift
  ImageStreamImport         imagestreamimports         n openshift
build.openshift.io/v1
  Build                     builds                     n build
machine.openshift.io/v1beta1
  Machine                   machines                   n machines
  MachineSet                machinesets                n machines
  MachineHealthCheck        machinehealthchecks        n machines
metal3.io/v1alpha1
  BareMetalHost             baremetalhosts             n metal
autoscaling.openshift.io/v1beta1
  MachineAutoscaler         machineautoscalers         n machines
autoscaling.openshift.io/v1
  ClusterAutoscaler         clusterautoscalers         - machines
machineconfiguration.openshift.io/v1
  MachineConfigPool         machineconfigpools         - config
  MachineConfig             machineconfigs             - config
  KubeletConfig             kubeletconfigs             - config
performance.openshift.io/v2
  PerformanceProfile        performanceprofiles        - tuning
operators.coreos.com/v1
  OperatorGroup             operatorgroups             n olm
operators.coreos.com/v1alpha1
  Subscription              subscriptions              n olm
  InstallPlan               installplans               n olm
  ClusterServiceVersion     clusterserviceversions     n olm
  CatalogSource             catalogsources             n olm
olm.operatorframework.io/v1
  ClusterExtension          clusterextensions          - olm-v1
packages.operators.coreos.com/v1
  PackageManifest           packagemanifests           n olm
nfd.openshift.io/v1
  NodeFeatureDiscovery      nodefeaturediscoveries     n nfd
nfd.k8s-sigs.io/v1alpha1
  NodeFeature               nodefeatures               n nfd
nvidia.com/v1
  ClusterPolicy             clusterpolicies            - gpu
nvidia.com/v1alpha1
  NVIDIADriver              nvidiadrivers              - gpu
  GPUCluster                gpuclusters                - gpu-26.7
resource.k8s.io/v1
  ResourceSlice             resourceslices             - 4.21
  ResourceClaim             resourceclaims             n 4.21
  ResourceClaimTemplate     resourceclaimtemplates     n 4.21
  DeviceClass               deviceclasses              - 4.21
mellanox.com/v1alpha1
  NicClusterPolicy          nicclusterpolicies         - network
kmm.sigs.x-k8s.io/v1beta1
  Module                    modules                    n kmm
  NodeModulesConfig         nodemodulesconfigs         - kmm
kmm.sigs.x-k8s.io/v1beta2
  PreflightValidation       preflightvalidations       - kmm
  PreflightValidationOCP    preflightvalidationsocp    - kmm
sro.openshift.io/v1beta1
  SpecialResource           specialresources           - sro
quota.openshift.io/v1
  ClusterResourceQuota      clusterresourcequotas      - openshift
tuned.openshift.io/v1
  Tuned                     tuneds                     n tuning
  Profile                   profiles                   n tuning
monitoring.coreos.com/v1
  ServiceMonitor            servicemonitors            n monitoring
  PrometheusRule            prometheusrules            n monitoring
"""


def _read(table: str) -> dict[tuple[str, str], Kind]:
    kinds: dict[tuple[str, str], Kind] = {}
    api_version = ""
    for line in table.strip().splitlines():
        if not line.startswith(" "):
            api_version = line
            continue
        kind, plural, scope, provider = line.split()
        kinds[api_version, kind] = Kind(api_version, kind, plural, scope == "n", _PROVIDERS[provider])
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
