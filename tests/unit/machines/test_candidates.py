"""Which candidate gives a pool its machines, from the provider's first word to the last."""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    candidates as machine_candidates,
    placement,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.candidates import (
    AGAIN,
    GIVE_UP,
    KEEP,
    NEXT,
    Held,
    Search,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool

Data = dict[str, t.Any]
NONE = ("MACH-CAPACITY", "none left")


CANDIDATES: t.Final = [
    {"instance_type": "p4d", "zones": ["a", "b"]},
    {"instance_type": "p4de", "zones": ["b"]},
]


def pool(replicas: int = 4, candidates: t.Sequence[Data] | None = None, **more: t.Any) -> Pool:
    return pool_builders.of_result(
        "t", candidates or CANDIDATES, **{"replicas": replicas, "min_replicas": replicas, **more}
    )


def held(zone: str, replicas: int, obtained: str = "", candidate: str = "p4d") -> Held:
    return Held(f"set-{candidate}-{zone}", candidate, zone, replicas, obtained)


def shares(search: Search) -> list[tuple[str, str, int]]:
    return [(one.candidate.instance_type, one.zone, one.replicas) for one in search.shares]


def test_a_new_pool_starts_with_its_first_candidate() -> None:
    assert shares(machine_candidates.start(pool(3), [])) == [("p4d", "a", 2), ("p4d", "b", 1)]


def test_what_a_zone_cannot_give_moves_to_the_others() -> None:
    search = machine_candidates.start(pool(), [])
    assert search.lose({"a": NONE}, {"a": 1}) == AGAIN
    assert shares(search) == [("p4d", "a", 1), ("p4d", "b", 3)]
    assert search.attempts == [
        {
            "instance_type": "p4d",
            "zones": ["a"],
            "wanted": 2,
            "obtained": 1,
            "code": "MACH-CAPACITY",
            "message": "none left",
        }
    ]


def test_the_next_candidate_starts_when_all_zones_failed_and_from_nothing() -> None:
    search = machine_candidates.start(pool(), [])
    search.lose({"a": NONE}, {"a": 1})
    assert search.lose({"b": NONE}, {"a": 1, "b": 1}) == NEXT
    assert (shares(search), search.state(NEXT)) == ([("p4de", "b", 4)], "single")
    assert search.lose({"b": NONE}, {}) == GIVE_UP
    assert search.state(GIVE_UP) == "empty"
    assert [(one["instance_type"], one["zones"], one["obtained"]) for one in search.attempts] == [
        ("p4d", ["a"], 1),
        ("p4d", ["b"], 1),
        ("p4de", ["b"], 0),
    ]


def test_an_account_s_limit_ends_the_whole_candidate() -> None:
    assert machine_candidates.start(pool(), []).lose({"a": ("MACH-QUOTA", "limit")}, {"b": 2}) == NEXT


def test_enough_is_kept() -> None:
    search = machine_candidates.start(pool(min_replicas=2), [])
    assert search.lose({"a": NONE, "b": NONE}, {"a": 2, "b": 1}) == KEEP
    assert (search.obtained, search.record) == (3, "3/4")


def test_nothing_at_all_is_not_enough() -> None:
    search = machine_candidates.start(pool(min_replicas=0, candidates=CANDIDATES[:1]), [])
    assert search.lose({"a": NONE, "b": NONE}, {}) == GIVE_UP


def test_a_mixed_pool_is_filled_up_by_the_next_candidate() -> None:
    search = machine_candidates.start(pool(mixed=True, min_replicas=1), [])
    assert search.lose({"a": NONE, "b": NONE}, {"a": 1}) == NEXT
    assert (shares(search), search.state(NEXT)) == ([("p4d", "a", 1), ("p4de", "b", 3)], "mixed")
    assert search.lose({"b": NONE}, {"b": 1}) == KEEP
    assert search.record == "2/4"


@pytest.mark.parametrize(
    ("have", "wanted", "expected"),
    [
        (
            [held("a", 3, "4/4"), held("b", 1, "4/4")],
            4,
            [("p4d", "a", 3), ("p4d", "b", 1)],
        ),  # shifted by the provider, complete: stays
        (
            [held("a", 1, "3/4"), held("b", 2, "3/4")],
            4,
            [("p4d", "a", 1), ("p4d", "b", 2)],
        ),  # partly obtained, that sufficed: stays
        (
            [held("a", 1, "4/4"), held("b", 2, "4/4")],
            4,
            [("p4d", "a", 2), ("p4d", "b", 2)],
        ),  # somebody scaled it: put right
        ([held("a", 2, "4/4"), held("b", 2, "4/4")], 6, [("p4d", "a", 3), ("p4d", "b", 3)]),
        ([held("a", 3, "4/4"), held("b", 1, "4/4")], 2, [("p4d", "a", 1), ("p4d", "b", 1)]),
        ([held("b", 4, "4/4", "p4de")], 4, [("p4de", "b", 4)]),
        (
            [held("a", 1), held("b", 1, candidate="p4de")],
            4,
            [("p4de", "b", 4)],
        ),  # interrupted with the second candidate
        (
            [held("a", 2, "4/4"), held("c", 2, "4/4")],
            4,
            [("p4d", "a", 2), ("p4d", "b", 2)],
        ),  # a zone that the pool no longer has
    ],
)
def test_where_a_pool_stays(have: list[Held], wanted: int, expected: list[tuple[str, str, int]]) -> None:
    assert shares(machine_candidates.start(pool(wanted, min_replicas=2), have)) == expected


def test_a_pool_that_was_complete_moves_only_when_told() -> None:
    have = [held("a", 2, "4/4"), held("b", 2, "4/4")]
    assert machine_candidates.start(pool(), have).lose({"a": NONE, "b": NONE}, {}) == GIVE_UP
    assert machine_candidates.start(pool(), have, reselect=True).lose({"a": NONE, "b": NONE}, {}) == NEXT


def test_candidates_of_one_type_differ_by_their_market() -> None:
    spot = {"instance_type": "p4d", "zones": ["a"], "market": {"type": "spot"}}
    both = pool(2, candidates=[spot, {"instance_type": "p4d", "zones": ["a"]}])
    assert machine_candidates.start(both, [held("a", 2, "2/2", "p4d")]).candidate is both.candidates[1]
    assert machine_candidates.start(both, [held("a", 2, "2/2", "p4d/spot")]).candidate is both.candidates[0]


def test_machines_of_another_type_are_not_touched() -> None:
    with pytest.raises(machine_candidates.DriftError) as caught:
        machine_candidates.start(pool(), [held("a", 2, candidate="p3")])
    assert caught.value.code == "POOL-DRIFT"
    assert "set-p3-a makes p3" in caught.value.message


def test_no_zones_is_one_place() -> None:
    assert shares(
        machine_candidates.start(pool(2, candidates=[{"instance_type": "flavor", "zones": []}]), [])
    ) == [("flavor", "", 2)]


def test_adjusting_moves_as_little_as_possible() -> None:
    assert placement.adjusted({"a": 3, "b": 0}, 4, ["a", "b"]) == {"a": 3, "b": 1}
    assert placement.adjusted({"a": 3, "b": 1}, 3, ["a", "b"]) == {"a": 2, "b": 1}


def test_more_than_was_content_is_asked_for_again() -> None:
    have = [held("a", 1, "2/4"), held("b", 1, "2/4")]
    assert shares(machine_candidates.start(pool(min_replicas=2), have)) == [("p4d", "a", 1), ("p4d", "b", 1)]
    assert shares(machine_candidates.start(pool(min_replicas=3), have)) == [("p4d", "a", 2), ("p4d", "b", 2)]


def test_a_set_of_one_market_is_not_written_for_the_other() -> None:
    bought = {"instance_type": "p4d", "zones": ["a"], "market": {"type": "spot"}}
    both = pool(2, candidates=[bought, {"instance_type": "p4d", "zones": ["a"]}])
    spot, other = both.candidates
    assert not machine_candidates.is_of(held("a", 2, candidate="p4d"), spot, both)
    assert machine_candidates.is_of(held("a", 2, candidate="p4d"), other, both)
    assert machine_candidates.is_of(held("a", 2, candidate="p4d/capacity_block"), other, both)


def test_of_two_winners_the_younger_one_stays() -> None:
    """A pool that was moved back to its first candidate, interrupted before the old sets were gone."""
    old = Held("t-b", "p4de", "b", 2, "2/2", made="2026-11-20T10:00:00Z")
    young = [Held(f"t-{zone}-2", "p4d", zone, 1, "2/2", made="2026-11-21T10:00:00Z") for zone in "ab"]
    assert shares(machine_candidates.start(pool(2), [old, *young])) == [("p4d", "a", 1), ("p4d", "b", 1)]


def test_a_pool_that_asked_others_in_vain_has_what_it_had() -> None:
    search = machine_candidates.start(pool(), [held("a", 2, "4/4"), held("b", 2, "4/4")], reselect=True)
    assert (search.stays, search.has_left) == (False, False)
    assert search.lose({"a": NONE}, {"a": 1, "b": 2}) == AGAIN
    assert search.lose({"b": NONE}, {"a": 1, "b": 2}) == NEXT
    assert search.has_left
    assert search.lose({"b": NONE}, {}) == GIVE_UP
    assert search.state(GIVE_UP) == "moved"
    search.restore()
    assert (shares(search), search.has_left) == ([("p4d", "a", 2), ("p4d", "b", 2)], False)


def test_a_pool_that_could_not_grow_keeps_what_it_got() -> None:
    search = machine_candidates.start(pool(6), [held("a", 2, "4/4"), held("b", 2, "4/4")])
    assert not search.stays
    assert search.lose({"a": NONE, "b": NONE}, {"a": 3, "b": 2}) == GIVE_UP
    assert search.state(GIVE_UP) == "complete"
    assert shares(search) == [("p4d", "a", 3), ("p4d", "b", 2)]


@pytest.mark.parametrize(
    ("replicas", "expected"),
    [
        (4, [("p4d", "a", 2), ("p4de", "b", 2)]),
        (3, [("p4d", "a", 2), ("p4de", "b", 1)]),
        (
            1,
            [("p4d", "a", 1), ("p4de", "b", 0)],
        ),  # the candidate that was asked last loses its machines first
    ],
)
def test_a_mixed_pool_shrinks(replicas: int, expected: list[tuple[str, str, int]]) -> None:
    have = [held("a", 2, "4/4"), held("b", 2, "4/4", "p4de")]
    assert shares(machine_candidates.start(pool(replicas, mixed=True), have)) == expected


def test_a_mixed_pool_asks_an_earlier_candidate_again_for_all_that_it_has_of_it() -> None:
    """Interrupted with its second candidate: the first one's machines are counted once."""
    search = machine_candidates.start(pool(mixed=True), [held("a", 1), held("b", 2, candidate="p4de")])
    assert shares(search) == [("p4d", "a", 1), ("p4de", "b", 3)]
    assert search.lose({"b": NONE}, {"b": 2}) == NEXT
    assert shares(search) == [("p4de", "b", 2), ("p4d", "a", 1), ("p4d", "b", 1)]


def test_what_an_earlier_candidate_of_a_mixed_pool_loses_the_later_one_is_asked_for() -> None:
    search = machine_candidates.start(pool(5, mixed=True), [held("a", 2, "4/4"), held("b", 2, "4/4", "p4de")])
    search.lose_kept(search.kept[0], NONE, 1)
    assert shares(search) == [("p4d", "a", 1), ("p4de", "b", 4)]
    search.lose_kept(search.kept[0], NONE, 0)
    assert shares(search) == [("p4de", "b", 5)]
    assert [one["obtained"] for one in search.attempts] == [1, 0]


def test_an_instance_that_comes_late_is_not_counted_twice() -> None:
    search = machine_candidates.start(pool(min_replicas=1), [])
    search.lose({"a": NONE}, {"a": 1})
    assert search.lose({"b": NONE}, {"a": 2, "b": 1}) == KEEP
    assert search.record == "2/4"


def test_the_autoscaler_s_number_is_left_alone() -> None:
    scaled = pool(1, autoscale={"min": 1, "max": 8})
    search = machine_candidates.start(scaled, [held("a", 3, "1/1"), held("b", 2, "1/1")])
    assert shares(search) == [("p4d", "a", 3), ("p4d", "b", 2)]
    assert search.record == "1/1"


def test_a_raised_minimum_is_reached() -> None:
    scaled = pool(4, autoscale={"min": 4, "max": 8})
    assert shares(machine_candidates.start(scaled, [held("a", 2, "1/1"), held("b", 0, "1/1")])) == [
        ("p4d", "a", 2),
        ("p4d", "b", 2),
    ]


def test_a_pool_may_begin_without_a_machine() -> None:
    search = machine_candidates.start(pool(0, autoscale={"min": 0, "max": 8}), [])
    assert shares(search) == [("p4d", "a", 0), ("p4d", "b", 0)]
    assert search.record == "0/0"


@pytest.mark.parametrize(
    ("placed", "current", "idle", "found"),
    [
        ({"a": 1, "b": 0}, {"a": 1, "b": 1}, {"a": 1}, {"a": 0, "b": 1}),
        ({"a": 1, "b": 0}, {"a": 1, "b": 1}, {"b": 1}, {"a": 1, "b": 0}),
        ({"a": 1, "b": 0}, {"a": 1, "b": 1}, {}, {"a": 1, "b": 0}),
        ({"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 2, "c": 2}, {"a": 2, "b": 1}, {"a": 0, "b": 1, "c": 2}),
        ({"a": 1, "b": 1}, {"a": 0, "b": 3}, {"b": 1}, {"a": 1, "b": 1}),
    ],
)
def test_machines_are_lost_where_they_are_idle(placed: Data, current: Data, idle: Data, found: Data) -> None:
    assert placement.spared(placed, current, idle) == found
