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
    "marketplace": ["openshift-marketplace"],
    "machines": ["machines"],
    "tuning": ["tuning"],
    "nfd": ["nfd"],
    "gpu": ["gpu"],
    "nic": ["nic"],
    "quota": ["team-a", "team-b"],
    "validation": ["validation"],
}
LEASE: t.Final = {
    Need(verb, "coordination.k8s.io", "leases", "default") for verb in ("get", "create", "update")
}


def of(playbook: str, *details: str, without: t.Collection[str] = ()) -> list[Need]:
    return needs.of(playbook, details, PLACES, without)


@pytest.mark.parametrize("playbook", needs.PARTS)
def test_every_playbook_needs_the_lease_and_no_right_twice(playbook: str) -> None:
    found = of(playbook)
    assert set(found) >= LEASE
    assert len(found) == len(set(found))


def test_approving_an_install_plan_is_among_the_rights() -> None:
    group = "operators.coreos.com"
    assert {Need("patch", group, "installplans", place) for place in ("nfd", "gpu")} <= set(of("enable_gpus"))


def test_a_role_that_does_not_run_needs_nothing() -> None:
    found = of("enable_gpus", without=["gpu_node_pool", "nvidia_network_operator"])
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


def test_backends_and_certificate_requests_have_rights_of_their_own() -> None:
    details = needs.details_of([], "dra", approve_csrs=True)
    found = of("enable_gpus", *details)
    assert Need("create", "nvidia.com", "gpuclusters") in found
    assert Need("create", "resource.k8s.io", "resourceclaimtemplates", "validation") in found
    assert Need("patch", "certificates.k8s.io", "certificatesigningrequests/approval") in found


def test_each_namespace_with_a_quota_is_asked_about() -> None:
    found = of("enable_gpus", "gpu_policy quota")
    assert {need.namespace for need in found if need.resource == "resourcequotas"} == {"team-a", "team-b"}


def test_the_name_is_the_one_of_oc() -> None:
    assert Need("create", "", "pods/eviction").full == "pods/eviction"
    assert Need("get", "apps", "daemonsets").full == "daemonsets.apps"
