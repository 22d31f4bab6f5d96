"""InstallPlans: which one to approve, and which one to refuse."""

from __future__ import annotations

from dataclasses import replace

import pytest
from unit.olm.builders import ASK, UPGRADE, V1, V2, WAITING, Object, at, plan, seen

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    progress,
    subscription as olm_subscription,
)


@pytest.mark.parametrize(
    ("live", "plans", "ask", "approve"),
    [
        (at("", V2), [WAITING], ASK, True),
        (at("", V2), [plan("RequiresApproval", V2, name="other")], ASK, False),
        (at("", V2), [plan("Planning", V2)], ASK, False),
        (at("", V2), [plan("RequiresApproval", V2, approved=True)], ASK, False),
        (at("", V2), [WAITING], replace(ASK, approve="never"), False),
        (at(V1, V2), [WAITING], ASK, False),
        (at(V1, V2), [WAITING], UPGRADE, True),
        (at(V1, V2), [WAITING], replace(UPGRADE, csv=V1), False),
        (None, [WAITING], ASK, False),
    ],
)
def test_the_one_plan_to_approve(
    live: Object | None, plans: list[Object], ask: olm_subscription.Ask, approve: bool
) -> None:
    assert (olm_subscription.plan_to_approve(seen(live, plans), ask) is not None) is approve


@pytest.mark.parametrize(
    ("csvs", "allowed", "foreign"),
    [
        ([V2], (), []),
        ([V2, "mesh.v2.1.0"], (), ["mesh.v2.1.0"]),
        ([V2, "mesh.v2.1.0"], ("mesh.v2.1.0",), []),
        ([V2, "mesh.v2.1.0"], ("mesh.*",), []),
    ],
)
def test_a_plan_with_somebody_elses_csv_is_refused(
    csvs: list[str], allowed: tuple[str, ...], foreign: list[str]
) -> None:
    assert progress.foreign_names(plan("RequiresApproval", *csvs), ASK.path, allowed) == foreign


def test_the_refusal_lists_what_is_foreign() -> None:
    verdict = progress.judge(seen(at("", V2), [plan("RequiresApproval", V2, "mesh.v2.1.0")]), ASK)
    assert (verdict.verdict, verdict.code) == ("failed", "OLM-FOREIGN-CSV")
    assert "Set node_feature_discovery_allow_csvs: [" in verdict.remedy
    assert "mesh.v2.1.0: not asked for" in verdict.details
    with pytest.raises(NotReadyError, match="mesh"):
        progress.check(seen(at("", V2)), plan("RequiresApproval", V2, "mesh.v2.1.0"), ASK)
