# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_admission on a server in memory: what is written, what stays, and what goes."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.policy.builders import TAINT, TEAM, Server, params, pool

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._policy.steps import absent, present

HARD: t.Final = pool("training", TAINT)
POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
MUTATING: t.Final = "MutatingAdmissionPolicy"


def again(server: Server, *pools: dict[str, t.Any], **more: t.Any) -> list[tuple[str, str]]:
    """Return what another run writes."""
    server.requests.clear()
    present(api_on(server), params(*pools, **more))
    return server.writes()


def test_a_run_that_keeps_nothing_costs_two_requests() -> None:
    server = Server()
    found = present(api_on(server), params(HARD))
    assert len(server.requests) == 2
    assert found["admission"] == {"action": "none", "pools": [], "adds": [], "proof": None}


def test_spare_devices_follow_the_pool() -> None:
    server = Server()
    present(api_on(server), params(pool("a", spare=2), pool("b")))
    assert server.names("Deployment") == ["gpu-spare-a"]
    assert again(server, pool("a", spare=2), pool("b")) == []
    assert len(again(server, pool("a", spare=3), pool("b"))) == 1
    assert server.one("Deployment")["spec"]["replicas"] == 3
    present(api_on(server), params(pool("a"), pool("b", spare=1)))
    assert server.names("Deployment") == ["gpu-spare-b"]


def test_the_namespace_goes_with_the_last_placeholder_pods() -> None:
    server = Server()
    present(api_on(server), params(pool("a", spare=2), pool("b", spare=1)))
    absent(api_on(server), params(pool("a"), state="absent"))
    assert server.names("Namespace") == ["gpu-spare"]
    absent(api_on(server), params(pool("b"), state="absent"))
    assert (server.names("Deployment"), server.names("Namespace")) == ([], [])
    server.requests.clear()
    absent(api_on(server), params(pool("b"), state="absent"))
    assert server.writes() == []


def test_the_namespace_stays_for_others() -> None:
    server = Server()
    present(api_on(server), params(pool("a", spare=2)))
    metadata = {"name": "theirs", "namespace": "gpu-spare"}
    server.put({"apiVersion": "v1", "kind": "Service", "metadata": metadata})
    api = api_on(server)
    absent(api, params(pool("a"), state="absent"))
    assert server.names("Namespace") == ["gpu-spare"]
    assert "Service theirs" in api.warnings[0]


def test_policies_are_written_once() -> None:
    server = Server()
    found = present(api_on(server), params(HARD, admission="warn"))
    assert found["admission"]["pools"] == ["training"]
    assert (server.names(BINDING), server.names(MUTATING)) == (["accelerators-openshift-gpu-pods"], [])
    assert again(server, HARD, admission="warn") == []
    assert len(again(server, HARD, admission="deny")) == 1


@pytest.mark.parametrize("given", [[], ["team"], ["nvidia-gpu-operator", "team"]])
def test_exempt_namespaces_add_to_those_of_the_operators(given: list[str]) -> None:
    server = Server()
    present(api_on(server), params(HARD, admission="deny", exempt_namespaces=given))
    (policy,) = (one for key, one in server.objects.items() if key[1] == "validatingadmissionpolicies")
    (selector,) = policy["spec"]["matchConstraints"]["namespaceSelector"]["matchExpressions"]
    operators = ["nvidia-gpu-operator", "nvidia-network-operator"]
    assert selector["values"] == operators + [one for one in given if one not in operators]


def test_tolerations_are_added_where_the_cluster_serves_it() -> None:
    server = Server()
    found = present(api_on(server), params(HARD, admission="warn", add_tolerations=True))
    assert found["admission"]["adds"] == ["nvidia.com/gpu"]
    assert again(server, HARD, admission="warn", add_tolerations=True) == []
    assert [method for method, _path in again(server, HARD, admission="warn")] == [
        "DELETE",
        "DELETE",
        "PATCH",
    ]
    assert server.names(MUTATING) == []


@pytest.mark.parametrize(
    ("server", "taint", "why"),
    [
        (Server(adds=False), TAINT, "serves no MutatingAdmissionPolicy"),
        (Server(), TEAM, "taints of the pools differ"),
    ],
)
def test_where_nothing_can_be_added_a_warning_says_why(server: Server, taint: t.Any, why: str) -> None:
    api = api_on(server)
    found = present(api, params(pool("a", taint), admission="warn", add_tolerations=True))
    assert found["admission"]["adds"] == []
    assert [why in text for text in api.warnings] == [True]


def test_the_pools_of_another_file_keep_their_rules() -> None:
    server = Server()
    present(api_on(server), params(HARD, admission="warn"))
    found = present(api_on(server), params(pool("other", TEAM), admission="warn"))
    assert found["admission"]["pools"] == ["other", "training"]
    present(api_on(server), params(pool("other", TEAM)))
    found = absent(api_on(server), params(pool("none"), state="absent"))
    assert found["admission"]["pools"] == ["training"]
    absent(api_on(server), params(HARD, state="absent"))
    assert (server.names(POLICY), server.names(BINDING)) == ([], [])


def test_check_mode_writes_nothing() -> None:
    server = Server()
    api = api_on(server, check_mode=True)
    present(api, params(pool("a", TAINT, spare=1), admission="warn", add_tolerations=True, prove=True))
    assert server.writes() == []
    assert len(api.changes) == 6


def test_a_policy_of_others_is_refused_before_the_first_write() -> None:
    server = Server()
    present(api_on(server), params(HARD, admission="warn"))
    server.one(POLICY)["metadata"]["labels"] = {}
    server.requests.clear()
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server), params(pool("a", TAINT, spare=1), admission="warn"))
    assert (raised.value.code, server.writes()) == ("POLICY-FOREIGN", [])


def test_a_cluster_without_policies_is_refused_only_if_it_should_have_one() -> None:
    server = Server()
    del server.served["admissionregistration.k8s.io/v1", "validatingadmissionpolicies"]
    present(api_on(server), params(HARD))
    absent(api_on(server), params(HARD, state="absent"))
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server), params(HARD, admission="warn"))
    assert raised.value.code == "POLICY-NOT-SERVED"


def test_a_server_that_lets_the_pod_pass_is_not_believed() -> None:
    server = Server()
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server), params(HARD, admission="warn", prove=True))
    assert raised.value.code == "POLICY-NOT-ACTIVE"
