"""Subscriptions: one for each package, its manifest, foreign ones, and the facts of a task."""

from __future__ import annotations

from dataclasses import replace

import pytest
from unit.olm.builders import ASK, V1, V2, WAITING, Object, at, condition, csv, params, seen, subscription

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    subscription as olm_subscription,
)


def test_deprecations_are_told_in_olms_words() -> None:
    live = at(
        V2,
        V2,
        conditions=[
            condition("ChannelDeprecated", "", "use channel v2"),
            condition("Deprecated", "", "both"),
            condition("BundleDeprecated", "", "old"),
        ],
    )
    assert olm_subscription.warnings(live) == [
        "Channel stable is deprecated: use channel v2",
        f"CSV {V2} is deprecated: old",
    ]
    assert olm_subscription.warnings(subscription()) == []


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({}, True),
        ({"approve": "install"}, False),
        ({"channel": "stable"}, False),
        ({"installed": V2}, False),
        ({"installed": "nfd.v1.2.0"}, False),
        ({"installed": ""}, False),
        ({"skips": ">=1.0.0 <1.1.0"}, False),
        ({"skips": ">=1.0.1 <1.1.0"}, True),
    ],
)
def test_a_channel_without_a_way_from_what_is_installed_is_refused(
    change: dict[str, str], refused: bool
) -> None:
    given = {"approve": "upgrade", "channel": "v1.1", "installed": V1, "skips": "", **change}
    annotations = {"olm.skipRange": given["skips"]} if given["skips"] else {}
    described = {"version": "1.1.0", "annotations": annotations}
    channels = [
        {
            "name": name,
            "currentCSV": V2,
            "currentCSVDesc": described,
            "entries": [{"name": one} for one in entries],
        }
        for name, entries in (("stable", [V2, V1]), ("v1.1", [V2]))
    ]
    offer = {"metadata": {"name": "nfd"}, "status": {"packageName": "nfd", "channels": channels}}
    ask = replace(ASK, approve=given["approve"], channel=given["channel"])
    live = at(given["installed"], given["installed"])
    if not refused:
        olm_subscription.refuse_unreachable(ask, live, offer)
        return
    with pytest.raises(AcceleratorError, match=f"does not lead to {V2}: it does not hold {V1}") as caught:
        olm_subscription.refuse_unreachable(ask, live, offer)
    assert caught.value.code == "OLM-NO-PATH"
    assert "node_feature_discovery_channel (module option channel) to stable, which has both" in (
        caught.value.remedy
    )


def test_the_approval_is_a_wish_of_the_subscription() -> None:
    for approval in ("Automatic", "Manual"):
        ask = olm_subscription.ask(params(approval=approval), at(V1, V1), None)
        assert olm_subscription.build(ask, "n", None)["spec"]["installPlanApproval"] == approval


@pytest.mark.parametrize("approve", ["install", "upgrade"])
def test_with_automatic_approval_the_task_approves_nothing(approve: str) -> None:
    automatic = replace(ASK, approve=approve, approval="Automatic")
    for live in (at("", V1), at(V1, V2)):
        assert olm_subscription.plan_to_approve(seen(live, [WAITING]), automatic) is None
    assert olm_subscription.plan_to_approve(seen(at("", V1), [WAITING]), replace(ASK)) == WAITING


@pytest.mark.parametrize(
    ("live", "approval", "settled"),
    [("Manual", "Manual", True), ("Automatic", "Automatic", True), ("Manual", "Automatic", False)],
)
def test_a_new_automatic_approval_reads_the_catalogue(live: str, approval: str, settled: bool) -> None:
    found = at(V2, V2)
    found["spec"]["installPlanApproval"] = live
    given = params(approval=approval)
    assert olm_subscription.is_installed(found, given) is settled
    assert olm_subscription.leads_on(found, given) is not settled


@pytest.mark.parametrize("given", [{"csv": V1}, {"approve": "never"}])
def test_automatic_approval_keeps_no_release(given: dict[str, str]) -> None:
    olm_subscription.refuse_contradiction(params(**given))
    with pytest.raises(AcceleratorError, match=r"approval.* is Automatic") as caught:
        olm_subscription.refuse_contradiction(params(approval="Automatic", **given))
    assert caught.value.code == "INPUT-VALUE"
    assert "node_feature_discovery_approval: Manual (module option approval)" in caught.value.remedy


def test_summary_tells_of_an_upgrade() -> None:
    facts = olm_subscription.summarize(
        seen(at(V1, V2, state="UpgradePending"), [WAITING], [csv(V1, "Succeeded")])
    )
    assert (
        facts
        | {
            "install_plan": "p",
            "csv": V1,
            "version": "1.0.0",
            "phase": "Succeeded",
            "upgrade_available": V2,
            "state": "UpgradePending",
        }
        == facts
    )


@pytest.mark.parametrize(
    ("subscriptions", "words"),
    [
        (
            [subscription(), subscription("again")],
            "has Subscription nfd in namespace openshift-nfd, Subscription again in",
        ),
        ([subscription(namespace="elsewhere")], "has Subscription nfd in namespace elsewhere already"),
    ],
)
def test_one_subscription_a_package(subscriptions: list[Object], words: str) -> None:
    with pytest.raises(AcceleratorError, match=words):
        olm_subscription.subscribed(subscriptions, "nfd", "openshift-nfd")


def test_other_packages_do_not_matter() -> None:
    others = [subscription(package="other", namespace="elsewhere"), subscription("other", package="other")]
    assert olm_subscription.subscribed(others, "nfd", "openshift-nfd") is None
    assert olm_subscription.subscribed([*others, subscription()], "nfd", "openshift-nfd") == subscription()


@pytest.mark.parametrize(
    ("change", "settled"),
    [
        ({}, True),
        ({"channel": "stable"}, True),
        ({"channel": "v2"}, False),
        ({"approve": "upgrade"}, False),
        ({"csv": V2}, True),
        ({"csv": V1}, False),
    ],
)
def test_a_second_run_need_not_read_the_catalogue(change: Object, settled: bool) -> None:
    assert olm_subscription.is_installed(at(V2, V2), params(**change)) is settled
    assert not olm_subscription.is_installed(None, params(**change))


def test_a_starting_csv_is_kept_as_it_was() -> None:
    ask = replace(ASK, channel="stable", catalog=("c", "m"), csv=V1)
    assert olm_subscription.build(ask, "n", None)["spec"]["startingCSV"] == V1
    assert "startingCSV" not in olm_subscription.build(ask, "n", subscription())["spec"]


def test_somebody_elses_subscription() -> None:
    same, other = (
        olm_subscription.build(
            replace(ASK, channel="stable", catalog=("redhat-operators", "openshift-marketplace")), "n", None
        ),
        subscription(),
    )
    assert "was not changed" in olm_subscription.check_foreign(other, same)
    with pytest.raises(AcceleratorError, match=r"channel: stable \(asked: v2\)"):
        olm_subscription.check_foreign(other, {"spec": same["spec"] | {"channel": "v2"}})


def test_the_manager_of_somebody_elses_subscription_is_named() -> None:
    live = subscription()
    live["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": "gpu:x"}
    wanted = {"spec": live["spec"] | {"channel": "v2"}}
    with pytest.raises(AcceleratorError, match=r"created by Argo CD \(gpu\)") as caught:
        olm_subscription.check_foreign(live, wanted)
    assert "adopt" not in caught.value.remedy
    assert "Argo CD" in olm_subscription.check_foreign(live, {"spec": live["spec"]})


def test_the_operators_own_pods_get_the_config_that_is_asked_for() -> None:
    config = {"nodeSelector": {"node-role.kubernetes.io/infra": ""}, "env": [{"name": "HTTPS_PROXY"}]}
    ask = replace(ASK, channel="stable", catalog=("c", "m"))
    assert olm_subscription.build(ask, "n", None, config)["spec"]["config"] == config
    assert "config" not in olm_subscription.build(ask, "n", None)["spec"]
