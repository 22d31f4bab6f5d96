# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Whether the GPUs' metrics can reach the cluster's monitoring. Judged is how it is set up; nobody asks Prometheus."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import FAILED, READY
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import Stage

Data = dict[str, t.Any]
LABEL: t.Final = "openshift.io/cluster-monitoring"
_EXPORTER: t.Final = "nvidia-dcgm-exporter"
_JUDGED: t.Final = "judged: the exporter's pods, its ServiceMonitor and the namespace's label; Prometheus itself is not asked"


def judge(policy: Data, namespace: Data | None, monitors: t.Sequence[Data]) -> Stage:
    exporter = (policy.get("spec") or {}).get("dcgmExporter") or {}
    if exporter.get("enabled") is False or (exporter.get("serviceMonitor") or {}).get("enabled") is False:
        return Stage(stages.METRICS, evidence=("switched off in the ClusterPolicy",))
    name = ((namespace or {}).get("metadata") or {}).get("name", "")
    missing = []
    if not any(_scrapes(one) for one in monitors):
        missing.append(f"no ServiceMonitor in namespace {name} selects {_EXPORTER}")
    if ((namespace or {}).get("metadata", {}).get("labels") or {}).get(LABEL) != "true":
        missing.append(
            f"namespace {name} lacks the label {LABEL}=true; the operator sets it only in nvidia-gpu-operator"
        )
    return (
        Stage(stages.METRICS, FAILED, evidence=tuple(missing))
        if missing
        else Stage(stages.METRICS, READY, evidence=(_JUDGED,))
    )


def _scrapes(monitor: Data) -> bool:
    wanted = ((monitor.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    return monitor["metadata"]["name"] == _EXPORTER or wanted.get("app") == _EXPORTER
