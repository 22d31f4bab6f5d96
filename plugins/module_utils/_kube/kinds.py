# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Kinds and their paths: a table of known kinds, and what the server says about all others.

A known kind needs no discovery request. For other kinds the client asks for the first group alone: most tasks
have one such group, its answer is small, and a missing CRD costs this one request. For the second group it reads
the aggregated document of all groups, once a task. It asks the group of a kind that is not in the document before
it calls the kind absent: a CRD may be newer than the document, and the document leaves out an extension server
that is down. A server that knows only the older documents costs a request for each group. The core group
(`/api/v1`) has one version and no CRDs; the client always asks it alone.
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
    """One group, version and resource. provider: what brings the CRD; a message names it when the kind is absent."""

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
        """Return the path. It quotes names: a role's name may hold almost anything, and none may lead elsewhere."""
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


_TABLE = """
v1                                   Node                    nodes                     - -
v1                                   Namespace               namespaces                - -
v1                                   Pod                     pods                      n -
v1                                   ConfigMap               configmaps                n -
v1                                   Secret                  secrets                   n -
v1                                   Service                 services                  n -
v1                                   ServiceAccount          serviceaccounts           n -
v1                                   Event                   events                    n -
v1                                   ResourceQuota           resourcequotas            n -
v1                                   LimitRange              limitranges               n -
v1                                   PersistentVolumeClaim   persistentvolumeclaims    n -
apps/v1                              Deployment              deployments               n -
apps/v1                              DaemonSet               daemonsets                n -
apps/v1                              StatefulSet             statefulsets              n -
apps/v1                              ReplicaSet              replicasets               n -
apps/v1                              ControllerRevision      controllerrevisions       n -
batch/v1                             Job                     jobs                      n -
batch/v1                             CronJob                 cronjobs                  n -
scheduling.k8s.io/v1                 PriorityClass           priorityclasses           - -
policy/v1                            PodDisruptionBudget     poddisruptionbudgets      n -
networking.k8s.io/v1                 NetworkPolicy           networkpolicies           n -
rbac.authorization.k8s.io/v1         Role                    roles                     n -
rbac.authorization.k8s.io/v1         RoleBinding             rolebindings              n -
rbac.authorization.k8s.io/v1         ClusterRole             clusterroles              - -
rbac.authorization.k8s.io/v1         ClusterRoleBinding      clusterrolebindings       - -
apiextensions.k8s.io/v1              CustomResourceDefinition customresourcedefinitions - -
certificates.k8s.io/v1               CertificateSigningRequest certificatesigningrequests - -
authorization.k8s.io/v1              SelfSubjectAccessReview selfsubjectaccessreviews  - -
config.openshift.io/v1               Infrastructure          infrastructures           - OpenShift
config.openshift.io/v1               ClusterVersion          clusterversions           - OpenShift
config.openshift.io/v1               ClusterOperator         clusteroperators          - OpenShift
config.openshift.io/v1               Proxy                   proxies                   - OpenShift
config.openshift.io/v1               DNS                     dnses                     - OpenShift
config.openshift.io/v1               OperatorHub             operatorhubs              - OpenShift
config.openshift.io/v1               ImageDigestMirrorSet    imagedigestmirrorsets     - OpenShift
config.openshift.io/v1               ImageTagMirrorSet       imagetagmirrorsets        - OpenShift
operator.openshift.io/v1alpha1       ImageContentSourcePolicy imagecontentsourcepolicies - OpenShift
image.openshift.io/v1                ImageStream             imagestreams              n OpenShift
build.openshift.io/v1                Build                   builds                    n OpenShift's capability Build
image.openshift.io/v1                ImageStreamImport       imagestreamimports        n OpenShift
machine.openshift.io/v1beta1         Machine                 machines                  n OpenShift's Machine API
machine.openshift.io/v1beta1         MachineSet              machinesets               n OpenShift's Machine API
metal3.io/v1alpha1                   BareMetalHost           baremetalhosts            n OpenShift's bare metal operator
machine.openshift.io/v1beta1         MachineHealthCheck      machinehealthchecks       n OpenShift's Machine API
autoscaling.openshift.io/v1beta1     MachineAutoscaler       machineautoscalers        n OpenShift's Machine API
autoscaling.openshift.io/v1          ClusterAutoscaler       clusterautoscalers        - OpenShift's Machine API
machineconfiguration.openshift.io/v1 MachineConfigPool       machineconfigpools        - OpenShift's machine-config operator
machineconfiguration.openshift.io/v1 MachineConfig           machineconfigs            - OpenShift's machine-config operator
machineconfiguration.openshift.io/v1 KubeletConfig           kubeletconfigs            - OpenShift's machine-config operator
operators.coreos.com/v1              OperatorGroup           operatorgroups            n the Operator Lifecycle Manager
operators.coreos.com/v1alpha1        Subscription            subscriptions             n the Operator Lifecycle Manager
operators.coreos.com/v1alpha1        InstallPlan             installplans              n the Operator Lifecycle Manager
operators.coreos.com/v1alpha1        ClusterServiceVersion   clusterserviceversions    n the Operator Lifecycle Manager
operators.coreos.com/v1alpha1        CatalogSource           catalogsources            n the Operator Lifecycle Manager
olm.operatorframework.io/v1          ClusterExtension        clusterextensions         - OLM v1
packages.operators.coreos.com/v1     PackageManifest         packagemanifests          n the Operator Lifecycle Manager
nfd.openshift.io/v1                  NodeFeatureDiscovery    nodefeaturediscoveries    n the operator nfd (Node Feature Discovery)
nfd.k8s-sigs.io/v1alpha1             NodeFeature             nodefeatures              n the operator nfd (Node Feature Discovery)
nvidia.com/v1                        ClusterPolicy           clusterpolicies           - the operator gpu-operator-certified (NVIDIA GPU Operator)
nvidia.com/v1alpha1                  NVIDIADriver            nvidiadrivers             - the operator gpu-operator-certified (NVIDIA GPU Operator)
nvidia.com/v1alpha1                  GPUCluster              gpuclusters               - the operator gpu-operator-certified from 26.7 on (NVIDIA GPU Operator)
resource.k8s.io/v1                   ResourceSlice           resourceslices            - OpenShift 4.21 or later
resource.k8s.io/v1                   ResourceClaim           resourceclaims            n OpenShift 4.21 or later
resource.k8s.io/v1                   ResourceClaimTemplate   resourceclaimtemplates    n OpenShift 4.21 or later
resource.k8s.io/v1                   DeviceClass             deviceclasses             - OpenShift 4.21 or later
mellanox.com/v1alpha1                NicClusterPolicy        nicclusterpolicies        - the operator nvidia-network-operator (NVIDIA Network Operator)
kmm.sigs.x-k8s.io/v1beta1            Module                  modules                   n the operator kernel-module-management (Kernel Module Management)
kmm.sigs.x-k8s.io/v1beta1            NodeModulesConfig       nodemodulesconfigs        - the operator kernel-module-management (Kernel Module Management)
kmm.sigs.x-k8s.io/v1beta2            PreflightValidation     preflightvalidations      - the operator kernel-module-management (Kernel Module Management)
kmm.sigs.x-k8s.io/v1beta2            PreflightValidationOCP  preflightvalidationsocp   - the operator kernel-module-management (Kernel Module Management)
sro.openshift.io/v1beta1             SpecialResource         specialresources          - the Special Resource Operator, which no supported OpenShift has
quota.openshift.io/v1                ClusterResourceQuota    clusterresourcequotas     - OpenShift
tuned.openshift.io/v1                Tuned                   tuneds                    n OpenShift's node tuning operator
tuned.openshift.io/v1                Profile                 profiles                  n OpenShift's node tuning operator
monitoring.coreos.com/v1             ServiceMonitor          servicemonitors           n OpenShift's monitoring
monitoring.coreos.com/v1             PrometheusRule          prometheusrules           n OpenShift's monitoring
"""


def _read(table: str) -> dict[tuple[str, str], Kind]:
    kinds: dict[tuple[str, str], Kind] = {}
    for line in table.strip().splitlines():
        api_version, kind, plural, scope, provider = line.split(None, 4)
        kinds[(api_version, kind)] = Kind(
            api_version, kind, plural, scope == "n", "" if provider == "-" else provider
        )
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

    groups: groups that were asked alone, as `group/version`. is_aggregated: the document of all groups was read.
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
    """Yield the kinds of an APIGroupDiscoveryList; none of the older APIGroupList, which only names groups."""
    for group in body.get("items", ()):
        for version in group.get("versions", ()):
            api_version = f"{group['metadata']['name']}/{version['version']}"
            for entry in version.get("resources", ()):
                if kind := (entry.get("responseKind") or {}).get("kind"):
                    yield Kind(api_version, kind, entry["resource"], entry["scope"] == "Namespaced")
