"""nfd-worker's stand-in: what it publishes of a node, and when."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.scenario import load
from openshift_sandbox.seed.nodes import node_manifest
from openshift_sandbox.seed.upstream_nfd import objects as upstream_objects
from openshift_sandbox.stand_ins.nfd.hardware import cpu_of, has_numa, labels_of
from openshift_sandbox.stand_ins.nfd.instances import instances
from openshift_sandbox.stand_ins.nfd.local import parse
from openshift_sandbox.stand_ins.nfd.worker import NfdWorker, devices_of, pci_labels

NAMESPACE = "openshift-nfd"
NFD = "nfd.openshift.io/v1"
AWS = load("aws").cluster
VENDORS = "sources: {pci: {deviceClassWhitelist: ['0200', '03', '12'], deviceLabelFields: [vendor]}}"


def node(name: str, instance_type: str = "g4dn.xlarge") -> dict[str, t.Any]:
    return node_manifest(
        AWS,
        name=name,
        instance_type_name=instance_type,
        zone="us-east-2a",
        address="10.0.0.20",
        provider_id=f"aws:///us-east-2a/{name}",
    )


def pod(on: str, ready: bool = True) -> dict[str, t.Any]:
    metadata = {
        "name": f"nfd-worker-{on}",
        "namespace": NAMESPACE,
        "ownerReferences": [{"kind": "DaemonSet", "name": "nfd-worker", "uid": "uid-nfd-worker"}],
    }
    state = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"nodeName": on},
        "status": state,
    }


@pytest.fixture
def world() -> World:
    return make()


def make(**scenario: t.Any) -> World:
    world = World(NfdWorker(), cluster=AWS, **scenario)
    world.api.create(
        {
            "apiVersion": NFD,
            "kind": "NodeFeatureDiscovery",
            "metadata": {"name": "nfd-instance", "namespace": NAMESPACE},
            "spec": config(VENDORS),
        }
    )
    world.api.create(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "nfd-worker", "namespace": NAMESPACE},
            "spec": {},
        }
    )
    for name, kind in (("gpu", "g4dn.xlarge"), ("cpu", "m6i.2xlarge")):
        world.api.create(node(name, kind))
        world.api.create(pod(name))
    world.settle(1)
    return world


def config(text: str) -> dict[str, t.Any]:
    return {"workerConfig": {"configData": text}}


def labels(world: World, name: str) -> dict[str, str]:
    published = world.api.get("NodeFeature", name, NAMESPACE)["spec"]["labels"]
    return {key.removeprefix("feature.node.kubernetes.io/"): value for key, value in published.items()}


def test_a_gpu_node_shows_its_gpu_and_a_cpu_node_does_not(world: World) -> None:
    assert {key for key in labels(world, "gpu") if key.startswith("pci")} == {
        "pci-1013.present",
        "pci-1d0f.present",
        "pci-10de.present",
    }
    assert {key for key in labels(world, "cpu") if key.startswith("pci")} == {
        "pci-1013.present",
        "pci-1d0f.present",
    }


def test_what_drivers_are_chosen_by(world: World) -> None:
    wanted = {
        "kernel-version.full": "5.14.0-570.12.1.el9_6.x86_64",
        "kernel-version.major": "5",
        "kernel-version.minor": "14",
        "kernel-version.revision": "0",
        "system-os_release.ID": "rhel",
        "system-os_release.VERSION_ID": "9.8",
        "system-os_release.VERSION_ID.major": "9",
        "system-os_release.VERSION_ID.minor": "8",
        "system-os_release.OSTREE_VERSION": "9.8.20260801-0",
        "system-os_release.OPENSHIFT_VERSION": "4.22",
    }
    assert wanted.items() <= labels(world, "gpu").items()


def test_features_feed_rules(world: World) -> None:
    feature = world.api.get("NodeFeature", "gpu", NAMESPACE)
    assert feature["metadata"]["labels"] == {"nfd.node.kubernetes.io/node-name": "gpu"}
    devices = [
        one["attributes"] for one in feature["spec"]["features"]["instances"]["pci.device"]["elements"]
    ]
    assert {"class": "0302", "vendor": "10de", "device": "1eb8"}.items() <= devices[-1].items()
    assert feature["spec"]["features"]["attributes"]["kernel.version"]["elements"]["major"] == "5"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", {"pci-0300_1013.present", "pci-0302_10de.present"}),
        ("sources: {pci: {deviceLabelFields: [vendor]}}", {"pci-1013.present", "pci-10de.present"}),
        (
            "sources: {pci: {deviceLabelFields: [vendor, class]}}",
            {"pci-0300_1013.present", "pci-0302_10de.present"},
        ),
        ("sources: {pci: {deviceClassWhitelist: ['02'], deviceLabelFields: [vendor]}}", {"pci-1d0f.present"}),
        ("sources: {pci: {deviceClassWhitelist: ['0302']}}", {"pci-0302_10de.present"}),
        ("sources: {cpu: {}}", {"pci-0300_1013.present", "pci-0302_10de.present"}),
    ],
)
def test_pci_labels_follow_the_worker_s_configuration(text: str, wanted: set[str]) -> None:
    assert set(pci_labels(devices_of(node("gpu")), text)) == wanted


def test_a_changed_configuration_changes_the_labels(world: World) -> None:
    world.api.patch(
        NFD,
        "nodefeaturediscoveries",
        "nfd-instance",
        NAMESPACE,
        {"spec": config("sources: {pci: {deviceClassWhitelist: ['02']}}")},
    )
    world.settle(1)
    assert {key for key in labels(world, "gpu") if key.startswith("pci")} == {"pci-0200_1d0f.present"}


def test_only_a_ready_worker_publishes(world: World) -> None:
    world.api.create(node("late"))
    world.api.create(pod("late", ready=False))
    world.settle(2)
    assert {one["metadata"]["name"] for one in world.api.all("NodeFeature")} == {"gpu", "cpu"}


@pytest.mark.parametrize(
    "trouble",
    [{"label": "pci-10de.present"}, {"label": "feature.node.kubernetes.io/pci-10de.present", "node": "gpu"}],
)
def test_a_lost_label_comes_back_when_the_trouble_ends(trouble: dict[str, str]) -> None:
    world = make(troubles=[{"type": "nfd_label_lost"} | trouble])
    assert "pci-10de.present" not in labels(world, "gpu")
    world.scenario.now.troubles.clear()
    world.settle(1)
    assert labels(world, "gpu")["pci-10de.present"] == "true"


@pytest.mark.parametrize(
    ("plural", "name", "left"), [("nodes", "gpu", {"cpu"}), ("daemonsets", "nfd-worker", set())]
)
def test_features_go_with_their_node_and_their_worker(
    world: World, plural: str, name: str, left: set[str]
) -> None:
    world.api.delete(
        "v1" if plural == "nodes" else "apps/v1", plural, name, None if plural == "nodes" else NAMESPACE
    )
    world.settle(1)
    assert {one["metadata"]["name"] for one in world.api.all("NodeFeature")} == left


def test_a_second_look_writes_nothing(world: World) -> None:
    before = len(world.api.writes)
    world.settle(10)
    assert len(world.api.writes) == before


@pytest.mark.parametrize(
    ("instance_type", "cpu", "numa", "flag"),
    [
        ("m6i.2xlarge", {"vendor_id": "Intel", "family": "6", "id": "106"}, False, "SHA"),
        ("g4dn.xlarge", {"vendor_id": "Intel", "family": "6", "id": "85"}, False, "AVX512VNNI"),
        ("g5.48xlarge", {"vendor_id": "AMD", "family": "23", "id": "49"}, True, "SHA"),
        ("p5.48xlarge", {"vendor_id": "Intel", "family": "6", "id": "143"}, True, "AMXTILE"),
    ],
)
def test_other_families_than_pci(instance_type: str, cpu: dict[str, str], numa: bool, flag: str) -> None:
    one = node("n", instance_type)
    assert cpu_of(one) == cpu
    assert has_numa(one) is numa
    found = labels_of(one)
    assert {f"cpu-cpuid.{flag}", "storage-nonrotationaldisk", "kernel-config.NO_HZ"} <= set(found)
    assert ("memory-numa" in found) is numa


def test_a_metal_node_has_the_whole_adapter() -> None:
    assert labels_of(node("n", "g4dn.metal"))["network-sriov.capable"] == "true"
    assert "network-sriov.capable" not in labels_of(node("n", "g4dn.xlarge"))


def test_the_collector_that_stopped_leaves_what_is_gone() -> None:
    world = make(troubles=[{"type": "nfd_gc_stopped"}])
    world.api.delete("v1", "nodes", "cpu")
    world.settle(1)
    assert {one["metadata"]["name"] for one in world.api.all("NodeFeature")} == {"gpu", "cpu"}
    world.scenario.now.troubles.clear()
    world.settle(1)
    assert {one["metadata"]["name"] for one in world.api.all("NodeFeature")} == {"gpu"}


def test_workers_of_upstream_s_chart() -> None:
    world = World(NfdWorker(), cluster=AWS)
    for one in upstream_objects({"upstream_nfd": {"namespace": "nfd", "release": "mine"}}):
        world.api.create(one)
    world.settle(1)
    (found,) = instances(world.cluster)
    assert (found.namespace, found.master, found.worker, found.is_openshift) == (
        "nfd",
        "mine-node-feature-discovery-master",
        "mine-node-feature-discovery-worker",
        False,
    )
    assert set(pci_labels(devices_of(node("gpu")), found.config)) == {
        "pci-1013.present",
        "pci-1d0f.present",
        "pci-10de.present",
    }
    assert upstream_objects({}) == []


@pytest.mark.parametrize(
    ("content", "labels", "features"),
    [
        ("# a comment\na=1\nb\n", {"a": "1", "b": "true"}, {"a": "1", "b": "true"}),
        ("# +no-label\na=1\nb=2\n", {"b": "2"}, {"a": "1", "b": "2"}),
        ("# +no-feature\na=1\n", {"a": "1"}, {}),
        (
            "# +expiry-time=2020-01-01T00:00:00Z\na=1\n# +expiry-time=2099-01-01T00:00:00Z\nb=2\n",
            {"b": "2"},
            {"b": "2"},
        ),
    ],
)
def test_feature_files_are_read_as_the_worker_does(
    content: str, labels: dict[str, str], features: dict[str, str]
) -> None:
    assert parse(content) == (labels, features)
