# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a tenant gets in its namespaces."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._access import review, tenants
from ansible_collections.accelerators.openshift.plugins.module_utils._access.grant import Subject
from ansible_collections.accelerators.openshift.plugins.module_utils._access.needs import Need
from ansible_collections.accelerators.openshift.plugins.module_utils._access.tenants import Tenant

VISION: t.Final = Tenant("vision", ("a", "b"), (Subject("Group", "eyes", "", ()),), ("q",), ("gpu-batch",))
KUEUE: t.Final = "kueue.x-k8s.io"


def test_every_namespace_has_a_quota_a_role_and_a_binding() -> None:
    found = [(one["kind"], one["metadata"]["namespace"]) for one in tenants.objects(VISION)]
    kinds = ("ResourceQuota", "Role", "RoleBinding")
    assert found == [(kind, place) for place in ("a", "b") for kind in kinds]
    assert {one["metadata"]["name"] for one in tenants.objects(VISION)} == {VISION.object_name}
    assert {tenants.tenant_of(one) for one in tenants.objects(VISION)} == {"vision"}


def test_a_tenant_submits_work_and_reads_its_quotas_and_queues() -> None:
    role = tenants.objects(VISION)[1]
    may = [Need("create", "batch", "jobs"), Need("get", "", "resourcequotas")]
    may.append(Need("list", KUEUE, "workloads"))
    assert all(review.is_granted(one, role["rules"]) for one in may)
    (queues,) = [rule for rule in role["rules"] if rule["resources"] == ["localqueues"]]
    assert (queues["resourceNames"], queues["verbs"]) == (["q"], ["get", "list", "watch"])


def test_a_tenant_changes_no_quota_queue_or_role_and_makes_no_bare_pod() -> None:
    rules = tenants.objects(VISION)[1]["rules"]
    for group, resource in (
        ("", "resourcequotas"),
        ("", "pods"),
        (KUEUE, "localqueues"),
        (KUEUE, "workloads"),
        ("rbac.authorization.k8s.io", "roles"),
        ("scheduling.k8s.io", "priorityclasses"),
    ):
        for verb in ("create", "patch", "update", "delete"):
            assert not review.is_granted(Need(verb, group, resource), rules)
    assert not any("*" in [*rule["verbs"], *rule["resources"], *rule["apiGroups"]] for rule in rules)


def test_a_quota_gives_no_gpu_to_other_priority_classes() -> None:
    spec = tenants.objects(VISION)[0]["spec"]
    assert spec["hard"] == {"requests.nvidia.com/gpu": "0"}
    assert spec["scopeSelector"]["matchExpressions"] == [
        {"scopeName": "PriorityClass", "operator": "NotIn", "values": ["gpu-batch"]}
    ]


def test_without_priority_classes_and_queues_there_is_no_quota_and_no_rule_of_queues() -> None:
    role, binding = tenants.objects(VISION._replace(namespaces=("a",), queues=(), priority_classes=()))
    assert not any("localqueues" in rule["resources"] for rule in role["rules"])
    assert binding["subjects"] == [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "eyes"}]


def test_the_line_for_people() -> None:
    assert tenants.line(VISION) == (
        "tenant vision in a, b, queues q, GPUs only with priority class gpu-batch"
    )
