# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that gets another kernel: each step on the way, and a daemon that gives up."""

from __future__ import annotations

from unit.stack.builders import some_params
from unit.stack.clusterpolicy.troubles import not_ready_pod
from unit.stack.drivers.nodes import (
    KERNEL,
    MACHINE_CONFIG,
    POOL,
    Snapshot,
    driver_pod,
    facts,
    node,
    reboot,
    relabel,
    rename,
    tag,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.system import judge_update
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
)


def updating(state: str) -> dict[str, str]:
    """Return what the machine-config operator notes on a node that gets another configuration."""
    return {
        f"{MACHINE_CONFIG}currentConfig": "a",
        f"{MACHINE_CONFIG}desiredConfig": "b",
        f"{MACHINE_CONFIG}state": state,
    }


def followed(judging: clusterpolicy_judge.Judge, seen: Snapshot) -> list[tuple[str, ...]]:
    """Return the lines that are told at each link, from the cordoned node to the driver that is ready."""
    node(seen)["metadata"]["annotations"] = updating("Working")
    node(seen)["spec"]["unschedulable"] = True
    lines = [judging(seen).details]
    reboot(seen)
    lines.append(judging(seen).details)
    node(seen)["metadata"]["annotations"] = updating("Done") | {f"{MACHINE_CONFIG}currentConfig": "b"}
    for step in (lambda _seen: None, relabel, tag, rename):
        step(seen)
        lines.append(judging(seen).details)
    driver_pod(seen)["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    return [*lines, judging(seen).details]


def test_an_update_is_followed_link_by_link(seen: Snapshot) -> None:
    judging = clusterpolicy_judge.Judge(
        some_params(name="gpu-cluster-policy", grace=600, pools=[POOL]), lambda: 0.0
    )
    assert judging(seen).is_ready
    lines = followed(judging, seen)
    changed = "gpu-0: kernel 5.14.0-570.12.1 -> 5.14.0-611.5.1, step"
    starts = [line.partition(";")[0] for (line,) in lines]
    assert (
        starts[0]
        == f"gpu-0: is being updated by the machine-config operator, cordoned, still on kernel {KERNEL}"
    )
    assert [line.partition("): ")[0] for line in starts[1:]] == [
        f"{changed} 1 of 7 (node",
        f"{changed} 2 of 7 (labels",
        f"{changed} 3 of 7 (toolkit",
        f"{changed} 4 of 7 (daemonset",
        f"{changed} 6 of 7 (driver",
        f"{changed} 7 of 7 (device plugin",
    ]
    for pod in seen["pods"]:
        pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    assert judging(seen).is_ready
    assert facts(seen)["waits_at"] == ""
    not_ready_pod(seen)
    assert judging(seen).details == (f"{changed.removesuffix('step')}done: dcgm-exporter is not Ready",)


def test_a_daemon_that_has_given_up_is_a_failure_of_its_own(seen: Snapshot) -> None:
    node(seen)["metadata"]["annotations"] = updating("Degraded") | {
        f"{MACHINE_CONFIG}reason": "failed to drain node gpu-0 after 1 hour"
    }
    found = judge_update(node(seen))
    assert found is not None
    assert (found.code, "failed to drain node gpu-0" in found.message) == ("GPU-NODE-DEGRADED", True)
