"""How pods get their networks, and how definitions come about."""

from __future__ import annotations

import json
import typing as t

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.networks.builders import NVIDIA, Object, definition, deployment, node, pod, sriov

from openshift_sandbox.client import ApiError
from openshift_sandbox.hardware.instance_types import of_node
from openshift_sandbox.hardware.ports import mac, ports
from openshift_sandbox.stand_ins.cluster_network.additional import AdditionalNetworks
from openshift_sandbox.stand_ins.cluster_network.attachments import problem
from openshift_sandbox.stand_ins.cluster_network.multus import Multus, hold
from openshift_sandbox.stand_ins.cluster_network.uplinks import Uplinks
from openshift_sandbox.stand_ins.network_operator.networks import NicNetworks
from openshift_sandbox.stand_ins.network_operator.pools import Ipam, blocks
from openshift_sandbox.stand_ins.sriov.networks import SriovNetworks

STATUS = "k8s.v1.cni.cncf.io/network-status"
HOLD = "sandbox.openshift/hold"
RANGE = '"ipam": {"type": "whereabouts", "range": "192.168.7.0/29", "exclude": ["192.168.7.1/32"]}'
MACVLAN = f'{{"type": "macvlan", "master": "ens1f0np0", "mtu": 9000, {RANGE}}}'


def world(*objects: Object, reconcilers: t.Sequence[t.Any] = ()) -> World:
    made = World(*(reconcilers or (Multus(),)))
    for obj in objects:
        made.api.create(obj)
    made.settle(2)
    return made


def networks(made: World, name: str) -> list[Object]:
    annotations = made.api.get("Pod", name, "work")["metadata"]["annotations"]
    return t.cast("list[Object]", json.loads(annotations.get(STATUS, "[]")))


def events(made: World) -> str:
    return " ".join(one["message"] for one in made.api.all("Event"))


class TestMultus:
    def test_a_pod_gets_an_address_of_its_own(self) -> None:
        waiting = pod("one", "a", networks="lan@fast0")
        waiting["metadata"]["annotations"][HOLD] = "ready"
        made = world(node("a"), definition("lan", MACVLAN), waiting, pod("two", "a", networks="lan"))
        default, mine = networks(made, "one")
        assert (default["name"], default["default"], default["interface"]) == ("ovn-kubernetes", True, "eth0")
        assert (mine["name"], mine["interface"], mine["ips"], mine["mtu"]) == (
            "work/lan",
            "fast0",
            ["192.168.7.2"],
            9000,
        )
        [_default, other] = networks(made, "two")
        assert (other["interface"], other["ips"]) == ("net1", ["192.168.7.3"])
        assert HOLD not in made.api.get("Pod", "one", "work")["metadata"]["annotations"]

    def test_a_new_pod_with_networks_waits(self) -> None:
        patch = hold({"object": pod("one", "a", networks="lan")})
        assert patch is not None
        assert patch.operations[0]["value"][HOLD] == "ready"
        assert hold({"object": pod("one", "a")}) is None

    @pytest.mark.parametrize(
        ("asked", "config", "text"),
        [
            ("wan", MACVLAN, "cannot find a network-attachment-definition (wan) in namespace (work)"),
            ("team/lan", MACVLAN, "namespace isolation enabled, annotation violates permission"),
            ("lan", MACVLAN.replace("ens1", "ens7"), 'failed to lookup master "ens7f0np0": Link not found'),
            ("lan", '{"type": "sriov"}', "LoadConf(): VF pci addr is required"),
            ("lan", MACVLAN.replace("7.1/32", "7.0/29"), "Could not allocate IP in range"),
            ("lan", '{"type": "macvlan", "ipam": {"type": "nv-ipam", "poolName": "p"}}', 'pool "p"'),
        ],
    )
    def test_a_pod_without_its_network_does_not_start(self, asked: str, config: str, text: str) -> None:
        made = world(node("a"), definition("lan", config), pod("one", "a", networks=asked))
        assert networks(made, "one") == []
        assert text in events(made)

    def test_a_pod_has_the_functions_that_it_requested(self) -> None:
        made = world(
            node("a"),
            definition("lan", '{"type": "sriov"}', "openshift.io/rail"),
            pod("one", "a", networks="lan,lan", requests={"openshift.io/rail": "2"}),
        )
        devices = [one["device-info"]["pci"] for one in networks(made, "one")[1:]]
        assert devices == [
            {"pci-address": "0000:1a:00.1", "rdma-device": "mlx5_2"},
            {"pci-address": "0000:2a:00.1", "rdma-device": "mlx5_3"},
        ]


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (MACVLAN, ""),
        ("", ""),
        ('{"plugins": [{"type": "macvlan"}, {"type": "tuning"}]}', ""),
        ('{"type": macvlan}', "configuration string is not in JSON format"),
        ('["macvlan"]', "configuration string is not in JSON format"),
        ('{"name": "lan"}', "invalid config"),
    ],
)
def test_what_the_webhook_of_multus_refuses(config: str, text: str) -> None:
    assert problem(definition("lan", config)) == text


class TestAdditionalNetworks:
    def test_a_definition_comes_and_goes_with_its_entry(self) -> None:
        raw = {"name": "lan", "namespace": "work", "type": "Raw", "rawCNIConfig": MACVLAN}
        network = {
            "apiVersion": "operator.openshift.io/v1",
            "kind": "Network",
            "metadata": {"name": "cluster"},
            "spec": {"additionalNetworks": [raw]},
        }
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "work"}}
        made = world(network, space, definition("own", "{}"), reconcilers=[AdditionalNetworks()])
        assert made.api.get("NetworkAttachmentDefinition", "lan", "work")["spec"]["config"] == MACVLAN
        made.cluster.patch("Network", "cluster", None, {"spec": {"additionalNetworks": []}})
        made.settle(2)
        assert [one["metadata"]["name"] for one in made.api.all("NetworkAttachmentDefinition")] == ["own"]


def nic_network(kind: str, **spec: t.Any) -> Object:
    return {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": kind,
        "metadata": {"name": "lan"},
        "spec": {"networkNamespace": "work", "ipam": '{"type": "static"}', **spec},
    }


OPERATOR = deployment("nvidia-network-operator-controller-manager", NVIDIA)


class TestNicNetworks:
    @pytest.mark.parametrize(
        ("kind", "spec", "config", "resource"),
        [
            ("MacvlanNetwork", {"master": "ens1f0np0", "mode": "bridge", "mtu": 9000},
             {"type": "macvlan", "master": "ens1f0np0", "mode": "bridge", "mtu": 9000}, None),
            ("IPoIBNetwork", {"master": "ibs1"}, {"type": "ipoib", "master": "ibs1"}, None),
            ("HostDeviceNetwork", {"resourceName": "nic"}, {"type": "host-device"}, "nvidia.com/nic"),
        ],
    )  # fmt: skip
    def test_a_network_becomes_a_definition(
        self, kind: str, spec: Object, config: Object, resource: str | None
    ) -> None:
        made = world(OPERATOR, nic_network(kind, **spec), reconcilers=[NicNetworks()])
        found = made.api.get("NetworkAttachmentDefinition", "lan", "work")
        shared = {"cniVersion": "0.3.1", "name": "lan", "ipam": {"type": "static"}}
        assert json.loads(found["spec"]["config"]) == config | shared
        annotations = found["metadata"].get("annotations") or {}
        assert annotations.get("k8s.v1.cni.cncf.io/resourceName") == resource
        status = made.api.get(kind, "lan")["status"]
        assert status["state"] == "ready"
        assert "k8s.cni.cncf.io/v1/namespaces/work/NetworkAttachmentDefinition/lan" in status.values()

    def test_a_refusal_of_multus_is_no_error_and_its_reason_stays(self) -> None:
        made = World(NicNetworks())
        apply = made.api.apply

        def refusing(obj: Object, force: bool = True) -> Object:
            if text := problem(obj):
                raise ApiError(400, f'admission webhook "multus.openshift.io" denied the request: {text}')
            return apply(obj, force)

        made.api.apply = refusing  # type: ignore[method-assign]
        for obj in (OPERATOR, nic_network("MacvlanNetwork", ipam="{type}")):
            made.api.create(obj)
        made.settle(2)
        status = made.api.get("MacvlanNetwork", "lan")["status"]
        reason = (
            'failed to create/update objects: admission webhook "multus.openshift.io" denied the request: '
            "configuration string is not in JSON format"
        )
        assert status == {"state": "notReady", "reason": reason}
        made.cluster.patch("MacvlanNetwork", "lan", None, {"spec": {"ipam": "{}"}})
        made.settle(2)
        status = made.api.get("MacvlanNetwork", "lan")["status"]
        assert (status["state"], status["reason"]) == ("ready", reason)


class TestSriovNetworks:
    def test_a_network_becomes_a_definition_and_takes_it_along(self) -> None:
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "work"}}
        network = sriov(
            "SriovNetwork", "lan", resourceName="rail", networkNamespace="work", vlan=7, spoofChk="off",
            ipam='{"type": "static"}',
        )  # fmt: skip
        operator = deployment("sriov-network-operator", network["metadata"]["namespace"])
        made = world(operator, space, network, reconcilers=[SriovNetworks()])
        found = made.api.get("NetworkAttachmentDefinition", "lan", "work")
        assert found["metadata"]["annotations"] == {"k8s.v1.cni.cncf.io/resourceName": "openshift.io/rail"}
        assert json.loads(found["spec"]["config"]) == {
            "cniVersion": "1.0.0",
            "name": "lan",
            "type": "sriov",
            "vlan": 7,
            "vlanQoS": 0,
            "spoofchk": "off",
            "ipam": {"type": "static"},
        }
        place = network["metadata"]["namespace"]
        finalizers = made.api.get("SriovNetwork", "lan", place)["metadata"]["finalizers"]
        assert finalizers == ["netattdef.finalizers.sriovnetwork.openshift.io"]
        made.api.delete("sriovnetwork.openshift.io/v1", "sriovnetworks", "lan", place)
        made.settle(2)
        assert made.api.all("SriovNetwork") == made.api.all("NetworkAttachmentDefinition") == []


def ip_pool(subnet: str, size: int, **spec: t.Any) -> Object:
    return {
        "apiVersion": "nv-ipam.nvidia.com/v1alpha1",
        "kind": "IPPool",
        "metadata": {"name": "p", "namespace": NVIDIA},
        "spec": {"subnet": subnet, "perNodeBlockSize": size, **spec},
    }


class TestIpam:
    def test_a_node_is_missing_when_the_subnet_is_too_small(self) -> None:
        policy = {
            "apiVersion": "mellanox.com/v1alpha1",
            "kind": "NicClusterPolicy",
            "metadata": {"name": "nic-cluster-policy"},
            "spec": {"nvIpam": {"image": "nvidia-k8s-ipam"}},
        }
        made = world(
            OPERATOR, policy, node("a"), node("b"), node("c"), ip_pool("192.168.7.0/28", 6),
            reconcilers=[Ipam()],
        )  # fmt: skip
        assert made.api.get("IPPool", "p", NVIDIA)["status"]["allocations"] == [
            {"nodeName": "a", "startIP": "192.168.7.1", "endIP": "192.168.7.6"},
            {"nodeName": "b", "startIP": "192.168.7.7", "endIP": "192.168.7.12"},
        ]
        assert events(made) == "failed to allocate IPs on Node: c"

    @pytest.mark.parametrize(
        ("spec", "starts"),
        [
            ({}, ["10.0.0.1", "10.0.0.3", "10.0.0.5"]),
            ({"exclusions": [{"startIP": "10.0.0.3", "endIP": "10.0.0.4"}]}, ["10.0.0.1", "10.0.0.5"]),
            ({"gateway": "10.0.0.1"}, ["10.0.0.1", "10.0.0.3", "10.0.0.5"]),
        ],
    )
    def test_blocks(self, spec: Object, starts: list[str]) -> None:
        assert [one["startIP"] for one in blocks(ip_pool("10.0.0.0/29", 2, **spec))] == starts


class TestUplinks:
    def test_who_carries_the_network_of_a_node(self) -> None:
        made = world(node("a"), node("b", ""), reconcilers=[Uplinks()])
        gateways = {one["metadata"]["name"]: _gateway(one) for one in made.api.all("Node")}
        assert (gateways["a"]["mac-address"], gateways["b"]) == (mac("a", "eno1"), {})
        made.scenario.now.troubles.append({"type": "adapter_carries_node", "node": "a"})
        made.settle(3)
        [port, _second] = ports("a", of_node(node("a")))
        assert _gateway(made.api.get("Node", "a"))["mac-address"] == port.mac
        state = made.api.get("NodeNetworkState", "a")["status"]["currentState"]
        [bridge] = [one for one in state["interfaces"] if one["type"] == "ovs-bridge"]
        assert [one["name"] for one in bridge["bridge"]["port"]] == ["ens1f0np0", "br-ex"]


def _gateway(node: Object) -> Object:
    text = node["metadata"]["annotations"].get("k8s.ovn.org/l3-gateway-config", "{}")
    return t.cast(Object, json.loads(text).get("default", {}))
