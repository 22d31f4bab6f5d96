# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles of each playbook, its service account and its bindings; the manifests of the tarball."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from documents import rights

from ansible_collections.accelerators.openshift.plugins.module_utils._access import grant, needs, review
from ansible_collections.accelerators.openshift.plugins.module_utils._access.grant import Subject, Wanted
from ansible_collections.accelerators.openshift.plugins.module_utils._access.needs import Need

EVA: Subject = Subject("User", "eva", "", ("resize_pool",))
ROBOT: Subject = Subject("ServiceAccount", "robot", "awx", ("resize_pool",))


def wanted(*subjects: Subject, **namespaces: tuple[str, ...]) -> Wanted:
    return Wanted(("resize_pool",), "home", {**needs.NAMESPACES, **namespaces}, subjects)


def test_a_manifest_has_the_roles_of_its_playbook() -> None:
    pages = rights.pages()
    assert set(pages) == {f"{playbook}.yml" for playbook in needs.GRANTED}
    for playbook in needs.GRANTED:
        assert yaml.safe_load(pages[f"{playbook}.yml"])["items"] == list(grant.roles(playbook).values())


def test_every_place_of_the_table_has_its_usual_namespaces() -> None:
    places = {place for rows in needs.TABLE.values() for place, _verbs, _resources in rows}
    assert places - {"-", "*"} | set(needs.OPERATORS.values()) == set(needs.NAMESPACES)


def test_the_page_has_each_place_with_its_namespaces() -> None:
    """And the places whose namespaces the playbook creates."""
    page = (Path(__file__).parents[3] / "docs/rights.md").read_text()
    table = page[page.index("| place | namespaces |") : page.index("The playbook creates namespaces")]
    cells = re.findall(r"\| `(\w+)` \| (?:`([\w-]+)`|none)", table)
    assert {place: (name,) if name else () for place, name in cells} == needs.NAMESPACES
    made = page[page.index("The playbook creates namespaces") :].partition(" that are missing")[0]
    assert re.findall(r"`(\w+)`", made) == list(grant.CREATED)


@pytest.mark.parametrize("playbook", needs.GRANTED)
def test_the_roles_grant_all_that_a_run_can_ask_for(playbook: str) -> None:
    roles = grant.roles(playbook)
    for place, rights_there in needs.by_place(playbook).items():
        everywhere = roles.get("", {"rules": []})["rules"]
        here = roles[place]["rules"] if place else []
        assert all(review.is_granted(need, [*everywhere, *here]) for need in rights_there)


@pytest.mark.parametrize("playbook", needs.GRANTED)
def test_no_role_grants_a_wildcard_or_secrets_of_the_whole_cluster(playbook: str) -> None:
    roles = grant.roles(playbook)
    for role in roles.values():
        for rule in role["rules"]:
            assert "*" not in [*rule["verbs"], *rule["resources"], *rule["apiGroups"]]
            assert not {"bind", "escalate", "impersonate"} & set(rule["verbs"])
    for verb in ("get", "list"):
        assert not review.is_granted(Need(verb, "", "secrets"), roles[""]["rules"])


def test_a_role_of_a_namespace_does_not_repeat_the_whole_cluster() -> None:
    found = needs.by_place("enable_gpus")
    everywhere = set(found[""])
    assert not [
        need
        for place, rights in found.items()
        if place
        for need in rights
        if need._replace(namespace="") in everywhere
    ]


def test_changing_the_size_of_a_pool_grants_nothing_of_the_autoscaler() -> None:
    verbs = {need.verb for need in needs.by_place("resize_pool")["machines"] if "autoscaler" in need.resource}
    assert verbs == set()


def test_bindings_are_in_the_namespaces_of_their_places() -> None:
    found = grant.bindings("resize_pool", wanted(machines=("mine", "yours")))
    assert [(one["kind"], one["metadata"].get("namespace"), one["roleRef"]["name"]) for one in found] == [
        ("ClusterRoleBinding", None, "accelerators-openshift-resize-pool"),
        ("RoleBinding", "default", "accelerators-openshift-resize-pool-default"),
        ("RoleBinding", "mine", "accelerators-openshift-resize-pool-machines"),
        ("RoleBinding", "yours", "accelerators-openshift-resize-pool-machines"),
    ]
    assert {one["metadata"]["name"] for one in found} == {one["roleRef"]["name"] for one in found}


def test_the_service_account_is_bound_and_every_subject_once() -> None:
    found = grant.bindings("resize_pool", wanted(EVA, ROBOT, EVA._replace(playbooks=("resize_pool", "plan"))))
    assert found[0]["subjects"] == [
        {"kind": "ServiceAccount", "name": "accelerators-openshift-resize-pool", "namespace": "home"},
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eva"},
        {"kind": "ServiceAccount", "name": "robot", "namespace": "awx"},
    ]


def test_a_subject_gets_only_the_playbooks_that_it_names() -> None:
    (other,) = grant.bindings("tune_nodes", wanted(EVA))[0]["subjects"]
    assert other["name"] == "accelerators-openshift-tune-nodes"


def test_no_pod_mounts_the_token_of_the_account_by_itself() -> None:
    found = grant.account("resize_pool", "home")
    assert found["automountServiceAccountToken"] is False
    assert grant.playbook_of(found) == "resize_pool"


def test_the_table_says_who_has_the_rights() -> None:
    account = "system:serviceaccount:home:accelerators-openshift-resize-pool"
    assert grant.table(wanted()) == [f"resize_pool: {account}"]
    assert grant.table(wanted(EVA, ROBOT)) == [f"resize_pool: {account} and 2 more"]


def test_a_playbook_that_only_reads_may_only_read() -> None:
    verbs = {need.verb for rights in needs.by_place("preflight_update").values() for need in rights}
    questions = {Need("create", "image.openshift.io", "imagestreamimports", "gpu")}
    assert verbs - {"get", "list", "watch"} == {"create"}
    found = {need for rights in needs.by_place("preflight_update").values() for need in rights}
    assert {need for need in found if need.verb == "create"} == questions


def test_what_runs_before_an_update_has_the_rights_of_its_checks() -> None:
    checks = {need for rights in needs.by_place("preflight_update").values() for need in rights}
    found = {need for rights in needs.by_place("before_openshift_update").values() for need in rights}
    assert checks - found == set()
