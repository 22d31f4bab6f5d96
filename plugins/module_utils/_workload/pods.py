# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Workload: one pod for each device that a node promises, all at the same time, with nothing a restricted namespace forbids."""

from __future__ import annotations

import hashlib
import re
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY, owned
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import (
    claims,
    devices as node_devices,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import (
    GPU_TOLERATION,
    matches,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.manifest import (
    merge_tolerations,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.benchmarks.registry import (
    BENCHMARKS,
)

BENCHMARK_LABEL: t.Final = "accelerators.openshift/benchmark"
RUN_LABEL: t.Final = "accelerators.openshift/run"
FINGERPRINTS: t.Final = "gpu-validation-fingerprints"
HOSTNAME: t.Final = "kubernetes.io/hostname"
_CPU_MILLIS: t.Final = 100


def namespace(name: str) -> KubeObject:
    """Where nothing but restricted pods may run."""
    levels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": levels}}


def selected(nodes: t.Iterable[KubeObject], selector: t.Mapping[str, str]) -> list[KubeObject]:
    return sorted(
        (node for node in nodes if matches(selector, node_devices.labels(node))),
        key=lambda node: str(node["metadata"]["name"]),
    )


def geometry_of(node: KubeObject, wanted: t.Mapping[str, t.Any] | None) -> dict[str, int]:
    """How many pods of each resource the node has to carry."""
    return (
        {name: node_devices.count(number) for name, number in wanted.items()}
        if wanted
        else node_devices.resources(node)
    )


def fingerprint(node: KubeObject, benchmark: str) -> str:
    return f"benchmark={benchmark} {node_devices.fingerprint(node)}"


def changed(
    nodes: t.Iterable[KubeObject], benchmark: str, known: KubeObject | None, force: bool
) -> list[KubeObject]:
    """Nodes that were rebooted, repartitioned or got another driver since they were last validated, or all with force."""
    stored = (known or {}).get("data") or {}
    return [
        node
        for node in nodes
        if force or stored.get(node["metadata"]["name"]) != fingerprint(node, benchmark)
    ]


def fingerprints(
    params: dict[str, t.Any],
    known: KubeObject | None,
    validated: t.Iterable[KubeObject],
    existing: t.Iterable[KubeObject],
) -> KubeObject:
    """The record of what was validated; nodes that are gone are forgotten, other people's pools are kept."""
    names = {node["metadata"]["name"] for node in existing}
    data = {name: value for name, value in ((known or {}).get("data") or {}).items() if name in names}
    data |= {node["metadata"]["name"]: fingerprint(node, params["benchmark"]) for node in validated}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": FINGERPRINTS, "namespace": params["namespace"]},
        "data": dict(sorted(data.items())),
    }


def pods(params: dict[str, t.Any], nodes: t.Iterable[KubeObject], run: str) -> list[KubeObject]:
    """As many pods a node as its geometry promises. The scheduler and the device plugin place them, so nodeName stays empty."""
    return [
        pod(params, {resource: 1}, _name(params["benchmark"], node, resource, index, run), run, host_of(node))
        for node in nodes
        for resource, number in geometry_of(node, params.get("resources")).items()
        for index in range(number)
    ]


def _name(benchmark: str, node: KubeObject, resource: str, index: int, run: str) -> str:
    short = re.sub(r"[^a-z0-9]+", "-", resource.rpartition("/")[2].lower()).strip("-")
    digest = hashlib.sha256(node["metadata"]["name"].encode()).hexdigest()[:6]
    return f"{benchmark.replace('_', '-')}-{short}-{digest}-{run}-{index}"


def pod(
    params: dict[str, t.Any],
    devices: t.Mapping[str, int],
    name: str,
    run: str,
    hostname: str,
    copies: int = 1,
) -> KubeObject:
    benchmark = BENCHMARKS[params["benchmark"]]
    memory = int(benchmark.memory[:-2])
    limits = {"cpu": f"{_CPU_MILLIS * copies}m", "memory": f"{memory * copies}{benchmark.memory[-2:]}"}
    if not params.get("claims"):
        limits |= {key: str(number) for key, number in devices.items()}
    script = f"{benchmark.script}\ncode=$?\nsleep {params['hold']}\nexit $code"
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": params["namespace"],
            "labels": {**MANAGED_BY, BENCHMARK_LABEL: params["benchmark"], RUN_LABEL: run},
        },
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 1,
            "nodeSelector": {**params["node_selector"], HOSTNAME: hostname},
            "tolerations": merge_tolerations(params.get("tolerations"), [GPU_TOLERATION]),
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [
                {
                    "name": "benchmark",
                    "image": params.get("image") or benchmark.image,
                    "command": ["/bin/sh", "-c", script],
                    "env": [
                        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
                        {"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "compute,utility"},
                    ],
                    "resources": {"requests": limits, "limits": limits},
                    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                }
            ],
        },
    }
    return claiming(made, run) if params.get("claims") else made


def claiming(made: KubeObject, run: str) -> KubeObject:
    """The pod with a claim of its own; what the claim gives decides which devices it sees, so no variable names any."""
    (container,) = made["spec"]["containers"]
    del container["env"]
    container["resources"]["claims"] = [{"name": claims.NAME}]
    made["spec"]["resourceClaims"] = [{"name": claims.NAME, "resourceClaimTemplateName": template_name(run)}]
    return made


def template_name(run: str) -> str:
    return f"one-gpu-{run}"


def template(params: dict[str, t.Any], run: str) -> KubeObject:
    return claims.template(template_name(run), params["namespace"], {**MANAGED_BY, RUN_LABEL: run})


def probes(params: dict[str, t.Any], nodes: t.Iterable[KubeObject], run: str) -> list[KubeObject]:
    """One pod, and one claim, that ask for everything at once: dry runs of them make the API say whether a quota is too small."""
    total: dict[str, int] = {}
    for node in nodes:
        for resource, number in geometry_of(node, params.get("resources")).items():
            total[resource] = total.get(resource, 0) + number
    number = max(1, sum(total.values()))
    one = pod(params, total, f"{params['benchmark'].replace('_', '-')}-{run}-all", run, "any", number)
    return (
        [one, claims.claim(f"{template_name(run)}-", params["namespace"], number)]
        if params.get("claims")
        else [one]
    )


def is_ours(pod_: KubeObject, params: dict[str, t.Any]) -> bool:
    return (
        pod_["metadata"].get("namespace") == params["namespace"]
        and owned(pod_)
        and RUN_LABEL in pod_["metadata"]["labels"]
    )


def leftovers(
    present: t.Iterable[KubeObject], params: dict[str, t.Any], nodes: t.Iterable[KubeObject]
) -> list[KubeObject]:
    """Pods that a killed run left on these nodes; those of a run on other nodes may still be needed."""
    hosts = {host_of(node) for node in nodes}
    return [
        one
        for one in present
        if is_ours(one, params) and one["spec"].get("nodeSelector", {}).get(HOSTNAME) in hosts
    ]


def host_of(node: KubeObject) -> str:
    return node_devices.labels(node).get(HOSTNAME) or str(node["metadata"]["name"])


def requested(pod_: KubeObject, resource: str) -> int:
    """What the scheduler counts for a pod: the sum of its containers, or the largest init container."""

    def of(kind: str) -> list[int]:
        return [
            node_devices.count((one.get("resources", {}).get("limits") or {}).get(resource, 0))
            for one in pod_["spec"].get(kind) or []
        ]

    return max([sum(of("containers")), *of("initContainers")])


def requests(
    node: KubeObject, present: t.Iterable[KubeObject], params: dict[str, t.Any]
) -> dict[str, dict[str, int]]:
    """Resource to who holds how many of it, by what other people's pods on the node request."""
    live = [
        one
        for one in present
        if one.get("status", {}).get("phase") not in ("Succeeded", "Failed") and not is_ours(one, params)
    ]
    return {
        resource: {
            f"{one['metadata']['namespace']}/{one['metadata']['name']}": requested(one, resource)
            for one in live
        }
        for resource in geometry_of(node, params.get("resources"))
    }


def holders(
    nodes: t.Iterable[KubeObject],
    present: t.Mapping[str, t.Mapping[str, dict[str, int]]],
    params: dict[str, t.Any],
) -> list[str]:
    """Other people's pods, where they leave fewer devices free than the validation needs. present: node name to resource to who holds how many."""
    return [
        line for node in nodes for line in _holders(node, present.get(node["metadata"]["name"], {}), params)
    ]


def _holders(
    node: KubeObject, present: t.Mapping[str, dict[str, int]], params: dict[str, t.Any]
) -> list[str]:
    lines = []
    for resource, number in geometry_of(node, params.get("resources")).items():
        held = {name: count for name, count in sorted(present.get(resource, {}).items()) if count}
        free = node_devices.offered(node, resource) - sum(held.values())
        if free < number and held:
            who = ", ".join(f"{name} ({count})" for name, count in held.items())
            lines.append(
                f"{node['metadata']['name']}: {free} of {node_devices.offered(node, resource)} {resource} free, {number} needed; held by {who}"
            )
    return lines
