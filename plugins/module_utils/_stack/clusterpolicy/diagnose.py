# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What is read of a ClusterPolicy's stack besides what is watched, and only with cause: how metrics are collected once a stack comes up, and all in trouble."""

from __future__ import annotations

import contextlib
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import FAILED
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import diagnose, stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
    result as clusterpolicy_result,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part

Data = dict[str, t.Any]
Snapshot = dict[str, list[Data]]


def look_further(api: Api, params: Data, judge: clusterpolicy_judge.Judge, snapshot: Snapshot) -> Snapshot:
    """After a wait that ended well; a stack that worked already is asked for nothing more."""
    if note := next((one for one in judge.parts if one.reason == "OthersNotReady"), None):
        api.warn(note.message)
    if judge.looks < 2:
        return snapshot
    seen = {**snapshot, **_monitoring(api, params)}
    if (
        "monitors" in seen
        and (
            found := clusterpolicy_result.metrics_of(
                seen, clusterpolicy_judge.policy_of(seen, params["name"])
            )
        ).verdict
        == FAILED
    ):
        api.warn(f"The GPUs' metrics do not reach the cluster's monitoring: {'; '.join(found.evidence)}.")
    return seen


def explain(api: Api, params: Data, judge: clusterpolicy_judge.Judge, error: AcceleratorError) -> None:
    """Adds to a failed wait what logs, OLM and the monitoring's objects say."""
    from ansible_collections.accelerators.openshift.plugins.module_utils._stack.logs import PODS

    def told(seen: Snapshot, parts: list[Part]) -> Data:
        return clusterpolicy_result.summarize(
            {**seen, **_monitoring(api, params)}, params["name"], params["pools"], parts
        )

    diagnose.explain(api, params["namespace"], judge, error, PODS, told)


def explain_absent(api: Api, params: Data, error: AcceleratorError) -> None:
    diagnose.explain_absent(api, params["name"], params["namespace"], stages.GPU_STACK, error)


def _monitoring(api: Api, params: Data) -> Snapshot:
    """Two small requests; who may not ask learns nothing of it."""
    with contextlib.suppress(AcceleratorError):
        namespace = api.get(known("Namespace"), params["namespace"])
        return {
            "namespaces": [namespace] if namespace else [],
            "monitors": api.list(known("ServiceMonitor"), params["namespace"]),
        }
    return {}
