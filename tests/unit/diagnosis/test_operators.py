# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layer operators: what OLM and the operators' pods say, and nodes without a stack."""

from __future__ import annotations

import typing as t

import pytest
from unit.diagnosis.builders import calls
from unit.diagnosis.seen_builders import (
    CSV,
    GPU,
    NFD,
    NFD_CSV,
    NOW,
    Object,
    catalog,
    condition,
    crashing,
    csv,
    obj,
    pod,
    seen,
    subscription,
    without,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import model, operators
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Seen, Trouble

OPERATOR = "gpu-operator-certified"


def judged(found: Seen) -> list[Trouble]:
    return list(operators.judge(found))


def the(found: Seen) -> Trouble:
    (trouble,) = judged(found)
    return trouble


def wanted(found: Seen) -> list[str]:
    return [*operators.more(found)]


def installing(*more: Object, **objects: list[Object]) -> Seen:
    """Return a cluster on which OLM has not installed the GPU operator yet. more: conditions."""
    live = subscription(OPERATOR, GPU, conditions=list(more))
    return without(
        seen(subscriptions=[live], policies=[], pods=[], daemonsets=[], nodes=[], **objects), "csvs"
    )


class TestInOrder:
    def test_a_cluster_that_works_has_no_trouble_and_two_requests_more(self) -> None:
        assert judged(seen()) == []
        assert wanted(without(seen(), "CSV")) == [f"CSV {GPU}/{CSV}", f"CSV {NFD}/{NFD_CSV}"]
        assert list(operators.notes(seen())) == []

    def test_with_a_nic_stack_there_is_no_request_more(self) -> None:
        assert wanted(without(seen(nics=[obj("nic")]), "CSV")) == []

    @pytest.mark.parametrize("absent", ["subscriptions", "catalogs"])
    def test_a_cluster_without_olm_is_in_order(self, absent: str) -> None:
        assert judged(seen(**{absent: []})) == []

    def test_other_subscriptions_are_not_judged(self) -> None:
        others = [subscription("argocd", "gitops", conditions=[condition("ResolutionFailed")])]
        assert judged(seen(subscriptions=others)) == []

    def test_an_upgrade_that_waits_for_an_approval_is_a_note(self) -> None:
        live = subscription(OPERATOR, GPU, CSV, currentCSV="v2", installPlanRef={"name": "p"})
        plan = obj("p", GPU, spec={}, status={"phase": "RequiresApproval"})
        found = seen(subscriptions=[live, subscription("nfd", NFD, NFD_CSV)], plans=[plan])
        assert judged(found) == []
        assert list(operators.notes(found)) == [
            f"Subscription {GPU}/{OPERATOR}: the upgrade to v2 waits for your approval"
        ]

    def test_a_complaint_about_the_upgrade_of_a_working_operator_is_a_note(self) -> None:
        complaint = condition("ResolutionFailed", "ConstraintsNotSatisfiable", "no operators found")
        live = subscription(OPERATOR, GPU, CSV, conditions=[complaint])
        found = seen(subscriptions=[live, subscription("nfd", NFD, NFD_CSV)])
        assert judged(found) == []
        (note,) = operators.notes(found)
        assert f"{CSV} works, and gets no upgrade" in note
        assert "no operators found" in note

    def test_a_catalogue_that_is_down_is_a_note(self) -> None:
        found = seen(catalogs=[catalog("TRANSIENT_FAILURE")])
        assert judged(found) == []
        assert [note for note in operators.notes(found) if "redhat-operators does not answer" in note]

    def test_an_nfd_that_olm_does_not_keep_is_a_note(self) -> None:
        found = seen(subscriptions=[subscription(OPERATOR, GPU, CSV)])
        assert judged(found) == []
        assert [note for note in operators.notes(found) if note.startswith("no Subscription to nfd")]

    def test_a_catalogue_of_another_namespace_is_read(self) -> None:
        live = subscription(OPERATOR, GPU)
        live["spec"]["sourceNamespace"] = "mirrors"
        query = operators.more(seen(subscriptions=[live]))["catalogs of mirrors"]
        assert (query.kind.kind, query.namespace) == ("CatalogSource", "mirrors")

    def test_a_csv_that_may_not_be_read_is_no_trouble(self) -> None:
        live = subscription(OPERATOR, GPU, CSV, conditions=[condition("ResolutionFailed")])
        found = without(seen(subscriptions=[live]), "CSV")
        found.unread[f"CSV {GPU}/{CSV}"] = "API-FORBIDDEN: no"
        assert judged(found) == []

    def test_an_upgrade_that_runs_is_in_progress(self) -> None:
        live = subscription(OPERATOR, GPU, CSV, currentCSV="v2", installPlanRef={"name": "p"})
        plan = obj("p", GPU, spec={"approved": True}, status={"phase": "Complete"})
        csvs = [csv(CSV, GPU, "Replacing"), csv("v2", GPU, "Installing", lastTransitionTime=NOW)]
        trouble = the(seen(subscriptions=[live], plans=[plan], csvs=csvs, groups=[obj("g", GPU)]))
        assert (trouble.code, trouble.is_busy) == ("OLM-CSV-PENDING", True)


class TestNotInstalled:
    def test_two_operator_groups_come_before_what_olm_says(self) -> None:
        groups = [obj("ours", GPU), obj("theirs", GPU)]
        groups[0]["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
        failed = csv(
            CSV, GPU, "Failed", reason="TooManyOperatorGroups", lastTransitionTime="2026-11-27T08:00:00Z"
        )
        trouble = the(seen(csvs=[failed, csv(NFD_CSV, NFD)], groups=groups))
        assert (trouble.code, trouble.is_busy) == ("OLM-GROUP", False)
        assert "there are 2 (ours, theirs)" in trouble.message
        assert trouble.remedy == f"Run `oc delete operatorgroup theirs -n {GPU}`. No pod ends."
        assert any("TooManyOperatorGroups" in line for line in trouble.evidence)
        assert trouble.since == "2026-11-27T08:00:00Z"

    def test_a_failed_csv_leads_to_more_requests(self) -> None:
        assert wanted(seen(csvs=[csv(CSV, GPU, "Failed"), csv(NFD_CSV, NFD)])) == [
            f"CSV {GPU}/{CSV}",
            f"groups of {GPU}",
            f"CSV {NFD}/{NFD_CSV}",
        ]

    def test_no_operator_group(self) -> None:
        trouble = the(installing(**{f"groups of {GPU}": []}))
        assert trouble.code == "OLM-GROUP"
        assert "enable_gpus.yml" in trouble.remedy

    @pytest.mark.parametrize(
        ("catalogs", "hub", "why"),
        [
            ([catalog("TRANSIENT_FAILURE")], [], "redhat-operators (TRANSIENT_FAILURE)"),
            ([catalog(name="mirror")], [], "there is no CatalogSource redhat-operators"),
            ([], [{"disableAllDefaultSources": True}], "disableAllDefaultSources is true"),
        ],
    )
    def test_the_catalogue_does_not_serve(self, catalogs: list[Object], hub: list[Object], why: str) -> None:
        found = installing(
            catalogs=catalogs, groups=[obj("g", GPU)], hub=[obj("cluster", spec=one) for one in hub]
        )
        trouble = the(found)
        assert trouble.code == "OLM-CATALOG"
        assert why in trouble.message
        assert trouble.explains == operators._PACKAGES[OPERATOR][1]

    def test_the_resolver_fails(self) -> None:
        said = "no operators found in channel v9 of package gpu-operator-certified"
        bad = condition("ResolutionFailed", "ConstraintsNotSatisfiable", said)
        trouble = the(installing(bad, groups=[obj("g", GPU)]))
        assert (trouble.code, trouble.is_busy) == ("OLM-RESOLVE", False)
        assert said in trouble.message

    def test_a_complaint_of_a_moment_ago_may_pass(self) -> None:
        bad = condition("ResolutionFailed", "ConstraintsNotSatisfiable", "x", NOW)
        assert the(installing(bad, groups=[obj("g", GPU)])).is_busy

    def test_a_first_plan_without_approval(self) -> None:
        live = subscription(OPERATOR, GPU, currentCSV=CSV, installPlanRef={"name": "install-1"})
        spec = {"clusterServiceVersionNames": [CSV]}
        plan = obj("install-1", GPU, spec=spec, status={"phase": "RequiresApproval"})
        trouble = the(_with(live, plan))
        assert trouble.code == "OLM-PENDING"
        assert f"oc patch installplan install-1 -n {GPU} --type merge" in trouble.remedy
        assert not trouble.is_busy

    def test_a_plan_that_brings_more_than_was_asked(self) -> None:
        live = subscription(OPERATOR, GPU, currentCSV=CSV, installPlanRef={"name": "install-1"})
        spec = {"clusterServiceVersionNames": [CSV, "kernel-module-management.v2"]}
        plan = obj("install-1", GPU, spec=spec, status={"phase": "RequiresApproval"})
        trouble = the(_with(live, plan))
        assert trouble.code == "OLM-FOREIGN-CSV"
        assert "kernel-module-management.v2" in trouble.message

    def test_a_bundle_that_cannot_be_unpacked_names_job_and_image(self) -> None:
        bad = condition("BundleUnpackFailed", "BundleUnpackFailed", "Bundle unpacking failed")
        template = {
            "initContainers": [{"name": "pull", "image": "mirror/bundle@sha256:1"}],
            "containers": [{"name": "extract"}],
        }
        job = obj("c0ffee", "openshift-marketplace", spec={"template": {"spec": template}}, status={})
        found = installing(bad, groups=[obj("g", GPU)])
        assert wanted(found)[-2:] == ["jobs", "job_pods"]
        found.objects["jobs"] = [job]
        trouble = the(found)
        assert trouble.code == "OLM-UNPACK"
        assert "mirror/bundle@sha256:1" in trouble.message
        assert "oc delete job c0ffee -n openshift-marketplace" in trouble.remedy

    def test_a_failed_csv_says_reason_and_message(self) -> None:
        bad = csv(CSV, GPU, "Failed", reason="InstallCheckFailed", message="deployment exceeded its deadline")
        trouble = the(seen(csvs=[bad, csv(NFD_CSV, NFD)], groups=[obj("g", GPU)]))
        assert trouble.code == "OLM-CSV-FAILED"
        assert "InstallCheckFailed" in trouble.message
        assert "exceeded its deadline" in trouble.message

    def test_the_csv_was_deleted(self) -> None:
        trouble = the(seen(csvs=[csv(CSV, GPU)], groups=[obj("g", NFD)], **{f"CSV {NFD}/{NFD_CSV}": []}))
        assert (trouble.code, trouble.explains) == ("OLM-CSV-GONE", (model.NFD,))

    def test_the_operator_of_nfd_explains_labels_alone(self) -> None:
        lives = [subscription("nfd", NFD), subscription(OPERATOR, GPU, CSV)]
        trouble = the(seen(subscriptions=lives, groups=[obj("g", NFD)]))
        assert trouble.explains == (model.NFD,)
        assert trouble.about == f"Subscription {NFD}/nfd"


def _with(live: Object, plan: Object) -> Seen:
    found = installing(groups=[obj("g", GPU)], plans=[plan])
    found.objects["subscriptions"] = [live]
    return found


class TestOwnPods:
    def test_memory_is_said_with_the_setting_that_gives_more(self) -> None:
        states = crashing("OOMKilled", 137)
        found = seen(pods=[pod("gpu-operator-1-x", GPU, False, containerStatuses=states)])
        trouble = the(found)
        assert trouble.code == "OLM-OPERATOR-DOWN"
        assert "7 restarts: it ended as OOMKilled; exit code 137" in trouble.message
        assert "gpu_operator_config: {resources: {limits: {memory: 2Gi}}}" in trouble.remedy
        assert trouble.log == (GPU, "gpu-operator-1-x", "main")
        line = "2026-11-28T11:58:00Z: gpu-operator-1-x ended: OOMKilled, exit code 137"
        assert trouble.evidence == (line,)

    def test_a_crash_comes_before_what_olm_says(self) -> None:
        states = crashing("Error", 1)
        found = seen(
            pods=[pod("gpu-operator-1-x", GPU, False, containerStatuses=states)],
            csvs=[csv(CSV, GPU, "Installing", lastTransitionTime=NOW), csv(NFD_CSV, NFD)],
        )
        assert the(found).remedy == f"Run `oc logs gpu-operator-1-x -n {GPU} -c main --previous`."

    def test_a_pod_that_starts_is_no_trouble(self) -> None:
        assert judged(seen(pods=[pod("gpu-operator-1-x", GPU, False, NOW)])) == []

    def test_a_second_pod_that_runs_is_enough(self) -> None:
        bad = pod("gpu-operator-1-x", GPU, False, containerStatuses=crashing("Error", 1))
        assert judged(seen(pods=[bad, pod("gpu-operator-2-y", GPU)])) == []

    def test_what_olm_says_comes_before_a_missing_pod(self) -> None:
        bad = csv(CSV, GPU, "Failed", reason="InstallCheckFailed")
        assert (
            the(seen(pods=[], csvs=[bad, csv(NFD_CSV, NFD)], groups=[obj("g", GPU)])).code == "OLM-CSV-FAILED"
        )


def bare(name: str, **labels: str) -> Object:
    found = obj(name, status={"allocatable": {"cpu": "4"}})
    found["metadata"]["labels"] = labels or {"accelerators.openshift/pool": "training"}
    return found


class TestNoStack:
    def test_nodes_that_should_have_gpus(self) -> None:
        nodes = [bare(f"gpu-{number}") for number in range(5)]
        found = seen(nodes=nodes, policies=[], daemonsets=[], pods=[], subscriptions=[])
        trouble = the(found)
        assert trouble.code == "GPU-NO-STACK"
        assert "5 nodes (gpu-0, gpu-1, gpu-2, …)" in trouble.message
        assert wanted(found) == ["classes"]

    @pytest.mark.parametrize(
        "more",
        [
            {"modules": [obj("amdgpu")]},
            {"classes": [obj("gpu.nvidia.com")]},
            {"clusters": [{"kind": "GPUCluster", **obj("gpu")}]},
        ],
    )
    def test_something_else_brings_the_driver(self, more: dict[str, list[Object]]) -> None:
        usual: dict[str, t.Any] = {"nodes": [bare("gpu-0")], "policies": [], "daemonsets": [], "nfd": []}
        assert judged(seen(pods=[], subscriptions=[], **{**usual, **more})) == []

    def test_a_node_that_offers_devices_is_served(self) -> None:
        node = bare("fpga-0")
        node["status"]["allocatable"]["fpga.example.com/card"] = "1"
        assert judged(seen(nodes=[node], policies=[], daemonsets=[], pods=[], subscriptions=[])) == []

    def test_a_policy_that_may_not_be_read_is_not_missed(self) -> None:
        found = seen(nodes=[bare("gpu-0")], policies=[], daemonsets=[], pods=[], subscriptions=[])
        found.unread["policies"] = "API-FORBIDDEN: no"
        assert judged(found) == []

    def test_no_node_is_a_note(self) -> None:
        found = seen(nodes=[], policies=[], daemonsets=[], pods=[], subscriptions=[])
        assert judged(found) == []
        assert list(operators.notes(found)) == [
            "no node has a GPU or belongs to a pool, as far as its labels tell"
        ]


def test_ten_times_the_nodes_are_ten_times_the_work() -> None:
    def work(number: int) -> int:
        nodes = [bare(f"gpu-{one}") for one in range(number)]
        found = seen(nodes=nodes, policies=[], daemonsets=[], pods=[], subscriptions=[])
        return calls(lambda: told.append(len(judged(found))))

    told: list[int] = []
    assert work(1000) < 11 * work(100)
    assert told == [1, 1]
