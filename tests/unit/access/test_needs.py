# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of what each playbook does on the cluster."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._access import needs
from ansible_collections.accelerators.openshift.plugins.module_utils._access.needs import Need

PLACES: t.Final = {
    "default": ["default"],
    "openshift": ["openshift"],
    "config": ["openshift-config"],
    "marketplace": ["openshift-marketplace"],
    "machines": ["machines"],
    "tuning": ["tuning"],
    "console": ["console"],
    "monitoring": ["monitoring"],
    "nfd": ["nfd"],
    "gpu": ["gpu"],
    "nic": ["nic"],
    "kueue": ["kueue"],
    "kmm": ["kmm"],
    "sriov": ["sriov"],
    "networks": ["team-a"],
    "quota": ["team-a", "team-b"],
    "claims": ["team-a"],
    "spare": ["gpu-spare"],
    "validation": ["validation"],
}
LEASE: t.Final = {
    Need(verb, "coordination.k8s.io", "leases", "default") for verb in ("get", "create", "update")
}

READS: t.Final = {Need("get", "coordination.k8s.io", "leases", "default")}
REPORTS: t.Final = ("drift",)

WITH_KUEUE: t.Final = (("patch", "installplans"), ("delete", "clusterserviceversions"))
# All parts with two words.
DETAILS: t.Final = [object_name for object_name in needs.TABLE if " " in object_name]


def of(playbook: str, *details: str, without: t.Collection[str] = ()) -> list[Need]:
    return needs.of(playbook, details, PLACES, without).needed


def useful(playbook: str, *details: str) -> list[Need]:
    return needs.of(playbook, details, PLACES, ()).useful


@pytest.mark.parametrize("playbook", needs.PARTS)
def test_every_playbook_needs_the_lease_and_no_right_twice(playbook: str) -> None:
    found = of(playbook)
    # A playbook that only reports asks who holds the lease, and takes none.
    assert {need for need in found if need.resource == "leases"} == (READS if playbook in REPORTS else LEASE)
    assert len(found) == len(set(found))


def test_approving_an_install_plan_is_among_the_rights() -> None:
    group = "operators.coreos.com"
    assert {Need("patch", group, "installplans", place) for place in ("nfd", "gpu")} <= set(of("enable_gpus"))


def test_a_role_that_does_not_run_needs_nothing() -> None:
    found = of("enable_gpus", without=["gpu_node_pool", "nvidia_network_operator", "gpu_network"])
    assert {need.resource for need in found} & {"machinesets", "nicclusterpolicies"} == set()
    assert "nic" not in {need.namespace for need in found}


def test_removing_creates_nothing_but_the_lease() -> None:
    made = {need for need in of("remove_gpus") if need.verb == "create"}
    assert {need.resource for need in made} == {"leases", "pods/eviction"}


@pytest.mark.parametrize(
    ("pool", "resource"),
    [
        ({"quota": [{"namespace": "a", "gpus": 1}]}, "resourcequotas"),
        ({"priority": [{"name": "a", "value": 1}]}, "priorityclasses"),
        ({"autoscale": {"min": 0, "max": 1}}, "machineautoscalers"),
        ({"tuning": {"profile": "training"}}, "tuneds"),
    ],
)
def test_what_a_pool_asks_for_decides_on_rights(pool: dict[str, t.Any], resource: str) -> None:
    details = needs.details_of([pool], "clusterpolicy", approve_csrs=False)
    assert resource not in {need.resource for need in of("enable_gpus")}
    assert resource in {need.resource for need in of("enable_gpus", *details) if need.verb == "create"}
    assert resource in {need.resource for need in of("remove_gpus", *details) if need.verb == "delete"}


def test_the_operator_of_kueue_needs_rights_in_its_namespace() -> None:
    group = "operators.coreos.com"
    approves, removes = (Need(verb, group, one, "kueue") for verb, one in WITH_KUEUE)
    instance = Need("create", "kueue.openshift.io", "kueues")
    assert {approves, instance} & set(of("enable_gpus")) == set()
    assert {approves, instance} <= set(of("enable_gpus", *needs.QUEUE_OPERATOR))
    assert removes in of("remove_gpus", *needs.QUEUE_OPERATOR)
    assert removes not in of("remove_gpus")
    assert "kueue" not in {need.namespace for need in of("enable_gpus", *needs.QUEUES)}
    assert "kueue" not in needs.by_place("remove_pool"), "another pool may have queues"
    assert "kueue" in needs.by_place("enable_gpus")


def test_spare_devices_need_deployments_and_policies_need_their_kinds() -> None:
    deployments = Need("create", "apps", "deployments", "gpu-spare")
    policies = Need("create", "admissionregistration.k8s.io", "validatingadmissionpolicies")
    spare = needs.details_of([{"spare": 1}], "clusterpolicy", approve_csrs=False)
    told = needs.details_of([], "clusterpolicy", approve_csrs=False, admission=True)
    assert {deployments, policies} & set(of("enable_gpus")) == set()
    assert {deployments, policies} & set(of("enable_gpus", *spare)) == {deployments}
    assert {deployments, policies} & set(of("enable_gpus", *told)) == {policies}


def test_the_report_of_drift_asks_for_the_writes_of_the_chain_but_for_those_of_the_validation() -> None:
    """A dry run needs the right to write."""
    found = set(of("drift", *DETAILS))
    enable = set(of("enable_gpus", *DETAILS, without=("gpu_validation",)))
    assert enable - found - LEASE == set()
    assert {need.namespace for need in found} & {"validation"} == set()


def test_backends_and_certificate_requests_have_rights_of_their_own() -> None:
    details = needs.details_of([], "dra", approve_csrs=True)
    found = of("enable_gpus", *details)
    assert Need("create", "nvidia.com", "gpuclusters") in found
    assert Need("create", "resource.k8s.io", "resourceclaimtemplates", "validation") in found
    assert Need("patch", "certificates.k8s.io", "certificatesigningrequests/approval") in found


def test_each_namespace_with_a_quota_is_asked_about() -> None:
    found = of("enable_gpus", "gpu_policy quota")
    assert {need.namespace for need in found if need.resource == "resourcequotas"} == {"team-a", "team-b"}


def test_shared_claims_are_made_in_their_namespaces_alone() -> None:
    pool = {"sharing": {"claims": [{"name": "shared-gpu", "namespace": "team-a"}]}}
    details = needs.details_of([pool], "dra", approve_csrs=False)
    assert "gpu_sharing pools" not in details
    found = {need for need in of("enable_gpus", *details) if need.resource == "resourceclaims"}
    assert {need.verb for need in found if need.namespace == "team-a"} >= {"get", "create", "patch", "delete"}
    assert {need.verb for need in found if not need.namespace} == {"list", "watch"}
    gone = {need for need in of("remove_gpus", *details) if need.resource == "resourceclaims"}
    assert {need.verb for need in gone if need.namespace == "team-a"} == {"get", "delete"}
    assert "resourceclaims" in {need.resource for need in of("remove_pool")}


def test_the_name_is_the_one_of_oc() -> None:
    assert Need("create", "", "pods/eviction").full == "pods/eviction"
    assert Need("get", "apps", "daemonsets").full == "daemonsets.apps"


def test_the_check_of_near_names_lists_namespaces() -> None:
    assert Need("list", "", "namespaces") in of("enable_gpus", "gpu_policy quota")


def test_a_removal_looks_at_every_kind_that_may_keep_a_shared_part() -> None:
    """gpu_removal reads them for each removal, also without network adapters or pools of machines."""
    without = [*needs.OPERATORS, "gpu_node_pool", "nvidia_network_operator"]
    found = {need.resource for need in of("remove_gpus", without=without) if need.verb == "list"}
    kinds = {"nicclusterpolicies", "modules", "clusterserviceversions", "daemonsets", "machinesets", "pods"}
    assert found >= kinds
    assert {need.namespace for need in of("remove_gpus") if need.resource == "modules"} == {""}
    assert Need("list", "operators.coreos.com", "subscriptions") in of("remove_gpus", without=without)


@pytest.mark.parametrize("playbook", needs.PARTS)
def test_what_is_useful_is_not_needed_and_named_once(playbook: str) -> None:
    found = useful(playbook, *DETAILS)
    assert set(found) & set(of(playbook, *DETAILS)) == set()
    assert len(found) == len(set(found))


def test_a_run_does_without_what_it_only_compares_with() -> None:
    compared = {Need("list", "", "resourcequotas"), Need("list", "scheduling.k8s.io", "priorityclasses")}
    assert compared <= set(useful("enable_gpus"))
    assert compared & set(of("enable_gpus", *DETAILS)) == set()


# gpu_pull_secret deletes the Secret that it has just made, and does not wait: it may list no Secret.
NOT_WAITED: t.Final = {"rotate_pull_secret": {"secrets"}}


@pytest.mark.parametrize("playbook", needs.PARTS)
def test_what_is_deleted_can_be_waited_for(playbook: str) -> None:
    """A delete reads the object first, and lists and watches it until it is gone."""
    rights = needs.of(playbook, DETAILS, PLACES, ())
    every = {*rights.needed, *rights.useful}
    lacking = {
        one.full
        for one in every
        if one.verb == "delete"
        for verb in ("get", "list", "watch")
        if not {one._replace(verb=verb), one._replace(verb=verb, namespace="")} & every
    }
    assert lacking == NOT_WAITED.get(playbook, set())


@pytest.mark.parametrize("playbook", needs.PARTS)
def test_what_is_patched_can_be_read(playbook: str) -> None:
    rights = needs.of(playbook, DETAILS, PLACES, ())
    every = {*rights.needed, *rights.useful}
    patched = {one for one in every if one.verb == "patch" and "/" not in one.resource}
    assert {one.full for one in patched if one._replace(verb="get") not in every} == set()


def test_only_a_run_that_brings_the_gate_for_new_nodes_may_make_cluster_roles() -> None:
    gated = needs.details_of([{"validate": {"gate": True}}], "clusterpolicy", approve_csrs=False)
    roles = Need("create", "rbac.authorization.k8s.io", "clusterroles")
    assert roles not in of("enable_gpus")
    assert roles in of("enable_gpus", *gated)
    assert Need("patch", "machine.openshift.io", "machines", "machines") in of("enable_gpus", *gated)
    for playbook in ("upgrade_driver", "repair_node"):
        assert roles not in of(playbook, *gated)
        assert roles not in needs.by_place(playbook).get("", [])
