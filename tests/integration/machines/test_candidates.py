# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools with candidates while the cloud lacks capacity: which candidate wins, what stays, what is removed."""

from __future__ import annotations

from integration.machines.candidate_pools import (
    A10G,
    PAIR,
    T4,
    A,
    B,
    foretold,
    of,
    places,
    pool,
    uids,
    writes_nothing,
)
from integration.patience import until
from integration.platforms.pools import Data, Pools


def test_no_capacity_in_one_zone_then_success_in_the_other(pools: Pools) -> None:
    with pools.trouble("no_capacity", zone=A, instance_type=T4):
        told = foretold(pools, PAIR)
        assert told.changed
        assert [(one["zone"], one["replicas"]) for one in told["machine_sets"]] == [(A, 1), (B, 1)]
        made = pools.ensure(PAIR)
        (attempt,) = made["attempts"]
        assert (attempt["zones"], attempt["wanted"], attempt["obtained"], attempt["code"]) == (
            [A],
            1,
            0,
            "MACH-CAPACITY",
        )
        assert places(pools) == [(T4, A, 0), (T4, B, 2)]
        assert writes_nothing(pools, PAIR)
    assert writes_nothing(pools, PAIR)
    assert [candidate["instance_type"] for candidate in made["pool"]["candidates"]] == [T4]


def test_the_next_candidate_wins_and_stays(pools: Pools) -> None:
    with pools.trouble("no_capacity", instance_type=T4):
        made = pools.ensure(PAIR)
        assert {(one["instance_type"], one["code"]) for one in made["attempts"]} == {(T4, "MACH-CAPACITY")}
        assert places(pools) == [(A10G, B, 2)]
        assert {one["machine_set"] for one in made["machines"]} == {
            one["name"] for one in made["machine_sets"]
        }
        assert len(pools.nodes(PAIR)) == len(pools.machines(PAIR)) == 2
    # The first candidate has capacity again, the winner has none: neither moves a complete pool.
    with pools.trouble("no_capacity", instance_type=A10G):
        assert writes_nothing(pools, PAIR)
        told = foretold(pools, PAIR)
        assert (told.changed, told["attempts"]) == (False, [])
    assert places(pools) == [(A10G, B, 2)]


def test_what_suffices_is_kept_and_grows_when_asked(pools: Pools) -> None:
    few = pool(of(T4, A, B), replicas=3, min_replicas=2)
    with pools.trouble("no_capacity", instance_type=T4, available=1):
        made = pools.ensure(few)
        assert "has 2 of 3 machines" in made["warnings"][0]
        assert len(made["nodes"]) == 2
        assert writes_nothing(pools, few)
    assert places(pools) == [(T4, A, 1), (T4, B, 1)]
    assert writes_nothing(pools, few)
    had = uids(pools)
    assert len(pools.ensure({**few, "min_replicas": 3})["nodes"]) == 3
    assert len(pools.ensure({**few, "replicas": 4})["nodes"]) == 4
    assert had < uids(pools)


def test_nothing_is_left_when_no_candidate_has_any(pools: Pools) -> None:
    with (
        pools.trouble("no_capacity", instance_type=T4),
        pools.trouble("quota_exceeded", instance_type=A10G, limit=0),
    ):
        found = pools.attempt(PAIR)
    assert found["code"] == "MACH-QUOTA"
    assert [(one["instance_type"], one["code"], one["obtained"]) for one in found["attempts"]] == [
        (T4, "MACH-CAPACITY", 0),
        (T4, "MACH-CAPACITY", 0),
        (A10G, "MACH-QUOTA", 0),
    ]
    assert all(one["message"] in found["msg"] for one in found["attempts"])
    assert (places(pools), pools.machines(PAIR), pools.nodes(PAIR)) == ([], [], [])


def test_what_was_got_stays_until_it_is_given_back_like_any_other_pool(pools: Pools) -> None:
    """Run another team's pod on the first of two machines while no zone has capacity for the second."""
    wanted, job = pool(of(T4, A, B)), {"name": "early-bird", "namespace": "default"}
    gpu: Data = {"limits": {"nvidia.com/gpu": "1"}}

    def works(node: str) -> Data:
        body = {
            "nodeName": node,
            "containers": [{"name": "main", "image": "example.com/job", "resources": gpu}],
        }
        return {"apiVersion": "v1", "kind": "Pod", "metadata": job, "spec": body}

    with pools.trouble("no_capacity", zone=B), pools.trouble("no_capacity", zone=A, available=1):
        pools.attempt(wanted, wait=False)
        (node,) = until(lambda: pools.nodes(wanted), "the node in zone a")
        pools.client.create(works(node["metadata"]["name"]))
        until(
            lambda: (
                (pools.client.get("v1", "pods", "early-bird", "default") or {}).get("status", {}).get("phase")
                == "Running"
            ),
            "the pod",
        )
        kept = pools.attempt(wanted)
        assert kept["code"] == "MACH-CAPACITY", kept.result
        assert [line for line in pools.audit.writes(kept) if line.startswith("create pods")] == []
        assert "remove_pool.yml -e gpu_pool=cand" in kept["remedy"]
        assert [one["metadata"]["name"] for one in pools.nodes(wanted)] == [node["metadata"]["name"]]

        busy = pools.attempt(wanted, state="absent")
        assert (busy["code"], pools.audit.writes(busy)) == ("NODE-BUSY", []), busy.result
        assert "default/early-bird" in busy["msg"]

        given_back = pools.ensure(wanted, state="absent", on_busy="drain", evict_unmanaged=True)
        assert [line for line in pools.audit.writes(given_back) if line.startswith("create pods")] != []
    assert (places(pools), pools.machines(wanted), pools.nodes(wanted)) == ([], [], [])
