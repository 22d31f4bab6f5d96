"""Groups of nodes that measure together: partners, and which node of a slow group is the cause."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload import groups

Groups = list[tuple[str, ...]]


def tried(number: int, size: int, bad: str, most: int = 3) -> tuple[Groups, Groups]:
    """Return the slow and the good groups of so many nodes, of which one is bad, as attempts tell them."""
    slow: Groups = []
    good: Groups = []
    for attempt in range(most):
        for group in groups.grouped([f"n{index}" for index in range(number)], size, attempt):
            (slow if bad in group else good).append(tuple(group))
        if groups.is_clear(slow, good) and attempt:
            break
    return slow, good


def test_a_program_of_one_node_runs_on_each() -> None:
    assert groups.grouped(["a", "b"], 1, 0) == [["a"], ["b"]]


def test_a_second_attempt_has_other_partners() -> None:
    assert groups.grouped(list("abcd"), 2, 0) == [["a", "b"], ["c", "d"]]
    assert groups.grouped(list("abcd"), 2, 1) == [["b", "c"], ["d", "a"]]


@pytest.mark.parametrize(("number", "size"), [(3, 2), (5, 2), (5, 3), (7, 4), (9, 8), (101, 2)])
def test_the_second_attempt_reaches_the_nodes_that_were_left_out(number: int, size: int) -> None:
    nodes = list(range(number))
    seen = {node for attempt in (0, 1) for group in groups.grouped(nodes, size, attempt) for node in group}
    assert seen == set(nodes)


@pytest.mark.parametrize("number", [3, 4, 5, 6, 7, 8])
def test_the_bad_node_of_pairs_is_named_and_no_other(number: int) -> None:
    for index in range(number):
        bad = f"n{index}"
        slow, good = tried(number, 2, bad)
        assert groups.suspects(slow, good) == [bad], (number, bad, slow, good)


def test_two_nodes_alone_are_both_named() -> None:
    slow, good = tried(2, 2, "n1", most=1)
    assert not groups.is_clear(slow, good)
    assert groups.suspects(slow, good) == ["n0", "n1"]


def test_nodes_that_are_good_with_others_have_a_slow_way_between_them() -> None:
    slow, good = [("a", "b")], [("b", "c"), ("d", "a")]
    assert not groups.is_clear(slow, good)
    assert groups.suspects(slow, good) == ["a", "b"]


def test_without_a_slow_group_nobody_is_suspected() -> None:
    assert groups.suspects([], [("a", "b")]) == []
    assert groups.is_clear([], [])
