# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validation pods: one for each device of a node, all at the same time, as a restricted namespace allows."""

from __future__ import annotations

import hashlib
import re
import typing as t

from .._core.objects import KubeObject
from .._core.ownership import MANAGED_BY
from .._nodes import claims as gpu_claims, devices as node_devices
from .._nodes.labels import labels
from .._nodes.taints import GPU_TOLERATION, matches, merge_tolerations
from . import runs
from .benchmarks.registry import BENCHMARKS
from .options import GpuWorkloadParams

BENCHMARK_LABEL: t.Final = "accelerators.openshift/benchmark"
RUN_LABEL: t.Final = "accelerators.openshift/run"
HOSTNAME: t.Final = "kubernetes.io/hostname"
_CPU_MILLIS: t.Final = 100
_ENDED: t.Final = ("Succeeded", "Failed")


def phase(pod: KubeObject) -> str:
    """Return the pod's phase; a pod without a status is Pending."""
    return str(pod.get("status", {}).get("phase") or "Pending")


def has_ended(pod: KubeObject) -> bool:
    """Return whether the pod has ended, with success or without."""
    return phase(pod) in _ENDED


def host_of(node: KubeObject) -> str:
    """Return the value of the node's hostname label, by which a pod selects the node."""
    return labels(node).get(HOSTNAME) or str(node["metadata"]["name"])


def selected(nodes: t.Iterable[KubeObject], selector: t.Mapping[str, str]) -> list[KubeObject]:
    """Return the nodes with these labels, sorted by name."""
    return sorted(
        (node for node in nodes if matches(selector, labels(node))),
        key=lambda node: str(node["metadata"]["name"]),
    )


def geometry_of(node: KubeObject, wanted: t.Mapping[str, t.Any] | None) -> dict[str, int]:
    """Return how many pods of each resource the node has to carry: as wanted, else all that it offers."""
    if not wanted:
        return node_devices.resources(node)
    return {name: node_devices.count(number) for name, number in wanted.items()}


class Mark(t.NamedTuple):
    """What the pods of one validation have in common.

    name: part of their names, and their label. run: id of the run of ansible-playbook. seconds: after which
    the kubelet ends a pod that nobody deleted.
    """

    name: str
    run: str
    seconds: int


def pods(params: GpuWorkloadParams, nodes: t.Iterable[KubeObject], mark: Mark) -> list[KubeObject]:
    """Return the pods of a validation, one for each device of each node.

    The scheduler and the device plugin place them, so nodeName stays empty.
    """
    return [
        pod(params, {resource: 1}, _name(params, node, resource, index, mark.name), mark, host_of(node))
        for node in nodes
        for resource, number in geometry_of(node, params.resources).items()
        for index in range(number)
    ]


def _name(params: GpuWorkloadParams, node: KubeObject, resource: str, index: int, mark: str) -> str:
    short = re.sub(r"[^a-z0-9]+", "-", resource.rpartition("/")[2].lower()).strip("-")
    digest = hashlib.sha256(node["metadata"]["name"].encode()).hexdigest()[:6]
    return f"{params.benchmark.replace('_', '-')}-{short}-{digest}-{mark}-{index}"


def pod(
    params: GpuWorkloadParams,
    devices: t.Mapping[str, int],
    name: str,
    mark: Mark,
    hostname: str,
    copies: int = 1,
) -> KubeObject:
    """Return a pod with these devices for one host.

    copies: number of pods whose cpu and memory it requests.
    """
    marks = {**MANAGED_BY, BENCHMARK_LABEL: params.benchmark, RUN_LABEL: mark.name}
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": params.namespace,
            "labels": marks,
            "annotations": {runs.ANNOTATION: mark.run},
        },
        "spec": {
            "restartPolicy": "Never",
            "activeDeadlineSeconds": mark.seconds,
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 1,
            "nodeSelector": {**(params.node_selector or {}), HOSTNAME: hostname},
            "tolerations": merge_tolerations(params.tolerations, [GPU_TOLERATION]),
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [_container(params, devices, copies)],
        },
    }
    return _claiming(made, mark.name) if params.claims else made


def _container(params: GpuWorkloadParams, devices: t.Mapping[str, int], copies: int) -> dict[str, t.Any]:
    benchmark = BENCHMARKS[params.benchmark]
    memory = int(benchmark.memory[:-2])
    limits = {"cpu": f"{_CPU_MILLIS * copies}m", "memory": f"{memory * copies}{benchmark.memory[-2:]}"}
    if not params.claims:
        limits |= {key: str(number) for key, number in devices.items()}
    script = f"{benchmark.script}\ncode=$?\nsleep {params.hold}\nexit $code"
    # No env: the pod's own NVIDIA_VISIBLE_DEVICES would win over the one that the device plugin sets.
    return {
        "name": "benchmark",
        "image": params.image or benchmark.image,
        "command": ["/bin/sh", "-c", script],
        "resources": {"requests": limits, "limits": limits},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }


def _claiming(made: KubeObject, run: str) -> KubeObject:
    """Return the pod with a claim of its own."""
    (container,) = made["spec"]["containers"]
    container["resources"]["claims"] = [{"name": gpu_claims.CLAIM_NAME}]
    made["spec"]["resourceClaims"] = [
        {"name": gpu_claims.CLAIM_NAME, "resourceClaimTemplateName": template_name(run)}
    ]
    return made


def template_name(run: str) -> str:
    """Return the name of the run's ResourceClaimTemplate."""
    return f"one-gpu-{run}"


def template(params: GpuWorkloadParams, run: str) -> KubeObject:
    """Return the ResourceClaimTemplate from which each pod of the run gets a claim of one GPU."""
    return claim_template(template_name(run), params.namespace, {**MANAGED_BY, RUN_LABEL: run})


def probes(params: GpuWorkloadParams, nodes: t.Iterable[KubeObject], mark: Mark) -> list[KubeObject]:
    """Return one pod, and with claims one claim, that request everything at once.

    Their dry runs make the API server say whether a quota is too small.
    """
    total: dict[str, int] = {}
    for node in nodes:
        for resource, number in geometry_of(node, params.resources).items():
            total[resource] = total.get(resource, 0) + number
    number = max(1, sum(total.values()))
    name = f"{params.benchmark.replace('_', '-')}-{mark.name}-all"
    one = pod(params, total, name, mark, "any", number)
    if not params.claims:
        return [one]
    return [one, gpu_claims.claim(f"{template_name(mark.name)}-", params.namespace, number)]


def claim_template(name: str, namespace: str, labels: t.Mapping[str, str]) -> KubeObject:
    """Return the ResourceClaimTemplate that gives one GPU to each pod that names it.

    Kubernetes creates the claim, with these labels, together with the pod and deletes it when the pod has
    ended.
    """
    metadata = {"name": name, "namespace": namespace, "labels": dict(labels)}
    return {
        "apiVersion": gpu_claims.API_VERSION,
        "kind": "ResourceClaimTemplate",
        "metadata": metadata,
        "spec": {"metadata": {"labels": dict(labels)}, "spec": gpu_claims.claim_spec(1)},
    }
