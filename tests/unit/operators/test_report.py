# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of an upgrade, also as a table."""

from __future__ import annotations

from unit.operators.builders import csv_name

from ansible_collections.accelerators.openshift.plugins.module_utils._operators import report
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.crd_changes import CrdChange
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.order import GPU
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.upgrade_path import Stop, Way

FIRST, LAST = csv_name("26.3.3"), csv_name("26.7.0")
WAY = Way(GPU, FIRST, "v26.7", (Stop("v26.7", LAST, (LAST,)),))
PLAN = {"metadata": {"name": "install-1"}, "spec": {"clusterServiceVersionNames": ["nfd.v1", LAST]}}


def test_a_step_names_where_the_plan_leads() -> None:
    step = report.step(GPU, "v26.7", FIRST, PLAN, [CrdChange("a", is_new=True)])
    assert (step["from"], step["to"], step["install_plan"]) == (FIRST, LAST, "install-1")
    assert step["crds"][0]["crd"] == "a"
    assert report.step(GPU, "v26.7", FIRST, None, [], LAST)["to"] == LAST


def test_the_table_names_what_a_crd_loses() -> None:
    lost = CrdChange("a.example.com", removed=("v1alpha1",))
    step = report.step(GPU, "v26.7", FIRST, PLAN, [lost, CrdChange("b", is_new=True)])
    lines = report.table([report.operator(WAY, [step])])
    assert lines[2:] == ["    CRD a.example.com: loses versions v1alpha1"]


def test_steps_ahead_follow_those_that_were_done() -> None:
    ahead = report.operator(WAY, [])["steps"]
    assert [(one["from"], one["to"], one["install_plan"]) for one in ahead] == [(FIRST, LAST, None)]
    done = report.operator(WAY, [report.step(GPU, "v26.7", FIRST, PLAN, [])])["steps"]
    assert [one["install_plan"] for one in done] == ["install-1"]


def test_the_table_has_a_line_for_each_step() -> None:
    step = report.step(GPU, "v26.7", FIRST, PLAN, [])
    still = report.operator(Way("nfd", "nfd.v1", "stable"), [])
    lines = report.table([report.operator(WAY, [{**step, "truth": "2 nodes ready"}]), still])
    assert [line.split()[0] for line in lines] == ["OPERATOR", GPU, "nfd"]
    assert lines[1].endswith("install-1  2 nodes ready")
    assert lines[2].endswith("nothing to upgrade")
