# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes take a turn, and what the log of the MIG manager says about one that failed."""

from __future__ import annotations

import typing as t

import pytest
from unit.sharing.builders import cut, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import options, repartition

SEVEN: t.Final = {"mig": {"profile": "1g.5gb"}}
WANTED: t.Final = cut("inference", SEVEN)
CONFIG, STATE = "nvidia.com/mig.config", "nvidia.com/mig.config.state"


def marked(**marks: str) -> KubeObject:
    found = node("n")
    keys = {"config": CONFIG, "state": STATE}
    found["metadata"]["labels"] |= {keys[key]: value for key, value in marks.items()}
    return found


@pytest.mark.parametrize(
    ("marks", "notes", "turns"),
    [
        ({}, {}, 1),
        ({"config": WANTED, "state": "success"}, {}, 0),
        ({"config": WANTED, "state": "failed"}, {}, 1),
        ({"config": WANTED, "state": "success"}, {repartition.BEFORE: "all-disabled"}, 1),
        ({"config": "all-1g.5gb", "state": "success"}, {}, 1),
    ],
)
def test_nodes_that_differ_failed_or_are_unfinished(
    marks: dict[str, str], notes: dict[str, str], turns: int
) -> None:
    one = marked(**marks)
    one["metadata"]["annotations"] = notes
    pools = options.read(params(("inference", SEVEN))["pools"])
    assert len(repartition.turns([one], pools)) == turns


@pytest.mark.parametrize(
    ("log", "line", "is_reboot"),
    [
        ("a\nError setting MIGConfig: no\nb", "Error setting MIGConfig: no", False),
        ("At least one mode change pending", "At least one mode change pending", True),
        ("fine", "", False),
    ],
)
def test_the_line_of_the_log_that_says_why(log: str, line: str, is_reboot: bool) -> None:
    assert (repartition.why(log), repartition.waits_for_reboot(log)) == (line, is_reboot)


def test_a_machine_set_of_another_geometry_gets_the_label() -> None:
    (pool,) = options.read(params(("inference", SEVEN))["pools"])
    sets: KubeObject = {"metadata": {}, "spec": {"template": {"spec": {}}}}
    body = repartition.template(sets, pool)
    assert body["spec"]["template"]["spec"]["metadata"]["labels"] == {CONFIG: WANTED}
