# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a real cluster showed, without its names: versions, kinds, nodes, states and texts of operands."""

from __future__ import annotations

import re
import typing as t

from .._core import redact, secrets
from .model import Data

# Groups of the API whose kinds are of interest. A private group of somebody could say who they are.
_GROUPS: t.Final = re.compile(
    r"(^|\.)(openshift\.io|k8s\.io|x-k8s\.io|k8s-sigs\.io|coreos\.com|nvidia\.com|mellanox\.com|amd\.com|intel\.com)$"
)
_LABELS: t.Final = re.compile(
    r"(nvidia|amd|intel|mellanox)\.com/|feature\.node\.kubernetes\.io/|accelerators\.openshift/"
    r"|(node\.)?kubernetes\.io/(arch|os|instance-type)$|node\.openshift\.io/os_id$|node-role\."
)
_SYSTEM: t.Final = ("kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion", "architecture")
# The host of a registry or an address, unless everybody may know it.
_HOSTS: t.Final = re.compile(
    r"(?<![\w./-])(?!(?:nvcr|quay|ghcr)\.io|registry\.(?:redhat|k8s)\.io)[\w-]+(?:\.[\w-]+)+(?::\d+)?"
    r"(?=/\S+(?:@sha256:|:\w))|(?<=://)[^/\s:]+(?::\d+)?"
)
# Addresses, and the numbers of one GPU, card or object.
_NUMBERS: t.Final = re.compile(
    r"\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b"
    r"|\b(?:GPU-|MIG-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
    re.IGNORECASE,
)
_MOST: t.Final = 600


def conformance(seen: t.Mapping[str, t.Any]) -> Data:
    """Return what was seen, redacted.

    seen: C(cluster) (a result of kubernetes.core.k8s_cluster_info), C(read) (results of
    kubernetes.core.k8s_info), and C(stack) (special_resource of a result).
    """
    objects = [live for result in seen["read"] for live in result.get("resources") or []]
    by_kind: dict[str, list[Data]] = {}
    for live in objects:
        by_kind.setdefault(str(live["kind"]), []).append(live)
    nodes = sorted(by_kind.pop("Node", []), key=lambda node: str(node["metadata"]["name"]))
    aliases = _aliases(nodes, [*by_kind.get("Pod", []), *((seen.get("stack") or {}).get("nodes") or [])])
    server = ((seen["cluster"].get("version") or {}).get("server") or {}).get("kubernetes") or {}
    found = {
        "kubernetes": server.get("gitVersion"),
        "served": {
            group: sorted(kinds)
            for group, kinds in sorted((seen["cluster"].get("apis") or {}).items())
            if "/" not in group or _GROUPS.search(group.partition("/")[0])
        },
        "nodes": [_node(node) for node in nodes],
        "objects": {kind: [_object(live) for live in every] for kind, every in sorted(by_kind.items())},
        "stack": seen.get("stack") or {},
        "unread": [
            {"kind": result["invocation"]["module_args"]["kind"], "why": str(result["msg"])}
            for result in seen["read"]
            if result.get("msg")
        ],
    }
    return t.cast(Data, _redacted(found, aliases))


def _aliases(nodes: t.Iterable[Data], others: t.Iterable[Data]) -> list[tuple[str, str]]:
    """Return each name and address of a node with what stands for it, the longest first.

    others: what names nodes too, pods and the nodes of a stack.
    """
    names = [str(node["metadata"]["name"]) for node in nodes]
    names += sorted(str(other.get("name") or other.get("spec", {}).get("nodeName") or "") for other in others)
    found: dict[str, str] = {}
    for number, name in enumerate(dict.fromkeys(filter(None, names)), 1):
        found |= {name: f"node-{number}", name.partition(".")[0]: f"node-{number}"}
    for node in nodes:
        for address in (node.get("status") or {}).get("addresses") or []:
            found.setdefault(str(address["address"]), found[str(node["metadata"]["name"])])
    return sorted(found.items(), key=lambda pair: -len(pair[0]))


def _node(node: Data) -> Data:
    status, labels = node.get("status") or {}, node["metadata"].get("labels") or {}
    return {
        "name": node["metadata"]["name"],
        "labels": {key: value for key, value in sorted(labels.items()) if _LABELS.search(key)},
        "taints": (node.get("spec") or {}).get("taints") or [],
        "conditions": _conditions(status),
        "system": {key: (status.get("nodeInfo") or {}).get(key) for key in _SYSTEM},
        "capacity": status.get("capacity") or {},
        "allocatable": status.get("allocatable") or {},
    }


def _conditions(status: Data) -> list[Data]:
    keys = ("type", "status", "reason", "message", "phase")
    return [
        {key: condition[key] for key in keys if condition.get(key)}
        for condition in status.get("conditions") or []
    ]


def _object(live: Data) -> Data:
    """Return what an object says of itself; of its specification only the version and the images."""
    status, spec = live.get("status") or {}, live.get("spec") or {}
    numbers = {key: value for key, value in status.items() if isinstance(value, (str, int))}
    pods = (spec.get("template") or {}).get("spec") or (spec if live["kind"] == "Pod" else {})
    containers = [
        {key: container[key] for key in ("name", "ready", "restartCount", "state") if key in container}
        for part in ("initContainerStatuses", "containerStatuses")
        for container in status.get(part) or []
    ]
    desired = {"desired": (status.get("desired") or {}).get("version")} if status.get("desired") else {}
    return {
        "apiVersion": live["apiVersion"],
        "name": live["metadata"]["name"],
        "status": {**numbers, **desired, "conditions": _conditions(status)},
        **({"version": spec["version"]} if isinstance(spec.get("version"), str) else {}),
        **({"channel": spec["channel"]} if isinstance(spec.get("channel"), str) else {}),
        "images": sorted({str(container["image"]) for container in pods.get("containers") or []}),
        **(
            {"node": pods["nodeName"], "containers": containers}
            if live["kind"] == "Pod" and pods.get("nodeName")
            else {}
        ),
    }


def _redacted(value: t.Any, aliases: t.Sequence[tuple[str, str]]) -> t.Any:
    if isinstance(value, str):
        for name, alias in aliases:
            value = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", alias, value)
        return redact.message(
            secrets.censor_likely(_NUMBERS.sub("(removed)", _HOSTS.sub("(removed)", value))), _MOST
        )
    if isinstance(value, t.Mapping):
        return {str(key): _redacted(item, aliases) for key, item in value.items()}
    return [_redacted(item, aliases) for item in value] if isinstance(value, (list, tuple)) else value
