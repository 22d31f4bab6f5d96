# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The options of time-slicing and of MPS: `sharing.time_slicing` and `sharing.mps` of a pool."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU
from .._core.input import Field, Problems

TIME_SLICING: t.Final = "time_slicing"
MPS: t.Final = "mps"
# The ways that the device plugin knows by itself. MIG needs the MIG manager too.
WAYS: t.Final = (TIME_SLICING, MPS)
# Clients of one MPS server. The device plugin fails with more, and counts a GPU before Turing as an old one.
_MOST_CLIENTS: t.Final = 48
_MOST_CLIENTS_OLD: t.Final = 16
_OLD: t.Final = ("V100", "P100", "P4", "M60", "K80")
_SHARES: t.Final = {"rename": Field("flag")}
FIELDS: t.Final[dict[str, Field]] = {
    TIME_SLICING: Field(
        "map",
        fields={
            "replicas": Field("integer", required=True, low=2, high=64),
            **_SHARES,
            "fail_requests_greater_than_one": Field("flag"),
        },
    ),
    MPS: Field(
        "map",
        fields={"replicas": Field("integer", required=True, low=2, high=_MOST_CLIENTS), **_SHARES},
    ),
}


def check_models(
    sharing: t.Mapping[str, t.Any], models: t.Iterable[str], path: str, problems: Problems
) -> None:
    """Add a problem if an MPS server of one of these GPUs takes fewer clients than the pool wants."""
    replicas = (sharing.get(MPS) or {}).get("replicas") or 0
    old = sorted({one for one in models if one in _OLD})
    if old and replicas > _MOST_CLIENTS_OLD:
        problems.add(
            "POOL-GEOMETRY",
            f"{path}.{MPS}.replicas",
            f"MPS on {old[0]} serves at most {_MOST_CLIENTS_OLD} clients, not {replicas}.",
            f"Set it to at most {_MOST_CLIENTS_OLD}, or use time_slicing.",
        )


def check_shares(pool: dict[str, t.Any], path: str, problems: Problems) -> None:
    """Add what the device plugin cannot share. pool: described, its candidates resolved; sharing is set."""
    models = {one.gpu_model for one in pool.get("resolved", [])}
    check_models(pool["sharing"], models, path, problems)
    expected = (pool.get("existing") or {}).get("expected") or {}
    for way in WAYS:
        if way in pool["sharing"] and set(expected) - {GPU}:
            problems.add(
                "POOL-GEOMETRY",
                f"{path}.{way}",
                f"multiplies {GPU}, but the nodes are expected to offer {', '.join(sorted(expected))}.",
                f"Set existing.expected to the whole GPUs of a node, such as {{{GPU}: 1}}.",
            )
