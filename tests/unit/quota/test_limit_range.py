"""LimitRange of a quota: what quotas force, which defaults are missing, and what the task asks for."""

from __future__ import annotations

import typing as t

import pytest
from unit.quota.builders import GPU, quota

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import limit_range

ASKED: t.Final = {"cpu": "500m", "memory": "2Gi"}


def live(name: str = "theirs", *, is_ours: bool = False, **item: t.Any) -> KubeObject:
    metadata = {"name": name, "namespace": "a", "labels": MANAGED_BY if is_ours else {}}
    return {"metadata": metadata, "spec": {"limits": [{"type": "Container", **item}]}}


def needed(*hards: dict[str, str]) -> list[limit_range.Forced]:
    return limit_range.forced(quota(hard, name=f"q{place}") for place, hard in enumerate(hards))


def test_what_quotas_force_is_named_once() -> None:
    found = needed({GPU: "1", "cpu": "4", "pods": "9"}, {"requests.cpu": "8", "limits.memory": "1Gi"})
    assert found == [
        limit_range.Forced("defaultRequest", "cpu", "cpu", "q0"),
        limit_range.Forced("default", "memory", "limits.memory", "q1"),
    ]
    both: t.Any = {"scopes": ["Terminating", "NotTerminating"]}
    assert limit_range.forced([quota({"cpu": "1"}, **both)]) == []


def test_only_defaults_that_are_missing() -> None:
    forced = needed({"requests.cpu": "4", "requests.memory": "1Gi", "limits.memory": "1Gi"})
    plan = limit_range.plan("q", forced, ASKED, [live(defaultRequest={"cpu": "1"})])
    assert plan.defaults == {"defaultRequest": {"memory": "2Gi"}, "default": {"memory": "2Gi"}}
    assert (plan.lacking, plan.live) == ([], None)
    own = live("q-defaults", is_ours=True, defaultRequest={"cpu": "1"})
    again = limit_range.plan("q", forced, ASKED, [own])
    assert again.defaults["defaultRequest"] == ASKED
    assert again.live is own
    theirs = live(default={"memory": "1Gi"}, defaultRequest={"cpu": "1"})
    assert limit_range.plan("q", forced, ASKED, [theirs]).defaults == {"defaultRequest": {"memory": "2Gi"}}
    pods = live(defaultRequest={"cpu": "1"}) | {"spec": {"limits": [{"type": "Pod"}]}}
    assert limit_range.plan("q", forced, ASKED, [pods]).defaults["defaultRequest"] == ASKED


def test_what_nobody_gives_is_told_with_the_option() -> None:
    plan = limit_range.plan("q", needed({"requests.memory": "1Gi"}, {"cpu": "1"}), {}, [])
    found, of_cpu = limit_range.findings("q", plan.lacking)
    assert "Set limit_range of quota q, such as {cpu: 500m}." in of_cpu.message
    assert (found.code, found.quota, found.path, found.is_ours) == (
        "QUOTA-FORCES",
        "q0",
        "spec.hard[requests.memory]",
        False,
    )
    assert "Set limit_range of quota q, such as {memory: 2Gi}." in found.message


def test_a_limit_range_of_others_with_that_name_is_refused() -> None:
    with pytest.raises(AcceleratorError) as caught:
        limit_range.plan("q", [], ASKED, [live("q-defaults")])
    assert caught.value.code == "QUOTA-DEFAULTS-FOREIGN"
    assert "oc delete limitrange q-defaults -n a" in caught.value.remedy
    assert limit_range.plan("q", [], None, [live("q-defaults")]).defaults == {}


def test_the_object_goes_with_its_quota() -> None:
    mine = quota({GPU: "1"})
    mine["metadata"]["uid"] = "u"
    found = limit_range.build(mine, {"defaultRequest": ASKED})
    assert found["metadata"]["ownerReferences"] == [
        {"apiVersion": "v1", "kind": "ResourceQuota", "name": "gpu-quota", "uid": "u"}
    ]
    assert found["spec"]["limits"] == [{"type": "Container", "defaultRequest": ASKED}]


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({}, "limit_range"),
        ({"cpu": None, "memory": None}, "limit_range"),
        ({"cpu": "much"}, "limit_range.cpu"),
        ({"memory": "0"}, "limit_range.memory"),
        ({"memory": "-1Gi"}, "limit_range.memory"),
    ],
)
def test_bad_defaults_name_their_path(asked: dict[str, t.Any], path: str) -> None:
    with pytest.raises(InputError) as caught:
        limit_range.read(asked)
    assert caught.value.code == "QUOTA-LIMIT-RANGE"
    assert caught.value.message.startswith(f"{path}: ")


def test_defaults_are_canonical() -> None:
    assert limit_range.read({"memory": "2048Mi", "cpu": "0.5"}) == ASKED
    assert limit_range.read(None) is None


def test_the_mark_on_quotas_of_earlier_releases_is_known() -> None:
    assert limit_range.MARK == "accelerators.openshift/limit-range"
