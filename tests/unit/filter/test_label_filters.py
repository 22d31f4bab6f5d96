"""Filters label_difference and feature_file, and the entry that the lookup node_labels makes of a node."""

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.accelerators.openshift.plugins.filter.feature_file import feature_file
from ansible_collections.accelerators.openshift.plugins.filter.label_difference import label_difference
from ansible_collections.accelerators.openshift.plugins.lookup.node_labels import entry

F: t.Final = "feature.node.kubernetes.io/"
GPU: t.Final = [{"name": "g", "labels": {f"{F}pci-10de.present": "true", f"{F}cpu-model.id": "85"}}]
CPU: t.Final = [{"name": "c", "labels": {f"{F}cpu-model.id": "106"}}]


def test_the_difference_of_two_lookups() -> None:
    found = label_difference(GPU, CPU, names=["gpu", "cpu"])
    assert found["table"] == [
        "FAMILY  LABEL         GPU (1 node)  CPU (1 node)",
        "pci     10de.present  true          -",
        "cpu     model.id      85            106",
        "0 more labels are the same on both sides.",
    ]
    assert [one["family"] for one in label_difference(GPU, CPU, only=["pci"])["labels"]] == ["pci"]


@pytest.mark.parametrize(
    ("nodes", "other", "names", "words"),
    [
        ([], CPU, ["a", "b"], "there is no node in a"),
        (GPU, CPU, ["a", "a"], "two names"),
        (GPU, [{"name": "c"}], ["a", "b"], "needs name and labels"),
    ],
)
def test_what_cannot_be_compared(nodes: t.Any, other: t.Any, names: list[str], words: str) -> None:
    with pytest.raises(AnsibleFilterError, match=words):
        label_difference(nodes, other, names=names)


def test_an_entry_of_the_lookup() -> None:
    node = {"metadata": {"name": "g", "labels": GPU[0]["labels"]}}
    assert entry(node) == GPU[0] | {"families": {"pci": {"10de.present": "true"}, "cpu": {"model.id": "85"}}}


def test_a_feature_file_in_each_shape() -> None:
    assert feature_file({"a": 1}) == feature_file("a=1\n") == "a=1\n"
    found = feature_file({"a": 1}, name="x", **{"as": "machine_config", "pool": "gpu"})
    assert isinstance(found, list)
    (config,) = found
    assert config["metadata"]["name"] == "99-gpu-features-x"
    found = feature_file({"a": 1}, name="x", **{"as": "daemon_set"})
    assert isinstance(found, list)
    assert [one["kind"] for one in found] == ["ConfigMap", "DaemonSet"]


@pytest.mark.parametrize(
    ("features", "options", "words"),
    [
        ("a = 1", {}, "NFD-FILE"),
        ({"a": 1}, {"publish": "all"}, "Allowed are both, feature, label"),
        ({"a": 1}, {"as": "job"}, "allowed are text"),
        ({"a": 1}, {"as": "daemon_set"}, "no name for a feature file"),
        ({"a": 1}, {"selector": {}}, "unknown option selector"),
    ],
)
def test_what_is_no_feature_file(features: t.Any, options: dict[str, t.Any], words: str) -> None:
    with pytest.raises(AnsibleFilterError, match=words):
        feature_file(features, **options)
