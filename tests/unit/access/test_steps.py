# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How access_review asks: one request for an administrator, and every right where rules are not listed."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._access import needs, review, steps
from ansible_collections.accelerators.openshift.plugins.module_utils._access.needs import Need
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

Data = dict[str, t.Any]
TUNING: t.Final = "in namespace openshift-cluster-node-tuning-operator"


class Authorizer:
    """Answers reviews. rules: by namespace, "" everywhere. incomplete: rules are not listed."""

    check_mode = False
    guard = None

    def __init__(self, rules: dict[str, list[Data]], is_incomplete: bool = False) -> None:
        self.rules, self.is_incomplete = rules, is_incomplete
        self.asked: list[str] = []

    def dry_run_create(self, manifest: Data) -> Data:
        kind, spec = manifest["kind"], manifest.get("spec") or {}
        self.asked.append(kind)
        if kind == "SelfSubjectReview":
            return {"status": {"userInfo": {"username": "eva"}}}
        if kind == "SelfSubjectAccessReview":
            one = spec["resourceAttributes"]
            sub = f"/{one['subresource']}" if "subresource" in one else ""
            need = Need(one["verb"], one["group"], one["resource"] + sub, one.get("namespace", ""))
            granted = [*self.rules.get("", []), *self.rules.get(need.namespace, [])]
            return {"status": {"allowed": review.is_granted(need, granted)}}
        found = [] if self.is_incomplete else self.rules.get(spec["namespace"], [])
        everywhere = [] if self.is_incomplete else self.rules.get("", [])
        return {"status": {"resourceRules": [*everywhere, *found], "incomplete": self.is_incomplete}}


def rule(verbs: list[str], group: str, *resources: str) -> Data:
    return {"verbs": verbs, "apiGroups": [group], "resources": list(resources)}


ADMIN: t.Final = rule(["*"], "*", "*")
PARAMS: t.Final[Data] = {
    "playbook": "remove_pool",
    "pools": [],
    "backend": "clusterpolicy",
    "nic": False,
    "queue_operator": False,
    "queues": False,
    "cluster_quotas": False,
    "hardware_profiles": False,
    "networks": [],
    "approve_csrs": False,
    "machine_namespace": "openshift-machine-api",
    "nfd_namespace": "openshift-nfd",
    "gpu_namespace": "nvidia-gpu-operator",
    "nic_namespace": "nvidia-network-operator",
    "kueue_namespace": "openshift-kueue-operator",
    "validation_namespace": "gpu-validation",
    "spare_namespace": "gpu-spare",
    "admission": False,
    "source_namespace": "openshift-marketplace",
    "only": ["all"],
    "skip": [],
}


def ask(authorizer: Authorizer, **params: t.Any) -> Data:
    return steps.ensure(t.cast(Api, authorizer), asked(params))


def asked(params: Data) -> steps.AccessReviewParams:
    return t.cast(steps.AccessReviewParams, {**PARAMS, **params})


def refused(authorizer: Authorizer, **params: t.Any) -> list[str]:
    with pytest.raises(AcceleratorError) as caught:
        ask(authorizer, **params)
    assert caught.value.code == "API-RIGHTS"
    return caught.value.evidence


def test_an_administrator_costs_one_request() -> None:
    authorizer = Authorizer({"": [ADMIN]})
    assert ask(authorizer, playbook="enable_gpus")["missing"] == []
    assert authorizer.asked == ["SelfSubjectAccessReview"]


def test_an_administrator_of_two_namespaces_has_no_right_in_the_whole_cluster() -> None:
    authorizer = Authorizer({name: [ADMIN] for name in ("default", "openshift-machine-api")})
    assert refused(authorizer) == [
        "get, list, watch, patch nodes in the whole cluster",
        "list, watch pods in the whole cluster",
        "create pods/eviction in the whole cluster",
        "list nodemaintenances.maintenance.nvidia.com in the whole cluster",
        f"list, watch profiles.tuned.openshift.io {TUNING}",
        f"get, list, watch, delete tuneds.tuned.openshift.io {TUNING}",
        "list machineconfigpools.machineconfiguration.openshift.io in the whole cluster",
        *(
            f"list {one}.sriovnetwork.openshift.io in namespace openshift-sriov-network-operator"
            for one in ("sriovnetworknodepolicies", "sriovnetworkpoolconfigs", "sriovnetworknodestates")
        ),
        "get, list configmaps in namespace nvidia-gpu-operator",
        "list resourceclaims.resource.k8s.io in the whole cluster",
        "get validatingadmissionpolicies.admissionregistration.k8s.io in the whole cluster",
        "list deployments.apps in namespace gpu-spare",
    ]


@pytest.mark.parametrize("is_incomplete", [False, True], ids=["listed", "not listed"])
def test_the_role_of_the_result_is_enough_and_each_of_its_rules_is_needed(is_incomplete: bool) -> None:
    role = ask(Authorizer({"": [ADMIN]}))["cluster_role"]
    assert ask(Authorizer({"": role["rules"]}, is_incomplete))["missing"] == []
    # What HyperConverged permits stays without the right to see it.
    useful = [one for one in role["rules"] if set(one["apiGroups"]) <= {"hco.kubevirt.io", "kubevirt.io"}]
    assert len(useful) == 2
    for index in [place for place, one in enumerate(role["rules"]) if one not in useful]:
        fewer = [one for place, one in enumerate(role["rules"]) if place != index]
        assert refused(Authorizer({"": fewer}, is_incomplete))


EVERYTHING: t.Final[Data] = {
    "nic": True,
    "queues": True,
    "queue_operator": True,
    "cluster_quotas": True,
    "hardware_profiles": True,
    "networks": [{"name": "rail-0", "kind": "sriov", "namespaces": ["team-a"]}],
    "approve_csrs": True,
    "admission": True,
    "pools": [
        {
            "name": "a",
            "candidates": [{}],
            "health": {"a": 1},
            "autoscale": {"min": 0},
            "tuning": {"reboot": "planned"},
            "sharing": {"time_slicing": {"replicas": 2}},
            "quota": [{"namespace": "team-a"}],
            "priority": [{"name": "a"}],
            "spare": 1,
        }
    ],
}


def without(rules: list[Data], need: Need) -> list[Data]:
    """Return the rules without one verb on one resource."""
    found = []
    for one in rules:
        if need.group in one["apiGroups"] and need.resource in one["resources"]:
            others = [name for name in one["resources"] if name != need.resource]
            verbs = [verb for verb in one["verbs"] if verb != need.verb]
            found += [rule(one["verbs"], need.group, *others), rule(verbs, need.group, need.resource)]
        else:
            found.append(one)
    return found


@pytest.mark.parametrize("backend", ["clusterpolicy", "nvidiadriver", "dra"])
@pytest.mark.parametrize("playbook", needs.PARTS)
def test_without_any_one_verb_a_right_is_missing_and_named(playbook: str, backend: str) -> None:
    params = asked({**EVERYTHING, "playbook": playbook, "backend": backend})
    rights = steps.wanted_rights(params)
    rules = review.cluster_role([*rights.needed, *rights.useful], "x")["rules"]
    assert len(rights.needed) > 5
    for need in rights.needed:
        fewer = without(rules, need)
        same = [one for one in rights.needed if (one.group, one.resource) == (need.group, need.resource)]
        missing = [one for one in same if not review.is_granted(one, fewer)]
        assert {one.verb for one in missing} == {need.verb}
        assert all(line.startswith(f"{need.verb} {need.full} in ") for line in review.lines(missing))


@pytest.mark.parametrize("playbook", needs.PARTS)
def test_without_its_last_right_the_playbook_stops(playbook: str) -> None:
    params = {**EVERYTHING, "playbook": playbook}
    rights = steps.wanted_rights(asked(params))
    rules = review.cluster_role([*rights.needed, *rights.useful], "x")["rules"]
    need = rights.needed[-1]
    told = refused(Authorizer({"": without(rules, need)}), **params)
    assert told
    assert all(line.startswith(f"{need.verb} {need.full} in ") for line in told)


def test_tags_choose_the_roles_that_are_asked_about() -> None:
    nobody = Authorizer({})
    policy = {"only": ["gpu_policy"], "pools": [{"quota": [{"namespace": "team-a"}]}]}
    told = "; ".join(refused(nobody, playbook="enable_gpus", **policy))
    assert "resourcequotas in namespace team-a" in told
    assert "subscriptions" not in told
    told = "; ".join(refused(nobody, playbook="enable_gpus", skip=["gpu_operator"]))
    assert "clusterpolicies" not in told
    assert "nodefeaturediscoveries" in told


def test_a_cluster_with_existing_nodes_needs_no_right_on_machines() -> None:
    pools = [{"name": "old", "existing": True, "candidates": []}]
    told = "; ".join(refused(Authorizer({}), playbook="enable_gpus", pools=pools))
    assert "machinesets" not in told
