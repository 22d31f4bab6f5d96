# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers that work on machines in the background: autoscaler, certificates, health checks."""

from __future__ import annotations

import functools
import typing as t

import pytest
from cluster import must_get
from integration.patience import until
from integration.sandbox.machine_sets import API, MACHINES, Data, in_phase, machines
from integration.sandbox.pods import events, pod, running

from openshift_sandbox.client import Client

SCENARIO = "aws"
pytestmark = pytest.mark.long(
    "the sandbox itself: every other test uses its parts, these test them one by one"
)
ZONE = "us-east-2b"
ACCELERATOR = {"cluster-api/accelerator": "nvidia-t4"}
TRAINERS = ("train-0", "train-1")
GPU = {"limits": {"nvidia.com/gpu": "1"}}
AUTOSCALING = "autoscaling.openshift.io"
CERTIFICATES = ("certificates.k8s.io/v1", "certificatesigningrequests")


@pytest.fixture
def machine_set(machine_set: t.Callable[..., str]) -> t.Callable[..., str]:
    """Return the function `machine_set` for a zone of this file alone, with the autoscaler's label."""
    return functools.partial(machine_set, zone=ZONE, labels=ACCELERATOR)


def said_of_trainers(client: Client, reason: str) -> list[str]:
    return [text for trainer in TRAINERS for text in events(client, "default", trainer, reason)]


def give_a_gpu(client: Client, node: str) -> None:
    gpus = {"nvidia.com/gpu": "1"}
    client.patch("v1", "nodes", node, None, {"status": {"capacity": gpus, "allocatable": gpus}}, "status")


def test_the_autoscaler_grows_a_pool_from_zero_and_keeps_its_limit(
    client: Client, machine_set: t.Callable[..., str]
) -> None:
    name = machine_set("scaled", replicas=0)
    autoscale(client, name, {"gpus": [{"type": "nvidia-t4", "min": 0, "max": 1}]})
    try:
        until(lambda: _available(client, "cluster-autoscaler-default"), "the autoscaler Available")
        for trainer in TRAINERS:
            container = {"name": "main", "image": "example.com/train:1", "resources": GPU}
            pod(client, trainer, containers=[container])
        [machine] = until(lambda: in_phase(client, name, "Running"), "one Machine Running")
        scale_up = f"pod triggered scale-up: [{{MachineSet/{MACHINES}/{name} 0->1 (max: 4)}}]"
        assert scale_up in said_of_trainers(client, "TriggeredScaleUp")
        give_a_gpu(client, machine["status"]["nodeRef"]["name"])
        until(lambda: sum(running(client, one) for one in TRAINERS) == 1, "one of the pods Running")
        refusal = "pod didn't trigger scale-up: 1 max cluster nvidia-t4 limit reached"
        until(lambda: refusal in said_of_trainers(client, "NotTriggerScaleUp"), "the refusal")
        assert client.get("v1", "configmaps", "cluster-autoscaler-status", MACHINES)
    finally:
        for trainer in TRAINERS:
            client.delete("v1", "pods", trainer, "default")
        forget(client, name)
    bound = "machine.openshift.io/cluster-api-autoscaler-node-group-max-size"
    assert until(lambda: bound not in _annotations(client, name), "the set without bounds")


def test_the_autoscaler_takes_an_idle_node_back(client: Client, machine_set: t.Callable[..., str]) -> None:
    name = machine_set("idle", instanceType="m6i.xlarge", labels={})
    [machine] = until(lambda: in_phase(client, name, "Running"), "the Machine Running")
    autoscale(client, name, {})
    try:
        until(lambda: not machines(client, name), "the idle node gone")
        assert client.get("v1", "nodes", machine["status"]["nodeRef"]["name"]) is None
    finally:
        forget(client, name)


def autoscale(client: Client, name: str, caps: Data) -> None:
    reference = {"apiVersion": API, "kind": "MachineSet", "name": name}
    spec = {"minReplicas": 0, "maxReplicas": 4, "scaleTargetRef": reference}
    client.create(
        {
            "apiVersion": f"{AUTOSCALING}/v1beta1",
            "kind": "MachineAutoscaler",
            "metadata": {"name": name, "namespace": MACHINES},
            "spec": spec,
        }
    )
    body = {
        "resourceLimits": caps,
        "scaleDown": {"enabled": True, "unneededTime": "2s", "delayAfterAdd": "1s"},
    }
    client.create(
        {
            "apiVersion": f"{AUTOSCALING}/v1",
            "kind": "ClusterAutoscaler",
            "metadata": {"name": "default"},
            "spec": body,
        }
    )


def forget(client: Client, name: str) -> None:
    client.delete(f"{AUTOSCALING}/v1", "clusterautoscalers", "default")
    client.delete(f"{AUTOSCALING}/v1beta1", "machineautoscalers", name, MACHINES)
    until(lambda: not _available(client, "cluster-autoscaler-default"), "the autoscaler gone")


def _available(client: Client, name: str) -> bool:
    found = client.get("apps/v1", "deployments", name, MACHINES) or {}
    return any(
        one["type"] == "Available" and one["status"] == "True"
        for one in found.get("status", {}).get("conditions") or []
    )


def _annotations(client: Client, name: str) -> Data:
    found: Data = must_get(client, API, "machinesets", name, MACHINES)["metadata"]["annotations"]
    return found


def test_nodes_join_once_their_certificates_are_approved(
    client: Client, trouble: t.Callable[..., None], machine_set: t.Callable[..., str]
) -> None:
    trouble("csr_pending", zone=ZONE)
    trouble("foreign_csr", name="intruder")
    name = machine_set("certified")
    [machine] = until(lambda: in_phase(client, name, "Provisioned"), "the Machine Provisioned")
    node = next(one["address"] for one in machine["status"]["addresses"] if one["type"] == "InternalDNS")
    clients = until(
        lambda: len(found := _requests(client, "kube-apiserver-client-kubelet")) == 2 and found,
        "two client requests",
    )
    assert {one["spec"]["username"] for one in clients} == {
        "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
    }
    assert client.get("v1", "nodes", node) is None
    for one in clients:
        _approve(client, one)  # the real signer issues whatever is approved
    until(
        lambda: all(
            one.get("status", {}).get("certificate")
            for one in _requests(client, "kube-apiserver-client-kubelet")
        ),
        "both certificates",
    )
    until(lambda: in_phase(client, name, "Running"), "the Machine Running")
    [serving] = until(lambda: _requests(client, "kubelet-serving"), "a serving request")
    assert serving["spec"]["username"] == f"system:node:{node}"
    assert serving["spec"]["groups"] == ["system:nodes", "system:authenticated"]
    _approve(client, serving)
    assert until(
        lambda: _requests(client, "kubelet-serving")[0].get("status", {}).get("certificate"),
        "the serving certificate",
    )


def _requests(client: Client, signer: str) -> list[Data]:
    return [
        one for one in client.list(*CERTIFICATES) if one["spec"]["signerName"] == f"kubernetes.io/{signer}"
    ]


def _approve(client: Client, request: Data) -> None:
    condition = {"type": "Approved", "status": "True", "reason": "ByTest", "message": "approved"}
    client.patch(
        *CERTIFICATES, request["metadata"]["name"], None, {"status": {"conditions": [condition]}}, "approval"
    )


def test_a_health_check_replaces_a_machine_whose_instance_is_lost(
    client: Client, trouble: t.Callable[..., None], machine_set: t.Callable[..., str]
) -> None:
    name = machine_set("healthy", replicas=2)
    before = {
        one["metadata"]["name"]
        for one in until(lambda: in_phase(client, name, "Running", 2), "two Machines Running")
    }
    labels = {"machine.openshift.io/cluster-api-machineset": name}
    spec = {
        "selector": {"matchLabels": labels},
        "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "300s"}],
        "maxUnhealthy": "40%",
    }
    metadata = {"name": "healthy", "namespace": MACHINES}
    client.create({"apiVersion": API, "kind": "MachineHealthCheck", "metadata": metadata, "spec": spec})
    try:
        until(lambda: _health(client).get("currentHealthy") == 2, "two healthy Machines")
        trouble("instance_lost", machine=min(before))
        [lost] = until(lambda: in_phase(client, name, "Failed"), "the Machine Failed")
        assert lost["status"]["errorMessage"] == "can't find created instance"
        refused = until(
            lambda: next((one for one in _health(client)["conditions"] if one["status"] == "False"), None),
            "remediation refused",
        )
        assert refused["reason"] == "TooManyUnhealthy"
        client.patch(API, "machinehealthchecks", "healthy", MACHINES, {"spec": {"maxUnhealthy": "50%"}})
        after = {
            one["metadata"]["name"]
            for one in until(lambda: in_phase(client, name, "Running", 2), "two Machines Running again")
        }
        assert before - after == {min(before)}
    finally:
        client.delete(API, "machinehealthchecks", "healthy", MACHINES)


def _health(client: Client) -> Data:
    found = must_get(client, API, "machinehealthchecks", "healthy", MACHINES)
    return t.cast(Data, found.get("status") or {})
