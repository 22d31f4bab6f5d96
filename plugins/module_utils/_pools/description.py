# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""A planned pool as its user would describe it, so that what one step returns can be given to another."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._pools.schema import POOL

Data = dict[str, t.Any]
# What planning adds to a candidate.
_DERIVED: t.Final = {"gpus_per_node", "mig_capable", "accelerator", "expected"}


def is_planned(pool: t.Any) -> bool:
    return isinstance(pool, dict) and "expected" in pool


def described(pool: t.Any) -> t.Any:
    """What was derived is left out, and derived again by the next step; a pool as the user wrote it stays as it is."""
    if not is_planned(pool):
        return pool
    own = {
        key: value
        for key, value in pool.items()
        if key in POOL and key != "existing" and value not in ("", {}, [])
    }
    if pool.get("existing"):
        kept = {
            key: value
            for key, value in own.items()
            if key not in ("replicas", "min_replicas", "market", "mixed", "accelerator")
        }
        return {**kept, "existing": {"node_selector": pool["node_selector"], "expected": pool["expected"]}}
    if pool.get("autoscale"):
        own = {key: value for key, value in own.items() if key not in ("replicas", "min_replicas")}
    return {**own, "candidates": [described_candidate(one) for one in pool.get("candidates") or []]}


def described_candidate(candidate: t.Any) -> t.Any:
    if not isinstance(candidate, dict):
        return candidate
    own = {key: value for key, value in candidate.items() if key not in _DERIVED and value is not None}
    return {**own, "gpus": candidate["gpus_per_node"]} if "gpus_per_node" in candidate else own
