# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Beside Argo CD, which installed the GPU operator with automatic approval: what drift.yml says of it."""

from __future__ import annotations

import json
import typing as t

import pytest
from integration.patience import until
from integration.playbook import Run
from integration.scenarios.place import Data, Place, existing
from integration.stack.driver_gaps import NAMESPACE, POLICIES
from integration.stack.operators.subscribed import V1ALPHA1

SCENARIO: t.Final = "foreign-policy"
pytestmark = [
    pytest.mark.long("an installation by OLM first: the unit tests of _drift and _olm say the same"),
    pytest.mark.story("what Argo CD made is compared with one wish, and then with another"),
]
PACKAGE: t.Final = "gpu-operator-certified"
SUBSCRIPTION: t.Final = f"Subscription {NAMESPACE}/{PACKAGE}"


def drift(place: Place, **variables: t.Any) -> dict[str, Data]:
    """Run drift.yml for the GPU operator, and return the findings about what Argo CD made, by object."""
    run: Run = place.run(
        *("drift", "--tags", "gpu_operator"),
        gpu_pools=existing(inference=1),
        gpu_drift_fail=False,
        **variables,
    )
    assert run.rc == 0, run.output[-4000:]
    assert place.writes(run) == []
    shown = next(one["msg"] for one in run.tasks if one.name == "Show it as JSON")
    report = json.loads(shown.removeprefix("drift "))
    found = {one["object"]: one for one in report["findings"] if one.get("manager")}
    noted = [line for line in report["warnings"] if "is kept by Argo CD (gpu-stack)" in line]
    assert [line.partition(" is kept by ")[0] for line in noted] == list(found)
    return found


def test_the_operator_is_upgraded_by_olm_alone(place: Place) -> None:
    def installed() -> bool:
        live = place.client.get(V1ALPHA1, "subscriptions", PACKAGE, NAMESPACE) or {}
        made = live.get("status", {}).get("installedCSV") == f"{PACKAGE}.v26.7.1"
        return made and bool(place.client.list(*POLICIES))

    until(installed, "Argo CD's operator and policy", 180)


def test_what_differs_is_to_be_changed_in_git(place: Place) -> None:
    found = drift(place)[SUBSCRIPTION]
    assert found["fields"] == [{"field": "spec.installPlanApproval", "live": "Automatic", "wanted": "Manual"}]
    assert (found["manager"], found["command"]) == ("Argo CD (gpu-stack)", "")


def test_what_agrees_with_the_wish_is_no_difference(place: Place) -> None:
    assert SUBSCRIPTION not in drift(place, gpu_operator_approval="Automatic")
