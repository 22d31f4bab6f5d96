"""Fingerprints: which nodes are due, and what the ConfigMaps keep."""

from __future__ import annotations

import json
import typing as t

from unit.workload.builders import SLICES, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import claims as gpu_claims
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import fingerprints
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.fingerprints import Memory

EMPTY: t.Final = Memory({}, {})
PLACE = "gpu-validation"


def stored(maps: list[KubeObject]) -> Memory:
    """Return what a later run reads."""
    return fingerprints.read({one["metadata"]["name"]: one for one in maps}.get)


def test_only_changed_nodes_are_due() -> None:
    nodes = [node(), node("gpu-1")]
    memory = stored(fingerprints.build(PLACE, EMPTY, [(params(), nodes)], nodes))
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
    before = Memory({"gone": "x", "other": "y"}, {})
    (memory,) = fingerprints.build(PLACE, before, [(params(), [node()])], [node(), node("other")])
    assert list(memory["data"]) == ["gpu-0", "other"]
    assert memory["data"]["other"] == "y"
    assert memory["data"]["gpu-0"] == "benchmark=vectoradd boot=b1 driver=595.91.07 geometry=nvidia.com/gpu=2"
    assert memory["metadata"] == {"name": fingerprints.NAME, "namespace": "gpu-validation"}


def test_with_claims_the_driver_is_that_of_the_slices_whatever_labels_the_node_has_now() -> None:
    offered = gpu_claims.offering(node(), SLICES)
    memory = stored(fingerprints.build(PLACE, EMPTY, [(params(claims=True), [offered])], [node()]))
    assert fingerprints.changed([offered], "vectoradd", memory, False) == []


def test_the_fingerprints_of_thousands_of_nodes_are_in_several_config_maps() -> None:
    nodes = [node(f"ip-10-0-{number}.eu-central-1.compute.internal") for number in range(9000)]
    maps = fingerprints.build(PLACE, EMPTY, [(params(), nodes)], nodes)
    assert len(maps) > 1
    assert all(len(json.dumps(one)) < 900 * 1024 for one in maps)
    assert maps[-1]["metadata"]["name"] == fingerprints.NAME, "it says how many there are"
    assert fingerprints.changed(nodes, "vectoradd", stored(maps), False) == []
    again = fingerprints.build(PLACE, stored(maps), [(params(), nodes[:1])], nodes)
    assert again == maps, "a node stays where it is"
    fewer = fingerprints.build(PLACE, stored(maps), [(params(), [])], nodes[:1])
    assert [len(one["data"]) for one in fewer].count(1) == 1


def test_where_pods_claim_devices_the_slices_say_what_a_node_offers() -> None:
    first = gpu_claims.offering(node(gpu="7"), SLICES)
    assert first["status"]["allocatable"] == {"cpu": "4", "nvidia.com/gpu": "2"}
    assert (
        fingerprints.fingerprint(first, "vectoradd")
        == "benchmark=vectoradd boot=b1 driver=595.91.7 geometry=nvidia.com/gpu=2"
    )
    late = [
        {"spec": {**SLICES[0]["spec"], "pool": {"name": "gpu-0", "generation": 2, "resourceSliceCount": 2}}}
    ]
    assert gpu_claims.offering(node(gpu="7"), late)["status"]["allocatable"] == {"cpu": "4"}


def test_only_a_program_that_is_new_on_a_node_is_due() -> None:
    nodes = [node(), node("gpu-1")]
    memory = stored(fingerprints.build(PLACE, EMPTY, [(params(), nodes)], nodes))
    matmul = params(programs=[{"program": "matmul"}])
    later = stored(fingerprints.build(PLACE, memory, [(matmul, nodes[:1])], nodes))
    assert later.data["gpu-0"].startswith("benchmark=matmul,vectoradd ")
    assert later.data["gpu-1"] == memory.data["gpu-1"]
    assert fingerprints.changed(nodes, "vectoradd", later, False) == []
    assert fingerprints.changed(nodes, "matmul", later, False) == nodes[1:]
    assert fingerprints.changed(nodes, "matmul:fp8", later, False) == nodes, "other options are another proof"


def test_a_changed_node_has_proven_nothing() -> None:
    both = [(params(), [node()]), (params(programs=[{"program": "dcgm", "level": 3}]), [node()])]
    memory = stored(fingerprints.build(PLACE, EMPTY, both, [node()]))
    assert fingerprints.proven(node(), memory.data["gpu-0"]) == {"vectoradd", "dcgm:3"}
    assert fingerprints.proven(node(boot="b2"), memory.data["gpu-0"]) == set()
    (anew,) = fingerprints.build(PLACE, memory, [(params(), [node(boot="b2")])], [node(boot="b2")])
    assert fingerprints.proven(node(boot="b2"), anew["data"]["gpu-0"]) == {"vectoradd"}
    assert fingerprints.proven(node(), None) == set()
