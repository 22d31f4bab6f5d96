"""Which features nfd-worker publishes about a node."""

from __future__ import annotations

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.nfd.builders import NAMESPACE, NFD, config, labels, make, node, pod

from openshift_sandbox.stand_ins.nfd.worker import devices_of, pci_labels


@pytest.fixture
def world() -> World:
    return make()


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


def test_the_collector_that_stopped_leaves_what_is_gone() -> None:
    world = make(troubles=[{"type": "nfd_gc_stopped"}])
    world.api.delete("v1", "nodes", "cpu")
    world.settle(1)
    assert {one["metadata"]["name"] for one in world.api.all("NodeFeature")} == {"gpu", "cpu"}
    world.scenario.now.troubles.clear()
    world.settle(1)
    assert {one["metadata"]["name"] for one in world.api.all("NodeFeature")} == {"gpu"}
