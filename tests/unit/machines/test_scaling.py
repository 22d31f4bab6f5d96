# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machine sets that somebody scaled by hand: who it was, and what stays."""

from __future__ import annotations

import typing as t

import pytest
from unit.machines.builders import Data, cluster, drafted, lived, params, plan, worker

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    candidates,
    plan as machine_plan,
    scaling,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.candidates import Search

AT: t.Final = "2026-11-22T10:00:00Z"
OURS: t.Final = "accelerators.openshift"


def writer(manager: str, time: str = AT, **more: str) -> Data:
    return {"manager": manager, "time": time, "fieldsV1": {"f:spec": {"f:replicas": {}}}, **more}


def pool_of_two(replicas: tuple[int, int], managers: t.Sequence[Data], record: str = "2/2") -> list[Data]:
    """The sets of a pool in two zones; the first was scaled."""
    live = lived(plan([worker("us-east-2a"), worker("us-east-2b")], zones=ZONES, replicas=2))
    for one, number in zip(live, replicas, strict=True):
        one["spec"]["replicas"] = number
        one["metadata"]["annotations"]["accelerators.openshift/obtained"] = record
        one["metadata"]["managedFields"] = [writer(OURS)]
    live[0]["metadata"]["managedFields"] = list(managers)
    return live


ZONES: t.Final = ["us-east-2a", "us-east-2b"]


def respected(live: list[Data], on_scaled: str = "keep", replicas: int = 2) -> tuple[Search, list[str]]:
    on = cluster()
    pool = drafted(params(zones=ZONES, replicas=replicas), on.cloud, on.name)
    held = machine_plan.held(on, pool, live)
    search = candidates.start(pool, held)
    return search, scaling.respect(search, held, live, on_scaled)


@pytest.mark.parametrize(
    ("writers", "manager"),
    [
        ([writer("kubectl", subresource="scale")], "kubectl"),
        ([writer("Mozilla")], "Mozilla"),
        ([writer("kubectl", "2026-11-21T10:00:00Z"), writer("Mozilla")], "Mozilla"),
        ([writer(OURS)], ""),
        ([writer(OURS), writer("kubectl")], ""),  # the same number: ours still counts
        ([writer("cluster-autoscaler", subresource="scale")], ""),
        ([writer("before-first-apply")], ""),
        ([], ""),
    ],
    ids=str,
)
def test_who_scaled_a_set(writers: list[Data], manager: str) -> None:
    found = scaling.scaled_by({"metadata": {"managedFields": writers}, "spec": {"replicas": 3}})
    assert (found.manager if found else "") == manager
    assert scaling.scaled_by({"metadata": {}, "spec": {}}) is None


def test_a_set_that_somebody_scaled_keeps_its_number_and_the_warning_says_who_when_and_what() -> None:
    search, (warning,) = respected(pool_of_two((3, 1), [writer("kubectl", subresource="scale")]))
    assert search.placement == {"us-east-2a": 3, "us-east-2b": 1}
    assert search.record == "2/2"
    for words in (
        "machine set demo-x7k2p-t4-us-east-2a to 3",
        "`oc scale` (field manager kubectl) at 2026-11-22T10:00:00Z",
        "pool t4 asks for 1 there",
        "playbooks/resize_pool.yml -e @FILE -e gpu_pool=t4 -e gpu_replicas=2",
        "gpu_node_pool_on_scaled: take",
    ):
        assert words in warning


def test_a_set_scaled_to_zero_is_not_scaled_up_again() -> None:
    search, (warning,) = respected(pool_of_two((0, 1), [writer("Mozilla")]))
    assert search.placement == {"us-east-2a": 0, "us-east-2b": 1}
    assert "the web console (field manager Mozilla)" in warning
    assert search.stays


def test_a_task_that_takes_says_from_what_to_what() -> None:
    search, (warning,) = respected(pool_of_two((0, 1), [writer("kubectl")]), "take")
    assert search.placement == {"us-east-2a": 1, "us-east-2b": 1}
    assert "scales it from 0 to 1" in warning
    assert not search.pinned


@pytest.mark.parametrize("writers", [[writer("before-first-apply")], []], ids=["before", "stripped"])
def test_without_a_record_nobody_scaled(writers: list[Data]) -> None:
    search, warnings = respected(pool_of_two((3, 1), writers))
    assert (sum(search.placement.values()), warnings) == (2, [])


def test_a_number_that_was_put_back_binds_no_later_run() -> None:
    """The hand scaled to 3 and back to 1; the file then asks for 4 machines."""
    search, warnings = respected(pool_of_two((1, 1), [writer("kubectl")]), replicas=4)
    assert (search.placement, warnings) == ({"us-east-2a": 2, "us-east-2b": 2}, [])


def test_a_scaling_while_the_task_works_is_named() -> None:
    (read, _other) = pool_of_two((1, 1), [writer(OURS)])
    (live, _other) = pool_of_two((2, 1), [writer("kubectl")])
    assert "from 1 to 2 with `oc scale`" in scaling.changed_meanwhile(read, live)
    assert scaling.changed_meanwhile(live, live) == ""


def test_a_number_that_another_manager_applies_too_is_taken_with_a_warning() -> None:
    live = pool_of_two((1, 1), [writer(OURS), writer("argocd-controller", operation="Apply")])
    _search, (warning,) = respected(live, "take", replicas=4)
    assert "argocd-controller applies the replicas of machine set demo-x7k2p-t4-us-east-2a too" in warning
    assert "from 2 to 1 again" in warning
    assert respected(live, "take")[1] == []
    assert respected(live, "keep", replicas=4)[1] == []
