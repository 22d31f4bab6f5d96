"""OLM: which InstallPlan is ours to approve, and how far an installation is."""

from __future__ import annotations

import typing as t
from dataclasses import replace

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    plans as olm_plans,
    progress,
    removal,
    subscription as olm_subscription,
)

Object = dict[str, t.Any]
V1, V2 = "nfd.v1.0.0", "nfd.v1.1.0"
OURS = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
ASK = olm_subscription.Ask("nfd", path=frozenset({V1, V2}), head=V2)


def subscription(
    name: str = "nfd",
    namespace: str = "openshift-nfd",
    package: str = "nfd",
    conditions: t.Sequence[Object] = (),
    **status: t.Any,
) -> Object:
    spec = {
        "name": package,
        "channel": "stable",
        "source": "redhat-operators",
        "sourceNamespace": "openshift-marketplace",
    }
    metadata = {"name": name, "namespace": namespace, "uid": f"{namespace}/{name}"}
    return {
        "kind": "Subscription",
        "metadata": metadata,
        "spec": spec,
        "status": {**status, "conditions": list(conditions)},
    }


def at(installed: str, current: str, plan: str = "p", **more: t.Any) -> Object:
    return subscription(installedCSV=installed, currentCSV=current, installPlanRef={"name": plan}, **more)


def condition(kind: str, reason: str = "", message: str = "") -> Object:
    return {"type": kind, "status": "True", "reason": reason, "message": message}


def plan(phase: str, *csvs: str, approved: bool = False, name: str = "p") -> Object:
    return {
        "metadata": {"name": name, "namespace": "n"},
        "spec": {"clusterServiceVersionNames": list(csvs), "approved": approved},
        "status": {"phase": phase},
    }


def csv(name: str, phase: str, reason: str = "", **status: t.Any) -> Object:
    metadata = {
        "name": name,
        "namespace": "openshift-nfd",
        "uid": name,
        "labels": {"operators.coreos.com/nfd.openshift-nfd": ""},
    }
    return {
        "kind": "ClusterServiceVersion",
        "metadata": metadata,
        "spec": {"version": name[-5:]},
        "status": {"phase": phase, "reason": reason, **status},
    }


def seen(
    live: Object | None, plans: t.Sequence[Object] = (), csvs: t.Sequence[Object] = ()
) -> olm_subscription.Snapshot:
    return {"subscription": [live] if live else [], "plans": plans, "csvs": csvs}


WAITING = plan("RequiresApproval", V2)
BOTH = condition(
    "ResolutionFailed",
    "ConstraintsNotSatisfiable",
    f"constraints not satisfiable: @existing/n//{V1} and @existing/n//{V2} originate from nfd, x",
)
GONE = condition(
    "ResolutionFailed",
    "ConstraintsNotSatisfiable",
    "constraints not satisfiable: @existing/n//nfd.v0.9.0 and y",
)
DONE = plan("Complete", V2, approved=True)
UPGRADE = replace(ASK, approve="upgrade")
V3 = "nfd.v1.2.0"
PAST = replace(UPGRADE, csv=V2, channel="stable", held=frozenset({V1, V2, V3}), leading=("v1",))
RESOLUTION = condition(
    "ResolutionFailed",
    "ConstraintsNotSatisfiable",
    "constraints not satisfiable: no operators found in channel x",
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
    assert olm_plans.foreign_names(plan("RequiresApproval", *csvs), ASK.path, allowed) == foreign


def test_the_refusal_lists_what_is_foreign() -> None:
    verdict = progress.judge(seen(at("", V2), [plan("RequiresApproval", V2, "mesh.v2.1.0")]), ASK)
    assert (verdict.verdict, verdict.code) == ("failed", "OLM-FOREIGN-CSV")
    assert "mesh.v2.1.0: not asked for" in verdict.details
    with pytest.raises(NotReadyError, match="mesh"):
        progress.check(seen(at("", V2)), plan("RequiresApproval", V2, "mesh.v2.1.0"), ASK)


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
        (seen(at("", V2), [plan("Installing", V2, approved=True)]), ASK, "pending", "OLM-PLAN-PENDING"),
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
def test_how_far_it_is(
    snapshot: olm_subscription.Snapshot, ask: olm_subscription.Ask, verdict: str, code: str
) -> None:
    judged = progress.judge(snapshot, ask)
    assert (judged.verdict, judged.code) == (verdict, code)


def test_the_resolvers_text_is_given_word_for_word() -> None:
    assert RESOLUTION["message"] in progress.judge(seen(subscription(conditions=[RESOLUTION])), ASK).message


def test_the_way_that_exists_is_told() -> None:
    verdict = progress.judge(seen(at(V1, V3), [plan("RequiresApproval", V3)], [csv(V1, "Succeeded")]), PAST)
    assert f"{V1} -> {V3}" in verdict.message
    assert "set channel to v1" in verdict.remedy


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
    assert olm_subscription.remarks(live) == [
        "Channel stable is deprecated: use channel v2",
        f"CSV {V2} is deprecated: old",
    ]
    assert olm_subscription.remarks(subscription()) == []


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
        ([subscription(), subscription("again")], "has 2 Subscriptions to nfd"),
        ([subscription(namespace="elsewhere")], "already subscribed to in namespace elsewhere"),
    ],
)
def test_one_subscription_a_package(subscriptions: list[Object], words: str) -> None:
    with pytest.raises(AcceleratorError, match=words):
        olm_subscription.subscribed(subscriptions, "nfd", "openshift-nfd")


def test_other_packages_do_not_matter() -> None:
    others = [subscription(package="other", namespace="elsewhere"), subscription("other", package="other")]
    assert olm_subscription.subscribed(others, "nfd", "openshift-nfd") is None
    assert olm_subscription.subscribed([*others, subscription()], "nfd", "openshift-nfd") == subscription()


PARAMS: Object = {
    "name": "nfd",
    "approve": "install",
    "csv": None,
    "channel": None,
    "source": None,
    "allow_csvs": [],
}
PARAMS |= {"source_namespace": "openshift-marketplace"}


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
    assert olm_subscription.is_installed(at(V2, V2), PARAMS | change) is settled
    assert not olm_subscription.is_installed(None, PARAMS | change)


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
    assert "left as it is" in olm_subscription.check_foreign(other, same)
    with pytest.raises(AcceleratorError, match=r"channel: stable \(asked: v2\)"):
        olm_subscription.check_foreign(other, {"spec": same["spec"] | {"channel": "v2"}})


def test_the_manager_of_somebody_elses_subscription_is_named() -> None:
    live = subscription()
    live["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": "gpu:x"}
    wanted = {"spec": live["spec"] | {"channel": "v2"}}
    with pytest.raises(AcceleratorError, match=r"made by Argo CD \(gpu\)") as caught:
        olm_subscription.check_foreign(live, wanted)
    assert "adopt" not in caught.value.remedy
    assert "Argo CD" in olm_subscription.check_foreign(live, {"spec": live["spec"]})


def test_csvs_go_only_with_our_subscription() -> None:
    found = [
        csv(V2, "Succeeded"),
        csv("other.v1", "Succeeded") | {"metadata": {"name": "other.v1", "uid": "o"}},
        csv(V1, "Succeeded", "Copied"),
    ]
    home = {"metadata": {"labels": OURS}}
    assert [one["metadata"]["name"] for one in removal.csvs(at(V2, V2), None, found, "nfd")] == [V2]
    assert removal.csvs(None, {"metadata": {}}, found, "nfd") == []
    assert [one["metadata"]["name"] for one in removal.csvs(None, home, found, "nfd")] == [V2]
    going = {**found[0], "metadata": {**found[0]["metadata"], "deletionTimestamp": "2026-11-22T00:00:00Z"}}
    assert removal.csvs(None, {"metadata": {}}, [going], "nfd") == [going], (
        "somebody's namespace, but there is something to wait for"
    )
    assert removal.others([subscription()], found, [subscription(), found[0]]) == [
        "ClusterServiceVersion other.v1"
    ]


def test_custom_resources_keep_an_operator() -> None:
    policy = {"kind": "ClusterPolicy", "metadata": {"name": "gpu-cluster-policy"}}
    with pytest.raises(AcceleratorError, match="ClusterPolicy gpu-cluster-policy"):
        removal.check_unused([policy], "gpu-operator-certified")
    removal.check_unused([{"kind": "NodeFeature", "metadata": {"name": "n", "ownerReferences": [{}]}}], "nfd")


def test_a_csv_that_is_held_names_what_holds_it() -> None:
    held = csv(
        V2,
        "Deleting",
        cleanup={
            "pendingDeletion": [
                {
                    "group": "nvidia.com",
                    "kind": "ClusterPolicy",
                    "instances": [{"name": "gpu-cluster-policy"}],
                }
            ]
        },
    )
    held["metadata"]["finalizers"] = ["operators.coreos.com/csv-cleanup"]
    judge = removal.judge_leaving(held)
    assert "csv-cleanup" in judge({"csvs": [held]}).message
    assert "OLM waits for ClusterPolicy gpu-cluster-policy" in judge({"csvs": [held]}).message
    assert "whether OLM runs" in judge({"csvs": [held]}).remedy
    theirs = {**held, "metadata": {**held["metadata"], "finalizers": ["example.com/audit"]}}
    assert "the owner of example.com/audit has to remove it" in judge({"csvs": [theirs]}).remedy
    assert judge({"csvs": []}).is_ready
    assert judge({"csvs": [{**held, "metadata": {**held["metadata"], "uid": "another"}}]}).is_ready


def test_crds_of_an_operator() -> None:
    spec = {
        "customresourcedefinitions": {
            "owned": [{"name": "things.example.com", "version": "v1", "kind": "Thing"}]
        }
    }
    labelled = [{"metadata": {"name": "others.example.com"}}, {"metadata": {"name": "things.example.com"}}]
    assert removal.crd_names([{"spec": spec}], labelled) == ["others.example.com", "things.example.com"]
    assert removal.label("nfd", "openshift-nfd") == "operators.coreos.com/nfd.openshift-nfd"
    assert removal.label("n" * 40, "s" * 40) is None
    marks = {
        "operators.coreos.com/nfd.openshift-nfd": "",
        "operators.coreos.com/other.elsewhere": "",
        "olm.managed": "true",
    }
    assert removal.shared_with({"metadata": {"labels": marks}}, "nfd") == ["other.elsewhere"]


def test_crds_stay_while_somebodys_objects_are_left() -> None:
    theirs = {"kind": "Thing", "metadata": {"name": "one", "namespace": "n"}}
    owned = {"kind": "Thing", "metadata": {"name": "two", "namespace": "n", "ownerReferences": [{}]}}
    leaving = {"kind": "Thing", "metadata": {"name": "three", "deletionTimestamp": "2026-11-21T10:00:00Z"}}
    assert removal.judge_empty({"things": []}).is_ready
    assert removal.judge_empty({"things": [owned, leaving]}).verdict == "pending"
    verdict = removal.judge_empty({"things": [owned, theirs]})
    assert (verdict.verdict, verdict.code, verdict.details) == ("failed", "OLM-CRDS", ("Thing n/one",))
    with pytest.raises(NotReadyError, match="n/one"):
        removal.check_empty({"things": [theirs]})


def test_a_namespace_with_somebodys_things_stays() -> None:
    theirs = {"kind": "ConfigMap", "metadata": {"name": "theirs"}}
    contents = [
        theirs,
        {"kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"}},
        {"kind": "Pod", "metadata": {"name": "p", "ownerReferences": [{}]}},
        {
            "kind": "Secret",
            "metadata": {"name": "s", "annotations": {"kubernetes.io/service-account.name": "default"}},
        },
        {"kind": "Service", "metadata": {"name": "s", "labels": {"olm.managed": "true"}}},
        {"kind": "ConfigMap", "metadata": {"name": "ours", "labels": OURS}},
    ]
    assert removal.foreign_objects(contents) == ["ConfigMap theirs"]
