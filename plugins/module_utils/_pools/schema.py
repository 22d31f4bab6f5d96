# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of a pool's options, their types and their limits."""

from __future__ import annotations

import typing as t

from .._catalogue.overrides import ENTRY, FACTS
from .._core import references
from .._core.input import Field
from .._core.syntax import key_fault, name_fault, resource_fault, value_fault
from .._platforms.registry import BY_KEY
from .._sharing import schema as sharing
from .._virtualization import schema as virtualization
from .programs import PROGRAMS

EFFECTS: t.Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")


_NAME: t.Final = Field("text", required=True, fault=name_fault)
# Options of a pool for all its candidates, or of one candidate.
_PLATFORM: t.Final = {
    **{key: Field("map", fields=platform.OPTIONS) for key, platform in BY_KEY.items()},
    "provider_spec_patch": Field("any"),
}
_CANDIDATE: t.Final = {
    "instance_type": Field("text", required=True),
    "zones": Field("list", entry=Field("text")),
    # Facts of a type that the catalogue does not have.
    **{key: ENTRY[key] for key in FACTS},
    "market": Field("any"),
    **_PLATFORM,
}

_SIDECAR: t.Final = {
    "enabled": Field("flag"),
    **{key: Field("text") for key in ("version", "repository", "image")},
}

POOL: t.Final[dict[str, Field]] = {
    "name": _NAME,
    "candidates": Field("list", required=False, fields=_CANDIDATE),
    "existing": Field(
        "map",
        fields={
            "node_selector": Field("labels", required=True),
            "expected": Field("counts", required=True, low=1, high=1024, fault=resource_fault),
        },
    ),
    "replicas": Field("integer", low=0, high=1000),
    "min_replicas": Field("integer", low=0, high=1000),
    "autoscale": Field(
        "map",
        fields={
            "min": Field("integer", required=True, low=0, high=1000),
            "max": Field("integer", required=True, low=1, high=1000),
        },
    ),
    "market": Field("any"),
    "mixed": Field("flag"),
    "pre_drain_hook": Field("flag"),
    "node_role": Field("flag"),
    "source_machine_set": Field("list", entry=Field("text", fault=name_fault)),
    "taints": Field(
        "list",
        fields={
            "key": Field("text", required=True, fault=key_fault),
            "value": Field("text", fault=value_fault),
            "effect": Field("text", required=True, choices=EFFECTS),
        },
    ),
    "partition": Field("text", choices=("hard", "soft")),
    "spare": Field("integer", low=0, high=100000),
    "labels": Field("labels"),
    "accelerator": Field("text", fault=value_fault),
    "disk": Field(
        "map",
        fields={
            "size_gib": Field("integer", low=16, high=65536),
            "type": Field("text"),
            "iops": Field("integer", low=100, high=256000),
            "throughput_mib": Field("integer", low=125, high=2000),
        },
    ),
    **_PLATFORM,
    "tuning": Field("any"),
    "sharing": Field("map", fields=sharing.FIELDS),
    "workload": virtualization.WORKLOAD_FIELD,
    "virtual_machines": Field("map", fields=virtualization.FIELDS),
    "driver": Field(
        "map",
        fields={
            "version": Field("text", fault=references.driver_version_fault),
            "repository": Field("text", fault=references.repository_fault),
            "image": Field("text", fault=references.image_fault),
            "kernel_module_type": Field("text", choices=("auto", "open", "proprietary")),
            "use_precompiled": Field("flag"),
            "rdma": Field("map", fields={"enabled": Field("flag"), "use_host_mofed": Field("flag")}),
            **{key: Field("map", fields=_SIDECAR) for key in ("gds", "gdrcopy")},
            "env": Field(
                "list",
                fields={"name": Field("text", required=True), "value": Field("text", required=True)},
            ),
        },
    ),
    "health": Field("any"),
    "quota": Field(
        "list",
        fields={
            "namespace": _NAME,
            "name": Field("text", fault=name_fault),
            "gpus": Field("integer", low=0, high=100000),
            "hard": Field("quantities", low=0),
            "priority_classes": Field("list", entry=Field("text", fault=name_fault)),
            "limit_range": Field("quantities", low=0),
        },
    ),
    "priority": Field(
        "list",
        fields={
            "name": _NAME,
            "value": Field("integer", required=True, low=-2147483648, high=1000000000),
            "preemption_policy": Field("text", choices=("PreemptLowerPriority", "Never")),
            "description": Field("text"),
        },
    ),
    "validate": Field(
        "map",
        fields={
            "benchmark": Field("text", choices=tuple(PROGRAMS)),
            "programs": Field("any"),
            "tolerance": Field("any"),
            "on_failure": Field("text", choices=("report", "taint", "cordon")),
            "gate": Field("flag"),
            "image": Field("text", fault=references.reference_fault),
            "image_archs": Field("list", entry=Field("text", choices=("amd64", "arm64"))),
        },
    ),
}
