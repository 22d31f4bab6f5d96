"""Labels by family, and what differs between two sets of nodes."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import label_difference

F = "feature.node.kubernetes.io/"


@pytest.mark.parametrize(
    ("label", "family", "name"),
    [
        (f"{F}cpu-cpuid.AVX2", "cpuid", "AVX2"),
        (f"{F}cpu-model.id", "cpu", "model.id"),
        (f"{F}kernel-version.full", "kernel", "version.full"),
        (f"{F}pci-10de.present", "pci", "10de.present"),
        (f"{F}storage-nonrotationaldisk", "storage", "nonrotationaldisk"),
        (f"{F}system-os_release.ID", "os_release", "ID"),
        (f"{F}memory-numa", "memory", "numa"),
        (f"{F}network-sriov.capable", "network", "sriov.capable"),
        (f"{F}my-rule", "custom", "my-rule"),
        ("nvidia.com/gpu.count", "nvidia.com", "gpu.count"),
        ("plain", "", "plain"),
    ],
)
def test_the_family_of_a_label(label: str, family: str, name: str) -> None:
    assert label_difference.split(label) == (family, name)


def test_families_hold_feature_labels_only() -> None:
    assert label_difference.families(
        {f"{F}cpu-cpuid.AVX2": "true", f"{F}pci-10de.present": "true", "a": "b"}
    ) == {
        "cpuid": {"AVX2": "true"},
        "pci": {"10de.present": "true"},
    }


GPU = {
    "gpu-0": {
        f"{F}pci-10de.present": "true",
        f"{F}cpu-model.id": "85",
        f"{F}memory-numa": "true",
        "same": "1",
        "kubernetes.io/hostname": "gpu-0",
    }
}
CPU = {
    "cpu-0": {
        f"{F}cpu-model.id": "106",
        f"{F}kernel-version.full": "5.14.0",
        "same": "1",
        "kubernetes.io/hostname": "cpu-0",
    },
    "cpu-1": {
        f"{F}cpu-model.id": "106",
        f"{F}kernel-version.full": "5.15.0",
        "same": "1",
        "kubernetes.io/hostname": "cpu-1",
    },
    "cpu-2": {f"{F}cpu-model.id": "106", "same": "1", "kubernetes.io/hostname": "cpu-2"},
}


def test_the_difference_as_data() -> None:
    found = label_difference.difference({"gpu": GPU, "cpu": CPU})
    assert found["sets"] == {"gpu": ["gpu-0"], "cpu": ["cpu-0", "cpu-1", "cpu-2"]}
    assert found["equal"] == 1
    assert [(one["family"], one["name"], one["kind"]) for one in found["labels"]] == [
        ("pci", "10de.present", "only gpu"),
        ("cpu", "model.id", "differs"),
        ("kernel", "version.full", "only cpu"),
        ("memory", "numa", "only gpu"),
    ]
    assert found["labels"][1]["values"] == {"gpu": {"85": 1}, "cpu": {"106": 3}}


def test_the_difference_as_a_table() -> None:
    assert label_difference.difference({"gpu": GPU, "cpu": CPU})["table"] == [
        "FAMILY  LABEL         GPU (1 node)  CPU (3 nodes)",
        "pci     10de.present  true          -",
        "cpu     model.id      85            106",
        "kernel  version.full  -             5.14.0 (1), 5.15.0 (1), - (1)",
        "memory  numa          true          -",
        "1 more label is the same on both sides.",
    ]


def test_nodes_that_do_not_agree_vary() -> None:
    found = label_difference.difference({"a": {"1": {"x": "1"}, "2": {}}, "b": {"3": {"x": "2"}}})
    assert [(one["family"], one["kind"]) for one in found["labels"]] == [("", "varies")]
    assert found["table"][1].split() == ["-", "x", "1", "(1),", "-", "(1)", "2"]


def test_many_values_are_cut() -> None:
    one = {str(number): {"x": str(number)} for number in range(4)}
    assert (
        "0 (1), 1 (1), 2 more values" in label_difference.difference({"a": one, "b": {"n": {}}})["table"][1]
    )
