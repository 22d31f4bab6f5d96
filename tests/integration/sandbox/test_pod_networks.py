# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks of pods on the real API server: webhooks refuse, complete and hold what is made."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Iterator

import pytest
from cluster import must_get, own
from integration.patience import until
from integration.sandbox.subscriptions import Operator

from openshift_sandbox.client import ApiError, Client

SCENARIO: t.Final = "networks"
pytestmark = [
    pytest.mark.story("two operators come, and pods get networks"),
    pytest.mark.long("it tests the sandbox"),
]

Data = dict[str, t.Any]
SRIOV: t.Final = "openshift-sriov-network-operator"
API: t.Final = "sriovnetwork.openshift.io/v1"
IPAM: t.Final = '{"type": "whereabouts", "range": "192.168.7.0/24"}'


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with own(SCENARIO) as cluster:
        yield cluster.client


def apply(client: Client, version: str, kind: str, name: str, namespace: str = "", **spec: t.Any) -> Data:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return client.apply({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})


def pod(client: Client, name: str, networks: str) -> None:
    metadata = {
        "name": name,
        "namespace": "work",
        "annotations": {"k8s.v1.cni.cncf.io/networks": networks},
    }
    spec = {"nodeSelector": {"rdma": "ethernet"}, "containers": [{"name": "main", "image": "example.com/a"}]}
    client.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def test_the_operators_come(client: Client) -> None:
    for package, namespace, source, channel, csv in (
        ("sriov-network-operator", SRIOV, "redhat-operators", "stable",
         "sriov-network-operator.v4.22.0-202608111344"),
        ("nvidia-network-operator", "nvidia-network-operator", "certified-operators", "stable",
         "nvidia-network-operator.v26.7.0-1"),
    ):  # fmt: skip
        operator = Operator(client, package, namespace, source)
        operator.subscribe(channel)
        operator.approve(csv)
        operator.reached(csv, "Succeeded")
    config = {"enableInjector": True, "enableOperatorWebhook": True}
    apply(client, API, "SriovOperatorConfig", "default", SRIOV, **config)
    states = until(lambda: client.list(API, "sriovnetworknodestates", SRIOV), "states of nodes")
    assert {one["metadata"]["name"] for one in states} >= {"eth-0", "ib-0", "worker-0"}


def test_the_webhook_of_multus_keeps_a_network_from_being_ready(client: Client) -> None:
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "work"}})
    for name, ipam in (("lan", IPAM), ("broken", "{type}")):
        wanted = {"networkNamespace": "work", "master": "ens1f0np0", "ipam": ipam}
        apply(client, "mellanox.com/v1alpha1", "MacvlanNetwork", name, **wanted)

    def status(name: str) -> Data:
        live = must_get(client, "mellanox.com/v1alpha1", "macvlannetworks", name)
        return t.cast(Data, live.get("status") or {})

    until(lambda: status("lan").get("state") == "ready", "the network is ready")
    until(lambda: status("broken").get("state") == "notReady", "the other one is not")
    assert status("broken")["reason"].endswith("configuration string is not in JSON format")


def test_the_operator_refuses_and_completes_policies(client: Client) -> None:
    wanted = {"nodeSelector": {"rdma": "ethernet"}, "nicSelector": {"pfNames": ["ens2f0np0"]}}
    with pytest.raises(ApiError, match=r"numVfs\(200\) in CR rail exceed the maximum allowed value\(128\)"):
        apply(client, API, "SriovNetworkNodePolicy", "rail", SRIOV, resourceName="rail", numVfs=200, **wanted)
    made = apply(
        client, API, "SriovNetworkNodePolicy", "rail", SRIOV, resourceName="rail", numVfs=4, **wanted
    )
    assert (made["spec"]["priority"], made["spec"]["isRdma"]) == (99, False)
    network = {"resourceName": "rail", "networkNamespace": "work", "ipam": IPAM}
    apply(client, API, "SriovNetwork", "rail", SRIOV, **network)

    def offered() -> list[str | None]:
        nodes = [must_get(client, "v1", "nodes", name) for name in ("eth-0", "eth-1")]
        return [node["status"]["allocatable"].get("openshift.io/rail") for node in nodes]

    until(lambda: offered() == ["4", "4"], "both nodes have their functions")
    until(
        lambda: (
            not must_get(client, "machineconfiguration.openshift.io/v1", "machineconfigpools", "worker")[
                "spec"
            ].get("paused")
        ),
        "the pool goes on",
    )


def test_a_pod_waits_for_its_networks_and_gets_its_device(client: Client) -> None:
    definitions = ("k8s.cni.cncf.io/v1", "network-attachment-definitions")
    until(lambda: client.get(*definitions, "rail", "work"), "the definition")
    pod(client, "one", "lan@fast0,rail")
    with pytest.raises(ApiError, match="could not find network attachment definition 'work/other'"):
        pod(client, "two", "other")

    def entries() -> list[Data]:
        annotations = must_get(client, "v1", "pods", "one", "work")["metadata"]["annotations"]
        return t.cast("list[Data]", json.loads(annotations.get("k8s.v1.cni.cncf.io/network-status", "[]")))

    until(entries, "the status of its networks")
    assert [one["interface"] for one in entries()] == ["eth0", "fast0", "net2"]
    live = must_get(client, "v1", "pods", "one", "work")
    assert live["spec"]["containers"][0]["resources"]["limits"] == {"openshift.io/rail": "1"}
    until(
        lambda: must_get(client, "v1", "pods", "one", "work")["status"]["phase"] == "Running", "the pod runs"
    )


def test_nv_ipam_brings_its_kinds(client: Client) -> None:
    part = {"image": "nvidia-k8s-ipam", "repository": "example.com", "version": "v1"}
    apply(client, "mellanox.com/v1alpha1", "NicClusterPolicy", "nic-cluster-policy", nvIpam=part)

    def make() -> bool:
        try:
            subnet = {"subnet": "10.0.0.0/28", "perNodeBlockSize": 6}
            apply(client, "nv-ipam.nvidia.com/v1alpha1", "IPPool", "p", "nvidia-network-operator", **subnet)
        except ApiError as error:
            if error.status != 404:
                raise
            return False
        return True

    until(make, "the kind IPPool")
    found = until(
        lambda: must_get(
            client, "nv-ipam.nvidia.com/v1alpha1", "ippools", "p", "nvidia-network-operator"
        ).get("status"),
        "allocations",
    )
    assert len(found["allocations"]) == 2


def test_the_cluster_network_takes_its_definitions_back(client: Client) -> None:
    entry = {"name": "extra", "namespace": "work", "type": "Raw", "rawCNIConfig": '{"type": "macvlan"}'}
    where = ("operator.openshift.io/v1", "networks", "cluster", None)
    definitions = ("k8s.cni.cncf.io/v1", "network-attachment-definitions", "extra", "work")
    client.patch(*where, {"spec": {"additionalNetworks": [entry]}})
    until(lambda: client.get(*definitions), "the definition")
    client.patch(*where, {"spec": {"additionalNetworks": []}})
    until(lambda: client.get(*definitions) is None, "nothing is left")
