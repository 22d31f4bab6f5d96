"""The objects of networks that the tests of the steps do not make."""

from __future__ import annotations

import typing as t

import pytest
from unit.networks.builders import SPACE, Given, macvlan, read, sriov

from ansible_collections.accelerators.openshift.plugins.module_utils._networks import objects


def built(*given: Given, has_operator: bool = True) -> list[dict[str, t.Any]]:
    return objects.build(read(*given), SPACE, has_operator)


def test_infiniband_has_its_own_kind_and_link_type() -> None:
    policy, network = built(
        sriov(kind="sriov_ib", interfaces=[], device="101b", root_devices=["0000:1b:00.0"])
    )
    assert policy["spec"]["linkType"] == "ib"
    assert policy["spec"]["nicSelector"] == {"deviceID": "101b", "rootDevices": ["0000:1b:00.0"]}
    assert (network["kind"], network["spec"]["linkState"]) == ("SriovIBNetwork", "enable")


def test_a_policy_that_names_no_card_takes_those_of_the_vendor() -> None:
    assert built(sriov(interfaces=[]))[0]["spec"]["nicSelector"] == {"vendor": "15b3"}


def test_a_device_of_the_host_and_ipoib() -> None:
    host, further = built(
        {"name": "nic", "kind": "host_device", "namespaces": ["a", "b"], "resource": "hostdev"}
    )
    assert host["spec"] == {"networkNamespace": "a", "ipam": "{}", "resourceName": "hostdev"}
    assert "namespace" not in host["metadata"]
    assert further["metadata"]["annotations"] == {objects.RESOURCE: "nvidia.com/hostdev"}
    (ipoib,) = built({"name": "ib", "kind": "ipoib", "namespaces": ["a"], "ipoib": {"master": "ibs1"}})
    assert ipoib["spec"] == {"networkNamespace": "a", "ipam": "{}", "master": "ibs1"}


def test_a_pool_of_networks_by_prefix() -> None:
    (pool, _network) = built(macvlan(ipam={"type": "nv-ipam", "range": "10.9.0.0/16", "prefix": 24}))
    assert pool["kind"] == "CIDRPool"
    assert {key: pool["spec"][key] for key in ("cidr", "perNodeNetworkPrefix")} == {
        "cidr": "10.9.0.0/16",
        "perNodeNetworkPrefix": 24,
    }


def test_nodes_of_a_pool_are_set_up_together_as_the_networks_say() -> None:
    (config, *_rest) = built(
        sriov(max_unavailable="20%"), sriov("b", interfaces=["x"], rdma_mode="exclusive")
    )
    assert config["metadata"]["name"] == "gpu-training"
    assert config["spec"] == {
        "nodeSelector": {"matchLabels": {"accelerators.openshift/pool": "training"}},
        "maxUnavailable": "20%",
        "rdmaMode": "exclusive",
    }


@pytest.mark.parametrize(
    ("given", "plugin"),
    [
        (sriov(vlan=7, spoof_check=False), "sriov"),
        (sriov(kind="sriov_ib"), "ib-sriov"),
        (macvlan(mtu=9000), "macvlan"),
    ],
)
def test_the_configuration_of_further_namespaces_is_that_of_the_operator(given: Given, plugin: str) -> None:
    config = objects.config(read(given)[0])
    assert config["type"] == plugin
    if plugin == "sriov":
        assert (config["vlan"], config["spoofchk"]) == (7, "off")
    assert config.get("mtu") == given.get("mtu")
    assert config.get("link_state") == ("enable" if plugin == "ib-sriov" else None)
    assert None not in config.values()


def test_the_operators_daemon_waits_for_the_nic_driver() -> None:
    assert "configDaemonNodeSelector" not in objects.operator_config(False)["spec"]
    assert objects.operator_config(True)["spec"]["configDaemonNodeSelector"] == {
        "network.nvidia.com/operator.mofed.wait": "false",
        "node-role.kubernetes.io/worker": "",
    }


def test_entries_of_the_clusters_network() -> None:
    given = {"name": "own", "kind": "custom", "namespaces": ["a"], "custom": {"config": {"type": "bridge"}}}
    (network,) = read(given)
    assert not objects.in_cluster_network(network)
    assert objects.additional_network(network, "a") == {
        "name": "own",
        "namespace": "a",
        "type": "Raw",
        "rawCNIConfig": '{"cniVersion": "1.0.0", "name": "own", "type": "bridge"}',
    }
    assert [obj["kind"] for obj in built(given)] == ["NetworkAttachmentDefinition"]
