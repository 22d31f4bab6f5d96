"""A tuning as one value: what the pool says, and what its profile advises when reboots are planned."""

from __future__ import annotations

import typing as t

import pytest
from unit.tuning.builders import tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import entries
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.options import (
    HugePages,
    Isolation,
)

PLANNED: t.Final = {"reboot": "planned"}


def test_without_planned_reboots_nothing_is_added() -> None:
    for name in ("training", "inference"):
        assert not tuning(profile=name).reboots


def test_with_planned_reboots_the_advice_of_the_profile_counts() -> None:
    training = tuning(profile="training", **PLANNED)
    assert training.kernel_arguments == ("iommu=pt", "pci=realloc=off", "init_on_alloc=0")
    assert training.isolate is None
    inference = tuning(profile="inference", **PLANNED)
    assert (inference.isolate, inference.huge_pages) == (Isolation(), (HugePages("2M", 8192),))
    assert entries.left_out(inference) == []


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"isolate": False, "huge_pages": []}, (None, ())),
        (
            {"isolate": {"reserved": "0-1"}, "huge_pages": [{"size": "1G", "count": 4, "numa_node": 1}]},
            (Isolation("0-1"), (HugePages("1G", 4, 1),)),
        ),
    ],
)
def test_what_the_pool_says_itself_counts(given: dict[str, t.Any], wanted: t.Any) -> None:
    found = tuning(profile="inference", **PLANNED, **given)
    assert (found.isolate, found.huge_pages) == wanted


def test_facts_that_are_not_known_stay_zero() -> None:
    found = tuning(profile="accelerator", vcpus=None, memory_gib=64)
    assert (found.vcpus, found.memory_gib, found.arch) == (0, 64, "")
