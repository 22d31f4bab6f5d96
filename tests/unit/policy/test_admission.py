# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admission policies as objects, and what the API server's answer to a proof says."""

from __future__ import annotations

import json

import pytest
from unit.policy.builders import TAINT, partition

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._policy import admission, rules

POOLS = {"training": rules.entry(partition("training", TAINT))}
TOLD = "Validation failed for ValidatingAdmissionPolicy 'accelerators-openshift-gpu-pods': x"


def test_a_rule_that_fails_itself_stops_no_pod() -> None:
    for made in (admission.telling(POOLS, [], adds=False), admission.adding(POOLS, [])):
        assert made["spec"]["failurePolicy"] == "Ignore"


def test_the_policy_remembers_its_pools() -> None:
    live = admission.telling(POOLS, [], adds=True)
    assert (admission.entries(live), admission.adds(live)) == (POOLS, True)
    assert (admission.entries(None), admission.adds(None)) == ({}, False)
    assert not admission.adds(admission.telling(POOLS, [], adds=False))


def test_exempt_namespaces_and_those_of_the_platform_are_left_out() -> None:
    spec = admission.telling(POOLS, ["gpu-operator"], adds=False)["spec"]
    assert spec["matchConstraints"]["namespaceSelector"]["matchExpressions"][0]["values"] == ["gpu-operator"]
    assert "startsWith('openshift-')" in spec["matchConditions"][0]["expression"]
    assert admission.telling(POOLS, [], adds=False)["spec"]["matchConstraints"]["namespaceSelector"] == {}


@pytest.mark.parametrize("made", [admission.telling(POOLS, [], adds=False), admission.adding(POOLS, [])])
def test_pods_that_an_object_of_an_operator_owns_are_left_out(made: KubeObject) -> None:
    conditions = {one["name"]: one["expression"] for one in made["spec"]["matchConditions"]}
    expression = conditions["not-of-an-operator"]
    kinds = '["ClusterPolicy", "NVIDIADriver", "GPUCluster"]'
    assert f"o.apiVersion.startsWith('nvidia.com/') && o.kind in {kinds}" in expression
    assert "o.apiVersion.startsWith('mellanox.com/')" in expression
    assert expression.count("(") == expression.count(")")


def test_pools_without_taints_have_a_policy_that_says_nothing() -> None:
    soft = {"soft": rules.entry(partition("soft"))}
    assert admission.telling(soft, [], adds=False)["spec"]["validations"] == [{"expression": "true"}]


def test_the_policy_that_adds_has_only_the_variables_that_it_uses() -> None:
    names = [one["name"] for one in admission.adding(POOLS, [])["spec"]["variables"]]
    assert names == ["spec", "containers", "tolerations", "asked", "toleratesTaint0"]


@pytest.mark.parametrize(("action", "shown"), [("audit", "Audit"), ("warn", "Warn"), ("deny", "Deny")])
def test_the_binding_has_the_action(action: str, shown: str) -> None:
    assert admission.telling_binding(action)["spec"]["validationActions"] == [shown]


def test_what_the_server_says_is_a_warning_or_a_refusal() -> None:
    assert admission.policy_message(201, {}, ["deprecated", TOLD]) == TOLD
    assert admission.policy_message(403, {"message": TOLD}, []) == TOLD
    assert admission.policy_message(403, {"message": "no rights"}, [TOLD]) == ""
    assert admission.policy_message(201, {}, []) == ""


def test_what_the_server_added_is_a_toleration_of_the_taint() -> None:
    toleration = {"key": "nvidia.com/gpu", "operator": "Exists"}
    body = {"spec": {"tolerations": [{"key": "node.kubernetes.io/not-ready"}, toleration]}}
    assert json.loads(admission.gained(body, TAINT)) == toleration
    assert admission.gained({"spec": {}}, TAINT) == ""
    assert admission.gained("no JSON", TAINT) == ""


def test_a_policy_of_others_is_named() -> None:
    admission.refuse_foreign(None)
    with pytest.raises(AcceleratorError) as raised:
        admission.refuse_foreign(admission.telling(POOLS, [], adds=False))
    assert raised.value.code == "POLICY-FOREIGN"
    assert "oc delete validatingadmissionpolicy accelerators-openshift-gpu-pods" in raised.value.remedy


def test_a_server_that_says_nothing_is_an_error() -> None:
    found = admission.not_active("team")
    assert (found.code, found.layer) == ("POLICY-NOT-ACTIVE", "policy")
