"""Which profile a node gets."""

from __future__ import annotations

import pytest
from unit.sandbox.node_tuning.builders import POOL, ROLE, Data, mcp, tuned

from openshift_sandbox.seed.tuning import default_tuned
from openshift_sandbox.stand_ins.node_tuning import recommend

GPU = {POOL: "training", "kubernetes.io/os": "linux"}
MASTER = {"node-role.kubernetes.io/control-plane": ""}


def chosen(
    *tuneds: Data,
    labels: dict[str, str] | None = None,
    pods: list[dict[str, str]] | None = None,
    pools: tuple[Data, ...] = (),
) -> recommend.Choice:
    place = recommend.Place(labels or GPU, pods or [], pools)
    return recommend.choice(recommend.rules([default_tuned(), *tuneds]), place)


def test_without_tuneds_of_users_the_role_decides() -> None:
    assert chosen().profile == "openshift-node"
    assert chosen(labels=MASTER).profile == "openshift-control-plane"


def test_the_lowest_priority_wins_then_the_name_of_the_tuned() -> None:
    assert chosen(tuned("a", priority=20), tuned("b", priority=10)).profile == "b"
    assert chosen(tuned("b"), tuned("a")).profile == "a"
    assert chosen(tuned("late", priority=41)).profile == "openshift-node"


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ([{"label": POOL}], True),
        ([{"label": POOL, "value": "training"}], True),
        ([{"label": POOL, "value": "inference"}], False),
        ([{"label": "none"}, {"label": POOL}], True),
        ([{"label": POOL, "match": [{"label": "none"}]}], False),
        (
            [{"label": POOL, "match": [{"label": "none"}, {"label": "kubernetes.io/os", "value": "linux"}]}],
            True,
        ),
        ([{"label": "app", "value": "db", "type": "pod"}], True),
        ([{"label": "app", "value": "web", "type": "pod"}], False),
        ([{"label": "app", "type": "node"}], False),
        ([], True),
    ],
)
def test_items_are_alternatives_and_what_is_inside_them_has_to_match_too(
    match: list[Data], expected: bool
) -> None:
    found = chosen(tuned("gpu", match=match), pods=[{"tier": "x"}, {"app": "db"}])
    assert (found.profile == "gpu") is expected


def test_machine_config_labels_choose_the_nodes_of_a_pool() -> None:
    rule = tuned("gpu", machineConfigLabels={ROLE: "training"})
    own, worker = mcp("training", "worker", "training"), mcp("worker")
    assert chosen(rule, pools=(own, worker)).machine_config_labels == {ROLE: "training"}
    assert chosen(rule, pools=(worker,)).profile == "openshift-node"
    assert chosen(rule).profile == "openshift-node"


def test_a_match_beside_machine_config_labels_comes_first() -> None:
    rule = tuned("gpu", machineConfigLabels={ROLE: "training"}, match=[{"label": POOL}])
    found = chosen(rule, pools=(mcp("training", "worker", "training"),))
    assert (found.profile, found.machine_config_labels) == ("gpu", None)


@pytest.mark.parametrize(
    ("value", "mode"), [("always", "always"), ("update", "update"), ("true", None), ("", None)]
)
def test_only_two_values_put_a_change_off(value: str, mode: str | None) -> None:
    later = tuned("gpu")
    later["metadata"]["annotations"] = {recommend.DEFERRED: value}
    assert chosen(later).deferred == mode


def test_two_texts_of_one_profile_are_found_in_both_tuneds() -> None:
    other = tuned("other", "[main]\n")
    other["spec"]["profile"][0]["name"] = "gpu"
    assert recommend.duplicates([tuned("gpu"), other]) == {"gpu": "gpu", "other": "gpu"}
    same = tuned("other") | {"spec": tuned("gpu")["spec"]}
    assert recommend.duplicates([tuned("gpu"), same]) == {}
