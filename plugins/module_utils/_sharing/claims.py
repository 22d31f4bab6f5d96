# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared claims of a pool: ResourceClaims that several pods use together, with the backend dra.

Sources for the DRA driver 0.5.0 of GPU operator 26.7: its `cmd/gpu-kubelet-plugin/deviceinfo.go` and `mig.go`
(devices of type gpu and mig, attributes productName and profile), and NVIDIA's page on GPUCluster, which
promises whole GPUs and partitions that exist already. Kubernetes gives all pods of a claim the same devices.
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass, field

from .._catalogue.well_known import GPU, GPU_CLASS, MIG_CLASS, PARTITION
from .._core import namespaces
from .._core.input import Field, Problems
from .._core.objects import KubeObject
from .._core.ownership import pool_label
from .._core.syntax import name_fault
from .._nodes import claims as gpu_claims, dra
from .partitions import Node

CLAIMS: t.Final = "claims"
# What the API server allows for one claim.
_MOST_DEVICES: t.Final = 32
_PROFILE: t.Final = re.compile(r"[1-7]g\.[1-9][0-9]*gb(\+[a-z.]+|-me)?")
_MODEL: t.Final = re.compile(r"[A-Za-z0-9]+([ -][A-Za-z0-9]+)*")
_NAME: t.Final = Field("text", required=True, fault=name_fault)


def _profile_fault(text: str) -> str:
    return "" if _PROFILE.fullmatch(text) else "is no MIG profile, such as 1g.5gb"


def _model_fault(text: str) -> str:
    return "" if _MODEL.fullmatch(text) else "is no GPU model, such as A100"


FIELD: t.Final = Field(
    "list",
    fields={
        "name": _NAME,
        "namespace": _NAME,
        "count": Field("integer", low=1, high=_MOST_DEVICES),
        "device_class": Field("text", choices=(GPU_CLASS, MIG_CLASS)),
        "profile": Field("text", fault=_profile_fault),
        "models": Field("list", entry=Field("text", fault=_model_fault)),
    },
)


@dataclass(frozen=True)
class Devices:
    """What a claim requests: count devices of a class. profile: of partitions. models: empty for any GPU."""

    count: int = 1
    device_class: str = GPU_CLASS
    profile: str = ""
    models: tuple[str, ...] = ()

    @property
    def object_name(self) -> str:
        """Return the devices in words, such as `1 mig.nvidia.com 1g.5gb`."""
        return " ".join(filter(None, [str(self.count), self.device_class, self.profile]))

    @property
    def resource(self) -> str:
        """Return the resource under which the device plugin would offer such a device."""
        return f"{PARTITION}{self.profile}" if self.profile else GPU

    @property
    def spec(self) -> KubeObject:
        """Return the spec of a ResourceClaim."""
        return gpu_claims.claim_spec(self.count, self.device_class, self._selectors())

    def as_result(self) -> dict[str, t.Any]:
        """Return the devices as an entry of C(claims) has them."""
        return {
            "device_class": self.device_class,
            "profile": self.profile,
            "count": self.count,
            "models": list(self.models),
        }

    def _selectors(self) -> list[str]:
        attributes = f'device.attributes["{dra.GPU_DRIVER}"]'
        found = [f'{attributes}.profile == "{self.profile}"'] if self.profile else []
        if self.models:
            # A model is one word or more of `Tesla T4`, `NVIDIA A100-SXM4-40GB` or `NVIDIA H100 NVL`.
            words = "|".join(re.sub("[ -]", "[ -]", model) for model in self.models)
            found.append(f'{attributes}.productName.matches("(^|[ -])({words})([ -]|$)")')
        return found


@dataclass(frozen=True)
class Claim:
    """One shared claim of a pool."""

    pool: str
    namespace: str
    name: str
    devices: Devices = field(default_factory=Devices)

    @property
    def object_name(self) -> str:
        """Return namespace/name."""
        return f"{self.namespace}/{self.name}"

    @property
    def manifest(self) -> KubeObject:
        """Return the ResourceClaim."""
        metadata = {"name": self.name, "namespace": self.namespace, "labels": pool_label(self.pool)}
        return {
            "apiVersion": gpu_claims.API_VERSION,
            "kind": "ResourceClaim",
            "metadata": metadata,
            "spec": self.devices.spec,
        }


def devices_of(entry: t.Mapping[str, t.Any]) -> Devices:
    """Return what an entry of C(claims) requests."""
    return Devices(
        int(entry.get("count") or 1),
        str(entry.get("device_class") or GPU_CLASS),
        str(entry.get("profile") or ""),
        tuple(entry.get("models") or ()),
    )


def of(pool: str, entries: t.Iterable[t.Mapping[str, t.Any]]) -> list[Claim]:
    """Return the claims of a pool. entries: its C(sharing.claims)."""
    return [Claim(pool, str(entry["namespace"]), str(entry["name"]), devices_of(entry)) for entry in entries]


def check(entries: t.Sequence[t.Mapping[str, t.Any]], path: str, problems: Problems) -> None:
    """Add what is wrong with the claims of one pool. path: of C(claims)."""
    if not entries and not problems.at(path):
        problems.add("POOL-EMPTY", path, example="[{name: shared-gpu, namespace: team-a}]")
    seen: dict[tuple[t.Any, t.Any], int] = {}
    for index, entry in enumerate(entries):
        where, key = f"{path}[{index}]", (entry.get("namespace"), entry.get("name"))
        if None not in key and seen.setdefault(key, index) != index:
            problems.add(
                "POOL-DUPLICATE",
                f"{where}.name",
                remedy="Give each claim of a namespace its own name.",
                name=f"claim {key[0]}/{key[1]}",
                also=f", first at {path}[{seen[key]}]",
            )
        if namespaces.is_of_platform(str(key[0])):
            problems.add(
                "POOL-VALUE",
                f"{where}.namespace",
                f"namespace {key[0]} belongs to the platform, and no pod of a team runs there.",
                "Set the namespace of a team.",
            )
        _check_class(entry, where, problems)


def _check_class(entry: t.Mapping[str, t.Any], where: str, problems: Problems) -> None:
    is_mig = entry.get("device_class") == MIG_CLASS
    if is_mig and not entry.get("profile") and not problems.at(f"{where}.profile"):
        also = f" with device_class {MIG_CLASS}: partitions differ in size"
        remedy = f"Set {where}.profile, for example to 1g.5gb."
        problems.add("POOL-REQUIRED", f"{where}.profile", remedy=remedy, also=also)
    if entry.get("profile") and not is_mig and not problems.at(f"{where}.device_class"):
        other = "whole GPUs, which have no profile"
        remedy = f"Set device_class: {MIG_CLASS}, or remove profile."
        problems.add("POOL-CONFLICT", f"{where}.profile", remedy=remedy, other=other)


def check_nodes(
    entries: t.Sequence[t.Mapping[str, t.Any]], nodes: t.Sequence[Node], path: str, problems: Problems
) -> None:
    """Add claims that no node of the pool can serve. nodes: each kind of node of the pool that is known."""
    for index, entry in enumerate(entries):
        faults = [fault for node in nodes if (fault := _fault(devices_of(entry), node))]
        if nodes and len(faults) == len(nodes):
            key, message, remedy = faults[0]
            problems.add("POOL-GEOMETRY", f"{path}[{index}].{key}", message, remedy)


def _fault(wanted: Devices, node: Node) -> tuple[str, str, str] | None:
    """Return why the node cannot serve a claim, as key, message and remedy; None if it can."""
    most = node.gpus
    if wanted.profile and node.gpu is None:
        return None
    if wanted.profile and node.gpu is not None:
        profile = node.gpu.profiles.get(wanted.profile)
        if profile is None:
            message = f"the GPUs of {node.kind} have no profile {wanted.profile}."
            return "profile", message, f"Their profiles: {', '.join(node.gpu.profiles) or 'none'}."
        most *= profile.most
    if wanted.count <= most:
        return None
    message = f"a claim has its devices on one node, and {node.kind} has at most {most} of them."
    return "count", message, f"Set it to at most {most}."


def with_models(sharing: t.Mapping[str, t.Any], models: t.Iterable[str]) -> t.Mapping[str, t.Any]:
    """Return the sharing of a pool with the GPU models of each claim that names none.

    They are those of all candidates. So the claim stays the same whichever candidate is obtained: its spec
    cannot change.
    """
    if CLAIMS not in sharing:
        return sharing
    known = sorted({model for model in models if _MODEL.fullmatch(model)})
    claims = [
        entry if entry.get("models") or not known else {**entry, "models": known} for entry in sharing[CLAIMS]
    ]
    return {**sharing, CLAIMS: claims}


class Work(t.NamedTuple):
    """What has to be done. create: claims to make. keep: those that are as wanted, with the live object.

    remove: live claims that have to go first, because nobody wants them or their spec is another one.
    """

    create: list[Claim]
    keep: list[tuple[Claim, KubeObject]]
    remove: list[KubeObject]


def compare(wanted: t.Iterable[Claim], live: t.Iterable[KubeObject], pools: t.Collection[str]) -> Work:
    """Return the work. live: our claims. pools: names; the claims of other pools stay."""
    there = {object_name_of(obj): obj for obj in live}
    work = Work([], [], [])
    for claim in wanted:
        obj = there.pop(claim.object_name, None)
        if obj is not None and not obj["metadata"].get("deletionTimestamp") and is_as(claim.devices, obj):
            work.keep.append((claim, obj))
            continue
        work.create.append(claim)
        if obj is not None:
            work.remove.append(obj)
    mine = [pool_label(pool).items() for pool in pools]
    for obj in there.values():
        marks = (obj["metadata"].get("labels") or {}).items()
        if any(label <= marks for label in mine):
            work.remove.append(obj)
    return work


def is_as(wanted: Devices, live: KubeObject) -> bool:
    """Return True if a live claim requests these devices and nothing else."""
    devices = (live.get("spec") or {}).get("devices") or {}
    if devices.get("constraints") or devices.get("config"):
        return False
    return [_plain(request) for request in devices.get("requests") or []] == [
        _plain(request) for request in wanted.spec["devices"]["requests"]
    ]


def _plain(request: KubeObject) -> tuple[t.Any, ...]:
    """Return what a request says, with the defaults of the API server."""
    asked = request.get("exactly") or {}
    mode = asked.get("allocationMode") or "ExactCount"
    return (
        request.get("name"),
        asked.get("deviceClassName"),
        mode,
        asked.get("count") or (1 if mode == "ExactCount" else None),
        bool(asked.get("adminAccess")),
        asked.get("selectors") or [],
        request.get("firstAvailable") or [],
    )


def object_name_of(claim: KubeObject) -> str:
    """Return namespace/name of a live claim."""
    return f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"


def as_result(claim: Claim, live: KubeObject | None) -> dict[str, t.Any]:
    """Return the entry of the module's result. live: None if the claim does not exist yet."""
    status = (live or {}).get("status") or {}
    return {
        "pool": claim.pool,
        "namespace": claim.namespace,
        "name": claim.name,
        **claim.devices.as_result(),
        "is_allocated": bool(status.get("allocation")),
        "users": gpu_claims.users(live or {}),
    }
