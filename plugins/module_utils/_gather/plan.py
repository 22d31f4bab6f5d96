# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bundle reads: the table of lists with the file of each, and the logs that say most."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._diagnosis import seen
from .._kube.kinds import Kind, known
from .._kube.session import Query
from .._stack.operands import pod_is_ready
from .._stack.pods import refused, trouble

GPU: t.Final = "gpu"
# Namespaces that exist only with an operator that not everybody needs.
OPTIONAL: t.Final = ("nic", "kmm")
_NAMESPACES: t.Final = {
    "-": "",
    "nfd": seen.NFD,
    "nic": seen.NIC,
    "kmm": "openshift-kmm",
    "machines": seen.MACHINES,
    "market": seen.MARKET,
    "openshift": "openshift",
}
_OPERATOR: t.Final = (
    "Subscription Pod Event DaemonSet Deployment InstallPlan ClusterServiceVersion OperatorGroup ConfigMap"
)
# Place, then kinds, each with its file after the sign = unless that is the plural. A kind that the Api does
# not know is group/version/Kind; a name follows the colon.
_TABLE: t.Final = f"""
-         ClusterVersion=openshift_version ClusterOperator Infrastructure Proxy MachineConfigPool
-         ImageDigestMirrorSet ImageTagMirrorSet ImageContentSourcePolicy
-         ClusterPolicy=cluster_policy NVIDIADriver=nvidiadrivers GPUCluster NicClusterPolicy NicNodePolicy
-         NodeFeatureDiscovery ResourceQuota ClusterResourceQuota ResourceClaim ResourceSlice DeviceClass
-         hco.kubevirt.io/v1beta1/HyperConverged=hyperconverged kubevirt.io/v1/KubeVirt=kubevirt
gpu       {_OPERATOR}
nfd       {_OPERATOR} NodeFeature
nic       {_OPERATOR}
kmm       {_OPERATOR}
machines  Machine=all_machines MachineSet Event
market    CatalogSource Event
openshift ImageStream:driver-toolkit=driver_toolkit
"""
# The most objects of a list that are read. A NodeFeature alone has 50 KiB.
MOST: t.Final = 500
_MOST: t.Final = {"NodeFeature": 20, "Event": 2000, "Pod": 2000}
_MOST_PODS: t.Final = 30


class Row(t.NamedTuple):
    """A list that is read. file: without its ending. most: objects."""

    place: str
    query: Query
    file: str
    most: int


def rows(gpu: str, kueue: t.Iterable[Kind] = ()) -> list[Row]:
    """Return what is read, in this order. gpu: namespace of the GPU operator. kueue: its kinds."""
    lines = [line.split() for line in _TABLE.strip().splitlines()]
    found = [_row(place, gpu, word) for place, *words in lines for word in words]
    return [*found, *(Row("-", Query(kind), f"kueue_{kind.plural}", MOST) for kind in kueue)]


def _row(place: str, gpu: str, word: str) -> Row:
    word, _equals, file = word.partition("=")
    word, _colon, name = word.partition(":")
    api_version, _slash, kind_name = word.rpartition("/")
    kind = Kind(api_version, kind_name, f"{kind_name.lower()}s") if api_version else known(word)
    own = {"Pod": f"{operand(place)}_pods", "DaemonSet": f"{operand(place)}_ds"}.get(word, "")
    file = file or own or (kind.plural if place == "-" else f"{place}_{kind.plural}")
    namespace = gpu if place == GPU else _NAMESPACES[place]
    return Row(place, Query(kind, namespace or None, name or None), file, _MOST.get(word, MOST))


def operand(place: str) -> str:
    """Return how the files of pods of a place begin; NVIDIA's support knows those of the GPU operator."""
    return "gpu_operand" if place == GPU else place


def is_broken(pod: KubeObject) -> bool:
    """Return whether something of the pod does not run that should."""
    has_ended = (pod.get("status") or {}).get("phase") == "Succeeded"
    return not has_ended and bool(trouble(pod) or refused(pod) or not pod_is_ready(pod))


def worth_reading(pods: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Return the pods whose logs are read: of each owner first a broken one and a healthy one, then more."""
    number: dict[tuple[str, bool], int] = {}
    ranked = []
    for pod in pods:
        owner: KubeObject = next(iter(pod["metadata"].get("ownerReferences") or ()), {})
        kind = (str(owner.get("uid") or pod["metadata"]["name"]), is_broken(pod))
        number[kind] = number.get(kind, 0) + 1
        ranked.append((number[kind], not kind[1], pod))
    return [pod for _number, _healthy, pod in sorted(ranked, key=lambda entry: entry[:2])[:_MOST_PODS]]


def logs_of(pod: KubeObject) -> list[tuple[str, bool]]:
    """Return container and whether it is about its last end, for each log that there is.

    Init containers of a pod that runs say nothing more.
    """
    status, found = pod.get("status") or {}, []
    parts = ("initContainerStatuses", "containerStatuses") if is_broken(pod) else ("containerStatuses",)
    for container in (entry for part in parts for entry in status.get(part) or ()):
        has_ended = "terminated" in (container.get("lastState") or {})
        if has_ended or {"running", "terminated"} & {*(container.get("state") or {})}:
            found.append((str(container["name"]), False))
        found += [(str(container["name"]), True)] if has_ended else []
    return found
