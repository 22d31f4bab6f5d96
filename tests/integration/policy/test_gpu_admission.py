# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpu_admission: what the API server itself tells pods, adds to them, and refuses."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import connect
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.http import Response

pytestmark = pytest.mark.story("one policy tells, then adds, then refuses, then goes")

Data = dict[str, t.Any]
GPU: t.Final = "nvidia.com/gpu"
SPACE: t.Final = "it-partition"
NAME: t.Final = "accelerators-openshift-gpu-pods"
GROUP: t.Final = "admissionregistration.k8s.io/v1"
POOLS: t.Final = [
    {"name": "training", "taints": [{"key": GPU, "effect": "NoSchedule"}]},
    {
        "name": "teams",
        "taints": [{"key": "dedicated", "value": "a", "effect": "NoSchedule"}],
        "resources": ["nvidia.com/mig-1g.5gb"],
    },
]
TOLERATION: t.Final = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
PLACES: t.Final = {
    "Pod": "/api/v1/namespaces/{}/pods",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "CronJob": "/apis/batch/v1/namespaces/{}/cronjobs",
}
RULE: t.Final = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["pods"],
}
LACKS: t.Final = "asks for nvidia.com/gpu and does not tolerate the taints of the pool training"
UNUSED: t.Final = "uses no device and tolerates nvidia.com/gpu"


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> t.Iterator[Api]:
    """Yield a client of the API server, which keeps the warnings of each answer."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
    cluster.client.apply(namespace)
    yield connect({"kubeconfig": str(cluster.kubeconfig)}, "integration-tests")
    cluster.client.delete("v1", "namespaces", SPACE)


def spec(*tolerations: Data, **limits: str) -> Data:
    """Return the spec of a pod with these limits."""
    container = {"name": "c", "image": "example.com/none", "resources": {"limits": limits}}
    return {
        "containers": [container],
        "restartPolicy": "Never",
        **({"tolerations": [*tolerations]} if tolerations else {}),
    }


ONE: t.Final = {GPU: "1"}


def manifest(kind: str, pod: Data, **metadata: t.Any) -> Data:
    """Return an object that is a pod, or that makes such pods."""
    marks = {"app": "it"}
    template = {"metadata": {"labels": marks}, "spec": pod}
    inner: dict[str, Data] = {
        "Pod": pod,
        "Deployment": {
            "selector": {"matchLabels": marks},
            "template": {**template, "spec": pod | {"restartPolicy": "Always"}},
        },
        "Job": {"template": template},
        "CronJob": {"schedule": "0 1 * * *", "jobTemplate": {"spec": {"template": template}}},
    }
    version = {"Pod": "v1", "Deployment": "apps/v1"}.get(kind, "batch/v1")
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "it", **metadata}, "spec": inner[kind]}


def send(api: Api, kind: str, pod: Data, space: str = SPACE, **metadata: t.Any) -> Response:
    """Return the answer to a dry run of the object."""
    place = PLACES[kind].format(space)
    return api.http.request("POST", place, {"dryRun": "All"}, manifest(kind, pod, **metadata))


def said(answer: Response) -> str:
    """Return what the policy said, as a warning or as a refusal; fail if anything else refused."""
    message = str(answer.body.get("message") or "")
    assert answer.status == 201 or NAME in message, message
    texts = [*answer.warnings, message]
    return " ".join(one for one in texts if NAME in one)


def added(answer: Response) -> list[Data]:
    """Return the tolerations of the pod that are not of the nodes' own conditions."""
    found = answer.body["spec"].get("tolerations") or []
    return [one for one in found if not str(one.get("key")).startswith("node.kubernetes.io/")]


def test_the_policy_is_proved_and_a_second_run_writes_nothing(
    playbook: Playbook, audit: Audit, api: Api
) -> None:
    options: Data = {"pools": POOLS, "admission": "warn", "prove": True, "proof_namespace": SPACE}
    task = playbook.module("gpu_admission", **options)
    assert not task.failed, task.result
    if task.changed:
        assert LACKS in task["admission"]["proof"]
        assert "tolerations: [{key: nvidia.com/gpu, operator: Exists" in task["admission"]["proof"]
    again = playbook.module("gpu_admission", **options)
    assert (again.changed, audit.writes(again)) == (False, [])
    assert said(send(api, "Pod", spec(**ONE)))


@pytest.mark.parametrize("kind", PLACES)
def test_who_lacks_the_toleration_is_told(kind: str, api: Api) -> None:
    answer = send(api, kind, spec(**ONE))
    assert answer.status == 201, answer.body
    assert LACKS in said(answer)
    assert said(send(api, kind, spec(TOLERATION, **ONE))) == ""


@pytest.mark.parametrize("kind", PLACES)
def test_who_uses_no_device_and_tolerates_the_taint_is_told(kind: str, api: Api) -> None:
    assert UNUSED in said(send(api, kind, spec(TOLERATION)))
    assert said(send(api, kind, spec())) == ""


def test_who_is_left_alone(api: Api) -> None:
    everything = {"operator": "Exists"}
    agent = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "1", "controller": True}
    assert said(send(api, "Pod", spec(everything))) == ""
    assert said(send(api, "Pod", spec(everything, **ONE))) == ""
    assert said(send(api, "Pod", spec(TOLERATION), ownerReferences=[agent])) == ""
    assert said(send(api, "Pod", spec(**ONE), "kube-system")) == ""
    # nvidia-cuda-validator, in whatever namespace the GPU operator works.
    policy = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "name": "p", "uid": "1"}
    assert said(send(api, "Pod", spec(TOLERATION), ownerReferences=[policy])) == ""
    serving = {**policy, "apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment"}
    assert UNUSED in said(send(api, "Pod", spec(TOLERATION), ownerReferences=[serving]))
    assert said(send(api, "Pod", spec(**{GPU: "0"}))) == ""
    other = {"key": GPU, "operator": "Equal", "value": "x", "effect": "NoSchedule"}
    assert LACKS in said(send(api, "Pod", spec(other, **ONE)))
    only_run = {"key": GPU, "operator": "Exists", "effect": "NoExecute"}
    assert LACKS in said(send(api, "Pod", spec(only_run, **ONE)))


def test_only_pods_that_ask_for_the_device_get_the_toleration(playbook: Playbook, api: Api) -> None:
    task = playbook.module(
        "gpu_admission",
        pools=POOLS,
        admission="warn",
        add_tolerations=True,
        prove=True,
        proof_namespace=SPACE,
    )
    assert not task.failed, task.result
    assert task["admission"]["adds"] == [GPU]
    assert "added the toleration" in task["admission"]["proof"]
    answer = send(api, "Pod", spec(**ONE))
    assert (added(answer), said(answer)) == ([TOLERATION], "")
    own = {"key": "own", "operator": "Exists"}
    assert added(send(api, "Pod", spec(own, **ONE))) == [own, TOLERATION]
    assert added(send(api, "Pod", spec(TOLERATION, **ONE))) == [TOLERATION]
    assert added(send(api, "Pod", spec())) == []
    # The taint of a team is for the team to tolerate.
    mig = send(api, "Pod", spec(**{"nvidia.com/mig-1g.5gb": "1"}))
    assert added(mig) == []
    # The API server takes over each of the two policies in its own time.
    until(lambda: said(send(api, "Deployment", spec(**ONE))) == "", "the new rule for templates")


def test_another_file_of_pools_keeps_its_rules(playbook: Playbook, api: Api, cluster: Cluster) -> None:
    taint = {"key": "amd.com/gpu", "effect": "NoSchedule"}
    pool = {"name": "other", "taints": [taint], "resources": ["amd.com/gpu"]}
    more: Data = {"prove": True, "proof_namespace": SPACE}
    task = playbook.module("gpu_admission", pools=[pool], admission="deny", **more)
    assert task["admission"]["pools"] == ["other", "teams", "training"]
    assert "is forbidden" in task["admission"]["proof"]
    refusal = send(api, "Pod", spec(**{"amd.com/gpu": "1"}))
    assert refusal.status == 403
    assert "does not tolerate the taints of the pool other" in said(refusal)
    gone = playbook.module("gpu_admission", pools=[pool], state="absent")
    assert gone["admission"]["pools"] == ["teams", "training"]
    assert cluster.client.get(GROUP, "validatingadmissionpolicybindings", NAME)


def test_policies_go_with_their_last_pool(playbook: Playbook, audit: Audit, cluster: Cluster) -> None:
    assert playbook.module("gpu_admission", pools=POOLS, state="absent").changed
    for kind in ("validating", "mutating"):
        for plural in ("policies", "policybindings"):
            assert cluster.client.list(GROUP, f"{kind}admission{plural}") == []
    again = playbook.module("gpu_admission", pools=POOLS, state="absent")
    assert (again.changed, audit.writes(again)) == (False, [])


def test_a_policy_of_others_is_refused_before_the_first_write(
    playbook: Playbook, audit: Audit, cluster: Cluster
) -> None:
    cluster.client.apply(
        {
            "apiVersion": GROUP,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": NAME},
            "spec": {"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "true"}]},
        }
    )
    try:
        task = playbook.module("gpu_admission", pools=POOLS, admission="warn")
        assert (task.failed, task["code"]) == (True, "POLICY-FOREIGN")
        assert audit.writes(task) == []
        assert not playbook.module("gpu_admission", pools=POOLS, state="absent").changed
    finally:
        cluster.client.delete(GROUP, "validatingadmissionpolicies", NAME)
