# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of `sharing` of a pool: time-slicing, MPS, MIG and claims."""

from __future__ import annotations

import typing as t

from .._core.input import Field, Problems
from . import claims

TIME_SLICING: t.Final = "time_slicing"
MPS: t.Final = "mps"
MIG: t.Final = "mig"
CLAIMS: t.Final = claims.CLAIMS
# The ways that the device plugin knows by itself. MIG needs the MIG manager too.
WAYS: t.Final = (TIME_SLICING, MPS)
# Clients of one MPS server. The device plugin fails with more, and counts a GPU before Turing as an old one.
_MOST_CLIENTS: t.Final = 48
_MOST_CLIENTS_OLD: t.Final = 16
_OLD: t.Final = ("V100", "P100", "P4", "M60", "K80")
_SHARES: t.Final = {"rename": Field("flag"), "fail_requests_greater_than_one": Field("flag")}
FIELDS: t.Final[dict[str, Field]] = {
    TIME_SLICING: Field(
        "map",
        fields={"replicas": Field("integer", required=True, low=2), **_SHARES},
    ),
    MPS: Field(
        "map",
        fields={"replicas": Field("integer", required=True, low=2, high=_MOST_CLIENTS), **_SHARES},
    ),
    MIG: Field(
        "map",
        fields={
            "slices": Field("integer", low=1, high=7),
            "profile": Field("any"),
            "layout": Field("counts", low=1, high=7),
            # As mig-parted has it.
            "config": Field(
                "list",
                fields={
                    "devices": Field("any", required=True),
                    "mig-enabled": Field("flag", required=True),
                    "mig-devices": Field("counts", low=1, high=7),
                },
            ),
            "strategy": Field("text", choices=("single", "mixed")),
        },
    ),
    CLAIMS: claims.FIELD,
}


# What `sharing` may have.
WAYS_TOGETHER: t.Final = "mig, time_slicing, mps, claims, and mig with time_slicing"


def conflict(sharing: t.Collection[str]) -> str:
    """Return the ways that cannot be used together, and why, as the end of a sentence; "" if they can."""
    ways, named = set(sharing), " and ".join(sharing) or "none"
    if len(ways) == 1 or ways == {MIG, TIME_SLICING}:
        return ""
    if CLAIMS in ways:
        named += ": claims need the DRA driver, and the others the device plugin"
    elif ways == {MIG, MPS}:
        named += ": the device plugin shares partitions by time-slicing alone"
    return named


def check_models(
    sharing: t.Mapping[str, t.Any], models: t.Iterable[str], path: str, problems: Problems
) -> None:
    """Add a problem if an MPS server of one of these GPUs takes fewer clients than the pool wants."""
    replicas = (sharing.get(MPS) or {}).get("replicas") or 0
    old = sorted({model for model in models if model in _OLD})
    if old and replicas > _MOST_CLIENTS_OLD:
        problems.add(
            "POOL-GEOMETRY",
            f"{path}.{MPS}.replicas",
            f"MPS on {old[0]} serves at most {_MOST_CLIENTS_OLD} clients, not {replicas}.",
            f"Set it to at most {_MOST_CLIENTS_OLD}, or use time_slicing.",
        )
