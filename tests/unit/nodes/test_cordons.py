# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cordons: what the patch writes is read again, and the cordons of others are not taken for ours."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import cordons


def node(annotations: dict[str, str] | None, unschedulable: bool = True) -> dict[str, t.Any]:
    return {
        "metadata": {"name": "gpu-1", "annotations": annotations},
        "spec": {"unschedulable": unschedulable},
    }


def test_what_the_patch_writes_is_read_again() -> None:
    written = {"metadata": {"name": "gpu-1"}} | cordons.patch(cordons.FOR_MIG, "run-1")
    assert cordons.is_for(written, cordons.FOR_MIG)
    assert cordons.purpose(written) == "mig"
    assert cordons.run(written) == "run-1"
    assert set(cordons.REMOVED) == set(written["metadata"]["annotations"])


@pytest.mark.parametrize(
    "seen",
    [
        node(None),
        node({cordons.MARK: cordons.FOR_POOL}),
        node({cordons.MARK: cordons.FOR_REPAIR}, unschedulable=False),
        {"metadata": {"name": "gpu-1"}},
    ],
    ids=["of others", "for another purpose", "uncordoned by others", "never cordoned"],
)
def test_other_cordons_are_not_of_a_repair(seen: dict[str, t.Any]) -> None:
    assert not cordons.is_for(seen, cordons.FOR_REPAIR)


@pytest.mark.parametrize(
    ("purpose", "goes_on"),
    [
        (cordons.FOR_POOL, "enable_gpus -e @FILE"),
        (cordons.FOR_REPAIR, "repair_node -e gpu_node=gpu-1"),
        (cordons.FOR_MIG, "repartition -e @FILE"),
        (cordons.FOR_DRIVER, "upgrade_driver -e @FILE -e gpu_upgrade_action=resume"),
        (cordons.FOR_ADMIN, ""),
    ],
)
def test_the_cordon_of_a_run_is_named_with_what_goes_on(purpose: str, goes_on: str) -> None:
    seen = node({cordons.MARK: purpose, cordons.RUN: "root|bastion|boot|4711|9|"})
    seen["spec"]["taints"] = [
        {"key": "node.kubernetes.io/unschedulable", "timeAdded": "2026-11-27T10:00:00Z"}
    ]
    told = "cordoned since 2026-11-27T10:00:00Z by the run of root@bastion (pid 4711)"
    more = (
        f"; if that is over, `ansible-playbook accelerators.openshift.{goes_on}` goes on" if goes_on else ""
    )
    assert cordons.shown(seen) == told + more
    command = f"ansible-playbook accelerators.openshift.{goes_on}" if goes_on else ""
    assert cordons.goes_on(seen) == command


def test_the_cordon_of_others_has_no_run() -> None:
    assert cordons.shown(node(None)) == "cordoned"
    assert cordons.goes_on(node({cordons.MARK: cordons.FOR_POOL})) == "", "an older release left no name"
