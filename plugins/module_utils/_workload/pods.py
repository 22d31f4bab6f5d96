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
from . import quarantine, runs
from .groups import grouped
from .options import GpuWorkloadParams
from .programs.program import GpuNode, Program
from .programs.registry import PROGRAMS

BENCHMARK_LABEL: t.Final = "accelerators.openshift/benchmark"
RUN_LABEL: t.Final = "accelerators.openshift/run"
HOSTNAME: t.Final = "kubernetes.io/hostname"
# Of a pod: the name of its claim of a channel.
CHANNEL: t.Final = "channel"
NETWORKS: t.Final = "k8s.v1.cni.cncf.io/networks"
# Networks of these kinds give each pod RDMA devices of its own.
_EXCLUSIVE: t.Final = ("host_device", "sriov", "sriov_ib")
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


def pods(
    params: GpuWorkloadParams, nodes: t.Iterable[KubeObject], mark: Mark, attempt: int = 0
) -> list[KubeObject]:
    """Return the pods of a validation: one for each device of each node, or one with all of them.

    The scheduler and the device plugin place them, so nodeName stays empty. attempt: as of groups.grouped.
    """
    if params.program.nodes > 1:
        groups = grouped(list(nodes), params.program.nodes, attempt)
        return [made for index, group in enumerate(groups) for made in _group(params, group, index, mark)]
    return [
        pod(params, devices, _name(params, node, word, index, mark.name), mark, host_of(node), on=facts)
        for node in nodes
        for facts, shares in [(facts_of(node, params), _shares(node, params))]
        for index, (word, devices) in enumerate(shares)
    ]


def _group(
    params: GpuWorkloadParams, group: t.Sequence[KubeObject], number: int, mark: Mark
) -> list[KubeObject]:
    """Return the pods of one group, which find one another by the names of a headless Service."""
    names = [f"g{number}-r{rank}" for rank in range(len(group))]
    master = f"{names[0]}.{peers_name(mark.name)}.{params.namespace}.svc"
    made = []
    for rank, node in enumerate(group):
        facts = facts_of(node, params)._replace(rank=rank, nodes=len(group), master=master)
        one = pod(
            params,
            geometry_of(node, params.expected),
            _name(params, node, f"g{number}", rank, mark.name),
            mark,
            host_of(node),
            on=facts,
        )
        one["spec"] |= {"hostname": names[rank], "subdomain": peers_name(mark.name)}
        made.append(one)
    return made


def peers_name(mark: str) -> str:
    """Return the name of the headless Service of a run whose pods work together."""
    return f"peers-{mark}"


def peers(params: GpuWorkloadParams, mark: Mark) -> KubeObject:
    """Return the headless Service that gives the pods of a run their names, before they are Ready."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": peers_name(mark.name),
            "namespace": params.namespace,
            "labels": {**MANAGED_BY, RUN_LABEL: mark.name},
        },
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {RUN_LABEL: mark.name},
        },
    }


def domain_name(mark: str) -> str:
    """Return the name of the ComputeDomain of a run, and of the ResourceClaimTemplate that it gets."""
    return f"channel-{mark}"


def domain(params: GpuWorkloadParams, mark: Mark) -> KubeObject:
    """Return the ComputeDomain of a run. It takes in the nodes of the pods that claim one of its channels."""
    name, marks = domain_name(mark.name), {**MANAGED_BY, RUN_LABEL: mark.name}
    channel = {"resourceClaimTemplate": {"name": name}, "allocationMode": "Single"}
    return {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": name, "namespace": params.namespace, "labels": marks},
        "spec": {"numNodes": 0, "channel": channel},
    }


def needs(params: GpuWorkloadParams, pods: t.Sequence[KubeObject], mark: Mark) -> list[KubeObject]:
    """Return what the pods of a run need before them."""
    made = templates(pods, params.namespace, mark.name)
    if any("subdomain" in pod["spec"] for pod in pods):
        made.append(peers(params, mark))
    if any(has_claim(pod, CHANNEL) for pod in pods):
        made.append(domain(params, mark))
    return made


def has_claim(pod: KubeObject, name: str) -> bool:
    """Return whether the pod has a claim with this name in its spec."""
    return any(claim["name"] == name for claim in pod["spec"].get("resourceClaims") or [])


def owner(place: str, mark: str, seconds: int, template: KubeObject) -> KubeObject:
    """Return the Job that owns everything of a run. It makes no pod; at its deadline Kubernetes deletes it.

    What a killed run left is deleted with it. template: of a pod of the run, which policies let pass.
    """
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": owner_name(mark),
            "namespace": place,
            "labels": {**MANAGED_BY, RUN_LABEL: mark},
        },
        "spec": {
            "parallelism": 0,
            "backoffLimit": 0,
            "activeDeadlineSeconds": seconds,
            "ttlSecondsAfterFinished": 0,
            "template": template,
        },
    }


def owner_name(mark: str) -> str:
    """Return the name of the Job that owns what a run made."""
    return f"validation-{mark}"


def owned_by(made: KubeObject, job: KubeObject) -> KubeObject:
    """Return the object as one that goes with the Job."""
    found = {key: job[key] for key in ("apiVersion", "kind")}
    found |= {key: job["metadata"][key] for key in ("name", "uid")}
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [found]}}


def _shares(node: KubeObject, params: GpuWorkloadParams) -> list[tuple[str, dict[str, int]]]:
    """Return what each pod on the node requests, with a word for its name.

    A device plugin that shares devices may refuse a pod that requests two of them.
    """
    geometry = geometry_of(node, params.expected)
    if PROGRAMS[params.program.program].spread != "device" and not node_devices.is_shared(node):
        return [("node", geometry)] if sum(geometry.values()) else []
    return [(resource, {resource: 1}) for resource, number in geometry.items() for _index in range(number)]


def facts_of(node: KubeObject, params: GpuWorkloadParams) -> GpuNode:
    """Return what a program's script and image depend on. Sources: labels of GPU feature discovery."""
    found, geometry = labels(node), geometry_of(node, params.expected)
    major, minor = (found.get(f"nvidia.com/gpu.compute.{part}", "") for part in ("major", "minor"))
    product = found.get("nvidia.com/gpu.product", "")
    return GpuNode(
        product=product,
        compute=(int(major), int(minor)) if major.isdigit() and minor.isdigit() else None,
        devices=sum(geometry.values()),
        mig="-MIG-" in product or any("/mig-" in resource for resource in geometry),
        arch=found.get("kubernetes.io/arch", "amd64"),
        tolerations=tuple(quarantine.tolerations(node)),
        rdma=sum(resources(params).values()) if params.network.get("kind") in _EXCLUSIVE else 0,
        clique=found.get("nvidia.com/gpu.clique", ""),
    )


def resources(params: GpuWorkloadParams) -> dict[str, int]:
    """Return what a pod requests of the network of its program."""
    return {name: int(number) for name, number in (params.network.get("resources") or {}).items()}


def unfit(node: KubeObject, params: GpuWorkloadParams) -> str:
    """Return why the program says nothing about the node, empty if it does."""
    program, facts = PROGRAMS[params.program.program], facts_of(node, params)
    if program.spread != "device" and not program.takes_shares and node_devices.is_shared(node):
        return "its GPUs are shared"
    return program.unfit(params.program, facts)


def _name(params: GpuWorkloadParams, node: KubeObject, resource: str, index: int, mark: str) -> str:
    short = re.sub(r"[^a-z0-9]+", "-", resource.rpartition("/")[2].lower()).strip("-")
    digest = hashlib.sha256(node["metadata"]["name"].encode()).hexdigest()[:6]
    return f"{params.program.program.replace('_', '-')}-{short}-{digest}-{mark}-{index}"


def pod(
    params: GpuWorkloadParams,
    devices: t.Mapping[str, int],
    name: str,
    mark: Mark,
    hostname: str,
    copies: int = 1,
    on: GpuNode | None = None,
) -> KubeObject:
    """Return a pod with these devices for one host.

    copies: number of pods whose cpu and memory it requests. on: what is known of the node.
    """
    on, program = on or GpuNode(), PROGRAMS[params.program.program]
    marks = {**MANAGED_BY, BENCHMARK_LABEL: params.program.program, RUN_LABEL: mark.name}
    networks = {NETWORKS: params.network["annotation"]} if params.network else {}
    copies *= sum(devices.values()) if program.spread != "device" and copies == 1 else 1
    made: KubeObject = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": params.namespace,
            "labels": marks,
            "annotations": {runs.ANNOTATION: mark.run, **networks},
        },
        "spec": {
            "restartPolicy": "Never",
            "activeDeadlineSeconds": mark.seconds,
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 1,
            "nodeSelector": {**(params.node_selector or {}), HOSTNAME: hostname},
            "tolerations": merge_tolerations(params.tolerations, [GPU_TOLERATION], on.tolerations),
            "securityContext": {
                "runAsNonRoot": not params.program.lock_memory,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [_container(params, program, devices, copies, on)],
        },
    }
    if params.priority_class:
        made["spec"]["priorityClassName"] = params.priority_class
    if program.shared_memory:
        memory = {"medium": "Memory", "sizeLimit": f"{program.shared_memory}Gi"}
        made["spec"]["volumes"] = [{"name": "shared-memory", "emptyDir": memory}]
        made["spec"]["containers"][0]["volumeMounts"] = [
            {"name": "shared-memory", "mountPath": "/dev/shm"}  # noqa: S108
        ]
    if params.claims:
        _claim(made, gpu_claims.CLAIM_NAME, template_name(mark.name, max(1, sum(devices.values()))))
    if program.claims_channel:
        _claim(made, CHANNEL, domain_name(mark.name))
    return made


def _container(
    params: GpuWorkloadParams, program: Program, devices: t.Mapping[str, int], copies: int, on: GpuNode
) -> dict[str, t.Any]:
    settings = params.program
    limits = {"cpu": f"{round(program.cpu * 1000) * copies}m", "memory": f"{program.memory * copies}Mi"}
    if not params.claims:
        limits |= {key: str(number) for key, number in devices.items()}
    limits |= {key: str(number) for key, number in resources(params).items()}
    script = f"{program.script(settings, on)}\ncode=$?\nsleep {params.hold}\nexit $code"
    # No env: the pod's own NVIDIA_VISIBLE_DEVICES would win over the one that the device plugin sets.
    return {
        "name": "benchmark",
        "image": settings.image or program.image(on),
        "command": ["/bin/sh", "-c", script],
        "resources": {"requests": limits, "limits": limits},
        "securityContext": _rights(settings.lock_memory),
    }


def _rights(lock_memory: bool) -> dict[str, t.Any]:
    """Return the rights of the container. A capability reaches only the processes of root."""
    found: dict[str, t.Any] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    if lock_memory:
        found |= {"runAsUser": 0, "capabilities": {"drop": ["ALL"], "add": ["IPC_LOCK"]}}
    return found


def _claim(made: KubeObject, name: str, template: str) -> None:
    """Give the pod a claim of its own by this ResourceClaimTemplate."""
    (container,) = made["spec"]["containers"]
    container["resources"].setdefault("claims", []).append({"name": name})
    claim = {"name": name, "resourceClaimTemplateName": template}
    made["spec"].setdefault("resourceClaims", []).append(claim)


def template_name(run: str, number: int = 1) -> str:
    """Return the name of the run's ResourceClaimTemplate of so many GPUs."""
    return f"{'one-gpu' if number == 1 else f'{number}-gpus'}-{run}"


def templates(pods: t.Iterable[KubeObject], namespace: str, run: str) -> list[KubeObject]:
    """Return the ResourceClaimTemplates that the pods of a run name."""
    claims = [claim for one in pods for claim in one["spec"].get("resourceClaims", [])]
    names = {one["resourceClaimTemplateName"] for one in claims if one["name"] == gpu_claims.CLAIM_NAME}
    numbers = sorted(1 if name.startswith("one-") else int(name.partition("-")[0]) for name in names)
    marks = {**MANAGED_BY, RUN_LABEL: run}
    return [claim_template(template_name(run, number), namespace, marks, number) for number in numbers]


def probes(params: GpuWorkloadParams, nodes: t.Iterable[KubeObject], mark: Mark) -> list[KubeObject]:
    """Return one pod, and with claims one claim, that request everything at once.

    Their dry runs make the API server say whether a quota is too small.
    """
    total: dict[str, int] = {}
    for node in nodes:
        for resource, number in geometry_of(node, params.expected).items():
            total[resource] = total.get(resource, 0) + number
    number = max(1, sum(total.values()))
    name = f"{params.program.program.replace('_', '-')}-{mark.name}-all"
    one = pod(params, total, name, mark, "any", number)
    if not params.claims:
        return [one]
    return [one, gpu_claims.claim(f"{template_name(mark.name)}-", params.namespace, number)]


def claim_template(name: str, namespace: str, labels: t.Mapping[str, str], number: int = 1) -> KubeObject:
    """Return the ResourceClaimTemplate that gives so many GPUs to each pod that names it.

    Kubernetes creates the claim, with these labels, together with the pod and deletes it when the pod has
    ended.
    """
    metadata = {"name": name, "namespace": namespace, "labels": dict(labels)}
    return {
        "apiVersion": gpu_claims.API_VERSION,
        "kind": "ResourceClaimTemplate",
        "metadata": metadata,
        "spec": {"metadata": {"labels": dict(labels)}, "spec": gpu_claims.claim_spec(number)},
    }
