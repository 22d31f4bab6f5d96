# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tenants of rbac.yml: what they may do, and which priority class their pods with GPUs may have."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.credentials import namespaces
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

pytestmark = [
    pytest.mark.story("a tenant comes and goes"),
    pytest.mark.long("three playbooks; the unit tests of _access have tenants in every run"),
]
HOME: t.Final = "vision-train"
TITLE: t.Final = "accelerators-openshift-tenant-vision"
GPU: t.Final = "nvidia.com/gpu"
CLASSES: t.Final = ("gpu-batch", "gpu-urgent")
TENANT: t.Final[dict[str, t.Any]] = {
    "name": "vision",
    "namespaces": [HOME],
    "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": HOME}],
    "priority_classes": ["gpu-batch"],
}
# As few other rights as a run may give.
FEW: t.Final[dict[str, t.Any]] = {"gpu_rbac_playbooks": ["preflight_update"]}


@pytest.fixture(scope="module")
def home(cluster: Cluster) -> t.Iterator[Cluster]:
    """Give the cluster a namespace and two priority classes."""
    with namespaces.taken_away(cluster):
        cluster.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}})
        for number, name in enumerate(CLASSES):
            made: dict[str, t.Any] = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
            cluster.client.create({**made, "metadata": {"name": name}, "value": number + 1})
        yield cluster
        for name in CLASSES:
            cluster.client.delete("scheduling.k8s.io/v1", "priorityclasses", name)


def answer(cluster: Cluster, priority: str, gpus: int = 1) -> tuple[int, str]:
    """Return what the API server says to a pod with this priority class, in a dry run."""
    limits = {"resources": {"limits": {GPU: str(gpus)}}} if gpus else {}
    spec: dict[str, t.Any] = {"containers": [{"name": "c", "image": "example.com/train", **limits}]}
    spec |= {"priorityClassName": priority} if priority else {}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "try", "namespace": HOME}, "spec": spec}
    status, body = cluster.client.request(
        "POST", f"/api/v1/namespaces/{HOME}/pods", pod, query={"dryRun": "All"}
    )
    return status, str(body.get("message", ""))


def test_a_tenant_gets_its_rights_and_a_second_run_writes_nothing(
    home: Cluster, playbook: Playbook, audit: Audit
) -> None:
    first = playbook.playbook("rbac", gpu_rbac_tenants=[TENANT], **FEW)
    assert first.rc == 0, first.output[-3000:]
    assert f"tenant vision in {HOME}" in first.output
    must_get(home.client, "rbac.authorization.k8s.io/v1", "rolebindings", TITLE, HOME)
    again = playbook.playbook("rbac", gpu_rbac_tenants=[TENANT], **FEW)
    assert (again.rc, again.changed, audit.writes(*again.tasks)) == (0, 0, [])


@pytest.mark.parametrize(
    ("verb", "group", "resource", "allowed"),
    [
        ("create", "batch", "jobs", True),
        ("list", "", "resourcequotas", True),
        ("patch", "", "resourcequotas", False),
        ("create", "", "pods", False),
        ("get", "", "secrets", False),
    ],
)
def test_the_account_of_a_tenant_may_do_this(
    home: Cluster, verb: str, group: str, resource: str, allowed: bool
) -> None:
    asked = {"verb": verb, "group": group, "resource": resource, "namespace": HOME}
    spec = {"user": f"system:serviceaccount:{HOME}:robot", "resourceAttributes": asked}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    status, body = home.client.request("POST", path, review)
    assert (status, body["status"]["allowed"]) == (201, allowed)


def test_only_its_priority_class_gets_gpus(home: Cluster) -> None:
    def is_counted() -> bool:
        quota = must_get(home.client, "v1", "resourcequotas", TITLE, HOME)
        return bool((quota.get("status") or {}).get("hard"))

    until(is_counted, "the quota has its status")
    assert answer(home, "gpu-batch")[0] == 201
    assert answer(home, "", gpus=0)[0] == 201
    for priority in ("gpu-urgent", ""):
        status, message = answer(home, priority)
        assert status == 403
        assert f"exceeded quota: {TITLE}" in message


def test_a_tenant_that_left_the_list_loses_all(home: Cluster, playbook: Playbook) -> None:
    made = playbook.playbook("rbac", gpu_rbac_tenants=[], **FEW)
    assert made.rc == 0, made.output[-3000:]
    for version, plural in (("rbac.authorization.k8s.io/v1", "roles"), ("v1", "resourcequotas")):
        assert home.client.get(version, plural, TITLE, HOME) is None
    assert playbook.playbook("rbac", gpu_rbac_state="absent", **FEW).rc == 0
