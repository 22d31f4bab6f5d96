"""MachineSets beside the installer's: Windows, and another architecture."""

from __future__ import annotations

import typing as t

from openshift_sandbox import scenario
from openshift_sandbox.seed import access, cluster as seed_cluster, image_mirrors, installer, more_sets

Object = dict[str, t.Any]
WINDOWS = scenario.load("windows-workers").cluster
MIXED = scenario.load("mixed-arch-workers").cluster


def in_zone(cluster: Object, zone: str) -> list[Object]:
    """Return the MachineSets of a zone, by name."""
    found = [
        one for one in installer.machine_sets(cluster) if value(one)["placement"]["availabilityZone"] == zone
    ]
    return sorted(found, key=lambda one: str(one["metadata"]["name"]))


def value(machine_set: Object) -> Object:
    found: Object = machine_set["spec"]["template"]["spec"]["providerSpec"]["value"]
    return found


def test_the_windows_set_is_the_first_of_its_zone() -> None:
    first, second = in_zone(WINDOWS, "us-east-2a")
    labels = first["spec"]["template"]["metadata"]["labels"]
    assert labels["machine.openshift.io/os-id"] == "Windows"
    assert labels["machine.openshift.io/cluster-api-machine-role"] == "worker"
    assert value(first)["userDataSecret"] == {"name": "windows-user-data"}
    assert value(first)["ami"] != value(second)["ami"] == {"id": WINDOWS["image_id"]}
    assert "machine.openshift.io/os-id" not in second["spec"]["template"]["metadata"]["labels"]
    assert "windows-user-data" in [one["metadata"]["name"] for one in access.secrets(WINDOWS)]


def test_its_machine_has_a_windows_node() -> None:
    sets = {
        one["metadata"]["name"]: one | {"metadata": one["metadata"] | {"uid": "u"}}
        for one in more_sets.machine_sets(WINDOWS)
    }
    ((node, machine),) = more_sets.members(WINDOWS, sets)
    assert machine["metadata"]["ownerReferences"][0]["name"] in sets
    assert machine["metadata"]["labels"]["machine.openshift.io/os-id"] == "Windows"
    assert machine["status"]["nodeRef"]["name"] == node["metadata"]["name"]
    assert node["metadata"]["labels"]["kubernetes.io/os"] == "windows"
    assert node["status"]["nodeInfo"]["operatingSystem"] == "windows"
    assert node["spec"]["taints"] == [{"key": "os", "value": "Windows", "effect": "NoSchedule"}]
    assert seed_cluster.counts(WINDOWS)["worker"] == 3


def test_the_nodes_of_a_machine_pool_have_its_labels() -> None:
    rosa = scenario.load("rosa-classic").cluster
    sets = {
        one["metadata"]["name"]: one | {"metadata": one["metadata"] | {"uid": "u"}}
        for one in more_sets.machine_sets(rosa)
    }
    ((node, machine),) = more_sets.members(rosa, sets)
    assert node["metadata"]["labels"]["gpu-pool"] == "demo"
    assert machine["status"]["nodeRef"]["name"] == node["metadata"]["name"]


def test_by_name_arm_is_first_in_one_zone_and_x86_in_the_other() -> None:
    kinds = {zone: [value(one)["instanceType"] for one in in_zone(MIXED, zone)] for zone in MIXED["zones"]}
    assert kinds == {
        "us-east-2a": ["m6g.xlarge", "m6i.2xlarge"],
        "us-east-2b": ["m6i.2xlarge", "m6g.xlarge"],
        "us-east-2c": ["m6i.2xlarge"],
    }
    first = in_zone(MIXED, "us-east-2a")[0]
    key = "capacity.cluster-autoscaler.kubernetes.io/labels"
    assert first["metadata"]["annotations"][key] == "kubernetes.io/arch=arm64"
    assert seed_cluster.counts(MIXED)["worker"] == 5


def test_the_arm_nodes_are_arm_and_have_addresses_of_their_own() -> None:
    sets = {
        one["metadata"]["name"]: one | {"metadata": one["metadata"] | {"uid": "u"}}
        for one in more_sets.machine_sets(MIXED)
    }
    pairs = [*installer.machines(MIXED, {}), *more_sets.members(MIXED, sets)]
    nodes = [node for node, _machine in pairs]
    assert [one["status"]["nodeInfo"]["architecture"] for one in nodes].count("arm64") == 2
    assert len({one["status"]["addresses"][0]["address"] for one in nodes}) == len(nodes) == 8


def test_mirror_sets_are_those_of_the_scenario() -> None:
    cluster = scenario.load("disconnected").cluster
    digests, tags = image_mirrors.objects(cluster)
    assert digests["kind"] == "ImageDigestMirrorSet"
    assert digests["spec"]["imageDigestMirrors"] == tags["spec"]["imageTagMirrors"]
    assert {
        "source": "nvcr.io",
        "mirrors": ["registry.example.com:8443/nvcr"],
        "mirrorSourcePolicy": "NeverContactSource",
    } in tags["spec"]["imageTagMirrors"]
    assert image_mirrors.objects(MIXED) == []
    names = set(cluster["mirrored_catalogs"])
    assert not names & {"redhat-operators", "certified-operators"}
