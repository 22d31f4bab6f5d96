# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The table of what each playbook does on the cluster: verbs and kinds, by role and place."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._kube.kinds import known

# A place of the table that stands for the whole cluster.
CLUSTER: t.Final = ""
# Namespace of the node tuning operator.
TUNING: t.Final = "openshift-cluster-node-tuning-operator"
# What each playbook does. A role that the user leaves out by a tag is not asked about.
_CREATE: t.Final = (
    "gpu_node_pool",
    "node_tuning",
    "node_feature_discovery",
    "nvidia_network_operator",
    "gpu_operator",
    "gpu_policy",
    "gpu_validation",
)
PARTS: t.Final[dict[str, tuple[str, ...]]] = {
    "enable_gpus": ("lease", "plan", *_CREATE),
    "remove_gpus": ("lease", "plan", *(f"{one} absent" for one in _CREATE)),
    "resize_pool": ("lease", "plan", "gpu_node_pool"),
    "replace_node": ("lease", "gpu_node_pool"),
    "remove_pool": ("lease", "gpu_node_pool absent", "node_tuning absent"),
    "tune_nodes": ("lease", "plan", "node_tuning"),
}
# Below a part: place (- is the whole cluster), verbs, kinds. A dry run needs the verbs of the write. An apply
# that creates needs create and patch. Kinds outside the table of kinds are plural.group.
_TABLE: t.Final = """
lease
  default      get,create,update                    Lease
plan
  -            get                                  Infrastructure
gpu_node_pool
  -            get                                  Infrastructure
  machines     get,list,watch,create,patch,delete   MachineSet
  machines     get,list,watch,patch,delete          Machine
  machines     list                                 MachineHealthCheck Event
  -            get,list,watch,patch                 Node
  -            list,watch                           Pod
  -            create                               Pod/eviction
gpu_node_pool health
  machines     get,list,create,patch,delete         MachineHealthCheck
gpu_node_pool autoscale
  machines     get,list,create,patch,delete         MachineAutoscaler
  machines     list,watch                           Deployment
  -            get,create,patch                     ClusterAutoscaler
gpu_node_pool csr
  -            get,list,watch                       CertificateSigningRequest
  -            patch                                CertificateSigningRequest/approval
gpu_node_pool absent
  machines     get,list,watch,patch,delete          MachineSet
  machines     get,list,watch,patch                 Machine
  machines     get,list,delete                      MachineHealthCheck MachineAutoscaler
  -            get,list,watch,patch                 Node
  -            list,watch                           Pod
  -            create                               Pod/eviction
gpu_node_pool autoscale absent
  -            get,patch,delete                     ClusterAutoscaler
node_tuning tuned
  -            list,watch                           Node
  tuning       list,watch                           Profile
  tuning       get,list,watch,create,patch          Tuned
  -            list                                 MachineConfigPool
node_tuning reboots
  -            get,list,watch,create,patch,delete   MachineConfigPool
  -            get,list,watch,create,patch,delete   MachineConfig KubeletConfig PerformanceProfile
  -            list,watch                           Pod PodDisruptionBudget
  machines     get,create,patch,delete              Secret
  machines     list,patch                           MachineSet
node_tuning absent
  tuning       list,watch                           Profile
  tuning       get,delete                           Tuned
  -            list                                 MachineConfigPool
node_tuning reboots absent
  -            get,list,watch,patch,delete          MachineConfigPool
  -            get,list,delete                      MachineConfig KubeletConfig PerformanceProfile
  -            list,watch                           Node Pod
  -            list                                 PodDisruptionBudget
  machines     get,delete                           Secret
  machines     list,patch                           MachineSet
node_feature_discovery
  -            list                                 Deployment ClusterExtension
  -            list,watch                           NodeFeatureDiscovery Node
  nfd          get,create,patch                     NodeFeatureDiscovery
node_feature_discovery absent
  -            list                                 NodeFeatureDiscovery
  nfd          get,list,watch,patch,delete          NodeFeatureDiscovery
  -            get,list,watch,patch                 Node
  -            list                                 NodeFeature nodefeatures.nfd.openshift.io
  -            list                                 nodefeaturerules.nfd.openshift.io
  -            list                                 nodefeaturerules.nfd.k8s-sigs.io
  -            list                                 nodefeaturegroups.nfd.k8s-sigs.io
gpu_operator
  -            list                                 ClusterExtension Deployment GPUCluster
  -            get,list,watch,create,patch          ClusterPolicy
  -            list,watch                           Node
  gpu          list,watch                           DaemonSet Pod ControllerRevision
  gpu          get                                  Pod/log
  gpu          list                                 Event
  openshift    list,watch                           ImageStream
gpu_operator nvidiadriver
  -            get,list,watch,create,patch,delete   NVIDIADriver
gpu_operator dra
  -            get,list,watch,create,patch,delete   GPUCluster NVIDIADriver
  -            list,watch                           ResourceSlice ResourceClaim
  -            get                                  ClusterVersion
gpu_operator absent
  -            get,list,watch,delete                ClusterPolicy GPUCluster NVIDIADriver
  -            list                                 Node
  gpu          list,watch                           DaemonSet Pod
nvidia_network_operator
  -            list                                 ClusterExtension Deployment
  -            get,list,watch,create,patch          NicClusterPolicy
  -            list,watch                           Node
  nic          list,watch                           DaemonSet Pod
  nic          get                                  Pod/log
  nic          list                                 Event
nvidia_network_operator absent
  -            get,list,watch,delete                NicClusterPolicy
  nic          list,watch                           DaemonSet Pod
gpu_policy priority
  -            get,create,patch                     PriorityClass
gpu_policy priority absent
  -            get,list,delete                      PriorityClass
gpu_policy quota
  -            get,create,patch                     Namespace
  -            list                                 Node
  quota        get,list,watch,create,patch          ResourceQuota
  quota        list,create                          Pod
gpu_policy quota absent
  quota        get,list,delete                      ResourceQuota
gpu_validation
  -            get,create,patch                     Namespace
  -            list                                 Node Pod
  validation   get,create,patch                     ConfigMap
  validation   get,list,watch,create,delete         Pod
  validation   get                                  Pod/log
  validation   list,watch                           ServiceAccount
gpu_validation claims
  -            list                                 ResourceSlice ResourceClaim
  validation   get,create,delete                    ResourceClaimTemplate
gpu_validation absent
  -            get,list,watch,delete                Namespace
  validation   get,list,delete                      Pod
olm
  -            list                                 Subscription
  -            get                                  ClusterVersion
  -            get,create,patch                     Namespace
  *            get,list,watch,create,patch          Subscription
  *            get,list,create,patch                OperatorGroup
  *            get,list,watch,patch                 InstallPlan
  *            list,watch                           ClusterServiceVersion
  marketplace  get,list                             PackageManifest
  marketplace  list,watch                           CatalogSource
olm absent
  -            get,list,watch,delete                Namespace
  *            get,list,watch,delete                Subscription OperatorGroup ClusterServiceVersion
  *            list                                 ConfigMap Secret Service Pod PersistentVolumeClaim
  *            list                                 Deployment StatefulSet DaemonSet Job CronJob
  *            list                                 ServiceMonitor
"""


class Need(t.NamedTuple):
    """One right: a verb on a resource, such as pods/eviction. namespace: "" is the whole cluster."""

    verb: str
    group: str
    resource: str
    namespace: str = CLUSTER

    @property
    def full(self) -> str:
        """Return resource.group, as `oc` has it; a subresource follows the slash."""
        name, slash, sub = self.resource.partition("/")
        return f"{name}.{self.group}{slash}{sub}" if self.group else self.resource


Row = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]


def _resource(word: str) -> tuple[str, str]:
    """Return group and resource of a word of the table."""
    if word[0].islower():
        plural, _dot, group = word.partition(".")
        return group, plural
    name, slash, sub = word.partition("/")
    kind = known(name)
    return kind.group, f"{kind.plural}{slash}{sub}"


def _read(table: str) -> dict[str, list[Row]]:
    parts: dict[str, list[Row]] = {}
    part = ""
    for line in table.strip().splitlines():
        if not line.startswith(" "):
            part = line
            continue
        place, verbs, *words = line.split()
        row = (place, tuple(verbs.split(",")), tuple(map(_resource, words)))
        parts.setdefault(part, []).append(row)
    return parts


TABLE: t.Final = _read(_TABLE)
# Roles that install an operator, with the place of its namespace.
OPERATORS: t.Final = {
    "node_feature_discovery": "nfd",
    "nvidia_network_operator": "nic",
    "gpu_operator": "gpu",
}


def of(
    playbook: str,
    details: t.Collection[str],
    places: t.Mapping[str, t.Sequence[str]],
    left_out: t.Collection[str],
) -> list[Need]:
    """Return what a playbook needs, each right once.

    details: parts with two words that apply, such as "gpu_node_pool autoscale". places: namespaces of each
    place. left_out: roles that do not run.
    """
    found: dict[Need, None] = {}
    for part in PARTS[playbook]:
        role, _space, state = part.partition(" ")
        if role in left_out:
            continue
        for title, rows in TABLE.items():
            if title == part or (title in details and _applies(title, role, state)):
                _add(found, rows, places)
        if role in OPERATORS:
            rows = [
                (OPERATORS[role] if place == "*" else place, verbs, resources)
                for place, verbs, resources in TABLE["olm absent" if state else "olm"]
            ]
            _add(found, rows, places)
    return list(found)


def _applies(title: str, role: str, state: str) -> bool:
    first, *more = title.split()
    return first == role and ("absent" in more) == bool(state)


def _add(found: dict[Need, None], rows: t.Iterable[Row], places: t.Mapping[str, t.Sequence[str]]) -> None:
    for place, verbs, resources in rows:
        for namespace in [CLUSTER] if place == "-" else places[place]:
            for group, resource in resources:
                found |= dict.fromkeys(Need(verb, group, resource, namespace) for verb in verbs)


def details_of(pools: t.Iterable[KubeObject], backend: str, approve_csrs: bool) -> set[str]:
    """Return the parts that these pools of gpu_plan add."""
    found = {f"gpu_operator {backend}"} | ({"gpu_node_pool csr"} if approve_csrs else set())
    found |= {"gpu_validation claims"} if backend == "dra" else set()
    for pool in pools:
        if pool.get("health"):
            found.add("gpu_node_pool health")
        if pool.get("autoscale"):
            found |= {"gpu_node_pool autoscale", "gpu_node_pool autoscale absent"}
        if pool.get("tuning"):
            found.add("node_tuning tuned")
        if (pool.get("tuning") or {}).get("reboot") == "planned":
            found |= {"node_tuning reboots", "node_tuning reboots absent"}
        for key in ("quota", "priority"):
            if pool.get(key):
                found |= {f"gpu_policy {key}", f"gpu_policy {key} absent"}
    return found
