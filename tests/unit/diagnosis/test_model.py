# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes apart from consequences, groups of nodes, and what a remedy ends."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import model
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Trouble


def one(layer: str, code: str = "", **more: t.Any) -> Trouble:
    usual = {"about": more.get("node", "the cluster"), "message": "m", "remedy": "r"}
    return Trouble(layer=layer, code=code or layer.upper(), **{**usual, **more})


def causes(*found: Trouble) -> dict[str, str]:
    return {each.code: each.cause for each in model.with_causes(found)}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            [one("driver", node="a"), one("toolkit", node="a"), one("validation", node="a")],
            {"DRIVER": "", "TOOLKIT": "driver", "VALIDATION": "driver"},
            id="of one node",
        ),
        pytest.param(
            [one("driver", node="a"), one("toolkit", node="b")],
            {"DRIVER": "", "TOOLKIT": ""},
            id="of two nodes",
        ),
        pytest.param(
            [one("operators"), one("driver", node="a"), one("quota")],
            {"OPERATORS": "", "DRIVER": "operators", "QUOTA": ""},
            id="of the cluster",
        ),
        pytest.param(
            [one("machine", pool="x"), one("nfd", pool="x"), one("driver", pool="y", node="b")],
            {"MACHINE": "", "NFD": "machine", "DRIVER": ""},
            id="of a pool",
        ),
        pytest.param(
            [one("driver", node="a"), one("metrics")],
            {"DRIVER": "", "METRICS": "driver"},
            id="of a node, for the cluster",
        ),
        pytest.param(
            [one("operators", cause="driver"), one("driver", node="a")],
            {"DRIVER": "", "OPERATORS": "driver"},
            id="the judge says it: a status is the consequence of a later layer",
        ),
        pytest.param(
            [one("machine", pool="x"), one("driver", pool="x", node="a")],
            {"MACHINE": "", "DRIVER": "machine"},
            id="a pool's machines explain its nodes",
        ),
    ],
)
def test_a_consequence_names_the_layer_of_its_root(found: list[Trouble], expected: dict[str, str]) -> None:
    assert causes(*found) == expected
    assert causes(*reversed(found)) == expected


def test_causes_come_first_and_what_goes_on_last_of_them() -> None:
    found = model.with_causes([one("driver", "BUSY", node="b", is_busy=True), one("metrics"), one("quota")])
    assert [each.code for each in found] == ["QUOTA", "BUSY", "METRICS"]


def test_every_layer_needs_only_layers_before_it() -> None:
    for layer, needs in model.NEEDS.items():
        assert all(model.LAYERS.index(each) < model.LAYERS.index(layer) for each in needs), layer


def test_nodes_of_one_kind_are_one_group() -> None:
    found = [one("driver", node=name, pool=name[0]) for name in ("a1", "a2", "b1")] + [
        one("quota"),
        one("nfd"),
    ]
    assert [(group.nodes, group.pools) for group in model.groups(found)] == [
        (["a1", "a2", "b1"], ["a", "b"]),
        ([], []),
        ([], []),
    ]


@pytest.mark.parametrize(
    ("remedy", "expected"),
    [
        ("Run `oc get pods`.", ""),
        (
            "Run `oc adm drain a`: pods there end. Then look again.",
            "Run `oc adm drain a`: pods there end.",
        ),
        ("Delete it; its pods are lost.", "Delete it; its pods are lost."),
        ("Set the argument, which reboots its nodes.", "Set the argument, which reboots its nodes."),
        ("Remove what reboots nodes.", ""),
        (
            "Look. Add {name: FORCE} to it; drain it, which ends pods.",
            "Add {name: FORCE} to it; drain it, which ends pods.",
        ),
    ],
)
def test_what_a_remedy_ends(remedy: str, expected: str) -> None:
    assert model.ends(remedy) == expected


def test_another_text_of_the_same_code_is_shown_too() -> None:
    texts = ["m-1 has no host", "m-2 has no host", "m-3 is broken: disk 1"]
    found = [one("machine", node=f"m-{number}", message=text) for number, text in enumerate(texts)]
    (group,) = model.groups(found)
    assert (group.first.message, group.first.evidence) == (texts[0], (texts[2],))


def test_a_trouble_explains_only_the_layers_that_it_names() -> None:
    queues, labels = one("operators", "A", explains=("queues",)), one("operators", "B", explains=("nfd",))
    assert causes(queues, one("driver")) == {"A": "", "DRIVER": ""}
    expected = {"A": "", "B": "", "NFD": "operators", "DRIVER": "operators"}
    assert causes(queues, labels, one("nfd"), one("driver")) == expected


def test_a_trouble_may_explain_others_of_its_own_layer() -> None:
    worker = one("nfd", "WORKER", node="a", explains=("nfd",))
    assert causes(one("nfd", node="a"), worker) == {"WORKER": "", "NFD": "nfd"}


def test_a_remedy_that_ends_no_pod_ends_nothing() -> None:
    assert model.ends("Run `oc delete operatorgroup a -n b`. No pod ends.") == ""
    assert model.ends("Run `oc delete clusterpolicy b`. No pod ends: the operator ignores it.") == ""


def test_a_broken_container_has_no_operator_and_no_nic_for_a_cause() -> None:
    found = causes(one("operators"), one("nic", node="b"), one("driver", node="b", is_broken=True))
    assert found == {"OPERATORS": "", "NIC": "operators", "DRIVER": ""}
    assert causes(one("node", node="b"), one("driver", node="b", is_broken=True))["DRIVER"] == "node"


@pytest.mark.parametrize(
    "remedy",
    [
        "Run `oc patch job a -n b`; it ends no pod.",
        "Run `oc patch quota a` to raise the limit, which ends no pod, or wait.",
        "Run `oc delete pod a -n b`, which ends no program: Job a makes another one.",
        "Wait until a pod of the node ends.",
    ],
)
def test_what_ends_nothing_is_not_shown_as_an_end(remedy: str) -> None:
    assert model.ends(remedy) == ""
