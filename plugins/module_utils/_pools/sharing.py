# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The sharing of each pool's GPUs: what is checked, and what gpu_sharing gets from the plan."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU
from .._core.input import Problems
from .._sharing import profile, schema
from .model import JsonObject, Pool


def inputs(pools: t.Iterable[Pool]) -> list[JsonObject]:
    """Return an entry for every pool, as gpu_sharing's option C(pools) takes it.

    A pool of whole GPUs is in the list too: what it had before has to go.
    """
    found = []
    for pool in pools:
        is_known = all(one.expected == pool.expected for one in pool.candidates)
        found.append(
            {
                "name": pool.name,
                "node_selector": dict(pool.node_selector),
                "sharing": dict(pool.sharing),
                "expected": dict(pool.expected) if pool.sharing and is_known else {},
            }
        )
    return found


def offered(gpus: t.Mapping[str, int], sharing: t.Mapping[str, t.Any]) -> t.Mapping[str, int]:
    """Return what an existing node offers. gpus: its devices before they are shared."""
    if not profile.way_of(sharing):
        return gpus
    return {profile.resource(sharing): sum(gpus.values()) * profile.replicas(sharing)}


def check_shares(pool: dict[str, t.Any], path: str, problems: Problems) -> None:
    """Add what the device plugin cannot share. pool: described, its candidates resolved; sharing is set."""
    models = {one.gpu_model for one in pool.get("resolved", [])}
    schema.check_models(pool["sharing"], models, path, problems)
    expected = (pool.get("existing") or {}).get("expected") or {}
    for way in schema.WAYS:
        if way in pool["sharing"] and set(expected) - {GPU}:
            problems.add(
                "POOL-GEOMETRY",
                f"{path}.{way}",
                f"multiplies {GPU}, but the nodes are expected to offer {', '.join(sorted(expected))}.",
                f"Set existing.expected to the whole GPUs of a node, such as {{{GPU}: 1}}.",
            )
