# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of gpu_workload: what it validates, and which proofs it runs."""

from __future__ import annotations

import typing as t

from .._frame.argspec import StateParams
from .benchmarks.registry import BENCHMARKS


class SharingProofParams(t.TypedDict):
    """A pool whose sharing is proven. resources: what its pods request. replicas: pods on one device.

    claims: what its shared claims request, empty or None without them.
    """

    name: str
    node_selector: dict[str, t.Any]
    tolerations: list[dict[str, t.Any]]
    resources: list[str]
    replicas: int
    image: str | None
    claims: list[dict[str, t.Any]] | None


class PreemptionProofParams(t.TypedDict):
    """A pool whose priorities are proven. low, high: names of priority classes."""

    name: str
    node_selector: dict[str, t.Any]
    tolerations: list[dict[str, t.Any]]
    resource: str
    low: str
    high: str
    image: str | None


class ProveParams(t.TypedDict):
    """The proofs that gpu_workload runs, each with its pools."""

    sharing: list[SharingProofParams]
    preemption: list[PreemptionProofParams]


class GpuWorkloadParams(StateParams):
    """The options of gpu_workload. resources: number of devices of each resource. hold, grace: seconds."""

    namespace: str
    node_selector: dict[str, str] | None
    tolerations: list[dict[str, t.Any]]
    resources: dict[str, t.Any] | None
    claims: bool
    benchmark: t.Literal["matmul", "nvidia_smi", "vectoradd"]
    image: str | None
    hold: int
    force: bool
    strict: bool
    min_nodes: int
    pools: list[dict[str, t.Any]] | None
    prove: ProveParams | None
    max_nodes: int
    grace: float
    joining: list[str] | None
    machine_namespace: str


_PROVEN: t.Final[dict[str, t.Any]] = {
    "name": {"type": "str", "required": True},
    "node_selector": {"type": "dict", "required": True},
    "tolerations": {"type": "list", "elements": "dict", "default": []},
    "image": {"type": "str"},
}
_SHARING: t.Final[dict[str, t.Any]] = {
    **_PROVEN,
    "resources": {"type": "list", "elements": "str", "default": ["nvidia.com/gpu"]},
    "replicas": {"type": "int", "default": 1},
    "claims": {"type": "list", "elements": "dict"},
}
_PREEMPTION: t.Final[dict[str, t.Any]] = {
    **_PROVEN,
    "resource": {"type": "str", "default": "nvidia.com/gpu"},
    "low": {"type": "str", "required": True},
    "high": {"type": "str", "required": True},
}
OPTIONS: t.Final[dict[str, t.Any]] = {
    "namespace": {"type": "str", "default": "gpu-validation"},
    "node_selector": {"type": "dict"},
    "tolerations": {"type": "list", "elements": "dict", "default": []},
    "resources": {"type": "dict"},
    "claims": {"type": "bool", "default": False},
    "benchmark": {"type": "str", "choices": sorted(BENCHMARKS), "default": "vectoradd"},
    "image": {"type": "str"},
    "hold": {"type": "int", "default": 3},
    "force": {"type": "bool", "default": False},
    "strict": {"type": "bool", "default": False},
    "min_nodes": {"type": "int", "default": 1},
    "pools": {"type": "list", "elements": "dict"},
    "prove": {
        "type": "dict",
        "options": {
            "sharing": {"type": "list", "elements": "dict", "default": [], "options": _SHARING},
            "preemption": {"type": "list", "elements": "dict", "default": [], "options": _PREEMPTION},
        },
    },
    "max_nodes": {"type": "int", "default": 200},
    "grace": {"type": "float", "default": 60.0},
    "joining": {"type": "list", "elements": "str"},
    "machine_namespace": {"type": "str", "default": "openshift-machine-api"},
}


def defaults() -> dict[str, t.Any]:
    """Return each option of OPTIONS with its default."""
    return {key: option.get("default") for key, option in OPTIONS.items()}
