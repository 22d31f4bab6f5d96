# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Code that the judges of all stacks share: the loop over pools and nodes, and the state of a wait."""

from __future__ import annotations

import typing as t
from dataclasses import replace
from itertools import compress

from .._core.daemon_sets import is_made_by
from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot, name
from .._core.readiness import FAILED, Grace, Readiness, pending, ready, worst
from .._nodes.node import short
from .._nodes.pool_nodes import judge_size, nodes_of
from .._nodes.system import judge_update
from . import operands
from .params import LookParams, StackPool
from .stages import Chain, Finding, is_consequence, late, placed

# A function that judges one node of a pool; its snapshot holds only the pods of that node.
NodeJudge = t.Callable[[KubeObject, StackPool, Snapshot], t.Iterable[Readiness | None]]
# Between two crashes a kubelet waits up to 300 s, and as long between two attempts to pull an image.
SLOW: t.Final = (
    "GPU-DRV-CRASH",
    "GPU-IMAGE",
    "GPU-KMM-LOAD",
    "GPU-KMM-PLUGIN",
    "GPU-OPERAND-CRASH",
    "GPU-OPERAND-OOM",
    "NIC-DRV-CRASH",
    "NIC-IMAGE",
    "NIC-OPERAND-CRASH",
)
# Codes that every healthy start of the GPU operator's operands shows for a moment.
OF_OPERANDS: t.Final = (
    "GPU-DRV-CRASH",
    "GPU-IMAGE",
    "GPU-MODE",
    "GPU-NFD-EMPTY",
    "GPU-OPERAND-CRASH",
    "GPU-OPERAND-LACKING",
    "GPU-OPERAND-UNWANTED",
    "GPU-OPERAND-OOM",
    "GPU-OPTED-OUT",
    "GPU-PAUSED",
)
# Reason of a finding that the operator has not brought its custom resource to its DaemonSets yet.
ROLLOUT: t.Final = "Rollout"
# Seconds that a trouble may last by default; the second for the codes in SLOW.
GRACE: t.Final = 60.0
SLOW_GRACE: t.Final = 300.0
_OFFERED: t.Final = ("GPU-ALLOC", "GPU-MIG-RUNNING")


def patience(params: LookParams, clock: t.Callable[[], float], codes: t.Iterable[str]) -> Grace:
    """Return the grace for troubles with these codes; those in SLOW have a longer one by default."""
    return Grace(clock, params.grace, codes, dict.fromkeys(SLOW, params.slow_grace))


def hold_for_others(
    verdict: Readiness,
    findings: t.Sequence[Finding],
    blocked: t.Collection[str] = (),
    given_up: t.Collection[str] = (),
) -> Readiness:
    """Return a failed verdict as pending while pools without a failure are not ready; else the verdict.

    A failure that belongs to no pool stays failed. blocked: nodes that cannot become ready before the failed
    ones do; their pools are not waited for. given_up: pools that an earlier task gave up. If they are not
    ready, they count as failed.
    """
    failed = {one.pool for one in findings if one.is_failed}
    left = [one for one in findings if not one.is_ready and one.pool in given_up]
    broken = failed | {one.pool for one in left}
    if verdict.is_ready or "" in failed or not (broken if verdict.is_failed else left):
        return verdict
    hopeless = broken | {one.pool for one in findings if one.node in blocked}
    late = [one for one in findings if not one.is_ready and one.pool not in hopeless]
    waited_for = [one for one in late if one.pool or one.reason == ROLLOUT]
    if not waited_for:
        return verdict if verdict.is_failed else replace(left[0], verdict=FAILED, details=verdict.details)
    first = waited_for[0]
    message = f"{first.message} Failed already: pool {', '.join(sorted(broken))}."
    return pending(first.reason, message, code=first.code, remedy=first.remedy, details=verdict.details)


class GoOn:
    """The verdict of a wait that goes on with other pools when some fail.

    given_up: pools that an earlier task gave up. settle: seconds for which all others have to be ready before
    one of these ends the wait.
    """

    def __init__(self, given_up: t.Collection[str], settle: float, clock: t.Callable[[], float]) -> None:
        self._given_up, self._settle, self._clock = given_up, settle, clock
        self._since: float | None = None

    def __call__(
        self, verdict: Readiness, findings: t.Sequence[Finding], blocked: t.Collection[str] = ()
    ) -> Readiness:
        """Return the verdict of the wait.

        findings: on which the given verdict rests. blocked: nodes that wait for the failed ones.
        """
        found = hold_for_others(verdict, findings, blocked, self._given_up)
        if verdict.is_failed or not found.is_failed:
            self._since = None
            return found
        now = self._clock()
        self._since = now if self._since is None else self._since
        return found if now - self._since >= self._settle else verdict


class StackJudge:
    """The judge of a wait; it keeps the last snapshot and how long each trouble has lasted."""

    def __init__(
        self, judge: t.Callable[[Snapshot], t.Sequence[Finding]], chain: Chain, patience: Grace
    ) -> None:
        """Take a judge that returns causes before consequences. patience: how long a trouble may last."""
        self._judge, self._patience, self.chain = judge, patience, chain
        self.seen: Snapshot = {}
        self.findings: list[Finding] = []
        self.looks = 0
        # Nodes with a cause that another judge found.
        self.held: t.Container[str] = ()

    def __call__(self, snapshot: Snapshot) -> Readiness:
        """Return the verdict on the whole stack."""
        self.seen, self.looks = snapshot, self.looks + 1
        self.findings = self.harden(self._judge(snapshot))
        return self.verdict(snapshot)

    def harden(self, findings: t.Sequence[Finding]) -> list[Finding]:
        """Return the findings, failed if they lasted too long; a consequence fails only with its cause."""
        places = late(findings)
        causes = [
            not (one.waits and one.node in self.held) and not is_consequence(one, places, self.chain)
            for one in findings
        ]
        return harden_some(self._patience, findings, causes)

    def verdict(self, snapshot: Snapshot) -> Readiness:
        """Return the worst finding, with a line for each node that is not ready."""
        lines = one_line_each(one for one in self.findings if not one.is_ready)
        return replace(worst(self.findings), details=lines)


def harden_some(patience: Grace, findings: t.Sequence[Finding], chosen: t.Sequence[bool]) -> list[Finding]:
    """Return all findings; of these only the chosen ones fail if they last too long."""
    hardened = iter(patience.harden(compress(findings, chosen)))
    return [next(hardened) if is_one else one for one, is_one in zip(findings, chosen, strict=True)]


def judge_pools(snapshot: Snapshot, pools: t.Sequence[StackPool], judge_node: NodeJudge) -> list[Finding]:
    """Return the findings about the size of each pool, then about each of its nodes.

    A node that the machine-config operator is updating has no other finding: its pods come and go.
    """
    findings = [placed(judge_size(snapshot["nodes"], pool), pool["name"]) for pool in pools]
    view = operands.view_of(snapshot)
    for pool in pools:
        for node in nodes_of(snapshot["nodes"], pool):
            updating = judge_update(node)
            found = [updating] if updating else judge_node(node, pool, view(node))
            findings += [placed(one, pool["name"], name(node)) for one in found if one is not None]
    return findings


def judge_gone(snapshot: Snapshot) -> Readiness:
    """Return ready once no operand of the GPU operator is left; only then can the operator be removed."""
    daemonsets = [one for one in snapshot["daemonsets"] if operands.is_operand(one)]
    pods = [pod for pod in snapshot["pods"] if is_made_by(pod, "DaemonSet")]
    if not daemonsets and not pods:
        return ready("Gone", "No operand is left.")
    names = [*(f"daemonset/{name(one)}" for one in daemonsets), *(f"pod/{name(pod)}" for pod in pods)]
    left = f"DaemonSets: {len(daemonsets)}, pods: {len(pods)}"
    line = f"{len(names)} left: {', '.join(names[:5])}{', …' if len(names) > 5 else ''}"
    text = text_of("GPU-LEFT", what="Operands", left=left, namespace=operands.NAMESPACE)
    return pending("Leaving", **text._asdict(), details=(line,))


def one_line_each(findings: t.Iterable[Readiness]) -> tuple[str, ...]:
    """Return a line for each node: its first trouble (causes come first) and the devices it lacks."""
    causes: dict[str, str] = {}
    devices: dict[str, str] = {}
    for found in findings:
        for line in found.details:
            node, _colon, phrase = line.partition(": ")
            (devices if found.code in _OFFERED else causes).setdefault(node, phrase)
    lines = []
    for node in dict.fromkeys([*causes, *devices]):
        phrases = [causes.get(node, ""), devices.get(node, "").removeprefix("offers ")]
        lines.append(f"{short(node)}: {'; '.join(filter(None, phrases))}")
    return tuple(lines)
