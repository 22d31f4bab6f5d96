"""The pools of a task are checked together, and each knows its nodes and its machines."""

from __future__ import annotations

import pytest
from unit.tuning.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned.params import read

TUNING = {"profile": "accelerator"}


def test_the_nodes_of_a_pool() -> None:
    pools = params(
        {"name": "a", "tuning": TUNING, "vcpus": 96},
        {"name": "b", "tuning": TUNING, "node_selector": {"gpu": True}},
    )
    first, second = read(pools["pools"])
    assert (first.label, first.vcpus) == ({"accelerators.openshift/pool": "a"}, 96)
    assert second.label == {"gpu": "True"}


def test_every_problem_is_named() -> None:
    pools = params({"name": "a", "tuning": TUNING}, {"name": "a", "tuning": {"profile": "x"}}, {"name": "c"})
    with pytest.raises(InputError) as caught:
        read(pools["pools"])
    assert [line.split(":")[0] for line in caught.value.evidence] == [
        "POOL-DUPLICATE pools[1].name",
        "POOL-EMPTY pools[2].tuning",
    ]
