"""Which candidate gives a pool its machines, from the provider's first word to the last."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils import _placement, _search
from ansible_collections.accelerators.openshift.plugins.module_utils._search import AGAIN, GIVE_UP, KEEP, NEXT, Held, Search

Data = dict[str, t.Any]
NONE = ("MACH-CAPACITY", "none left")


def pool(replicas: int = 4, **more: t.Any) -> Data:
    candidates = [{"instance_type": "p4d", "zones": ["a", "b"]}, {"instance_type": "p4de", "zones": ["b"]}]
    return {"name": "t", "candidates": candidates, "replicas": replicas, "min_replicas": replicas, "mixed": False, **more}


def held(zone: str, replicas: int, obtained: str = "", candidate: str = "p4d") -> Held:
    return Held(f"set-{candidate}-{zone}", candidate, zone, replicas, obtained)


def shares(search: Search) -> list[tuple[str, str, int]]:
    return [(one.candidate["instance_type"], one.zone, one.replicas) for one in search.shares]


def test_a_new_pool_starts_with_its_first_candidate() -> None:
    assert shares(_search.start(pool(3), [])) == [("p4d", "a", 2), ("p4d", "b", 1)]


def test_what_a_zone_cannot_give_moves_to_the_others() -> None:
    search = _search.start(pool(), [])
    assert search.lose({"a": NONE}, {"a": 1}) == AGAIN
    assert shares(search) == [("p4d", "a", 1), ("p4d", "b", 3)]
    assert search.attempts == [{"instance_type": "p4d", "zones": ["a"], "wanted": 2, "obtained": 1, "code": "MACH-CAPACITY", "message": "none left"}]


def test_the_next_candidate_starts_when_all_zones_failed_and_from_nothing() -> None:
    search = _search.start(pool(), [])
    search.lose({"a": NONE}, {"a": 1})
    assert search.lose({"b": NONE}, {"a": 1, "b": 1}) == NEXT
    assert shares(search) == [("p4de", "b", 4)]
    assert search.lose({"b": NONE}, {}) == GIVE_UP
    assert [(one["instance_type"], one["zones"], one["obtained"]) for one in search.attempts] == [("p4d", ["a"], 1), ("p4d", ["b"], 1), ("p4de", ["b"], 0)]


def test_an_account_s_limit_ends_the_whole_candidate() -> None:
    assert _search.start(pool(), []).lose({"a": ("MACH-QUOTA", "limit")}, {"b": 2}) == NEXT


def test_enough_is_kept() -> None:
    search = _search.start(pool(min_replicas=2), [])
    assert search.lose({"a": NONE, "b": NONE}, {"a": 2, "b": 1}) == KEEP
    assert (search.obtained, search.record) == (3, "3/4")


def test_nothing_at_all_is_not_enough() -> None:
    search = _search.start(pool(min_replicas=0, candidates=pool()["candidates"][:1]), [])
    assert search.lose({"a": NONE, "b": NONE}, {}) == GIVE_UP


def test_a_mixed_pool_is_filled_up_by_the_next_candidate() -> None:
    search = _search.start(pool(mixed=True, min_replicas=1), [])
    assert search.lose({"a": NONE, "b": NONE}, {"a": 1}) == NEXT
    assert shares(search) == [("p4d", "a", 1), ("p4de", "b", 3)]
    assert search.lose({"b": NONE}, {"b": 1}) == KEEP
    assert search.record == "2/4"


@pytest.mark.parametrize(
    ("have", "wanted", "expected"),
    [
        ([held("a", 3, "4/4"), held("b", 1, "4/4")], 4, [("p4d", "a", 3), ("p4d", "b", 1)]),  # shifted by the provider, complete: stays
        ([held("a", 1, "3/4"), held("b", 2, "3/4")], 4, [("p4d", "a", 1), ("p4d", "b", 2)]),  # partly obtained, that sufficed: stays
        ([held("a", 1, "4/4"), held("b", 2, "4/4")], 4, [("p4d", "a", 2), ("p4d", "b", 2)]),  # somebody scaled it: put right
        ([held("a", 2, "4/4"), held("b", 2, "4/4")], 6, [("p4d", "a", 3), ("p4d", "b", 3)]),
        ([held("a", 3, "4/4"), held("b", 1, "4/4")], 2, [("p4d", "a", 1), ("p4d", "b", 1)]),
        ([held("b", 4, "4/4", "p4de")], 4, [("p4de", "b", 4)]),
        ([held("a", 1), held("b", 1, candidate="p4de")], 4, [("p4de", "b", 4)]),  # interrupted with the second candidate
        ([held("a", 2, "4/4"), held("c", 2, "4/4")], 4, [("p4d", "a", 2), ("p4d", "b", 2)]),  # a zone that the pool no longer has
    ],
)
def test_where_a_pool_stays(have: list[Held], wanted: int, expected: list[tuple[str, str, int]]) -> None:
    assert shares(_search.start(pool(wanted), have)) == expected


def test_a_pool_that_was_complete_moves_only_when_told() -> None:
    have = [held("a", 2, "4/4"), held("b", 2, "4/4")]
    assert _search.start(pool(), have).lose({"a": NONE, "b": NONE}, {}) == GIVE_UP
    assert _search.start(pool(), have, reselect=True).lose({"a": NONE, "b": NONE}, {}) == NEXT


def test_candidates_of_one_type_differ_by_their_market() -> None:
    spot = {"instance_type": "p4d", "zones": ["a"], "market": {"type": "spot"}}
    both = pool(2, candidates=[spot, {"instance_type": "p4d", "zones": ["a"]}])
    assert _search.start(both, [held("a", 2, "2/2", "p4d")]).candidate is both["candidates"][1]
    assert _search.start(both, [held("a", 2, "2/2", "p4d/spot")]).candidate is spot


def test_machines_of_another_type_are_not_touched() -> None:
    with pytest.raises(_search.DriftError) as caught:
        _search.start(pool(), [held("a", 2, candidate="p3")])
    assert caught.value.code == "POOL-DRIFT"
    assert "set-p3-a makes p3" in caught.value.message


def test_no_zones_is_one_place() -> None:
    assert shares(_search.start(pool(2, candidates=[{"instance_type": "flavor", "zones": []}]), [])) == [("flavor", "", 2)]


def test_adjusting_moves_as_little_as_possible() -> None:
    assert _placement.adjusted({"a": 3, "b": 0}, 4, ["a", "b"]) == {"a": 3, "b": 1}
    assert _placement.adjusted({"a": 3, "b": 1}, 3, ["a", "b"]) == {"a": 2, "b": 1}
