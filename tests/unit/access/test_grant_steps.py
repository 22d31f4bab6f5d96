# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of access_grant on an API server in memory: writes, second runs, refusals, and what is taken away."""

from __future__ import annotations

import json
import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._access import grant_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError

Data = dict[str, t.Any]
NAME: t.Final = "accelerators-openshift-resize-pool"
RBAC: t.Final = "rbac.authorization.k8s.io/v1"
HERE: t.Final = ("default", "openshift", "openshift-machine-api", "openshift-marketplace")


class World:
    """A cluster with namespaces of OpenShift. is_admin: what the server says about every right."""

    def __init__(self, *namespaces: str, is_admin: bool = True) -> None:
        self.is_admin = is_admin
        self.server = FakeServer(
            "Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "RoleBinding"
        )
        for name in (*HERE, *namespaces):
            self.server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.server.request = self.answer

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if "selfsubject" not in url:
            return self.server.answer(method, url, body, **more)
        if "selfsubjectreviews" in url:
            return Answer(201, {"status": {"userInfo": {"username": "eva"}}})
        asked = json.loads(body or b"")["spec"]
        is_access = "resourceAttributes" in asked
        return Answer(201, {"status": {"allowed": self.is_admin} if is_access else {"resourceRules": []}})

    def run(self, check_mode: bool = False, **given: t.Any) -> Data:
        options: Data = {
            "playbooks": ["resize_pool"],
            "namespace": "home",
            "namespaces": {},
            "subjects": [],
            "tenants": None,
            "state": "present",
        }
        self.api = api_on(self.server, check_mode=check_mode)
        self.server.requests.clear()
        params = t.cast(grant_steps.AccessGrantParams, {**options, **given})
        return grant_steps.ensure(self.api, params)

    def objects(self, *kinds: str) -> list[Data]:
        return [one for _key, one in sorted(self.server.objects.items()) if one["kind"] in kinds]

    def has(self, *kinds: str) -> list[str]:
        return [
            f"{one['kind']} {one['metadata'].get('namespace', '')}/{one['metadata']['name']}"
            for one in self.objects(*kinds)
        ]


ALL: t.Final = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "RoleBinding")


def test_a_playbook_gets_account_roles_and_bindings_and_a_second_run_writes_nothing() -> None:
    world = World()
    found = world.run()
    assert found["accounts"] == [{"playbook": "resize_pool", "name": NAME, "namespace": "home"}]
    assert sorted(world.has(*ALL)) == [
        f"ClusterRole /{NAME}",
        f"ClusterRole /{NAME}-default",
        f"ClusterRole /{NAME}-machines",
        f"ClusterRoleBinding /{NAME}",
        f"RoleBinding default/{NAME}-default",
        f"RoleBinding openshift-machine-api/{NAME}-machines",
        f"ServiceAccount home/{NAME}",
    ]
    assert "Namespace /home" in world.has("Namespace")
    assert world.run() == found
    assert world.server.writes() == []
    assert world.api.changes == []


def test_check_mode_writes_nothing_and_names_every_object() -> None:
    world = World()
    world.run(check_mode=True)
    assert world.has(*ALL) == []
    assert len(world.api.changes) == 8


def test_absent_takes_everything_of_the_playbook_away_and_nothing_of_others() -> None:
    world = World()
    world.run(playbooks=["resize_pool", "remove_pool"])
    world.run(state="absent")
    assert len(world.has(*ALL)) == 15
    assert [one for one in world.has(*ALL) if "remove-pool" not in one] == []
    assert "Namespace /home" in world.has("Namespace")
    world.run(state="absent")
    assert world.server.writes() == []


def test_what_is_taken_away_first_is_what_gives_the_rights() -> None:
    world = World()
    world.run()
    world.run(state="absent")
    deleted = [path.split("/")[-2] for method, path in world.server.writes() if method == "DELETE"]
    assert list(dict.fromkeys(deleted)) == [
        "clusterrolebindings",
        "rolebindings",
        "clusterroles",
        "serviceaccounts",
    ]


def test_a_namespace_that_is_no_longer_asked_for_loses_its_binding() -> None:
    world = World("machines")
    world.run()
    world.run(namespaces={"machines": "machines"})
    assert world.has("RoleBinding") == [
        f"RoleBinding default/{NAME}-default",
        f"RoleBinding machines/{NAME}-machines",
    ]


def test_a_subject_that_is_gone_loses_its_rights() -> None:
    world = World()
    world.run(subjects=[{"kind": "User", "name": "eva"}])
    world.run()
    binding = world.server.objects[RBAC, "clusterrolebindings", "", NAME]
    assert [one["name"] for one in binding["subjects"]] == [NAME]


def test_namespaces_of_operators_and_teams_are_made_without_our_label() -> None:
    world = World()
    world.run(playbooks=["enable_gpus"], namespaces={"quota": ["team-a"]})
    operators = {
        "openshift-nfd",
        "nvidia-gpu-operator",
        "nvidia-network-operator",
        "openshift-kueue-operator",
        "openshift-sriov-network-operator",
    }
    made = {"home", *operators}
    made |= {"gpu-spare", "gpu-validation", "team-a"}
    found = {one["metadata"]["name"]: one for one in world.objects("Namespace")}
    assert set(found) == {*HERE, *made}
    assert not [name for name in made if found[name]["metadata"].get("labels")]
    assert [text for text in world.api.warnings if "openshift-cluster-node-tuning-operator" in text]


def test_an_object_of_others_with_our_name_stops_the_run_before_its_first_write() -> None:
    world = World()
    metadata = {"name": f"{NAME}-machines"}
    world.server.put({"apiVersion": RBAC, "kind": "ClusterRole", "metadata": metadata, "rules": []})
    with pytest.raises(AcceleratorError) as caught:
        world.run()
    assert caught.value.code == "API-CONFLICT"
    assert f"ClusterRole {NAME}-machines" in caught.value.message
    assert f"oc delete clusterroles.rbac.authorization.k8s.io {NAME}-machines" in caught.value.remedy
    assert world.server.writes() == []


def test_the_label_alone_makes_no_object_ours() -> None:
    world = World()
    labels = {
        "accelerators.openshift/rights-of": "resize-pool",
        "app.kubernetes.io/managed-by": "accelerators.openshift",
    }
    metadata = {
        "name": "theirs",
        "labels": labels,
        "managedFields": [
            {
                "manager": "kubectl",
                "fieldsV1": {"f:metadata": {"f:labels": {"f:app.kubernetes.io/managed-by": {}}}},
            }
        ],
    }
    world.server.put({"apiVersion": RBAC, "kind": "ClusterRole", "metadata": metadata, "rules": []})
    world.run(state="absent")
    assert world.has("ClusterRole") == ["ClusterRole /theirs"]


def test_only_an_administrator_gives_rights_away() -> None:
    world = World(is_admin=False)
    with pytest.raises(AcceleratorError) as caught:
        world.run()
    assert caught.value.code == "API-RIGHTS"
    assert "escalate clusterroles.rbac.authorization.k8s.io" in caught.value.evidence
    assert caught.value.message.startswith("eva may not do all that rbac.yml does.")
    assert world.server.writes() == []
