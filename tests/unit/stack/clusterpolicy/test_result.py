# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the metrics of the GPUs can reach the monitoring."""

from __future__ import annotations

import typing as t

import pytest
from unit.stack.builders import Data, Snapshot, table, verdicts

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    result as clusterpolicy_result,
)

NAMESPACE: t.Final = {
    "metadata": {"name": "nvidia-gpu-operator", "labels": {"openshift.io/cluster-monitoring": "true"}}
}


MONITOR: t.Final = {"metadata": {"name": "nvidia-dcgm-exporter"}, "spec": {}}


@pytest.mark.parametrize(
    ("spec", "namespace", "monitors", "verdict", "words"),
    [
        ({}, NAMESPACE, [MONITOR], "ready", "Prometheus itself is not asked"),
        (
            {},
            NAMESPACE,
            [
                {
                    "metadata": {"name": "ours"},
                    "spec": {"selector": {"matchLabels": {"app": "nvidia-dcgm-exporter"}}},
                }
            ],
            "ready",
            "judged",
        ),
        ({}, NAMESPACE, [], "failed", "no ServiceMonitor"),
        (
            {},
            {"metadata": {"name": "gpus"}},
            [MONITOR],
            "failed",
            "namespace gpus lacks the label openshift.io/cluster-monitoring=true",
        ),
        ({"dcgmExporter": {"enabled": False}}, None, [], "ready", "switched off"),
        ({"dcgmExporter": {"serviceMonitor": {"enabled": False}}}, None, [], "ready", "switched off"),
    ],
)
def test_how_metrics_are_collected(
    spec: Data, namespace: Data | None, monitors: list[Data], verdict: str, words: str
) -> None:
    found = clusterpolicy_result.judge_metrics(
        {"namespaces": [namespace] if namespace else [], "monitors": monitors}, {"spec": spec}
    )
    assert found.verdict == verdict
    assert words in str(found.evidence)


def test_metrics_that_go_nowhere_are_a_stage_of_their_own(seen: Snapshot) -> None:
    found = table(seen | {"namespaces": [], "monitors": []})
    assert verdicts(found) == {"metrics": "failed"}
