"""Fingerprints: which nodes are due, and what the ConfigMap keeps."""

from __future__ import annotations

from unit.workload.builders import SLICES, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import dra
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import fingerprints


def test_only_changed_nodes_are_due() -> None:
    nodes = [node(), node("gpu-1")]
    memory = fingerprints.build(params(), None, nodes, nodes)
    assert fingerprints.changed(nodes, "vectoradd", memory, False) == []
    assert fingerprints.changed(nodes, "vectoradd", memory, True) == nodes
    assert fingerprints.changed(nodes, "matmul", memory, False) == nodes
    rebooted, cut, updated = (
        node(boot="b2"),
        node(gpu="1"),
        node(labels={"nvidia.com/cuda.driver-version.full": "600.1"}),
    )
    assert fingerprints.changed([rebooted, cut, updated], "vectoradd", memory, False) == [
        rebooted,
        cut,
        updated,
    ]


def test_the_memory_forgets_nodes_that_are_gone_and_keeps_other_pools() -> None:
    memory = fingerprints.build(
        params(), {"data": {"gone": "x", "other": "y"}}, [node()], [node(), node("other")]
    )
    assert list(memory["data"]) == ["gpu-0", "other"]
    assert memory["data"]["other"] == "y"
    assert memory["data"]["gpu-0"] == "benchmark=vectoradd boot=b1 driver=595.91.07 geometry=nvidia.com/gpu=2"


def test_where_pods_claim_devices_the_slices_say_what_a_node_offers() -> None:
    first = dra.offering(node(gpu="7"), SLICES)
    assert first["status"]["allocatable"] == {"cpu": "4", "nvidia.com/gpu": "2"}
    assert (
        fingerprints.fingerprint(first, "vectoradd")
        == "benchmark=vectoradd boot=b1 driver=595.91.7 geometry=nvidia.com/gpu=2"
    )
    late = [
        {"spec": {**SLICES[0]["spec"], "pool": {"name": "gpu-0", "generation": 2, "resourceSliceCount": 2}}}
    ]
    assert dra.offering(node(gpu="7"), late)["status"]["allocatable"] == {"cpu": "4"}
