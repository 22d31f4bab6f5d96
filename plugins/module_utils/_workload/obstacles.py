# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Obstacles before the first pod of a validation: options, missing nodes or devices, holders, a quota."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU
from .._core import references, refusals
from .._core.errors import ApiError, InputError, NotReadyError
from .._core.objects import KubeObject, number_of
from .._core.ownership import owned
from .._nodes import claims as gpu_claims, devices, dra, free
from .._nodes.placeholders import is_placeholder
from . import expectations, idle, runs
from .options import GpuWorkloadParams
from .pods import HOSTNAME, RUN_LABEL, geometry_of, has_ended, host_of
from .programs import rdma

# Resource -> who holds it -> how many of it.
Held = t.Mapping[str, t.Mapping[str, int]]


def check(params: GpuWorkloadParams) -> None:
    """Raise InputError for options that cannot work, or not together."""
    expectations.check(params.expectations or {})
    references.check(params.image, "image", "gpu_validation_image (module option image)")
    idle.check(params)
    _check_network(params)
    if params.max_nodes < (0 if params.idle else 1):
        raise InputError(
            "INPUT-VALUE",
            f"max_nodes is {params.max_nodes}: no node would be validated.",
            "Set gpu_validation_max_nodes, or gpu_idle_max_nodes (module option max_nodes), to 1 or more.",
        )
    others = [name for name in params.expected or {} if name != GPU]
    if params.claims and others:
        message = (
            f"expected[{others[0]}] cannot be validated with claims: the pods claim whole GPUs, "
            f"which count as {GPU}."
        )
        remedy = f"Name only {GPU} in expected, or leave claims out."
        raise InputError("INPUT-VALUE", message, remedy)


def _check_network(params: GpuWorkloadParams) -> None:
    """Raise InputError for a network that is not there, or of which pods of the validation get nothing."""
    wanted = params.program.network
    if not wanted:
        return
    names = [str(network["name"]) for network in params.networks or []]
    if wanted not in names:
        raise InputError(
            "INPUT-VALUE",
            f"Program {params.program.program} has network {wanted}, and there is "
            f"{'only ' + ', '.join(names) if names else 'no network'}.",
            "Set `network` of the program in `validate.programs` of the pool in `gpu_pools` to the name of "
            "an entry of `gpu_networks` (module option networks).",
        )
    if params.namespace not in (params.network.get("namespaces") or [params.namespace]):
        raise InputError(
            "INPUT-VALUE",
            f"Network {wanted} is not in namespace {params.namespace}, where the validation runs.",
            f"Add {params.namespace} to `namespaces` of network {wanted} in `gpu_networks`.",
        )


def problem(nodes: t.Sequence[KubeObject], params: GpuWorkloadParams) -> NotReadyError | None:
    """Return the error for too few nodes, or for nodes that offer too few devices; None if all is there."""
    selector = ",".join(f"{key}={value}" for key, value in (params.node_selector or {}).items())
    if len(nodes) < params.min_nodes:
        wanted = number_of(params.min_nodes, "node")
        return NotReadyError("WORK-NODES", selector=selector, number=len(nodes), wanted=wanted)
    short = [
        f"{node['metadata']['name']}: offers {devices.offered(node, resource)} of {number} {resource}"
        for node in nodes
        for resource, number in (geometry_of(node, params.expected) or {GPU: 1}).items()
        if devices.offered(node, resource) < number
    ]
    if not short:
        return None
    # A node has a line for each resource.
    lacking = {line.partition(":")[0] for line in short}
    return NotReadyError(
        "GPU-ALLOC",
        f"Devices are missing on {len(lacking)} of {number_of(len(nodes), 'node')}: {short[0]}",
        "Run special_resource for these nodes first; then read the log of the device plugin or DRA driver.",
        evidence=short,
    )


def check_busy(busy: t.Mapping[str, str], due: int, strict: bool) -> str:
    """Return the warning about nodes that are not validated, an empty text without one.

    busy: who holds the devices, by the name of the node. due: number of nodes to validate. Raises
    NotReadyError if strict, and a node is busy.
    """
    if not busy:
        return ""
    lines = [f"{name}: {who}" for name, who in busy.items()]
    if strict:
        raise NotReadyError("WORK-BUSY", holders=lines[0], evidence=lines)
    more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    return (
        f"Not validated: {len(busy)} of {number_of(due, 'node')}, because other pods hold the devices: "
        f"{lines[0]}{more}. A later run validates them."
    )


def refused(error: ApiError, namespace: str) -> ApiError | NotReadyError:
    """Return the error for a pod that is refused by a quota or a webhook; any other error unchanged."""
    if webhook := refusals.denied_by(error.message):
        error.remedy = (
            "Set validate.image of the pool in gpu_pools (module option image) to an image that the webhook "
            f"{webhook} allows, or exempt namespace {namespace} there."
        )
        return error
    if "security context constraint" in error.message or "violates PodSecurity" in error.message:
        why = f"namespace {namespace} does not take pods with capability IPC_LOCK: {error.message}"
        return NotReadyError(rdma.RIGHTS, node="of the pool", why=why, evidence=error.evidence)
    if "exceeded quota" not in error.message:
        return error
    return NotReadyError(
        "QUOTA-TOO-SMALL", namespace=namespace, answer=error.message, evidence=error.evidence
    )


def is_ours(obj: KubeObject, params: GpuWorkloadParams) -> bool:
    """Return whether a run of this module made the pod or the claim."""
    metadata = obj["metadata"]
    return metadata.get("namespace") == params.namespace and owned(obj) and RUN_LABEL in metadata["labels"]


def on_nodes(
    present: t.Iterable[KubeObject], params: GpuWorkloadParams, nodes: t.Iterable[KubeObject]
) -> list[KubeObject]:
    """Return the validation pods for these nodes that earlier runs made, or that other runs use now."""
    hosts = {host_of(node) for node in nodes}
    return [one for one in present if is_ours(one, params) and _host(one) in hosts]


def _host(pod: KubeObject) -> str:
    return str((pod["spec"].get("nodeSelector") or {}).get(HOSTNAME, ""))


def held_by_others(
    node: KubeObject,
    present: t.Iterable[KubeObject],
    params: GpuWorkloadParams,
    living: t.Iterable[KubeObject] = (),
) -> dict[str, dict[str, int]]:
    """Return what other pods on the node request: resource -> pod -> number. Placeholders give way.

    They do not give way to the validation of an idle node.
    living: validation pods of other runs that have not ended. Some of them may have no node yet.
    """
    live = {
        _title(one): one
        for one in present
        if not has_ended(one) and not is_ours(one, params) and (params.idle or not is_placeholder(one))
    }
    live |= {
        f"{_title(one)} of {runs.shown(one)}": one
        for one in living
        if not has_ended(one) and _host(one) == host_of(node)
    }
    return {
        resource: {name: free.requested(one, resource) for name, one in live.items()}
        for resource in geometry_of(node, params.expected)
    }


def _title(pod: KubeObject) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def busy(
    nodes: t.Iterable[KubeObject], held: t.Mapping[str, Held], params: GpuWorkloadParams
) -> dict[str, str]:
    """Return who leaves too few devices free, by the names of the nodes. held: by the name of the node."""
    found = {
        node["metadata"]["name"]: _holders(node, held.get(node["metadata"]["name"], {}), params)
        for node in nodes
    }
    return {name: "; ".join(lines) for name, lines in found.items() if lines}


def _holders(node: KubeObject, present: Held, params: GpuWorkloadParams) -> list[str]:
    found = []
    for resource, number in geometry_of(node, params.expected).items():
        held = {name: count for name, count in sorted(present.get(resource, {}).items()) if count}
        offered = devices.offered(node, resource)
        free = offered - sum(held.values())
        if held and (params.idle or free < number):
            who = ", ".join(f"{name} ({count})" for name, count in held.items())
            found.append(f"{free} of {offered} {resource} free, {number} needed; held by {who}")
    return found


def held_by_pods(
    claims: t.Iterable[KubeObject], slices: t.Iterable[KubeObject]
) -> dict[str, dict[str, dict[str, int]]]:
    """Return node -> resource -> namespace/pod -> number of devices that the pod holds.

    Administrator access (monitoring, the operator's validator) does not count.
    """
    devices = {
        (spec["pool"]["name"], device["name"]): (spec["nodeName"], resource)
        for spec in (one["spec"] for one in slices)
        if spec.get("driver") == dra.GPU_DRIVER and spec.get("nodeName")
        for device in spec.get("devices") or []
        for resource in dra.resources([device])
    }
    found: dict[str, dict[str, dict[str, int]]] = {}
    for one in claims:
        for result in _allocated(one):
            place = devices.get((result.get("pool"), result.get("device")))
            if place and result.get("driver") == dra.GPU_DRIVER and gpu_claims.users(one):
                counts = found.setdefault(place[0], {}).setdefault(place[1], {})
                who = f"{one['metadata']['namespace']}/{gpu_claims.users(one)[0]}"
                counts[who] = counts.get(who, 0) + 1
    return found


def _allocated(one: KubeObject) -> list[KubeObject]:
    """Return the allocated devices of a claim without those of administrator access."""
    given = (((one.get("status") or {}).get("allocation") or {}).get("devices") or {}).get("results") or []
    return [result for result in given if not result.get("adminAccess")]
