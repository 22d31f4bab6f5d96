"""A GPU operator that another team installed, with its ClusterPolicy."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import FakeApi, World

from openshift_sandbox.stand_ins.people.operators import ForeignOperators

Object = dict[str, t.Any]
SPACE, TRACKING = "nvidia-gpu-operator", "argocd.argoproj.io/tracking-id"


def world(monkeypatch: pytest.MonkeyPatch, **more: t.Any) -> tuple[World, list[str]]:
    managers: list[str] = []

    def acting(api: FakeApi, manager: str) -> FakeApi:
        managers.append(manager)
        return api

    monkeypatch.setattr(FakeApi, "acting", acting, raising=False)
    return World(ForeignOperators(), **more), managers


@pytest.mark.parametrize(("manager", "is_tracked"), [("Mozilla", False), ("argocd-controller", True)])
def test_operator_and_policy_are_made_once(
    monkeypatch: pytest.MonkeyPatch, manager: str, is_tracked: bool
) -> None:
    trouble = {"type": "foreign_policy", "manager": manager}
    made, managers = world(monkeypatch, troubles=[trouble])
    made.settle(2)
    subscription = made.api.get("Subscription", "gpu-operator-certified", SPACE)
    assert subscription["spec"]["source"] == "certified-operators"
    assert subscription["spec"]["installPlanApproval"] == "Automatic"
    (policy,) = made.api.all("ClusterPolicy")
    assert policy["spec"]["driver"]
    assert (TRACKING in policy["metadata"].get("annotations", {})) is is_tracked
    assert set(managers) == {manager}
    count = len(made.api.writes)
    made.settle(5)
    assert len(made.api.writes) == count


def test_the_catalogue_of_a_mirror_is_found_by_what_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    mirrors = {"cs-certified": "certified-operators"}
    made, _managers = world(
        monkeypatch, troubles=[{"type": "foreign_policy"}], cluster={"mirrored_catalogs": mirrors}
    )
    made.settle(1)
    found = made.api.get("Subscription", "gpu-operator-certified", SPACE)
    assert found["spec"]["source"] == "cs-certified"


def test_nothing_is_made_without_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _managers = world(monkeypatch)
    made.settle(2)
    assert made.api.writes == []
