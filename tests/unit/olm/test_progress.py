"""Progress of an installation: when it is ready, pending or failed, and for how long."""

from __future__ import annotations

import typing as t
from dataclasses import replace

import pytest
from unit.olm.builders import (
    ASK,
    BOTH,
    DONE,
    GONE,
    OURS,
    PAST,
    RESOLUTION,
    UPGRADE,
    V1,
    V2,
    V3,
    WAITING,
    at,
    condition,
    csv,
    plan,
    seen,
    subscription,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    progress,
    subscription as olm_subscription,
)


def test_the_remedy_of_a_failed_resolution_names_the_variable_of_the_role() -> None:
    ask = replace(ASK, package="gpu-operator-certified")
    verdict = progress.judge(seen(subscription(conditions=[RESOLUTION])), ask)
    assert "set gpu_operator_channel (module option channel) to another channel" in verdict.remedy


@pytest.mark.parametrize(
    ("snapshot", "ask", "verdict", "code"),
    [
        (seen(None), ASK, "pending", "OLM-PENDING"),
        (seen(subscription()), ASK, "pending", "OLM-PENDING"),
        (seen(subscription(conditions=[condition("BundleUnpacking")])), ASK, "pending", "OLM-UNPACK"),
        (
            seen(subscription(conditions=[condition("BundleUnpacking", "x", "image pull failed")])),
            ASK,
            "failed",
            "OLM-UNPACK",
        ),
        (
            seen(subscription(conditions=[condition("BundleUnpackFailed", "x", "no such image")])),
            ASK,
            "failed",
            "OLM-UNPACK",
        ),
        (
            seen(subscription(conditions=[condition("CatalogSourcesUnhealthy")])),
            ASK,
            "pending",
            "OLM-CATALOG",
        ),
        (seen(subscription(conditions=[RESOLUTION])), ASK, "failed", "OLM-RESOLVE"),
        (
            seen(subscription(conditions=[condition("ResolutionFailed", "ErrorPreventedResolution")])),
            ASK,
            "pending",
            "OLM-RESOLVE",
        ),
        (seen(at("", V2), [WAITING]), ASK, "ready", ""),
        (seen(at("", V2), [WAITING]), replace(ASK, approve="never"), "ready", ""),
        (seen(at("", V2), [plan("Installing", V2, approved=True)]), ASK, "pending", "OLM-PENDING"),
        (seen(at("", V2), [plan("Failed", V2, approved=True)]), ASK, "failed", "OLM-PLAN-FAILED"),
        (
            seen(
                at("", V2), [plan("Complete", V2, approved=True)], [csv(V2, "Pending", "RequirementsNotMet")]
            ),
            ASK,
            "pending",
            "OLM-CSV-PENDING",
        ),
        (
            seen(
                at("", V2), [plan("Complete", V2, approved=True)], [csv(V2, "Failed", "InstallCheckFailed")]
            ),
            ASK,
            "failed",
            "OLM-CSV-FAILED",
        ),
        (seen(at("", V2), [plan("Complete", V2, approved=True)], [csv(V2, "Succeeded")]), ASK, "pending", ""),
        (seen(at(V2, V2), [plan("Complete", V2, approved=True)], [csv(V2, "Succeeded")]), ASK, "ready", ""),
        (seen(at(V2, V2), [], [csv(V2, "Succeeded")]), ASK, "ready", ""),
        (seen(at(V2, V2), [], []), ASK, "failed", "OLM-CSV-GONE"),
        (seen(at(V2, V2), [], [csv(V2, "Failed", "ComponentUnhealthy")]), ASK, "pending", "OLM-CSV-PENDING"),
        (seen(at(V2, V2), [], [csv(V2, "Failed", "TooManyOperatorGroups")]), ASK, "failed", "OLM-CSV-FAILED"),
        (seen(at(V2, V2), [], [csv(V2, "Succeeded", "Copied")]), ASK, "failed", "OLM-CSV-GONE"),
        (seen(at(V1, V2), [WAITING], [csv(V1, "Succeeded")]), ASK, "ready", ""),
        (seen(at(V1, V2, conditions=[RESOLUTION]), [WAITING], [csv(V1, "Succeeded")]), ASK, "ready", ""),
        (
            seen(at(V1, V1), [plan("Complete", V1, approved=True)], [csv(V1, "Succeeded")]),
            UPGRADE,
            "pending",
            "OLM-NO-UPGRADE",
        ),
        (
            seen(
                at(V1, V2),
                [plan("Complete", V2, approved=True)],
                [csv(V1, "Replacing"), csv(V2, "Installing")],
            ),
            UPGRADE,
            "pending",
            "OLM-CSV-PENDING",
        ),
        (seen(at(V1, V2), [WAITING], [csv(V1, "Succeeded")]), replace(ASK, csv=V2), "failed", "OLM-VERSION"),
        (seen(at(V2, V2), [], [csv(V2, "Succeeded")]), replace(UPGRADE, csv=V1), "failed", "OLM-VERSION"),
        (seen(at(V2, V2), [], [csv(V2, "Succeeded")]), replace(UPGRADE, csv=V2), "ready", ""),
        (
            seen(at(V1, V1, state="AtLatestKnown"), [], [csv(V1, "Succeeded")]),
            replace(UPGRADE, csv=V2),
            "failed",
            "OLM-NO-UPGRADE",
        ),
        (
            seen(at(V1, V1, state="AtLatestKnown"), [], [csv(V1, "Succeeded")]),
            UPGRADE,
            "pending",
            "OLM-NO-UPGRADE",
        ),
        (
            seen(at(V1, V1, state="AtLatestKnown", conditions=[GONE]), [], [csv(V1, "Succeeded")]),
            replace(UPGRADE, csv=V2),
            "pending",
            "OLM-NO-UPGRADE",
        ),
        (
            seen(at(V1, V2, conditions=[BOTH]), [DONE], [csv(V1, "Replacing"), csv(V2, "Installing")]),
            UPGRADE,
            "pending",
            "OLM-CSV-PENDING",
        ),
        (seen(at(V2, V2, conditions=[BOTH]), [DONE], [csv(V2, "Succeeded")]), UPGRADE, "ready", ""),
        (
            seen(at(V1, V2, conditions=[BOTH]), [DONE], [csv(V1, "Succeeded"), csv(V2, "Installing")]),
            UPGRADE,
            "failed",
            "OLM-RESOLVE",
        ),
        (
            seen(at(V1, V2, conditions=[RESOLUTION]), [DONE], [csv(V1, "Replacing"), csv(V2, "Installing")]),
            UPGRADE,
            "failed",
            "OLM-RESOLVE",
        ),
        (
            seen(at(V1, V3), [plan("RequiresApproval", V3)], [csv(V1, "Succeeded")]),
            PAST,
            "failed",
            "OLM-NO-PATH",
        ),
        (seen(at(V1, V2), [WAITING], [csv(V1, "Succeeded")]), PAST, "ready", ""),
    ],
)
def test_how_far_it_is(snapshot: Snapshot, ask: olm_subscription.Ask, verdict: str, code: str) -> None:
    judged = progress.judge(snapshot, ask)
    assert (judged.verdict, judged.code) == (verdict, code)


def test_the_resolvers_text_is_given_word_for_word() -> None:
    assert RESOLUTION["message"] in progress.judge(seen(subscription(conditions=[RESOLUTION])), ASK).message


def test_the_way_that_exists_is_told() -> None:
    verdict = progress.judge(seen(at(V1, V3), [plan("RequiresApproval", V3)], [csv(V1, "Succeeded")]), PAST)
    assert f"{V1} -> {V3}" in verdict.message
    assert f"Set node_feature_discovery_csv: {V3} (module option csv)" in verdict.remedy
    assert "set node_feature_discovery_channel (module option channel) to v1" in verdict.remedy


def test_that_there_is_no_way_is_believed_after_a_while() -> None:
    now = [0.0]
    judge = progress.Judge(replace(UPGRADE, csv=V2), lambda: now[0])
    stuck = seen(at(V1, V1, state="AtLatestKnown"), [], [csv(V1, "Succeeded")])
    for second, verdict in [(0, "pending"), (59, "pending"), (60, "failed")]:
        now[0] = second
        assert judge(stuck).verdict == verdict


def test_olm_is_made_to_look_again_once_after_each_csv() -> None:
    ours, csvs = at(V1, V1, state="AtLatestKnown", conditions=[GONE]), [csv(V1, "Succeeded")]
    assert not progress.is_forgotten(seen(ours, [], csvs), UPGRADE), (
        "somebody else's Subscription is not written to"
    )
    ours["metadata"]["labels"] = OURS
    assert progress.is_forgotten(seen(ours, [], csvs), UPGRADE)
    assert progress.judge(seen(ours, [], csvs), UPGRADE).reason == "AskAgain"
    assert not progress.is_forgotten(seen(ours, [], csvs), replace(ASK, csv=V2)), "no upgrade is approved"
    assert not progress.is_forgotten(seen(ours, [], csvs), replace(UPGRADE, csv=V1)), (
        "it is where it should be"
    )
    assert not progress.is_forgotten(seen(ours, [], csvs), replace(UPGRADE, csv="nfd.v0.9.9")), (
        "OLM does not downgrade"
    )
    assert not progress.is_forgotten(seen(ours, [], [*csvs, csv("nfd.v0.9.0", "Replacing")]), UPGRADE), (
        "OLM will look when that has gone"
    )
    ours["metadata"]["annotations"] = {progress.ASKED_AGAIN: V1}
    assert not progress.is_forgotten(seen(ours, [], csvs), UPGRADE)
    assert progress.judge(seen(ours, [], csvs), UPGRADE).code == "OLM-NO-UPGRADE"


def test_the_resolver_is_believed_when_it_insists() -> None:
    now = [0.0]
    judge = progress.Judge(ASK, lambda: now[0])
    complaint, calm = seen(subscription(conditions=[RESOLUTION])), seen(subscription())
    other = seen(subscription(conditions=[RESOLUTION | {"message": "something else"}]))
    for second, snapshot, verdict in [
        (0, complaint, "pending"),
        (9, complaint, "pending"),
        (9.5, calm, "pending"),
        (12, complaint, "pending"),
    ]:
        now[0] = second
        assert judge(snapshot).verdict == verdict
    for second, snapshot, verdict in [(21, other, "pending"), (30, other, "pending"), (31, other, "failed")]:
        now[0] = second
        assert (judge(snapshot).verdict, judge(snapshot).code) == (verdict, "OLM-RESOLVE")


def test_unmet_requirements_are_evidence() -> None:
    unmet: list[dict[str, t.Any]] = [
        {
            "kind": "ServiceAccount",
            "name": "nfd",
            "status": "NotPresent",
            "message": "Service account does not exist",
        }
    ]
    rules = [
        {"kind": "PolicyRule", "status": "NotSatisfied", "message": f"rule {number}"} for number in range(9)
    ]
    unmet.append(
        {"kind": "ServiceAccount", "name": "worker", "status": "PresentNotSatisfied", "dependents": rules}
    )
    broken = csv(
        V2,
        "Pending",
        "RequirementsNotMet",
        requirementStatus=[*unmet, {"kind": "CRD", "name": "x", "status": "Present"}],
    )
    judged = progress.judge(seen(at("", V2), [plan("Complete", V2, approved=True)], [broken]), ASK)
    assert judged.details == ("ServiceAccount nfd: NotPresent (Service account does not exist)",)


def test_an_approved_plan_is_enough_for_a_task_that_does_not_wait_for_the_operator() -> None:
    judges = [progress.Judge(ASK, lambda: 0.0, is_approval_enough=enough) for enough in (False, True)]
    waiting = seen(at("", V2), [WAITING])
    approved = seen(at("", V2), [plan("Installing", V2, approved=True)])
    assert [judge(waiting).reason for judge in judges] == ["Approve", "Approve"]
    assert [judge(approved).verdict for judge in judges] == ["pending", "ready"]
