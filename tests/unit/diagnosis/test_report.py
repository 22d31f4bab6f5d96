# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a diagnosis, and its lines."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import model, options, report
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import (
    Layer,
    Seen,
    Trouble,
)

CRASH: t.Final = Trouble(
    layer="driver",
    code="GPU-DRV-CRASH",
    about="Node a",
    message="Node a: the driver crashes.",
    remedy="Run `oc adm drain a`: pods there end.",
    node="a",
    since="2026-11-21T21:03:00Z",
    evidence=("x/ctr: FATAL",),
)
NOTED: t.Final = Layer("node", ("nodes",), lambda _seen: (), lambda _seen: ["Node b is cordoned by admin."])


def found(*troubles: Trouble, seen: Seen | None = None) -> dict[str, t.Any]:
    return report.result(seen or Seen(), model.with_causes(troubles), (NOTED,))


def verdicts(result: dict[str, t.Any]) -> dict[str, str]:
    return {one["name"]: one["verdict"] for one in result["diagnosis"]["layers"]}


def test_a_cause_has_what_was_seen_the_remedy_and_what_it_ends() -> None:
    status = Trouble(
        layer="operators", code="GPU-CP-OPERAND", about="x", message="m", remedy="r", cause="driver"
    )
    result = found(CRASH, status)
    assert result["table"][:4] == [
        "GPU-DRV-CRASH (layer driver since 2026-11-21T21:03:00Z): Node a: the driver crashes.",
        "  seen:  x/ctr: FATAL",
        "  do:    Run `oc adm drain a`: pods there end.",
        "  ends:  Run `oc adm drain a`: pods there end.",
    ]
    assert "Only a consequence of driver: operators (GPU-CP-OPERAND)" in result["table"]
    assert result["diagnosis"]["code"] == "GPU-DRV-CRASH"
    assert (verdicts(result)["driver"], verdicts(result)["operators"]) == ("trouble", "waits")


def test_what_goes_on_is_no_cause() -> None:
    going = Trouble(
        layer="driver", code="GPU-UPG-RUNNING", about="x", message="m", remedy="r", node="a", is_busy=True
    )
    result = found(going)
    assert result["diagnosis"]["healthy"]
    assert result["table"][0] == "Nothing is wrong on 0 GPU nodes. Going on: GPU-UPG-RUNNING on 1 node."
    assert verdicts(result)["driver"] == "busy"
    assert "Note: Node b is cordoned by admin." in result["table"]


def test_what_is_not_there_and_what_may_not_be_read() -> None:
    nodes = [{"metadata": {"name": "a"}}]
    seen = Seen(objects={"policies": [], "nodes": nodes}, unread={"nics": "API-FORBIDDEN: no"})
    result = found(seen=seen)
    assert {name: one for name, one in verdicts(result).items() if one != "ok"} == {
        **dict.fromkeys(("driver", "toolkit", "device plugin", "sharing", "dra"), "absent"),
        "nic": "unread",
    }
    assert result["table"][-1] == "Could not read nics: API-FORBIDDEN: no"


def test_many_causes_are_bounded() -> None:
    many = [
        Trouble(layer="quota", code="QUOTA-X", about=f"q{number}", message="m", remedy="r")
        for number in range(100)
    ]
    assert len(found(*many)["diagnosis"]["troubles"]) == 40


@pytest.mark.parametrize("pod", ["train-0", "a/", "/b", "a/b/c"])
def test_a_pod_needs_its_namespace(pod: str) -> None:
    given: t.Any = {"pools": None, "namespace": None, "pod": pod}
    with pytest.raises(InputError, match=f"pod is {pod}") as refused:
        options.check(given)
    assert "gpu_pod" in refused.value.remedy
