# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Change of the MIG geometry of nodes: options, which nodes take their turn, and when a turn is over."""

from __future__ import annotations

import dataclasses
import typing as t

from .._catalogue.well_known import MIG_CONFIG, MIG_STATE
from .._core import conditions
from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot, name
from .._core.ownership import CANDIDATE
from .._core.readiness import Readiness, failed, pending, ready
from .._frame.argspec import LockParams, StateParams
from .._impact.impact import Question
from .._nodes import cordons, devices, drain
from .._nodes.labels import labels
from . import mig_config, mig_judge, mig_name
from .judge import HOSTNAME, pool_of
from .options import PoolSharingParams, Shared

# The configuration that the node had before its turn; the note goes with the end of the turn.
BEFORE: t.Final = "accelerators.openshift/mig-before"
NODES, PODS = "nodes", "pods"
MANAGER_CODE: t.Final = "GPU-MIG-MANAGER"
REBOOT: t.Final = "GPU-MIG-REBOOT"
# The MIG manager's words about a change of the mode that waits for a reboot.
_MODE_PENDING: t.Final = "mode change pending"


class GpuRepartitionParams(StateParams, LockParams):
    """The options of gpu_repartition. namespace: of the GPU operator. node_timeout: seconds for one node."""

    pools: list[PoolSharingParams]
    namespace: str
    machine_namespace: str
    on_busy: t.Literal["fail", "drain", "wait"]
    delete_emptydir: bool
    evict_unmanaged: bool
    node_timeout: int


@dataclasses.dataclass(frozen=True)
class Turn:
    """The change of one node. target: the configuration that it gets; the one of whole GPUs has no label."""

    node: KubeObject
    pool: Shared
    target: str

    @property
    def name(self) -> str:
        """Return the node's name."""
        return name(self.node)

    @property
    def geometry(self) -> str:
        """Return the target in words."""
        return self.target if self.pool.mig_config(self.node) else "whole GPUs"

    @property
    def before(self) -> str:
        """Return the configuration that the node had, also if an earlier run has changed its label."""
        return noted(self.node) or mig_judge.label_of(self.node) or mig_config.WHOLE

    @property
    def offered(self) -> dict[str, int]:
        """Return what the node offered with its old geometry; empty if an earlier run has begun the turn."""
        return {} if noted(self.node) else devices.resources(self.node)

    @property
    def marks(self) -> dict[str, str | None]:
        """Return the labels that the node has at the end: none for whole GPUs."""
        found = self.pool.mig_config(self.node)
        return {} if found else {MIG_CONFIG: None, MIG_STATE: None}

    @property
    def is_begun(self) -> bool:
        """Return True if an earlier run has given the node its target and did not see the end."""
        is_failed = labels(self.node).get(MIG_STATE) == mig_judge.FAILED
        return bool(noted(self.node)) and mig_judge.label_of(self.node) == self.target and not is_failed


def noted(node: KubeObject) -> str:
    """Return the configuration that an unfinished turn noted on the node, or ""."""
    return str((node["metadata"].get("annotations") or {}).get(BEFORE) or "")


def is_ours(node: KubeObject) -> bool:
    """Return True if a turn cordoned the node."""
    return cordons.is_for(node, cordons.FOR_MIG)


def turns(nodes: t.Iterable[KubeObject], pools: t.Sequence[Shared]) -> list[Turn]:
    """Return the nodes to change, by name: those that differ, those that failed, and unfinished ones."""
    found = []
    for node in nodes:
        pool = pool_of(node, pools)
        if pool is None or not mig_judge.is_at_work(node):
            continue
        wanted, label = mig_judge.wanted(node, pool), mig_judge.label_of(node)
        is_failed = bool(wanted) and labels(node).get(MIG_STATE) == mig_judge.FAILED
        is_unfinished = bool(noted(node)) or is_ours(node)
        if wanted not in (None, label) or is_failed or is_unfinished:
            found.append(Turn(node, pool, wanted or mig_config.WHOLE))
    return sorted(found, key=lambda turn: turn.name)


def questions(found: t.Iterable[Turn]) -> list[Question]:
    """Return what to find out before the first write: the pods with GPUs on these nodes."""
    hosts: dict[tuple[str, str], list[str]] = {}
    for turn in found:
        hosts.setdefault((turn.pool.name, turn.geometry), []).append(
            labels(turn.node).get(HOSTNAME) or turn.name
        )
    return [
        Question(
            f"the GPUs of pool {pool} are partitioned anew ({geometry}), and no pod may use them meanwhile",
            "this task, which drains each node",
            f"{HOSTNAME} in ({','.join(sorted(here))})",
            counts=drain.uses_devices,
        )
        for (pool, geometry), here in hosts.items()
    ]


def template(machine_set: KubeObject, pool: Shared) -> KubeObject:
    """Return the merge patch that gives a machine set's template the label of its nodes, or {}."""
    spec = machine_set["spec"]["template"]["spec"]
    have = str(((spec.get("metadata") or {}).get("labels") or {}).get(MIG_CONFIG) or "")
    key = str((machine_set["metadata"].get("annotations") or {}).get(CANDIDATE) or "")
    kind = key.partition("/")[0].partition("+")[0]
    partition = next(
        (partition for partition in pool.partitions if partition.instance_type in ("", kind)), None
    )
    value = mig_name.name(pool.name, partition.config) if partition else None
    is_theirs = value is None and mig_name.pool_prefix(have) != mig_name.prefix(pool.name)
    if have == (value or "") or is_theirs:
        return {}
    return {"spec": {"template": {"spec": {"metadata": {"labels": {MIG_CONFIG: value}}}}}}


def judge_manager(snapshot: Snapshot, node: str, config_map: str, gone: str) -> Readiness:
    """Return ready once the MIG manager of the node has read the ConfigMap as it is.

    gone: the uid of the deleted manager, or "". The next one may be as old as the ConfigMap's content: times
    have no parts of a second.
    """
    pod = mig_judge.managers(snapshot[PODS], config_map).get(node)
    if pod is None:
        state = f"no MIG manager that reads ConfigMap {config_map} runs on {node}"
        return pending("NoManager", **text_of(MANAGER_CODE, state=state)._asdict())
    if pod["metadata"].get("uid") == gone or not conditions.is_true(pod, "Ready"):
        state = f"the MIG manager on {node} has not started again"
        return pending("Starting", **text_of(MANAGER_CODE, state=state)._asdict())
    return ready("Started")


class Done:
    """Judge of a turn: the MIG manager says success, and the node offers what the pool expects."""

    def __init__(self, turn: Turn, target: str) -> None:
        self._turn, self._target = turn, target

    def __call__(self, snapshot: Snapshot) -> Readiness:
        node = next(iter(snapshot[NODES]), None)
        if node is None:
            return failed("Gone", f"there is no node {self._turn.name} any more", code="GPU-MIG-FAILED")
        label = mig_judge.label_of(node)
        if label != self._target:
            what = f"the label {MIG_CONFIG} is {label or 'gone'}, not {self._target}"
            return failed("Label", **text_of("GPU-MIG-FAILED", node=self._turn.name, config=what)._asdict())
        verdict = mig_judge.judge_state(node, self._turn.pool.name, self._lacking(node))
        if verdict.is_ready:
            return ready("Partitioned", f"{self._turn.name} has {self._turn.geometry}")
        return verdict

    def _lacking(self, node: KubeObject) -> list[str]:
        """Return a phrase for each resource that is short: of the pool's geometry, or after a rollback.

        A device plugin that was restarting when the turn began offered nothing. Then any device is enough.
        """
        if self._target != self._turn.target:
            nothing = [] if devices.resources(node) else ["no device"]
            return mig_judge.lacking(node, self._turn.offered) or nothing
        return mig_judge.missing(node, self._turn.pool)


def why(log: str) -> str:
    """Return the last line of the MIG manager's log that says what went wrong, or ""."""
    lines = [line.strip() for line in log.splitlines()]
    found = [line for line in lines if "rror" in line or "ailed" in line or _MODE_PENDING in line]
    return found[-1] if found else ""


def waits_for_reboot(log: str) -> bool:
    """Return True if the last trouble in the log is a change of the MIG mode that needs a reboot."""
    return _MODE_PENDING in why(log)
