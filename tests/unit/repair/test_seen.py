# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run does next, from what it has seen and what an earlier run wrote."""

from __future__ import annotations

import pytest
from unit.repair.node_in_memory import node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._repair.findings import Report
from ansible_collections.accelerators.openshift.plugins.module_utils._repair.record import Record
from ansible_collections.accelerators.openshift.plugins.module_utils._repair.seen import Seen, action

NOW = 10000.0


def seen(*, broken: bool = True, xid: int = 79, wrote: Record | None = None) -> Seen:
    made = node()
    if wrote:
        made["metadata"]["annotations"] |= wrote.body()["metadata"]["annotations"]
    faults = ["7 of 8 nvidia.com/gpu are allocatable"] if broken else []
    return Seen(made, faults=faults, reports=[Report(xid, "", "")])


def record(boot: str = "boot-1", asked: float = NOW, failed: bool = False) -> Record:
    return Record(boot, {}, int(asked), (), failed)


@pytest.mark.parametrize(
    ("found", "repair", "replace", "does"),
    [
        (seen(broken=False), "auto", False, "nothing"),
        (seen(), "auto", False, "reboot"),
        (seen(), "auto", True, "reboot"),
        (seen(), "replace", False, "replace"),
        (seen(xid=64), "auto", True, "replace"),
        (seen(xid=64), "auto", False, "reboot"),
        (seen(wrote=record()), "auto", False, "resume"),
        (seen(broken=False, wrote=record()), "auto", False, "resume"),
        (seen(wrote=record(asked=NOW - 1800)), "auto", False, "reboot"),
        (seen(wrote=record("before")), "auto", False, "resume"),
        (seen(broken=False, wrote=record("before")), "auto", False, "resume"),
        (seen(wrote=record("before", failed=True)), "auto", False, "stays"),
        (seen(wrote=record("before", failed=True)), "auto", True, "replace"),
        (seen(wrote=record("before", failed=True)), "reboot", False, "reboot"),
        (seen(broken=False, wrote=record("before", failed=True)), "auto", True, "resume"),
    ],
)
def test_what_a_run_does_next(found: Seen, repair: str, replace: bool, does: str) -> None:
    assert action(found, params(repair=repair, replace=replace), NOW) == does
