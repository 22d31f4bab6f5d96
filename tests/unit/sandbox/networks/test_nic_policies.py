"""The network operator's policies, of the cluster and of nodes: their status, and what is refused."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.networks.builders import NVIDIA, Object, deployment, node

from openshift_sandbox.stand_ins.core.webhooks import Denial
from openshift_sandbox.stand_ins.network_operator.node import NicNode
from openshift_sandbox.stand_ins.network_operator.operator import NetworkOperator, overlap
from openshift_sandbox.stand_ins.network_operator.webhooks import review

PRESENT: t.Final = {"feature.node.kubernetes.io/pci-15b3.present": "true"}
PART: t.Final = {"image": "plugin", "repository": "example.com", "version": "1"}


def policy(kind: str, name: str, **spec: t.Any) -> Object:
    return {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, "generation": 1},
        "spec": spec,
    }


def cluster(*objects: Object) -> World:
    world = World(NetworkOperator(), NicNode())
    for obj in (deployment("nvidia-network-operator-controller-manager", NVIDIA), *objects):
        world.api.create(obj)
    world.settle(2)
    return world


def conditions(found: Object) -> dict[str, tuple[str, str, str]]:
    return {
        one["type"]: (one["status"], one["reason"], one["message"]) for one in found["status"]["conditions"]
    }


class TestStatus:
    def test_an_error_wins_over_what_is_not_ready(self) -> None:
        wanted = {"rdmaSharedDevicePlugin": {"image": "p"}, "nvIpam": PART}
        world = cluster(policy("NicClusterPolicy", "nic-cluster-policy", **wanted))
        found = world.api.get("NicClusterPolicy", "nic-cluster-policy")
        error = (
            "failed to create k8s objects from manifest: failed to validate rdmaSharedDevicePlugin image "
            "spec: repository is required"
        )
        assert conditions(found) == {
            "Ready": ("False", "ComponentError", "One or more components are in error state"),
            "RDMASharedDevicePluginReady": ("False", "ComponentError", error),
            "NVIPAMReady": ("False", "ComponentNotReady", ""),
        }
        assert {one["observedGeneration"] for one in found["status"]["conditions"]} == {1}

    def test_ipoib_is_a_part_of_secondary_networks(self) -> None:
        world = cluster(policy("NicClusterPolicy", "nic-cluster-policy", secondaryNetwork={"ipoib": PART}))
        found = world.api.get("NicClusterPolicy", "nic-cluster-policy")
        assert conditions(found)["IPoIBCNIReady"][1] == "ComponentNotReady"
        assert [one["metadata"]["name"] for one in world.api.all("DaemonSet")] == ["kube-ipoib-cni-ds"]


class TestNodePolicies:
    def test_it_serves_the_nodes_that_it_selects(self) -> None:
        plugin = PART | {"config": '{"configList": [{"resourceName": "shared", "rdmaHcaMax": 63}]}'}
        nodes = (node("a", rdma="ib", **PRESENT), node("b", rdma="eth", **PRESENT))
        mine = {"nodeSelector": {"rdma": "ib"}, "rdmaSharedDevicePlugin": plugin}
        world = cluster(policy("NicNodePolicy", "ib", **mine), *nodes)
        [daemon_set] = world.api.all("DaemonSet")
        assert daemon_set["metadata"]["name"].startswith("rdma-shared-dp-ds-")
        assert daemon_set["metadata"]["labels"]["ds-owner"] == "nnp-ib"
        assert daemon_set["spec"]["template"]["spec"]["nodeSelector"]["rdma"] == "ib"
        assert daemon_set["metadata"]["ownerReferences"][0]["kind"] == "NicNodePolicy"
        assert world.api.get("NicNodePolicy", "ib")["status"]["state"] == "notReady"

    def test_two_for_one_node_are_an_error(self) -> None:
        mine = policy("NicNodePolicy", "ib", nodeSelector={"rdma": "ib"})
        world = cluster(mine, policy("NicNodePolicy", "all"), node("a", rdma="ib"))
        status = world.api.get("NicNodePolicy", "all")["status"]
        assert status["state"] == "error"
        assert status["reason"] == (
            'node selector overlap detected: node "a" is selected by policies: [all, ib]'
        )
        assert overlap(world.api.all("NicNodePolicy")[:1], world.api.all("Node")) == ""


class Answers:
    """A client that knows these policies and one node."""

    def __init__(self, *policies: Object) -> None:
        self._policies = policies

    def list(self, _version: str, plural: str, _namespace: str | None = None) -> list[Object]:
        kinds = {"nicclusterpolicies": "NicClusterPolicy", "nicnodepolicies": "NicNodePolicy"}
        known = [node("a", rdma="ib")] if plural == "nodes" else list(self._policies)
        return [one for one in known if one["kind"] == kinds.get(plural, "Node")]


@pytest.mark.parametrize(
    ("obj", "others", "text"),
    [
        (policy("NicClusterPolicy", "c", ofedDriver={}), [policy("NicNodePolicy", "n", ofedDriver={})],
         'NicNodePolicy "n" already defines ofedDriver; NicClusterPolicy cannot also define it'),
        (policy("NicNodePolicy", "n", ofedDriver={}), [policy("NicClusterPolicy", "c", ofedDriver={})],
         'NicClusterPolicy already defines ofedDriver; NicNodePolicy "n" cannot also define it'),
        (policy("NicNodePolicy", "n"), [policy("NicNodePolicy", "m")],
         'node selector overlap detected: node "a" is selected by policies: [m, n]'),
        (policy("NicNodePolicy", "n", ofedDriver={}), [policy("NicClusterPolicy", "c", nvIpam={})], ""),
        (policy("HostDeviceNetwork", "h", resourceName="a.b"), [], ""),
        (policy("HostDeviceNetwork", "h", resourceName="-a"), [], 'Spec: Invalid value: "-a"'),
        (policy("NicNodePolicy", "n" * 31), [], "name must be at most 50 characters"),
    ],
)  # fmt: skip
def test_what_the_webhooks_refuse(obj: Object, others: list[Object], text: str) -> None:
    answer = review({"object": obj}, t.cast(t.Any, Answers(*others)))
    if text:
        assert isinstance(answer, Denial)
        assert text in answer.message
    else:
        assert answer is None
