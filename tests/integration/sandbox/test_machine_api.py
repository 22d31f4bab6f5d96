# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machine API and NFD in a sandbox: a MachineSet becomes labelled GPU nodes; kopf leaves no annotation."""

from __future__ import annotations

import functools
import json
import typing as t

import pytest
from cluster import must_get
from integration.patience import until
from integration.sandbox.machine_sets import API, MACHINES, Data, in_phase, machines
from integration.sandbox.subscriptions import Operator

from openshift_sandbox import faults
from openshift_sandbox.client import Client
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.core.conditions import holds
from openshift_sandbox.stand_ins.core.kinds import TABLE

SCENARIO = "aws"
pytestmark = pytest.mark.long(
    "the sandbox itself: every other test uses its parts, these test them one by one"
)
NFD = "openshift-nfd"
FEATURE = "feature.node.kubernetes.io/"
TAINT = {"key": "nvidia.com/gpu", "value": "training", "effect": "NoSchedule"}
CONFIG = "sources: {pci: {deviceClassWhitelist: ['0200', '03', '12'], deviceLabelFields: [vendor]}}"


@pytest.fixture(scope="module")
def nfd(client: Client) -> Client:
    """Install NFD through OLM and create an instance that labels by PCI vendor."""
    operator = Operator(client, "nfd", NFD, "redhat-operators")
    operator.subscribe("stable")
    plan = until(
        lambda: next(iter(client.list("operators.coreos.com/v1alpha1", "installplans", NFD)), None),
        "an install plan of nfd",
    )
    csv = plan["spec"]["clusterServiceVersionNames"][0]
    operator.approve(csv)
    operator.reached(csv, "Succeeded")
    metadata = {"name": "nfd-instance", "namespace": NFD}
    client.apply(
        {
            "apiVersion": "nfd.openshift.io/v1",
            "kind": "NodeFeatureDiscovery",
            "metadata": metadata,
            "spec": {"workerConfig": {"configData": CONFIG}},
        }
    )
    return client


@pytest.fixture
def machine_set(machine_set: t.Callable[..., str]) -> t.Callable[..., str]:
    return functools.partial(machine_set, taints=[TAINT])


def node_of(client: Client, machine: Data) -> Data:
    return must_get(client, "v1", "nodes", machine["status"]["nodeRef"]["name"])


def ready_node(client: Client, machine: Data) -> Data | None:
    node = node_of(client, machine)
    return node if holds(node, "Ready") else None


def test_machines_become_ready_nodes_with_labels_and_taints(
    client: Client, machine_set: t.Callable[..., str]
) -> None:
    name = machine_set("plain", replicas=2)
    for machine in until(lambda: in_phase(client, name, "Running", 2), "two Machines Running"):
        node = until(functools.partial(ready_node, client, machine), "the Node Ready")
        assert node["metadata"]["labels"]["pool"] == "plain"
        assert node["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "g4dn.xlarge"
        assert TAINT in node["spec"]["taints"]
        assert node["spec"]["providerID"] == machine["spec"]["providerID"]
    counted = until(lambda: _counted(client, name, 2), "the set's status")
    assert counted["metadata"]["annotations"]["machine.openshift.io/GPU"] == "1"


def _counted(client: Client, name: str, count: int) -> Data | None:
    found = must_get(client, API, "machinesets", name, MACHINES)
    return found if found.get("status", {}).get("availableReplicas") == count else None


def test_scaling_down_removes_machine_and_node(client: Client, machine_set: t.Callable[..., str]) -> None:
    name = machine_set("shrinking", replicas=2)
    names = {
        machine["status"]["nodeRef"]["name"]
        for machine in until(lambda: in_phase(client, name, "Running", 2), "two Machines Running")
    }
    client.patch(API, "machinesets", name, MACHINES, {"spec": {"replicas": 1}})
    [left] = until(lambda: len(machines(client, name)) == 1 and machines(client, name), "one Machine left")
    assert until(
        lambda: (
            {node["metadata"]["name"] for node in client.list("v1", "nodes")} & names
            == {left["status"]["nodeRef"]["name"]}
        ),
        "one Node left",
    )


def test_capacity_that_is_missing_and_comes_back(
    sandbox: Sandbox, client: Client, machine_set: t.Callable[..., str]
) -> None:
    where = {"zone": "us-east-2b", "instance_type": "p4d.24xlarge"}
    faults.add(sandbox, "no_capacity", where)
    name = machine_set("scarce", zone="us-east-2b", instanceType="p4d.24xlarge")
    try:
        refused = until(lambda: _refused(client, name), "the refusal")
        assert refused["status"]["phase"] == "Provisioning"
        assert (
            "InsufficientInstanceCapacity" in refused["status"]["providerStatus"]["conditions"][0]["message"]
        )
    finally:
        faults.clear(sandbox, "no_capacity", where)
    assert until(lambda: in_phase(client, name, "Running"), "the Machine Running once there is capacity")


def _refused(client: Client, name: str) -> Data | None:
    return next(
        (
            one
            for one in machines(client, name)
            if (one.get("status", {}).get("providerStatus") or {}).get("conditions")
        ),
        None,
    )


def test_a_quota_of_the_account_fails_for_good(
    sandbox: Sandbox, client: Client, machine_set: t.Callable[..., str]
) -> None:
    faults.add(sandbox, "quota_exceeded", {"zone": "us-east-2c"})
    try:
        name = machine_set("denied", zone="us-east-2c")
        [failed] = until(lambda: in_phase(client, name, "Failed"), "the Machine Failed")
    finally:
        faults.clear(sandbox, "quota_exceeded", {})
    assert failed["status"]["errorReason"] == "InvalidConfiguration"
    assert failed["status"]["errorMessage"].startswith(
        "error launching instance: You have requested more vCPU capacity"
    )


def test_nfd_labels_gpu_nodes(nfd: Client, machine_set: t.Callable[..., str]) -> None:
    name = machine_set("labelled")
    [machine] = until(lambda: in_phase(nfd, name, "Running"), "the Machine Running")
    node = until(lambda: _labelled(nfd, machine), "the label of the GPU")
    assert node["metadata"]["labels"][f"{FEATURE}system-os_release.OSTREE_VERSION"] == "9.8.20260801-0"
    assert (
        node["metadata"]["labels"][f"{FEATURE}kernel-version.full"]
        == node["status"]["nodeInfo"]["kernelVersion"]
    )
    workers = nfd.list("v1", "nodes", labels=f"{FEATURE}pci-1d0f.present=true")
    assert {
        bool(one["metadata"]["labels"].get(f"{FEATURE}pci-10de.present"))
        for one in workers
        if "pool" not in one["metadata"]["labels"]
    } == {False}
    reason = until(lambda: _available(nfd), "the instance Available")
    assert reason == "AllInstanceComponentsAreDeployedSuccessfuly"


def _labelled(client: Client, machine: Data) -> Data | None:
    node = node_of(client, machine)
    return node if node["metadata"]["labels"].get(f"{FEATURE}pci-10de.present") == "true" else None


def _available(client: Client) -> str | None:
    cr = must_get(client, "nfd.openshift.io/v1", "nodefeaturediscoveries", "nfd-instance", NFD)
    return next(
        (
            one["reason"]
            for one in cr.get("status", {}).get("conditions", [])
            if one["type"] == "Available" and one["status"] == "True"
        ),
        None,
    )


@pytest.mark.parametrize("group", ["nfd.k8s-sigs.io", "nfd.openshift.io"])
def test_rules_of_both_groups_are_evaluated(
    nfd: Client, machine_set: t.Callable[..., str], group: str
) -> None:
    label = f"example.com/{group.partition('.')[2].replace('.', '-')}"
    match = [
        {
            "feature": "pci.device",
            "matchExpressions": {
                "vendor": {"op": "In", "value": ["10de"]},
                "class": {"op": "In", "value": ["0302"]},
            },
        }
    ]
    spec = {"rules": [{"name": "gpu", "labels": {label: "true"}, "matchFeatures": match}]}
    metadata = {"name": f"rule-{group.replace('.', '-')}", "namespace": NFD}
    nfd.apply(
        {"apiVersion": f"{group}/v1alpha1", "kind": "NodeFeatureRule", "metadata": metadata, "spec": spec}
    )
    name = machine_set("ruled")
    [machine] = until(lambda: in_phase(nfd, name, "Running"), "the Machine Running")
    until(lambda: nfd.list("v1", "nodes", labels=f"{label}=true"), f"a node with {label}")
    assert [node["metadata"]["name"] for node in nfd.list("v1", "nodes", labels=f"{label}=true")] == [
        machine["status"]["nodeRef"]["name"]
    ]


def test_a_label_that_nfd_loses_goes_and_comes_back(
    sandbox: Sandbox, nfd: Client, machine_set: t.Callable[..., str]
) -> None:
    name = machine_set("forgetful")
    [machine] = until(lambda: in_phase(nfd, name, "Running"), "the Machine Running")
    until(lambda: _labelled(nfd, machine), "the label")
    faults.add(sandbox, "nfd_label_lost", {"label": "pci-10de.present"})
    try:
        until(lambda: not _labelled(nfd, machine), "the label lost")
    finally:
        faults.clear(sandbox, "nfd_label_lost", {})
    assert until(lambda: _labelled(nfd, machine), "the label back")


def test_features_go_with_their_node(nfd: Client, machine_set: t.Callable[..., str]) -> None:
    name = machine_set("leaving")
    [machine] = until(lambda: in_phase(nfd, name, "Running"), "the Machine Running")
    node = machine["status"]["nodeRef"]["name"]
    until(lambda: nfd.get("nfd.k8s-sigs.io/v1alpha1", "nodefeatures", node, NFD), "its NodeFeature")
    nfd.delete(API, "machinesets", name, MACHINES)
    assert until(
        lambda: nfd.get("nfd.k8s-sigs.io/v1alpha1", "nodefeatures", node, NFD) is None, "its NodeFeature gone"
    )


def test_a_killed_nfd_master_comes_back(sandbox: Sandbox, nfd: Client) -> None:
    first = until(lambda: sandbox.processes.find("nfd-master"), "nfd-master")
    sandbox.processes.stop("nfd-master")
    second = until(
        lambda: sandbox.processes.alive("nfd-master") and sandbox.processes.find("nfd-master"),
        "nfd-master again",
    )
    assert second.pid != first.pid


def test_kopf_leaves_no_trace(sandbox: Sandbox, client: Client) -> None:
    for api_version, plural in TABLE.values():
        status, answer = client.request(
            "GET", f"{'/apis' if '/' in api_version else '/api'}/{api_version}/{plural}"
        )
        assert status in {200, 404}
        assert "kopf" not in json.dumps(answer).lower(), plural
    status, answer = client.request("GET", "/apis/events.k8s.io/v1/events")
    assert "kopf" not in json.dumps(answer).lower()


def test_a_removed_instance_is_pruned_from_the_nodes(nfd: Client) -> None:
    until(lambda: nfd.list("v1", "nodes", labels=f"{FEATURE}pci-1d0f.present=true"), "labelled nodes")
    nfd.patch(
        "nfd.openshift.io/v1",
        "nodefeaturediscoveries",
        "nfd-instance",
        NFD,
        {"spec": {"prunerOnDelete": True}},
    )
    nfd.delete("nfd.openshift.io/v1", "nodefeaturediscoveries", "nfd-instance", NFD)
    until(
        lambda: nfd.get("nfd.openshift.io/v1", "nodefeaturediscoveries", "nfd-instance", NFD) is None,
        "the instance gone",
    )
    assert FEATURE not in json.dumps(nfd.list("v1", "nodes"))
    assert nfd.list("apps/v1", "daemonsets", NFD) == []
    assert nfd.list("networking.k8s.io/v1", "networkpolicies", NFD) == []


def test_stand_ins_survive_an_api_outage(
    sandbox: Sandbox, client: Client, machine_set: t.Callable[..., str]
) -> None:
    name = machine_set("outage")
    faults.api_down(sandbox, 5)
    assert until(lambda: in_phase(client, name, "Running"), "the Machine Running")


def test_stand_ins_rest_when_nothing_happens(rest: t.Callable[[], bool]) -> None:
    """Wait for three seconds in which no stand-in writes."""
    assert until(rest, "three seconds without a write")
