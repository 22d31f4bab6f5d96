# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rights a list of rules grants, and what a refusal says."""

from __future__ import annotations

import json
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._access import review
from ansible_collections.accelerators.openshift.plugins.module_utils._access.needs import Need

Data = dict[str, t.Any]
PATCH: t.Final = Need("patch", "apps", "daemonsets", "x")
LOG: t.Final = Need("get", "", "pods/log", "x")


def rule(verbs: str = "patch", groups: str = "apps", resources: str = "daemonsets", **more: t.Any) -> Data:
    return {"verbs": [verbs], "apiGroups": [groups], "resources": [resources], **more}


@pytest.mark.parametrize(
    ("need", "granted", "answer"),
    [
        (PATCH, rule(), True),
        (PATCH, rule("*", "*", "*"), True),
        (PATCH, rule("get"), False),
        (PATCH, rule(groups=""), False),
        (PATCH, rule(resources="deployments"), False),
        (PATCH, rule(resourceNames=["one"]), False),
        (LOG, rule("get", "", "pods"), False),
        (LOG, rule("get", "", "pods/log"), True),
        (LOG, rule("get", "", "*/log"), True),
        (review.EVERYTHING, rule("patch", "*", "*"), False),
    ],
)
def test_a_rule_grants(need: Need, granted: Data, answer: bool) -> None:
    assert review.is_granted(need, [granted]) is answer


def test_the_refusal_has_all_that_is_missing_and_a_cluster_role_to_apply() -> None:
    missing = [PATCH, Need("get", "apps", "daemonsets", "x"), Need("list", "", "nodes")]
    role = review.cluster_role(missing, review.role_name("enable_gpus"))
    error = review.refusal("enable_gpus", missing, "eva", role)
    assert error.code == "API-RIGHTS"
    assert error.evidence == [
        "patch, get daemonsets.apps in namespace x",
        "list nodes in the whole cluster",
    ]
    assert error.message.startswith("eva may not do all that enable_gpus.yml does.")
    assert json.loads(error.remedy.split("'")[1]) == role
    assert error.remedy.endswith(
        "oc adm policy add-cluster-role-to-user accelerators-openshift-enable-gpus eva"
    )
    assert error.facts["missing"][2] == {"verb": "list", "group": "", "resource": "nodes", "namespace": ""}


def test_the_cluster_role_grants_what_was_asked_for() -> None:
    wanted = [PATCH, LOG, Need("list", "", "pods"), Need("create", "", "pods/eviction")]
    role = review.cluster_role(wanted, "x")
    assert all(review.is_granted(need, role["rules"]) for need in wanted)
