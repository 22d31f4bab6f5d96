# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paused MachineConfigPools: who paused one, since when, and what ends the pause."""

from __future__ import annotations

import typing as t

from .._core import run
from .._core.adoption import keeper
from .._core.objects import KubeObject, name
from .._core.ownership import pool_of, setter
from .._nodes.formatting import unpause
from .machine_config import ROLLOUT

# Annotation of a pool that a run paused for an update of the cluster: the release that it waits for.
UPDATE: t.Final = "accelerators.openshift/paused-for-update"
# The value of that annotation if the run did not know the release.
UNKNOWN: t.Final = "unknown"
# Annotation of a pool that the SR-IOV operator pauses while it drains a node of it.
_SRIOV: t.Final = "sriovnetwork.openshift.io/state"
_NODE_STATES: t.Final = "sriovnetworknodestates.sriovnetwork.openshift.io"
_PLAYBOOK: t.Final = "ansible-playbook accelerators.openshift"
_ASKS: t.Final = "and asks first if that ends pods with GPUs (gpu_on_busy)"


class Pause(t.NamedTuple):
    """Why a pool is paused: a clause such as `is paused by kubectl-patch`. remedy: what ends the pause."""

    why: str
    remedy: str


def is_paused(pool: KubeObject | None) -> bool:
    """Return True if somebody paused the pool."""
    return bool(((pool or {}).get("spec") or {}).get("paused"))


def is_left(pool: KubeObject | None) -> bool:
    """Return True for a pool that a run paused to tune its nodes and did not unpause."""
    return is_paused(pool) and bool(_note(pool, ROLLOUT)) and not is_for_cards(pool)


def is_for_cards(pool: KubeObject | None) -> bool:
    """Return True for a pool that the SR-IOV operator paused, and unpauses by itself."""
    return is_paused(pool) and _note(pool, _SRIOV) not in ("", "Idle")


def run_of(pool: KubeObject) -> str:
    """Return the id of the run that paused the pool to tune its nodes, or an empty text."""
    return _note(pool, ROLLOUT)


def explain(pool: KubeObject) -> Pause:
    """Return who paused the pool, since when, and what ends the pause."""
    object_name, (manager, since) = name(pool), _setter(pool)
    if is_left(pool):
        by, gpus = run.shown(_note(pool, ROLLOUT)), pool_of(pool)
        return Pause(
            f"is paused{since} by the run of {by}, which ended before it had tuned the nodes",
            f"Run `{_PLAYBOOK}.tune_nodes -e @FILE` with pool {gpus} in gpu_pools of FILE: it goes on, "
            f"reboots the nodes, {_ASKS}. To give the nodes back, which reboots them too: "
            f"`{_PLAYBOOK}.remove_pool -e gpu_pool={gpus} --tags node_tuning`.",
        )
    if release := _note(pool, UPDATE):
        update = "an update of the cluster" if release == UNKNOWN else f"the update to {release}"
        return Pause(
            f"is paused{since} for {update} by before_openshift_update",
            f"Run `{_PLAYBOOK}.after_openshift_update -e @FILE` after {update}: it lets the nodes take the "
            f"release, which reboots them, {_ASKS}. If there will be no update, add "
            "-e gpu_update_cancelled=true.",
        )
    if is_for_cards(pool):
        return Pause(
            f"is paused{since} by the SR-IOV operator, which sets up network cards of a node",
            f"Run `oc get {_NODE_STATES} -n openshift-sriov-network-operator`: the operator ends the pause "
            "when the node is done.",
        )
    return Pause(
        f"is paused by {manager}{since}",
        unpause(object_name, " when that work is done"),
    )


def _note(pool: KubeObject | None, key: str) -> str:
    return str((((pool or {}).get("metadata") or {}).get("annotations") or {}).get(key) or "")


def _setter(pool: KubeObject) -> tuple[str, str]:
    """Return the field manager that set `paused`, or what else manages the pool; and ` since` its time."""
    manager, time = setter(pool, "paused")
    return (manager, f" since {time}" if time else "") if manager else (keeper(pool), "")
