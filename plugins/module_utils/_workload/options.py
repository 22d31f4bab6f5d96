# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of gpu_workload: what it validates, and which proofs it runs."""

from __future__ import annotations

import functools
import typing as t
from dataclasses import dataclass, field, fields

from .._pools.programs import PROGRAMS, WITH_OPTIONS
from .programs.program import Settings


@dataclass(frozen=True)
class SharingProofParams:
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


@dataclass(frozen=True)
class PreemptionProofParams:
    """A pool whose priorities are proven. low, high: names of priority classes."""

    name: str
    node_selector: dict[str, t.Any]
    tolerations: list[dict[str, t.Any]]
    resource: str
    low: str
    high: str
    image: str | None


@dataclass(frozen=True)
class ConsumerParams:
    """Objects that use GPUs, whose Jobs have to end well. objects: maps or YAML texts."""

    name: str
    objects: t.Any


@dataclass(frozen=True)
class ProveParams:
    """The proofs that gpu_workload runs, each with its pools."""

    sharing: list[SharingProofParams]
    preemption: list[PreemptionProofParams]
    consumers: list[ConsumerParams] = field(default_factory=list)


@dataclass(frozen=True)
class GpuWorkloadParams:
    """The options of gpu_workload.

    expected: number of devices of each resource. hold, grace: seconds. programs: as a user writes them.
    expectations: product -> program -> figure -> number. networks: as gpu_network returns them.
    """

    namespace: str
    node_selector: dict[str, str] | None
    tolerations: list[dict[str, t.Any]]
    expected: dict[str, t.Any] | None
    claims: bool
    benchmark: t.Literal[
        "compute_domain",
        "dcgm",
        "gpu_burn",
        "matmul",
        "nccl",
        "nvbandwidth",
        "nvidia_smi",
        "resnet50",
        "trtexec",
        "vectoradd",
        "vllm",
    ]
    programs: list[t.Any] | None
    expectations: dict[str, t.Any] | None
    tolerance: float
    on_failure: t.Literal["report", "taint", "cordon"]
    image: str | None
    priority_class: str | None
    idle: bool
    hold: int
    repeat: bool
    strict: bool
    min_nodes: int
    pools: list[dict[str, t.Any]] | None
    prove: ProveParams | None
    max_nodes: int
    grace: float
    joining: list[str] | None
    machine_namespace: str
    gate_image: str | None
    wait_timeout: int
    networks: list[dict[str, t.Any]] | None = None
    wait: bool = True
    state: t.Literal["present", "absent"] = "present"

    @functools.cached_property
    def program(self) -> Settings:
        """Return the settings of the program to run; a turn has one."""
        if self.programs:
            return Settings.of({"tolerance": self.tolerance, **self.programs[0]})
        return Settings(self.benchmark, self.image or "", tolerance=self.tolerance)

    @functools.cached_property
    def network(self) -> dict[str, t.Any]:
        """Return the network of the program, empty without one."""
        mine = (network for network in self.networks or [] if network["name"] == self.program.network)
        return next(mine, {})

    @classmethod
    def of(cls, given: t.Mapping[str, t.Any]) -> t.Self:
        """Return the options with these values, and with the defaults of the others."""
        names = {field.name for field in fields(cls)}
        values = {key: option.get("default") for key, option in OPTIONS.items()}
        values |= {key: value for key, value in given.items() if key in names}
        if prove := values["prove"]:
            values["prove"] = ProveParams(
                [SharingProofParams(**pool) for pool in prove["sharing"]],
                [PreemptionProofParams(**pool) for pool in prove["preemption"]],
                [ConsumerParams(**one) for one in prove.get("consumers") or []],
            )
        return cls(**values)


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
_CONSUMER: t.Final[dict[str, t.Any]] = {
    "name": {"type": "str", "required": True},
    "objects": {"type": "raw", "required": True},
}
OPTIONS: t.Final[dict[str, t.Any]] = {
    "namespace": {"type": "str", "default": "gpu-validation"},
    "node_selector": {"type": "dict"},
    "tolerations": {"type": "list", "elements": "dict", "default": []},
    "expected": {"type": "dict"},
    "claims": {"type": "bool", "default": False},
    "benchmark": {"type": "str", "choices": sorted(set(PROGRAMS) - {*WITH_OPTIONS}), "default": "vectoradd"},
    "programs": {"type": "list", "elements": "raw"},
    "expectations": {"type": "dict"},
    "networks": {"type": "list", "elements": "dict"},
    "tolerance": {"type": "float", "default": 0.1},
    "on_failure": {"type": "str", "choices": ["report", "taint", "cordon"], "default": "report"},
    "image": {"type": "str"},
    "priority_class": {"type": "str"},
    "idle": {"type": "bool", "default": False},
    "hold": {"type": "int", "default": 3},
    "repeat": {"type": "bool", "default": False},
    "strict": {"type": "bool", "default": False},
    "min_nodes": {"type": "int", "default": 1},
    "pools": {"type": "list", "elements": "dict"},
    "prove": {
        "type": "dict",
        "options": {
            "sharing": {"type": "list", "elements": "dict", "default": [], "options": _SHARING},
            "preemption": {"type": "list", "elements": "dict", "default": [], "options": _PREEMPTION},
            "consumers": {"type": "list", "elements": "dict", "default": [], "options": _CONSUMER},
        },
    },
    "max_nodes": {"type": "int", "default": 200},
    "grace": {"type": "float", "default": 60.0},
    "joining": {"type": "list", "elements": "str"},
    "gate_image": {"type": "str"},
    "machine_namespace": {"type": "str", "default": "openshift-machine-api"},
}
