# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Queues of Kueue: which of them an upgrade stops, and how."""

from __future__ import annotations

import typing as t

import pytest
from unit.upgrade.in_memory.builders import params
from unit.upgrade.in_memory.kueue import HOST, flavor, queue, workload

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import queues

NODES: t.Final[list[KubeObject]] = [
    {"metadata": {"name": one, "labels": {HOST: one, "pool": one[0]}}} for one in ("a-0", "a-1", "b-0")
]


def find(*objects: KubeObject, chosen: tuple[str, ...] = ("a-0", "a-1")) -> list[queues.Queue]:
    kinds = {"queues": "ClusterQueue", "flavors": "ResourceFlavor", "workloads": "Workload"}
    found = {key: [one for one in objects if one["kind"] == kind] for key, kind in kinds.items()}
    return queues.find(found, NODES, chosen)


def test_labels_of_a_flavor_select_the_nodes() -> None:
    (found,) = find(flavor("a", pool="a"), flavor("b", pool="b"), queue("one", "a"), queue("two", "b"))
    assert (found.name, found.flavors, found.nodes, found.policy) == ("one", ("a",), ("a-0", "a-1"), "None")


def test_a_flavor_without_labels_is_for_every_node() -> None:
    assert find(flavor("any"), queue("one", "any"))[0].nodes == ("a-0", "a-1")
    assert find(flavor("any"), queue("one", "any", resource="cpu")) == []


def test_a_flavor_that_does_not_exist_selects_nothing() -> None:
    assert find(queue("one", "missing")) == []


def test_workloads_are_counted_where_their_devices_are() -> None:
    finished = workload("old", "one", "a")
    finished["status"]["conditions"].append({"type": "Finished", "status": "True"})
    (found,) = find(
        flavor("a", pool="a"),
        flavor("b", pool="b"),
        queue("one", "a", "b"),
        workload("here", "one", "a"),
        workload("there", "one", "b"),
        workload("processors", "one", "a", resource="cpu"),
        workload("other", "two", "a"),
        finished,
    )
    assert found.admitted == ("team/here",)
    assert found.elsewhere == ("team/there", "team/processors")


@pytest.mark.parametrize(
    ("on_busy", "option", "is_shared", "wanted"),
    [
        ("drain", None, False, "HoldAndDrain"),
        ("drain", None, True, "Hold"),
        ("drain", "drain", True, "HoldAndDrain"),
        ("drain", "hold", False, "Hold"),
        ("wait", None, False, "Hold"),
        ("fail", None, False, "Hold"),
    ],
)
def test_what_stops_a_queue(on_busy: str, option: str | None, is_shared: bool, wanted: str) -> None:
    one = queues.Queue("q", "None", ("a",), ("a-0",), ("team/x",), ("team/y",) if is_shared else ())
    assert one.wanted(params(on_busy=on_busy, queues=option)) == wanted


def test_a_long_list_of_workloads_is_cut() -> None:
    one = queues.Queue("q", "None", ("a",), ("a-0",), tuple(f"team/{n}" for n in range(30)), ())
    line = one.line("HoldAndDrain", False)
    assert "30 Workloads" in line
    assert line.endswith("and 10 more)")
