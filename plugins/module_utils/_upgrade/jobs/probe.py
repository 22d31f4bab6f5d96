# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's probe: one Job for each upgraded node, and its judge."""

from __future__ import annotations

import copy
import hashlib
import typing as t

from ..._core import conditions
from ..._core.errors import text_of
from ..._core.objects import KubeObject, Snapshot, name
from ..._core.ownership import MANAGED_BY
from ..._core.readiness import Readiness, failed, pending, ready
from ..._core.syntax import LONGEST
from ..._nodes.taints import merge_tolerations
from ..._workload.chosen import tolerations_of
from ..._workload.pods import HOSTNAME, host_of

CODE: t.Final = "UPGRADE-PROBE"


def place(probe: KubeObject) -> str:
    """Return the namespace of the Jobs."""
    return str(probe["metadata"].get("namespace") or "default")


def job(probe: KubeObject, node: KubeObject) -> KubeObject:
    """Return the Job for a node: the user's own, bound to the node, and without another try."""
    made = copy.deepcopy(probe)
    mark = hashlib.sha256(name(node).encode()).hexdigest()[:8]
    labels = {**(probe["metadata"].get("labels") or {}), **MANAGED_BY}
    object_name = f"{probe['metadata']['name'][: LONGEST - 9]}-{mark}"
    made["metadata"] = {"name": object_name, "namespace": place(probe), "labels": labels}
    made.setdefault("apiVersion", "batch/v1")
    spec = made.setdefault("spec", {})
    spec.setdefault("backoffLimit", 0)
    pod = spec.setdefault("template", {}).setdefault("spec", {})
    pod.setdefault("restartPolicy", "Never")
    pod["nodeSelector"] = {**(pod.get("nodeSelector") or {}), HOSTNAME: host_of(node)}
    pod["tolerations"] = merge_tolerations(pod.get("tolerations") or [], tolerations_of(node))
    return made


def judge(jobs: t.Mapping[str, str], snapshot: Snapshot) -> Readiness:
    """Return the verdict on the Jobs, once all of them have ended. jobs: name of the Job -> its node."""
    late = not_passed(jobs, snapshot["jobs"])
    if not late:
        return ready("ProbePassed", "The probe passed on every node of the wave.")
    whys = {node: _why(object_name, snapshot["jobs"]) for node, object_name in late.items()}
    waiting = [node for node in late if not whys[node]]
    texts = [
        text_of(CODE, node=node, job=late[node], trouble=f"failed: {whys[node]}" if whys[node] else "runs")
        for node in waiting or late
    ]
    verdict = pending if waiting else failed
    details = tuple(one.message for one in texts)
    return verdict("ProbeRuns" if waiting else "ProbeFailed", **texts[0]._asdict(), details=details)


def not_passed(jobs: t.Mapping[str, str], live: t.Iterable[KubeObject]) -> dict[str, str]:
    """Return node -> name of its Job for each Job that has not passed. jobs: name of the Job -> its node."""
    passed = {name(one) for one in live if conditions.is_true(one, "Complete")}
    return {node: object_name for object_name, node in jobs.items() if object_name not in passed}


def _why(object_name: str, live: t.Iterable[KubeObject]) -> str:
    """Return why the Job failed; an empty text if it did not."""
    one = next((one for one in live if name(one) == object_name), {})
    if not conditions.is_true(one, "Failed"):
        return ""
    return str(conditions.find(one, "Failed").get("message") or "its pod failed")
