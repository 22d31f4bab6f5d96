# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask before the first write: refuse, wait for, or accept the end of pods with devices."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, Snapshot, name
from .._core.readiness import Readiness, pending, ready
from .._kube.client import Api
from .._kube.kinds import known
from .._nodes import drain
from . import impact
from .impact import Impact, Question

UNCHANGED: t.Final = "Nothing was changed."


def ask(
    api: Api, questions: t.Sequence[Question], on_busy: str, code: str, so_far: str = UNCHANGED
) -> list[dict[str, t.Any]]:
    """Return what the coming writes end, as the result's key `ends`; without questions, send no request.

    Raise GPU-UPG-KEPT for pods that the operator cannot end.

    on_busy: fail raises AcceleratorError with the code if a pod ends; wait returns once none does; drain
    returns at once. A task that does not wait refuses in place of waiting. so_far: a sentence that says what
    the task has changed.
    """
    labels = dict.fromkeys(question.labels for question in questions)
    nodes = {label: api.list(known("Node"), labels=label) for label in labels}
    names = {name(node) for found in nodes.values() for node in found}
    if not names:
        return []

    def counts(pod: KubeObject) -> bool:
        return any(question.is_about(pod) for question in questions)

    found = _answers(questions, nodes, api.list(known("Pod"), keep=drain.busy_on(names, counts)))
    if problem := impact.refuse_kept([kept for answer in found for kept in answer.kept], on_busy, so_far):
        problem.facts["ends"] = impact.as_result(found)
        raise problem
    if found and on_busy == impact.WAIT and api.wait_wanted and not api.check_mode:
        _wait(api, questions, nodes, found, code)
        found = []
    if found and (on_busy == impact.FAIL or (on_busy == impact.WAIT and not api.wait_wanted)):
        raise impact.refusal(found, code, so_far)
    for answer in found:
        api.warn(f"{answer.line} (on_busy: {on_busy}).")
    return impact.as_result(found)


def nic_policies(api: Api) -> list[KubeObject]:
    """Return the NicClusterPolicies and NicNodePolicies."""
    kinds = map(known, ("NicClusterPolicy", "NicNodePolicy"))
    return [policy for kind in kinds for policy in api.list_if_served(kind)]


def _answers(
    questions: t.Iterable[Question], nodes: t.Mapping[str, list[KubeObject]], pods: t.Sequence[KubeObject]
) -> list[Impact]:
    found = (question.answer(nodes[question.labels], pods) for question in questions)
    return [answer for answer in found if answer is not None]


def _wait(
    api: Api,
    questions: t.Sequence[Question],
    nodes: t.Mapping[str, list[KubeObject]],
    found: t.Sequence[Impact],
    code: str,
) -> None:
    reached = sorted({node for answer in found for node in answer.nodes})

    def judge(snapshot: Snapshot) -> Readiness:
        left = _answers(questions, nodes, [pod for pods in snapshot.values() for pod in pods])
        if not left:
            return ready("Idle", "no pod with devices runs on these nodes")
        return pending(
            "Busy",
            f"the task waits before its first write: {left[0].line}",
            code=code,
            remedy=impact.REMEDY,
            details=tuple(impact.lines(left)),
        )

    api.wait(drain.pod_queries(reached), judge, "end of pods with GPUs", on_timeout_code=code)
