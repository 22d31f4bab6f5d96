# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record on the node: what is written is read again, and what cannot be read is none."""

from __future__ import annotations

import pytest
from unit.repair.node_in_memory import node

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import cordons
from ansible_collections.accelerators.openshift.plugins.module_utils._repair import record


def test_it_is_read_as_it_was_written() -> None:
    wrote = record.Record("boot-1", {"nvidia.com/gpu": 8}, 1700000000, ((79, "GPU-1"),), failed=True)
    found = node()
    found["metadata"]["annotations"] |= wrote.body()["metadata"]["annotations"]
    assert record.read(found) == wrote


@pytest.mark.parametrize("text", ["", "true", "{}", "[", '{"boot": 1, "expected": []}'])
def test_what_a_person_wrote_there_is_no_record(text: str) -> None:
    found = node()
    found["metadata"]["annotations"][record.KEY] = text
    assert record.read(found) is None


@pytest.mark.parametrize("mark", ["repair", "admin", ""])
def test_only_the_cordon_of_a_repair_is_taken_back(mark: str) -> None:
    found = node()
    found["spec"]["unschedulable"] = True
    found["metadata"]["annotations"][cordons.MARK] = mark
    body = record.ended(found)
    assert ("spec" in body) is (mark == "repair")
    assert body["metadata"]["annotations"][record.KEY] is None
