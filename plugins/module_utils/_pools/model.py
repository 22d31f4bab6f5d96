# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a planned pool. The planner makes them once; a later task reads them from gpu_plan's result."""

from __future__ import annotations

import dataclasses
import typing as t
from dataclasses import dataclass, field

from .._core.errors import InputError
from .._virtualization.schema import runs_machines

JsonObject = dict[str, t.Any]
ACCELERATOR: t.Final = "cluster-api/accelerator"
PATCH: t.Final = "provider_spec_patch"
_MORE: t.Final = ("market", "options", "patch", "mig_config")
# Every key of a described or planned pool. The table in `schema` has them too, but it imports every platform.
_KEYS: t.Final = """
    name candidates existing replicas min_replicas autoscale mixed market taints labels accelerator disk
    tuning sharing expected node_selector quota priority validate driver health
    pre_drain_hook node_role source_machine_set partition spare workload virtual_machines
    aws azure gcp ibm baremetal vsphere openstack nutanix
"""
KEYS: t.Final = frozenset((*_KEYS.split(), PATCH))


class _Value:
    """A value whose fields are the keys of a JSON object, without those that are None."""

    def as_result(self) -> JsonObject:
        """Return the value as a JSON object."""
        keys = [one.name for one in dataclasses.fields(t.cast("t.Any", self))]
        return {key: value for key in keys if (value := getattr(self, key)) is not None}

    @classmethod
    def from_result(cls, raw: t.Mapping[str, t.Any]) -> t.Self:
        """Return the value that `as_result` wrote. Raises TypeError for missing and for unknown keys."""
        return cls(**raw)


@dataclass(frozen=True)
class Taint(_Value):
    """A taint of the pool's nodes."""

    key: str
    value: str | None = None
    effect: str = "NoSchedule"


@dataclass(frozen=True)
class Autoscale(_Value):
    """The lowest and the highest number of nodes."""

    min: int
    max: int


@dataclass(frozen=True)
class Market(_Value):
    """The market of a machine. reservation: the provider's id of reserved capacity."""

    type: str = "on_demand"
    max_price: str | None = None
    reservation: str | None = None


@dataclass(frozen=True)
class Quota(_Value):
    """A quota with either gpus or hard. hard: key of a ResourceQuota to quantity.

    priority_classes: names of the classes whose pods alone count. limit_range: default requests.
    """

    namespace: str
    name: str | None = None
    gpus: int | None = None
    hard: t.Mapping[str, str] | None = None
    priority_classes: list[str] | None = None
    limit_range: t.Mapping[str, str] | None = None

    def which_pods(self) -> JsonObject:
        """Return what is given of priority_classes and limit_range, in order."""
        return {
            **({"priority_classes": sorted(self.priority_classes)} if self.priority_classes else {}),
            **({"limit_range": dict(sorted(self.limit_range.items()))} if self.limit_range else {}),
        }


@dataclass(frozen=True)
class Priority(_Value):
    """A PriorityClass that the pool needs."""

    name: str
    value: int
    preemption_policy: str | None = None
    description: str | None = None


@dataclass(frozen=True)
class Validation(_Value):
    """The programs that validate a pool.

    benchmark: the only program, without programs. programs: as `programs.read_programs` returns them.
    image_archs: architectures of the image. tolerance: share by which a figure may be too low. gate: whether
    new nodes stay closed until they have passed.
    """

    benchmark: str = "vectoradd"
    image: str | None = None
    image_archs: list[str] | None = None
    programs: list[JsonObject] | None = None
    tolerance: float | None = None
    on_failure: str | None = None
    gate: bool | None = None

    def judged(self) -> JsonObject:
        """Return what a validation needs beside the program and its image: only what the user set."""
        keys = ("programs", "tolerance", "on_failure", "gate")
        return {key: value for key in keys if (value := getattr(self, key))}


@dataclass(frozen=True)
class Candidate:
    """An instance type that a pool can use.

    accelerator: its label for the autoscaler. expected: resource to the number of devices of a node.
    market: None means the pool's. options: platform to its options. patch: merge patch of the provider's
    value. mig_config: name of the MIG configuration of its nodes, empty for whole GPUs.
    """

    instance_type: str
    zones: tuple[str, ...] = ()
    arch: str = "amd64"
    vendor: str = "nvidia"
    gpus_per_node: int = 0
    gpu_model: str = ""
    gpu_memory_gib: float | None = None
    gpu_share: str = "1"
    driver: str | None = None
    vcpus: int | None = None
    memory_gib: float | None = None
    mig_capable: bool = False
    accelerator: str = ""
    expected: t.Mapping[str, int] = field(default_factory=dict)
    market: Market | None = None
    options: t.Mapping[str, t.Mapping[str, t.Any]] = field(default_factory=dict)
    patch: t.Mapping[str, t.Any] = field(default_factory=dict)
    mig_config: str = ""

    @property
    def key(self) -> str:
        """Return the instance type, with the candidate's own market if it has one."""
        return f"{self.instance_type}/{self.market.type}" if self.market else self.instance_type

    def as_result(self) -> JsonObject:
        """Return the candidate as a JSON object of gpu_plan's result."""
        return {
            **{key: getattr(self, key) for key in _FACTS},
            "zones": list(self.zones),
            "expected": dict(self.expected),
            **({"market": self.market.as_result()} if self.market else {}),
            **self.options,
            **({PATCH: self.patch} if self.patch else {}),
            **({"mig_config": self.mig_config} if self.mig_config else {}),
        }

    @classmethod
    def from_result(cls, raw: t.Mapping[str, t.Any]) -> Candidate:
        """Return the candidate in a planned pool. Raises KeyError or TypeError if it is not one."""
        market = raw.get("market")
        return cls(
            **{key: raw[key] for key in _FACTS if key not in ("zones", "expected")},
            zones=tuple(raw["zones"]),
            expected={key: int(number) for key, number in raw["expected"].items()},
            market=Market.from_result(market) if market else None,
            options={key: raw[key] for key in raw if key not in (*_FACTS, "market", PATCH, "mig_config")},
            patch=raw.get(PATCH) or {},
            mig_config=str(raw.get("mig_config") or ""),
        )


# Keys that every candidate in a plan has, in the order of the result.
_FACTS: t.Final = tuple(one.name for one in dataclasses.fields(Candidate) if one.name not in _MORE)


@dataclass(frozen=True)
class Pool:
    """A planned pool.

    replicas: nodes at the start. min_replicas: nodes that are enough. expected: devices of a node of the
    first candidate. driver: the pool's own driver. health: options of the MachineHealthCheck; False means
    no check, None means not set. source: names of the machine sets to copy from. partition: "hard", "soft" or
    "". spare: number of devices that placeholder pods hold. workload: what the GPUs are for, or "" if nobody
    says it. virtual_machines: how virtual machines get them.
    """

    name: str
    candidates: tuple[Candidate, ...] = ()
    existing: bool = False
    replicas: int = 0
    min_replicas: int = 0
    autoscale: Autoscale | None = None
    mixed: bool = False
    market: Market = Market()
    taints: tuple[Taint, ...] = ()
    labels: t.Mapping[str, str] = field(default_factory=dict)
    accelerator: str = ""
    disk: t.Mapping[str, t.Any] = field(default_factory=dict)
    tuning: t.Mapping[str, t.Any] = field(default_factory=dict)
    sharing: t.Mapping[str, t.Any] = field(default_factory=dict)
    expected: t.Mapping[str, int] = field(default_factory=dict)
    node_selector: t.Mapping[str, str] = field(default_factory=dict)
    quota: tuple[Quota, ...] = ()
    priority: tuple[Priority, ...] = ()
    validate: Validation = Validation()
    driver: t.Mapping[str, t.Any] | None = None
    health: t.Mapping[str, t.Any] | t.Literal[False] | None = None
    pre_drain_hook: bool = False
    node_role: bool = True
    source: tuple[str, ...] = ()
    partition: str = ""
    spare: int = 0
    workload: str = ""
    virtual_machines: t.Mapping[str, t.Any] = field(default_factory=dict)

    @property
    def runs_machines(self) -> bool:
        """Return whether the GPUs are for virtual machines. C(expected) then has the GPUs of a node."""
        return runs_machines(self.workload)

    @property
    def most_nodes(self) -> int:
        """Return the highest number of nodes of the pool."""
        return self.autoscale.max if self.autoscale else self.replicas

    @property
    def is_gated(self) -> bool:
        """Return whether new nodes stay closed until their GPUs have passed."""
        return bool(self.validate.gate) and not self.existing

    def as_result(self) -> JsonObject:
        """Return the pool as a JSON object of gpu_plan's result."""
        return {
            "name": self.name,
            "candidates": [candidate.as_result() for candidate in self.candidates],
            "existing": self.existing,
            "replicas": self.replicas,
            "min_replicas": self.min_replicas,
            "autoscale": self.autoscale.as_result() if self.autoscale else {},
            "mixed": self.mixed,
            "market": self.market.as_result(),
            "taints": [taint.as_result() for taint in self.taints],
            "labels": dict(self.labels),
            "accelerator": self.accelerator,
            "disk": dict(self.disk),
            "tuning": dict(self.tuning),
            "sharing": dict(self.sharing),
            "expected": dict(self.expected),
            "node_selector": dict(self.node_selector),
            "quota": [quota.as_result() for quota in self.quota],
            "priority": [priority_class.as_result() for priority_class in self.priority],
            "validate": self.validate.as_result(),
            **({"driver": dict(self.driver)} if self.driver else {}),
            **({"health": self.health} if self.health is not None else {}),
            **({"pre_drain_hook": True} if self.pre_drain_hook else {}),
            **({} if self.node_role else {"node_role": False}),
            **({"source_machine_set": list(self.source)} if self.source else {}),
            **({"partition": self.partition} if self.partition else {}),
            **({"spare": self.spare} if self.spare else {}),
            **({"workload": self.workload} if self.workload else {}),
            **({"virtual_machines": dict(self.virtual_machines)} if self.virtual_machines else {}),
        }

    @classmethod
    def from_result(cls, raw: t.Mapping[str, t.Any], path: str = "pool") -> Pool:
        """Return a pool from gpu_plan's result. path: the option's, for messages. Raises InputError."""
        try:
            pool = _read(raw)
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            raise InputError(
                "POOL-TYPE",
                remedy="Give a pool of gpu_plan's result unchanged, or describe it as an entry of gpu_pools.",
                path=path,
                form="a pool as gpu_plan returns it",
                value=f"this one ({type(exc).__name__}: {exc})",
            ) from exc
        if pool.min_replicas > pool.replicas:
            raise InputError(
                "POOL-TOO-MANY",
                path=f"{path}.min_replicas",
                value=pool.min_replicas,
                limit=f"the {pool.replicas} replicas",
                most=pool.replicas,
            )
        return pool


def is_planned(raw: t.Any) -> bool:
    """Return True for a pool from gpu_plan's result; only that has the key expected."""
    return isinstance(raw, dict) and "expected" in raw


def _read(raw: t.Mapping[str, t.Any]) -> Pool:
    scale = raw.get("autoscale")
    return Pool(
        name=str(raw["name"]),
        candidates=tuple(map(Candidate.from_result, raw["candidates"])),
        existing=bool(raw["existing"]),
        replicas=int(raw["replicas"]),
        min_replicas=int(raw["min_replicas"]),
        autoscale=Autoscale(int(scale["min"]), int(scale["max"])) if scale else None,
        mixed=bool(raw["mixed"]),
        market=Market.from_result(raw["market"]),
        taints=tuple(map(Taint.from_result, raw["taints"])),
        labels=dict(raw["labels"]),
        accelerator=str(raw["accelerator"]),
        disk=dict(raw["disk"]),
        tuning=dict(raw["tuning"]),
        sharing=dict(raw["sharing"]),
        expected={key: int(number) for key, number in raw["expected"].items()},
        node_selector=dict(raw["node_selector"]),
        quota=tuple(map(Quota.from_result, raw["quota"])),
        priority=tuple(map(Priority.from_result, raw["priority"])),
        validate=Validation.from_result(raw["validate"]),
        driver=raw.get("driver"),
        health=raw.get("health"),
        pre_drain_hook=bool(raw.get("pre_drain_hook")),
        node_role=bool(raw.get("node_role", True)),
        source=tuple(raw.get("source_machine_set") or ()),
        partition=str(raw.get("partition") or ""),
        spare=int(raw.get("spare") or 0),
        workload=str(raw.get("workload") or ""),
        virtual_machines=dict(raw.get("virtual_machines") or {}),
    )
