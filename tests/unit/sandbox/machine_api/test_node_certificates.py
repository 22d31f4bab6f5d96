"""Kubelets ask for certificates while machine-approver does not run."""

from __future__ import annotations

import base64
import typing as t

import pytest
from cryptography import x509
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.machine_api import certificate_requests as requests
from openshift_sandbox.stand_ins.machine_api.node_certificates import NodeCertificates
from openshift_sandbox.stand_ins.machine_api.nodelink import Nodelink

NAMESPACE = "openshift-machine-api"
NODE = "ip-10-0-0-16.us-east-2.compute.internal"
CLUSTER = {
    "platform": "AWS",
    "region": "us-east-2",
    "zones": ["us-east-2a"],
    "infrastructure_name": "demo-x7k2p",
    "version": "4.22.5",
    "kernel": "5.14.0-570.12.1.el9_6.x86_64",
    "ostree_version": "9.8.20260801-0",
    "kubelet": "v1.35.4",
}
HELD = {"type": "csr_pending", "zone": "us-east-2a"}

Data = dict[str, t.Any]


def make(*troubles: Data) -> World:
    world = World(NodeCertificates(), Nodelink(), cluster=CLUSTER, troubles=list(troubles))
    labels = {
        "machine.openshift.io/zone": "us-east-2a",
        "machine.openshift.io/instance-type": "g4dn.xlarge",
        "machine.openshift.io/region": "us-east-2",
    }
    addresses = [
        {"type": "InternalIP", "address": "10.0.0.16"},
        {"type": "InternalDNS", "address": NODE},
        {"type": "Hostname", "address": NODE},
    ]
    value = {
        "instanceType": "g4dn.xlarge",
        "placement": {"availabilityZone": "us-east-2a", "region": "us-east-2"},
    }
    machine = {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "Machine",
        "metadata": {"name": "gpu-1", "namespace": NAMESPACE, "labels": labels},
        "spec": {"providerID": "aws:///us-east-2a/i-0123", "providerSpec": {"value": value}},
        "status": {"phase": "Provisioned", "addresses": addresses},
    }
    world.api.create(machine)
    infrastructure = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
    }
    world.api.create(infrastructure | {"status": {"platformStatus": {"type": "AWS"}}})
    world.settle(3)
    return world


def sent(world: World, signer: str = requests.CLIENT) -> list[Data]:
    return [one for one in world.api.all("CertificateSigningRequest") if one["spec"]["signerName"] == signer]


def approve(world: World, request: Data, kind: str = "Approved") -> None:
    body = {"status": {"conditions": [{"type": kind, "status": "True", "reason": "ByTest"}]}}
    world.api.patch(
        "certificates.k8s.io/v1",
        "certificatesigningrequests",
        request["metadata"]["name"],
        None,
        body,
        "approval",
    )
    world.settle(3)


def nodes(world: World) -> list[str]:
    return [one["metadata"]["name"] for one in world.api.all("Node")]


def test_without_the_trouble_there_are_no_requests() -> None:
    world = make()
    assert nodes(world) == [NODE]
    assert sent(world) == []


def test_the_node_waits_for_its_client_certificate() -> None:
    world = make(HELD)
    [request] = sent(world)
    assert request["metadata"]["name"].startswith("csr-")
    assert (
        request["spec"]["username"]
        == "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
    )
    assert request["spec"]["usages"] == ["digital signature", "client auth"]
    subject = x509.load_pem_x509_csr(base64.b64decode(request["spec"]["request"])).subject.rfc4514_string()
    assert subject == f"CN=system:node:{NODE},O=system:nodes"
    assert nodes(world) == []


def test_approved_it_joins_and_asks_for_a_serving_certificate() -> None:
    world = make(HELD)
    approve(world, sent(world)[0])
    assert nodes(world) == [NODE]
    [serving] = sent(world, requests.SERVING)
    assert (serving["spec"]["username"], serving["spec"]["groups"]) == (
        f"system:node:{NODE}",
        ["system:nodes", "system:authenticated"],
    )
    names = (
        x509.load_pem_x509_csr(base64.b64decode(serving["spec"]["request"]))
        .extensions.get_extension_for_class(x509.SubjectAlternativeName)
        .value
    )
    assert names.get_values_for_type(x509.DNSName) == [NODE]
    assert [str(one) for one in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.16"]
    assert len(sent(world)) == 1


def test_denied_it_stays_away() -> None:
    world = make(HELD)
    approve(world, sent(world)[0], "Denied")
    assert nodes(world) == []
    assert len(sent(world)) == 1


def test_the_trouble_is_of_one_zone() -> None:
    world = make(HELD | {"zone": "us-east-2b"})
    assert (nodes(world), sent(world)) == ([NODE], [])


def test_when_machine_approver_is_back_it_approves_what_waits() -> None:
    world = make(HELD, {"type": "foreign_csr", "name": "intruder"})
    world.scenario.now.troubles.clear()
    world.settle(3)
    assert nodes(world) == [NODE]
    assert {requests.node_of(one): requests.approved(one) for one in sent(world)} == {
        NODE: True,
        "intruder": False,
    }


def test_a_stranger_s_request_stays_pending() -> None:
    world = make({"type": "foreign_csr", "name": "intruder"})
    [request] = sent(world)
    assert requests.node_of(request) == "intruder"
    assert requests.pending(request)
    world.settle(10)
    assert len(sent(world)) == 1


@pytest.mark.parametrize("signer", ["kubernetes.io/kube-apiserver-client", "example.com/own"])
def test_other_requests_are_nobody_s_node(signer: str) -> None:
    request = requests.client_request("n")
    request["spec"]["signerName"] = signer
    assert requests.node_of(request) is None


def test_a_request_that_is_none() -> None:
    request = requests.client_request("n")
    request["spec"]["request"] = base64.b64encode(b"no PEM").decode()
    assert requests.node_of(request) is None
