# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who paused a MachineConfigPool, since when, and what ends the pause."""

from __future__ import annotations

import pytest
from unit import managed
from unit.tuning.operator_in_memory import pool, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import machine_config, paused

TIME = "2026-11-27T10:00:00Z"


def by(manager: str, **annotations: str) -> KubeObject:
    found = pool("worker", paused=True)
    found["metadata"] |= {"annotations": annotations}
    found["metadata"]["managedFields"] = [managed.entry(manager, {"paused": True}, time=TIME)]
    return found


def test_a_killed_tuning() -> None:
    live = machine_config.pool(tuning(), "root|bastion|boot|4711|9|12")
    live["metadata"]["managedFields"] = [managed.entry("x", {"paused": True}, time=TIME)]
    assert paused.is_left(live)
    why, remedy = paused.explain(live)
    assert why.startswith(f"is paused since {TIME} by the run of root@bastion (pid 4711, AWX job 12)")
    assert "tune_nodes -e @FILE` with pool training" in remedy
    assert "reboots the nodes, and asks first" in remedy


@pytest.mark.parametrize(
    ("release", "update"), [("4.22.9", "the update to 4.22.9"), ("unknown", "an update of the cluster")]
)
def test_a_pause_for_an_update(release: str, update: str) -> None:
    live = by("accelerators.openshift", **{paused.UPDATE: release})
    assert not paused.is_left(live)
    why, remedy = paused.explain(live)
    assert why == f"is paused since {TIME} for {update} by before_openshift_update"
    assert "accelerators.openshift.after_openshift_update -e @FILE" in remedy
    assert "reboots them" in remedy
    assert "oc patch" not in remedy


def test_a_pause_of_others() -> None:
    why, remedy = paused.explain(by("kubectl-patch"))
    assert why == f"is paused by kubectl-patch since {TIME}"
    assert "oc patch machineconfigpool worker" in remedy
    assert "their pods end" in remedy


def test_a_pause_of_the_sriov_operator_is_not_left_over() -> None:
    """It ends by itself. A tuning that was killed before it does not matter then."""
    live = by("sriov-network-config-daemon", **{"sriovnetwork.openshift.io/state": "Paused"})
    assert paused.is_for_cards(live)
    live["metadata"]["annotations"][machine_config.ROLLOUT] = "root|bastion|boot|4711|9|12"
    assert not paused.is_left(live)
    live["metadata"]["annotations"]["sriovnetwork.openshift.io/state"] = "Idle"
    assert paused.is_left(live)
    del live["metadata"]["annotations"][machine_config.ROLLOUT]
    assert not paused.is_for_cards(live)
    live["metadata"]["annotations"]["sriovnetwork.openshift.io/state"] = "Paused"
    why, remedy = paused.explain(live)
    assert why == f"is paused since {TIME} by the SR-IOV operator, which sets up network cards of a node"
    assert "oc patch" not in remedy


def test_no_pause() -> None:
    live = machine_config.pool(tuning(), "run")
    live["spec"]["paused"] = False
    assert not paused.is_left(live)
    assert not paused.is_paused(None)
    assert not paused.is_left(None)
