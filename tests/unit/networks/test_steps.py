"""Steps of gpu_network on a server in memory: what is written, refused, asked for, and given back."""

from __future__ import annotations

import typing as t

import pytest
from unit.fake_server import Answer, status
from unit.networks.builders import (
    NIC_KINDS,
    SPACE,
    SRIOV_KINDS,
    Given,
    World,
    cluster_network,
    gpu_pod,
    macvlan,
    node,
    params,
    sriov,
    state,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._networks import objects, steps

GOING: t.Final[Given] = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "team-z", "deletionTimestamp": "2026-11-01T10:00:00Z"},
}


def refused(world: World, *networks: Given, **given: t.Any) -> AcceleratorError:
    """Return the refusal, before which nothing was written."""
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(), params(*networks, **given))
    assert not world.server.writes()
    return caught.value


def test_a_macvlan_is_an_object_of_the_network_operator_and_further_attachments() -> None:
    world = World(node("n1"))
    found = steps.present(world.api(), params(macvlan(namespaces=["team-a", "team-b"])))
    (made,) = world.all("macvlannetworks")
    assert made["spec"] == {
        "networkNamespace": "team-a",
        "ipam": '{"range": "192.168.100.0/24", "type": "whereabouts"}',
        "master": "ens1f0np0",
        "mode": "bridge",
    }
    spaces = [obj["metadata"]["namespace"] for obj in world.all("network-attachment-definitions")]
    assert sorted(spaces) == ["team-a", "team-b"]
    assert found == {
        "networks": [
            {
                "name": "storage",
                "kind": "macvlan",
                "state": "ready",
                "namespaces": ["team-a", "team-b"],
                "annotation": "storage",
                "resources": {},
                "nodes": {"n1": 0},
            }
        ],
        "rebooted": [],
        "ends": [],
    }


def test_without_the_network_operator_a_macvlan_has_attachments_alone() -> None:
    world = World(node("n1"), has=())
    steps.present(world.api(), params(macvlan()))
    (made,) = world.all("network-attachment-definitions")
    assert made["metadata"]["labels"][objects.NETWORK] == "storage"
    assert '"type": "macvlan"' in made["spec"]["config"]
    assert '"master": "ens1f0np0"' in made["spec"]["config"]


def test_virtual_functions_get_a_policy_for_each_pool_and_a_network() -> None:
    world = World(node("n1"), node("n2", pool="big"), state("n1"), state("n2"))
    found = steps.present(
        world.api(), params(sriov(pools=["training", "big"], mtu=9000, trust=True, rdma_mode="exclusive"))
    )
    assert world.names("sriovnetworknodepolicies") == ["rail-0-big", "rail-0-training"]
    policy = world.all("sriovnetworknodepolicies")[0]["spec"]
    assert policy["nicSelector"] == {"pfNames": ["ens1f0np0"]}
    assert (policy["numVfs"], policy["isRdma"], policy["linkType"], policy["mtu"]) == (8, True, "eth", 9000)
    assert world.names("sriovnetworkpoolconfigs") == ["gpu-big", "gpu-training"]
    (network,) = world.all("sriovnetworks")
    assert network["spec"] == {
        "networkNamespace": "team-a",
        "ipam": "{}",
        "resourceName": "rail_0",
        "trust": "on",
    }
    (config,) = world.all("sriovoperatorconfigs")
    assert config["spec"] == {"enableInjector": True, "enableOperatorWebhook": True}
    (network,) = found["networks"]
    assert network["resources"] == {"openshift.io/rail_0": 1}
    assert network["nodes"] == {"n1": 8, "n2": 8}
    assert found["rebooted"] == ["n1", "n2"]


@pytest.mark.parametrize("network", [macvlan(), sriov()])
def test_a_second_run_sends_no_write(network: Given) -> None:
    world = World(node("n1"), state("n1"))
    steps.present(world.api(), params(network))
    api = world.api()
    found = steps.present(api, params(network))
    assert not world.server.writes()
    assert not api.changes
    assert found["rebooted"] == []


def test_a_run_that_would_drain_a_busy_node_writes_nothing() -> None:
    world = World(node("n1"), state("n1"), gpu_pod("train", "n1"))
    problem = refused(world, sriov())
    assert problem.code == "NET-BUSY"
    assert "team-a/train on n1" in problem.message
    found = steps.present(world.api(), params(sriov(), on_busy="drain"))
    assert found["ends"][0]["pods"][0]["name"] == "train"


def test_check_mode_names_the_nodes_and_writes_nothing() -> None:
    world = World(node("n1"), state("n1"))
    api = world.api(check_mode=True)
    found = steps.present(api, params(sriov()))
    assert not world.server.writes()
    assert found["rebooted"] == ["n1"]
    assert [change.object_name.partition(" ")[0] for change in api.changes] == [
        "SriovOperatorConfig",
        "SriovNetworkNodePolicy",
        "SriovNetwork",
    ]


def test_check_mode_foresees_what_operators_bring_that_are_not_there_yet() -> None:
    world = World(node("n1"), has=())
    api = world.api(check_mode=True)
    steps.present(api, params(sriov(), macvlan()))
    assert not world.server.writes()
    kinds = [change.object_name.partition(" ")[0] for change in api.changes]
    assert kinds == [
        "SriovOperatorConfig",
        "SriovNetworkNodePolicy",
        "SriovNetwork",
        "NetworkAttachmentDefinition",
    ]


def test_the_words_of_the_webhook_are_quoted_with_the_path() -> None:
    world = World(node("n1"), state("n1"))
    world.refuses = "numVfs(8) in CR rail-0-training exceed the maximum allowed value(4)"
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(), params(sriov()))
    assert caught.value.code == "NET-REFUSED"
    assert "gpu_networks[0].sriov" in caught.value.message
    assert world.refuses in caught.value.message
    assert not world.all("sriovnetworks")


@pytest.mark.parametrize(
    ("network", "live", "code", "path"),
    [
        (macvlan(namespaces=["team-x"]), [], "NET-NAMESPACE", "gpu_networks[0].namespaces[0]"),
        (macvlan(namespaces=["team-z"]), [GOING], "NET-NAMESPACE", "gpu_networks[0].namespaces[0]"),
        (
            macvlan(ipam={"type": "whereabouts", "range": "10.128.4.0/24"}),
            [
                {
                    "apiVersion": "operator.openshift.io/v1",
                    "kind": "Network",
                    "metadata": {"name": "cluster"},
                    "spec": {"clusterNetwork": [{"cidr": "10.128.0.0/14"}]},
                }
            ],
            "NET-OVERLAP",
            "gpu_networks[0].ipam.range",
        ),
        (
            macvlan(ipam={"type": "nv-ipam", "range": "10.9.0.0/29", "per_node": 6}),
            [node("n2")],
            "NET-TOO-SMALL",
            "gpu_networks[0].ipam.range",
        ),
        (
            {**sriov(kind="sriov_ib"), "name": "ib"},
            [state("n1")],
            "NET-LINK",
            "gpu_networks[0].kind",
        ),
        (
            {
                "name": "ib",
                "kind": "ipoib",
                "pools": ["training"],
                "namespaces": ["team-a"],
                "ipoib": {"master": "ens1f0np0"},
            },
            [state("n1")],
            "NET-LINK",
            "gpu_networks[0].kind",
        ),
    ],
)
def test_what_the_cluster_does_not_have_is_refused_with_its_path(
    network: Given, live: list[Given], code: str, path: str
) -> None:
    world = World(node("n1"), *live)
    world.server.put(
        {
            "apiVersion": "sriovnetwork.openshift.io/v1",
            "kind": "SriovOperatorConfig",
            "metadata": {"name": "default", "namespace": objects.SRIOV_NAMESPACE},
            "spec": {"enableInjector": True, "enableOperatorWebhook": True},
        }
    )
    problem = refused(world, network)
    assert problem.code == code
    assert problem.message.startswith(f"{path}: ")


def test_what_the_cluster_does_not_have_is_told_together() -> None:
    world = World(node("n1"), state("n1"))
    world.refuses = "numVfs(8) in CR rail-0-training exceed the maximum allowed value(4)"
    half = sriov(interfaces=["ens1f0np0#0-3"])
    other = sriov("ib", kind="sriov_ib", interfaces=["ens1f0np0#4-7"])
    problem = refused(world, macvlan(namespaces=["taem-a"]), half, other)
    assert [(found["code"], found["path"]) for found in problem.facts["problems"]] == [
        ("NET-NAMESPACE", "gpu_networks[0].namespaces[0]"),
        ("NET-LINK", "gpu_networks[2].kind"),
        ("NET-REFUSED", "gpu_networks[1].sriov"),
        ("NET-REFUSED", "gpu_networks[2].sriov_ib"),
    ]
    assert "namespace taem-a (did you mean team-a?) does not exist." in problem.message


def patched(world: World, kind: str, **spec: t.Any) -> None:
    """Change an object of ours as somebody with `oc patch` does."""
    for obj in world.all(kind):
        obj["spec"].update(spec)
        fields: Given = {"f:spec": {f"f:{key}": {} for key in spec}}
        entry = {"manager": "kubectl-patch", "operation": "Update", "fieldsV1": fields}
        obj["metadata"]["managedFields"].append(entry)


def test_what_somebody_changed_is_refused_with_both_values_and_taken_back_if_asked() -> None:
    world = World(node("n1"), state("n1"))
    steps.present(world.api(), params(macvlan(), sriov()))
    patched(world, "sriovnetworknodepolicies", numVfs=4)
    problem = refused(world, macvlan(mtu=1400), sriov())
    assert problem.code == "API-CONFLICT"
    assert "SriovNetworkNodePolicy rail-0-training: spec.numVfs is 4, set by kubectl-patch" in problem.message
    assert "the task asks for 8" in problem.message
    assert "Set gpu_network_adopt: take (module option adopt)" in problem.remedy
    api = world.api(check_mode=True)
    steps.present(api, params(macvlan(), sriov(), adopt="take"))
    (change,) = api.changes
    assert change.object_name == f"SriovNetworkNodePolicy {objects.SRIOV_NAMESPACE}/rail-0-training"
    assert (change.before["spec"]["numVfs"], change.after["spec"]["numVfs"]) == (4, 8)
    steps.present(world.api(), params(macvlan(), sriov(), adopt="take"))
    assert world.all("sriovnetworknodepolicies")[0]["spec"]["numVfs"] == 8


@pytest.mark.parametrize(
    ("network", "has"),
    [(sriov(), NIC_KINDS), (macvlan(ipam={"type": "nv-ipam", "range": "10.9.0.0/16"}), SRIOV_KINDS)],
)
def test_an_operator_that_is_missing_is_named(network: Given, has: tuple[str, ...]) -> None:
    assert refused(World(node("n1"), has=has), network).code == "NET-NO-OPERATOR"


def test_objects_of_others_stay() -> None:
    theirs = {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": "storage", "namespace": "team-a"},
        "spec": {"config": "{}"},
    }
    for has in ((), (*SRIOV_KINDS, *NIC_KINDS)):
        assert refused(World(node("n1"), theirs, has=has), macvlan()).code == "NET-FOREIGN"


def test_a_pool_of_addresses_is_made_for_the_nodes_of_the_pools() -> None:
    world = World(node("n1"))
    ipam = {"type": "nv-ipam", "range": "10.9.0.0/16", "per_node": 64}
    steps.present(world.api(), params(macvlan(ipam=ipam)))
    (pool,) = world.all("ippools")
    assert pool["metadata"]["namespace"] == SPACE
    assert pool["spec"] == {
        "subnet": "10.9.0.0/16",
        "perNodeBlockSize": 64,
        "nodeSelector": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {"key": "accelerators.openshift/pool", "operator": "In", "values": ["training"]}
                    ]
                }
            ]
        },
    }


def test_settings_of_nodes_go_with_the_last_network_that_has_them() -> None:
    world = World(node("n1"), state("n1"))
    steps.present(world.api(), params(sriov(max_unavailable=2)))
    steps.present(world.api(), params(macvlan()))
    assert world.names("sriovnetworkpoolconfigs") == ["gpu-training"], "rail-0 is of another list"
    steps.present(world.api(), params(sriov()))
    assert world.names("sriovnetworkpoolconfigs") == []


def test_what_a_network_does_not_have_any_more_goes() -> None:
    world = World(node("n1"), node("n2", pool="big"), state("n1"), state("n2"))
    both = sriov(pools=["training", "big"], namespaces=["team-a", "team-b"])
    steps.present(world.api(), params(both))
    found = steps.present(world.api(), params(sriov()))
    assert world.names("sriovnetworknodepolicies") == ["rail-0-training"]
    assert [obj["metadata"]["namespace"] for obj in world.all("network-attachment-definitions")] == ["team-a"]
    assert found["rebooted"] == []


ENTRY: t.Final = {"name": "theirs", "namespace": "default", "type": "Raw", "rawCNIConfig": "{}"}
CUSTOM: t.Final = {
    "name": "mine",
    "kind": "custom",
    "namespaces": ["team-a"],
    "custom": {"config": {"type": "bridge"}, "cluster_network": True},
}


def test_entries_of_others_in_the_clusters_network_stay() -> None:
    world = World(cluster_network(ENTRY))
    api = world.api(wait_wanted=False)
    steps.present(api, params(CUSTOM))
    (live,) = [obj for obj in world.all("networks") if obj["apiVersion"].startswith("operator")]
    first, second = live["spec"]["additionalNetworks"]
    assert first == ENTRY
    assert (second["namespace"], second["name"], second["type"]) == ("team-a", "mine", "Raw")
    again = world.api(wait_wanted=False)
    steps.present(again, params(CUSTOM))
    assert not world.server.writes()
    steps.absent(world.api(), params(CUSTOM))
    (live,) = [obj for obj in world.all("networks") if obj["apiVersion"].startswith("operator")]
    assert live["spec"]["additionalNetworks"] == [ENTRY]
    assert objects.ADDED not in live["metadata"]["annotations"]


def test_a_cluster_without_its_network_has_no_entries() -> None:
    assert refused(World(), CUSTOM).code == "NET-NO-OPERATOR"
    with pytest.raises(AcceleratorError, match="the cluster does not serve networks"):
        steps.present(World().api(check_mode=True), params(CUSTOM))


def test_an_entry_of_others_with_the_name_is_not_replaced() -> None:
    world = World(cluster_network({**ENTRY, "name": "mine", "namespace": "team-a"}))
    assert refused(world, CUSTOM).code == "NET-FOREIGN"
    # An earlier network of the list is not written either.
    assert refused(world, macvlan(), CUSTOM).code == "NET-FOREIGN"


def test_a_plan_goes_on_where_only_the_kinds_of_the_operator_are_left() -> None:
    world = World(node("n1"))
    text = 'namespaces "openshift-sriov-network-operator" not found'

    def answer(method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if method == "PATCH" and f"/{objects.SRIOV_NAMESPACE}/" in url:
            return status(404, "NotFound", text, objects.SRIOV_NAMESPACE)
        return world.server.answer(method, url, body, **more)

    world.server.request = answer
    found = steps.present(world.api(check_mode=True), params(sriov()))
    assert found["rebooted"] == ["n1"]


def test_a_pool_of_addresses_that_is_not_there_is_refused() -> None:
    network = macvlan(ipam={"type": "nv-ipam", "pool": "shared"})
    assert refused(World(node("n1"), has=()), network).code == "NET-NO-OPERATOR"
    error = refused(World(node("n1")), network)
    assert error.code == "NET-VALUE"
    assert error.message.startswith("gpu_networks[0].ipam.pool: IPPool shared does not exist")


def test_a_removal_gives_everything_back() -> None:
    world = World(node("n1"), state("n1"))
    before = {key: obj for key, obj in world.server.objects.items() if key[1] != "sriovnetworknodestates"}
    networks = (
        sriov(max_unavailable=2, namespaces=["team-a", "team-b"]),
        macvlan(ipam={"type": "nv-ipam", "range": "10.9.0.0/16"}),
    )
    steps.present(world.api(), params(*networks))
    found = steps.absent(world.api(), params(*networks))
    # The stand-in makes attachments for the operators, which delete them with their own objects.
    left = {key for key in world.server.objects if key[1] != "network-attachment-definitions"}
    assert left - {key for key in world.server.objects if key[1] == "sriovnetworknodestates"} == set(before)
    assert found["rebooted"] == ["n1"]
    assert found["needed_by"] == []
    again = world.api()
    steps.absent(again, params(*networks))
    assert not world.server.writes()


def test_a_name_is_enough_for_a_removal() -> None:
    world = World(node("n1"), state("n1"))
    steps.present(world.api(), params(sriov(), macvlan()))
    found = steps.absent(world.api(), params({"name": "rail-0"}))
    assert found["networks"] == [{"name": "rail-0", "state": "absent"}]
    assert (world.names("sriovnetworks"), world.names("macvlannetworks")) == ([], ["storage"])
    with pytest.raises(AcceleratorError) as caught:
        steps.absent(world.api(), params({"kind": "sriov"}))
    assert (caught.value.code, world.server.writes()) == ("POOL-REQUIRED", [])


def test_the_operator_stays_while_others_use_it() -> None:
    theirs = {
        "apiVersion": "sriovnetwork.openshift.io/v1",
        "kind": "SriovNetwork",
        "metadata": {"name": "theirs", "namespace": objects.SRIOV_NAMESPACE},
        "spec": {"networkNamespace": "team-b", "resourceName": "x"},
    }
    world = World(node("n1"), state("n1"), theirs)
    steps.present(world.api(), params(sriov()))
    found = steps.absent(world.api(), params(sriov()))
    assert found["needed_by"] == ["SriovNetwork theirs"]
    assert world.names("sriovoperatorconfigs") == ["default"]


def test_a_pool_that_goes_takes_its_functions_with_it() -> None:
    world = World(node("n1"), node("n2", pool="big"), state("n1"), state("n2"))
    steps.present(world.api(), params(sriov(pools=["training", "big"])))
    found = steps.absent(world.api(), params(pools=["big"]))
    assert world.names("sriovnetworknodepolicies") == ["rail-0-training"]
    assert world.names("sriovnetworks") == ["rail-0"]
    assert found["rebooted"] == ["n2"]
    assert steps.absent(World(has=()).api(), params(pools=["big"]))["rebooted"] == []


def test_a_removal_asks_before_pods_end() -> None:
    world = World(node("n1"), state("n1"))
    steps.present(world.api(), params(sriov()))
    world.server.put(gpu_pod("train", "n1"))
    with pytest.raises(AcceleratorError, match="team-a/train on n1") as caught:
        steps.absent(world.api(), params(sriov()))
    assert caught.value.code == "NET-BUSY"
    assert not world.server.writes()


def test_only_the_namespace_of_validations_is_made() -> None:
    world = World(node("n1"))
    steps.present(world.api(), params(macvlan(namespaces=["gpu-validation"])))
    (made,) = [one for one in world.all("namespaces") if one["metadata"]["name"] == "gpu-validation"]
    assert made["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert owned(made)
    api = world.api()
    steps.present(api, params(macvlan(namespaces=["gpu-validation"])))
    assert not world.server.writes()
