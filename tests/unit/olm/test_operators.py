"""The way to an installed operator: a catalogue that is away, and the approval of the InstallPlan."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.olm.builders import ASK, V2, at, params, plan

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import catalogue, operators

Object = dict[str, t.Any]


def catalogs(**states: str) -> dict[str, list[Object]]:
    return {
        "catalogs": [
            {"metadata": {"name": name}, "status": {"connectionState": {"lastObservedState": state}}}
            for name, state in states.items()
        ]
    }


def test_a_catalogue_that_is_away_is_waited_for_and_then_looked_into() -> None:
    now, looks = [0.0], ["not listed yet", "package"]

    def look() -> Object:
        found = looks.pop(0)
        if found != "package":
            raise AcceleratorError("OLM-NO-PACKAGE", found)
        return {"found": found}

    judge = operators.CatalogueReturns(look, catalogue.AwayError("OLM-CATALOG", "away"), lambda: now[0], 60)
    assert [judge(catalogs(mine=state)).verdict for state in ("TRANSIENT_FAILURE", "CONNECTING")] == [
        "pending",
        "pending",
    ]
    assert len(looks) == 2, "nothing is read while it is away"
    assert judge(catalogs(mine="READY")).code == "OLM-NO-PACKAGE"
    assert judge(catalogs(mine="READY")).is_ready
    assert judge.found == {"found": "package"}


def test_a_catalogue_that_stays_away_is_given_up() -> None:
    now = [0.0]
    judge = operators.CatalogueReturns(dict, catalogue.AwayError("OLM-CATALOG", "away"), lambda: now[0], 60)
    for second, verdict in [(59, "pending"), (60, "ready")]:
        now[0] = second
        assert judge(catalogs(mine="TRANSIENT_FAILURE")).verdict == verdict
    assert (judge.found, judge.trouble.code) == (None, "OLM-CATALOG")


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_plan_that_the_task_approved_waits_for_no_approval(check_mode: bool) -> None:
    server, live = FakeServer("Subscription", "InstallPlan", "ClusterServiceVersion"), at("", V2)
    server.put({"apiVersion": "operators.coreos.com/v1alpha1", **live})
    waiting = plan("RequiresApproval", V2)
    waiting["metadata"]["namespace"] = "openshift-nfd"
    server.put({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan", **waiting})
    api = api_on(server, check_mode=check_mode)
    found = operators.follow(api, live, ASK, params(until="approved"))
    assert found["operator"]["awaits_approval"] is check_mode
    assert len(api.warnings) == check_mode
    assert bool(server.writes()) is not check_mode
