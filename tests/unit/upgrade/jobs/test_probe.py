# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's probe becomes one Job for each node."""

from __future__ import annotations

import copy
import typing as t

from unit.stack.builders import FIXTURE

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.jobs import probe

MANIFEST: t.Final[KubeObject] = {
    "kind": "Job",
    "metadata": {"name": "probe", "namespace": "team"},
    "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}},
}
WHERE: t.Final = {"probe-1": "gpu-0"}


def test_the_job_is_bound_to_its_node() -> None:
    before = copy.deepcopy(MANIFEST)
    made = probe.job(MANIFEST, FIXTURE["nodes"][0])
    pod = made["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"kubernetes.io/hostname": "gpu-0"}
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in pod["tolerations"]
    assert made["metadata"]["namespace"] == "team"
    assert made["spec"]["backoffLimit"] == 0
    assert before == MANIFEST


def seen(*kinds: str) -> dict[str, list[KubeObject]]:
    conditions = [{"type": kind, "status": "True", "message": "exit 1"} for kind in kinds]
    return {"jobs": [{"metadata": {"name": "probe-1"}, "status": {"conditions": conditions}}]}


def test_the_verdict_is_that_of_the_job() -> None:
    assert probe.judge(WHERE, seen("Complete")).is_ready
    assert probe.judge(WHERE, seen()).verdict == "pending"
    found = probe.judge(WHERE, seen("Failed"))
    assert (found.is_failed, found.code) == (True, "UPGRADE-PROBE")
    assert "gpu-0" in found.message


def test_the_verdict_waits_for_the_probes_of_all_nodes() -> None:
    """So the nodes that worked are known, and keep the new driver."""
    both = {"probe-1": "gpu-0", "probe-2": "gpu-1"}
    one = seen("Failed")["jobs"][0]
    other: KubeObject = {"metadata": {"name": "probe-2"}, "status": {}}
    assert probe.judge(both, {"jobs": [one, other]}).verdict == "pending"
    other["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert probe.judge(both, {"jobs": [one, other]}).is_failed
    assert probe.not_passed(both, [one, other]) == {"gpu-0": "probe-1"}
