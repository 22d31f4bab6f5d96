# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of queues on a server in memory: what goes, what stays, and what is asked before."""

from __future__ import annotations

import typing as t

import pytest
from unit.queue.builders import World, params, pools, queue, share, workload

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._queue import removal_steps, steps

PLURALS: t.Final = ("resourceflavors", "clusterqueues", "localqueues")
NOTHING: t.Final[dict[str, list[str]]] = {"resourceflavors": [], "clusterqueues": [], "localqueues": []}


def world(*queues: dict[str, t.Any]) -> World:
    made = World()
    steps.present(made.api(), params(*(queues or (queue(), queue("batch", share("batch"))))))
    return made


def left(found: World) -> dict[str, list[str]]:
    return {plural: found.names(plural) for plural in PLURALS}


def test_removal_without_names_takes_the_queues_of_the_pools() -> None:
    found = world()
    result = removal_steps.absent(found.api(), params(state="absent"))
    assert left(found) == NOTHING
    assert result == {"queues": [{"name": "batch"}, {"name": "research"}], "ends": []}
    assert removal_steps.absent(found.api(), params(state="absent")) == {"queues": [], "ends": []}
    assert not found.server.writes()


def test_a_queue_with_another_pool_stays_and_keeps_its_flavors() -> None:
    found = world(queue("both", share(), share("batch")))
    api = found.api()
    removal_steps.absent(api, params(state="absent", pools=pools()[:1]))
    assert left(found) == {
        "resourceflavors": ["batch", "training"],
        "clusterqueues": ["both"],
        "localqueues": ["both"],
    }
    (warning,) = api.warnings
    assert warning.startswith("ResourceFlavor training stays: ClusterQueue both gives its nodes away.")
    assert "Take pool training out of gpu_queues" in warning
    removal_steps.absent(found.api(), params(queue("both"), state="absent", pools=pools()[:1]))
    assert left(found) == NOTHING


def test_a_queue_that_loses_one_of_its_pools_is_named_before_the_first_write() -> None:
    """As remove_pool.yml asks: in check mode, and of the pool it knows only the name."""
    found = world(queue("both", share(gpus=4), share("batch")), queue("alone", share(gpus=2)))
    api = found.api(check_mode=True)
    result = removal_steps.absent(api, params(state="absent", pools=[{"name": "training"}]))
    assert result["queues"] == [{"name": "alone"}]
    assert any("ClusterQueue both gives its nodes away" in text for text in api.warnings)
    assert not found.server.writes()


def test_what_others_made_stays() -> None:
    found = world()
    for plural in PLURALS:
        for one in found.all(plural):
            one["metadata"].pop("labels")
    removal_steps.absent(found.api(), params(queue(), state="absent"))
    assert not found.server.writes()


def test_queues_that_run_something_are_refused() -> None:
    found = world()
    found.server.put(workload("job-a", "research"))
    with pytest.raises(AcceleratorError) as caught:
        removal_steps.absent(found.api(), params(state="absent"))
    assert caught.value.code == "QUEUE-BUSY"
    assert "team-a/job-a" in caught.value.message
    assert "gpu_on_busy: wait" in caught.value.remedy
    assert not found.server.writes()


def test_a_finished_workload_holds_nothing() -> None:
    found = world()
    done = workload("job-a", "research")
    done["status"]["conditions"] = [{"type": "Finished", "status": "True"}]
    found.server.put(done)
    removal_steps.absent(found.api(), params(state="absent"))
    assert found.names("clusterqueues") == []


def test_drain_has_kueue_end_the_workloads() -> None:
    found = world()
    found.server.put(workload("job-a", "research"))
    result = removal_steps.absent(found.api(), params(state="absent", on_busy="drain"))
    assert result["ends"] == ["team-a/job-a"]
    assert left(found) == NOTHING


def test_wait_holds_the_queues_and_says_so_when_the_time_is_over() -> None:
    found = world()
    found.server.put(workload("job-a", "research"))
    with pytest.raises(AcceleratorError) as caught:
        removal_steps.absent(found.api(seconds=2.0), params(state="absent", on_busy="wait"))
    assert caught.value.code == "QUEUE-BUSY"
    assert "stay stopped until the next run" in caught.value.message
    assert found.must("clusterqueues", "research")["spec"]["stopPolicy"] == "Hold"
    again = found.api()
    steps.present(again, params(queue("research")))
    assert any(
        "the removal of queues of " in text and "set stopPolicy Hold" in text for text in again.warnings
    )
    assert found.names("clusterqueues") == ["batch", "research"]
    found.must("workloads", "job-a")["status"] = {}
    removal_steps.absent(found.api(), params(state="absent", on_busy="wait"))
    assert left(found) == NOTHING


def test_check_mode_names_what_would_end_and_writes_nothing() -> None:
    found = world()
    found.server.put(workload("job-a", "research"))
    api = found.api(check_mode=True)
    assert removal_steps.absent(api, params(state="absent", on_busy="drain"))["ends"] == ["team-a/job-a"]
    assert not found.server.writes()
    assert api.changes


def test_a_cluster_without_kueue_has_nothing_to_remove() -> None:
    found = World()
    for key in [key for key in found.server.served if key[0].startswith("kueue")]:
        del found.server.served[key]
    assert removal_steps.absent(found.api(), params(state="absent")) == {"queues": [], "ends": []}
