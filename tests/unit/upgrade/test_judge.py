# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge of one wave: whose turn it is, why a node waits, and when the wave has taken too long."""

from __future__ import annotations

import copy
import typing as t

import pytest
from unit.stack.builders import FIXTURE, POOL, pod
from unit.upgrade.in_memory.builders import NEW

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.judge import Wave, WaveJudge
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.options import Triple
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.targets import Target

STATE: t.Final = "nvidia.com/gpu-driver-upgrade-state"
WANTED: t.Final = Triple("nvcr.io/nvidia", "driver", NEW)
Seen = dict[str, list[KubeObject]]


def snapshot(
    image: str = WANTED.path + "-rhel9.6", state: str = "upgrade-done", is_current: bool = True
) -> Seen:
    seen: Seen = copy.deepcopy(FIXTURE)
    seen["nodes"][0]["metadata"]["labels"][STATE] = state
    one = pod(seen, "nvidia-driver")
    one["spec"]["containers"] = [{"name": "nvidia-driver-ctr", "image": image}]
    if not is_current:
        one["metadata"]["labels"]["controller-revision-hash"] = "older"
    return seen


def judge(seen: Seen, after: float = 0.0, limit: float = 600.0, **rules: t.Any) -> t.Any:
    """The verdict at once, or when the same was seen for so many seconds."""
    now = [0.0]
    seen["policies"][0]["spec"]["driver"]["upgradePolicy"] = {"autoUpgrade": True, **rules}
    target = Target("ClusterPolicy", seen["policies"][0], ("gpu-0",))
    wave = Wave(("gpu-0",), WANTED, {"gpu-0": POOL}, "gpu-cluster-policy", {"gpu-0": target}, limit)
    judging = WaveJudge(wave, lambda: now[0], None)
    verdict = judging(seen)
    if after:
        now[0] = after
        verdict = judging(seen)
    return verdict


def test_a_node_with_the_new_driver_is_ready() -> None:
    assert judge(snapshot()).is_ready


@pytest.mark.parametrize(
    ("image", "state", "code"),
    [
        ("nvcr.io/nvidia/driver:1-rhel9.6", "upgrade-done", "UPGRADE-RELABELLED"),
        ("nvcr.io/nvidia/driver:1-rhel9.6", "", "UPGRADE-NOT-STARTED"),
        ("nvcr.io/nvidia/driver:1-rhel9.6", "upgrade-required", "UPGRADE-NOT-STARTED"),
    ],
)
def test_a_node_that_does_not_begin_fails_after_five_minutes(image: str, state: str, code: str) -> None:
    seen = snapshot(image, state, is_current=False)
    first = judge(seen)
    assert (first.verdict, first.code) == ("pending", code)
    assert judge(seen, after=299).verdict == "pending"
    later = judge(seen, after=300)
    assert (later.is_failed, later.code) == (True, code)


def test_a_node_without_a_place_is_stuck() -> None:
    seen = snapshot("i:1", "upgrade-required", is_current=False)
    seen["nodes"][0]["spec"]["unschedulable"] = True
    assert judge(seen, maxUnavailable=1).code == "UPGRADE-STUCK"


def test_a_driver_pod_that_restarted_under_pods_is_in_use() -> None:
    seen = snapshot()
    one = pod(seen, "nvidia-driver")
    one["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    waiting = {"reason": "CrashLoopBackOff", "message": "back-off"}
    one["status"]["initContainerStatuses"] = [
        {"name": "k8s-driver-manager", "ready": False, "restartCount": 5, "state": {"waiting": waiting}}
    ]
    found = judge(seen)
    assert found.code == "UPGRADE-IN-USE"
    assert "gpu-driver-upgrade-requested=true" in found.remedy


def test_a_failed_upgrade_fails_the_wave_at_once() -> None:
    found = judge(snapshot("i:1", "upgrade-failed", is_current=False))
    assert (found.is_failed, found.code) == (True, "GPU-UPG-FAILED")


def test_a_wave_that_takes_too_long_fails_with_what_it_waits_for() -> None:
    seen = snapshot("i:1", "wait-for-jobs-required", is_current=False)
    assert judge(seen, after=599).code == "GPU-UPG-RUNNING"
    found = judge(seen, after=600)
    assert (found.is_failed, found.code) == (True, "UPGRADE-SLOW")
    assert "wait-for-jobs-required" in found.message
