# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The form for the vendor: what is not known has its reason, and nothing is made up."""

from __future__ import annotations

from unit.repair.node_in_memory import UUID, host, machine, node

from ansible_collections.accelerators.openshift.plugins.module_utils._repair import report
from ansible_collections.accelerators.openshift.plugins.module_utils._repair.findings import Report
from ansible_collections.accelerators.openshift.plugins.module_utils._repair.seen import Seen


def test_a_node_of_which_nothing_is_known_has_a_reason_for_each_key() -> None:
    bare = {"metadata": {"name": "n"}, "spec": {}, "status": {}}
    form = report.form(Seen(bare))
    empty = {key for key, value in form.items() if not value and key != "unknown"}
    assert empty == set(form["unknown"]) - {"gpus.serial"}
    assert form["server"] == {}


def test_a_gpu_without_a_uuid_says_so() -> None:
    form = report.form(Seen(node(), machine(), host(), reports=[Report(79, "", "event")]))
    assert form["gpus"][0]["uuid"] == ""
    assert "gpus.uuid" in form["unknown"]


def test_without_an_xid_the_known_gpus_are_listed() -> None:
    assert report.form(Seen(node(), uuids=[UUID]))["gpus"] == [{"uuid": UUID, "serial": ""}]


def test_one_sentence_names_faults_and_xids() -> None:
    seen = Seen(node(), faults=["7 of 8 GPUs"], reports=[Report(79, UUID, "log of p")])
    assert report.line(seen) == f"7 of 8 GPUs; Xid 79 on {UUID} (log of p)"
    assert report.line(Seen(node())) == "nothing is wrong"
