"""Baselines: the first figures of a node stay, and hold for one image, driver and geometry."""

from __future__ import annotations

import json
import typing as t

from unit.workload.builders import node

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import baselines, fingerprints
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.baselines import Baselines
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    Figure,
    Settings,
)

PLACE: t.Final = "gpu-validation"
MATMUL: t.Final = Settings("matmul")


def bf16(value: float, device: str = "GPU-a") -> Figure:
    return Figure("bf16", value, "TFLOPS", device)


def read(maps: t.Sequence[KubeObject]) -> Baselines:
    """Return what a later run reads."""
    get = {one["metadata"]["name"]: one for one in maps}.get
    return Baselines(fingerprints.read(get, baselines.NAME))


def stored(*figures: Figure, on: KubeObject | None = None, settings: Settings = MATMUL) -> Baselines:
    found = read([])
    found.add(on or node(), settings, figures)
    return read(found.build(PLACE, {"gpu-0"}))


def test_the_first_figure_stays_and_a_new_one_joins_it() -> None:
    found = stored(bf16(700.0))
    found.add(node(), MATMUL, [bf16(640.0), bf16(705.1234, "GPU-b")])
    later = read(found.build(PLACE, {"gpu-0"}))
    assert later.figure(node(), MATMUL, bf16(1.0)) == 700.0
    assert later.figure(node(), MATMUL, bf16(1.0, "GPU-b")) == 705.123


def test_nothing_new_writes_nothing() -> None:
    found = stored(bf16(700.0))
    found.add(node(), MATMUL, [bf16(690.0)])
    assert found.build(PLACE, {"gpu-0"}) == []


def test_another_image_driver_or_geometry_begins_anew() -> None:
    found = stored(bf16(700.0))
    updated = node(labels={"nvidia.com/cuda.driver-version.full": "600.1"})
    others = [
        (node(), Settings("matmul", image="mirror/pytorch:1")),
        (updated, MATMUL),
        (node(gpu="1"), MATMUL),
        (node("gpu-1"), MATMUL),
        (node(), Settings("matmul", types=("fp8",))),
    ]
    assert [found.figure(of, settings, bf16(1.0)) for of, settings in others] == [None] * 5
    assert found.figure(node(boot="b2"), MATMUL, bf16(1.0)) == 700.0, "a reboot changes no card"
    found.add(updated, MATMUL, [bf16(650.0)])
    later = read(found.build(PLACE, {"gpu-0"}))
    assert later.figure(updated, MATMUL, bf16(1.0)) == 650.0
    assert later.figure(node(), MATMUL, bf16(1.0)) is None


def test_programs_of_a_node_are_kept_apart_and_nodes_that_are_gone_are_forgotten() -> None:
    found = stored(bf16(700.0))
    found.add(node(), Settings("nccl"), [Figure("all_reduce", 450.0, "GB/s")])
    found.add(node("gone"), MATMUL, [bf16(1.0)])
    (one,) = found.build(PLACE, {"gpu-0", "gone"})
    assert sorted(one["data"]) == ["gone", "gpu-0"]
    assert sorted(json.loads(one["data"]["gpu-0"])) == ["matmul", "nccl"]
    later = read([one])
    later.add(node(), Settings("own", name="mine"), [Figure("figure", 3.0, "x")])
    (fewer,) = later.build(PLACE, {"gpu-0"})
    assert list(fewer["data"]) == ["gpu-0"]
    assert fewer["metadata"]["name"] == "gpu-validation-baselines"


def test_a_text_that_nobody_can_read_is_no_baseline() -> None:
    for text in ("{", "[]", '{"matmul": {"of": "x", "figures": {"bf16 GPU-a": "many"}}}'):
        found = Baselines(fingerprints.Memory({"gpu-0": text}, {}))
        assert found.figure(node(), MATMUL, bf16(1.0)) is None
