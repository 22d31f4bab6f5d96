"""What a node should offer."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.instance_types import find
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.geometry import geometry, renames
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.partitions import GeometryError

GPU, SHARED = "nvidia.com/gpu", "nvidia.com/gpu.shared"


def of(name: str, sharing: dict[str, t.Any]) -> dict[str, int]:
    kind = find("aws", name)
    assert kind is not None
    return geometry(name, kind.gpus, kind.gpu, sharing)


@pytest.mark.parametrize(
    ("name", "sharing", "resources"),
    [
        ("g4dn.xlarge", {}, {GPU: 1}),
        ("p4d.24xlarge", {}, {GPU: 8}),
        ("g4dn.12xlarge", {"time_slicing": {"replicas": 4}}, {GPU: 16}),
        ("g4dn.12xlarge", {"time_slicing": {"replicas": 4, "rename": True}}, {SHARED: 16}),
        ("g5.xlarge", {"mps": {"replicas": 8}}, {GPU: 8}),
        ("p4d.24xlarge", {"mig": {"slices": 7}}, {GPU: 56}),
        ("p4d.24xlarge", {"mig": {"slices": 7, "strategy": "mixed"}}, {"nvidia.com/mig-1g.5gb": 56}),
        ("p4de.24xlarge", {"mig": {"slices": 7, "strategy": "mixed"}}, {"nvidia.com/mig-1g.10gb": 56}),
        ("p4d.24xlarge", {"mig": {"slices": 1, "strategy": "mixed"}}, {"nvidia.com/mig-7g.40gb": 8}),
        ("p5.48xlarge", {"mig": {"profile": "3g.40gb"}}, {GPU: 16}),
        ("p4d.24xlarge", {"mig": {"profile": {"p4d.24xlarge": "2g.10gb"}}}, {GPU: 24}),
        ("g7e.12xlarge", {"mig": {"slices": 4}}, {GPU: 8}),
        (
            "p4d.24xlarge",
            {"mig": {"layout": {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}}},
            {"nvidia.com/mig-1g.5gb": 16, "nvidia.com/mig-2g.10gb": 8, "nvidia.com/mig-3g.20gb": 8},
        ),
    ],
)
def test_resources(name: str, sharing: dict[str, t.Any], resources: dict[str, int]) -> None:
    assert of(name, sharing) == resources


@pytest.mark.parametrize(
    ("name", "mig", "where", "words"),
    [
        ("g4dn.xlarge", {"slices": 7}, "mig", "cannot be partitioned"),
        ("p4d.24xlarge", {"slices": 5}, "mig.slices", "5 equal parts"),
        ("p4de.24xlarge", {"profile": "1g.5gb"}, "mig.profile", "no MIG profile '1g.5gb'"),
        ("p4d.24xlarge", {"profile": {"p4de.24xlarge": "1g.10gb"}}, "mig.profile", "no profile is given"),
        ("p4d.24xlarge", {"layout": {"3g.20gb": 2, "1g.5gb": 1}}, "mig.layout", "9 of 8 memory"),
        ("p4d.24xlarge", {"layout": {"4g.20gb": 2}}, "mig.layout", "8 of 7 compute"),
        ("p4d.24xlarge", {"layout": {"9g.90gb": 1}}, "mig.layout.9g.90gb", "no MIG profile"),
    ],
)
def test_impossible(name: str, mig: dict[str, t.Any], where: str, words: str) -> None:
    with pytest.raises(GeometryError) as caught:
        of(name, {"mig": mig})
    assert caught.value.where == where
    assert words in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("sharing", "renamed"),
    [
        ({}, False),
        ({"mig": {"slices": 7}}, False),
        ({"mig": {"slices": 7, "strategy": "mixed"}}, True),
        ({"mig": {"layout": {"1g.5gb": 7}}}, True),
        ({"mps": {"replicas": 2}}, False),
        ({"time_slicing": {"replicas": 2, "rename": True}}, True),
    ],
)
def test_renaming(sharing: dict[str, t.Any], renamed: bool) -> None:
    assert renames(sharing) is renamed
