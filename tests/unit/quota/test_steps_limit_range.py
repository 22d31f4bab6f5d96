"""Steps of gpu_quota with a LimitRange: made where a quota forces requests, and removed with the option."""

from __future__ import annotations

import typing as t

import pytest
from unit.quota.builders import GPU
from unit.quota.test_steps import PLAIN, World, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import steps

FORCING: t.Final = {GPU: "4", "requests.cpu": "8", "limits.memory": "64Gi"}
ASKED: t.Final = {"cpu": "500m", "memory": "2Gi"}


def wanted(limit_range: t.Any = None, hard: t.Any = None, **given: t.Any) -> t.Any:
    one = {**PLAIN, "namespace": "team-a", "name": "q", "hard": hard or FORCING, "limit_range": limit_range}
    return params(quotas=[one], **given)


def ranges(world: World) -> dict[str, t.Any]:
    return {key[3]: one for key, one in world.server.objects.items() if key[1] == "limitranges"}


def test_a_limit_range_is_made_and_a_second_run_sends_no_write() -> None:
    world = World("team-a")
    api = world.api()
    (found,) = steps.present(api, wanted(ASKED))["quotas"]
    assert ranges(world)["q-defaults"]["spec"]["limits"] == [
        {"type": "Container", "defaultRequest": {"cpu": "500m"}, "default": {"memory": "2Gi"}}
    ]
    assert found["findings"] == []
    steps.present(world.api(), wanted(ASKED))
    assert world.asked() == {"GET resourcequotas": 1, "GET limitranges": 1}


def test_without_the_option_what_is_forced_is_told_once_and_asked_once() -> None:
    world = World("team-a")
    api = world.api()
    (found,) = steps.present(api, wanted())["quotas"]
    assert [one["path"] for one in found["findings"]] == [
        "spec.hard[requests.cpu]",
        "spec.hard[limits.memory]",
    ]
    assert sum("(QUOTA-FORCES)" in text for text in api.warnings) == 2
    assert ranges(world) == {}
    steps.present(world.api(), wanted())
    assert world.asked() == {"GET resourcequotas": 1}


def test_the_limit_range_goes_with_the_option_and_with_the_quota() -> None:
    world = World("team-a")
    steps.present(world.api(), wanted(ASKED))
    steps.present(world.api(), wanted())
    assert ranges(world) == {}
    steps.present(world.api(), wanted())
    assert world.asked() == {"GET resourcequotas": 1}
    steps.present(world.api(), wanted(ASKED))
    assert ranges(world)
    steps.absent(world.api(), wanted(ASKED, state="absent"))
    assert ranges(world) == {}


def test_what_another_quota_of_the_task_forces_counts_from_the_first_run_on() -> None:
    world = World("team-a")
    first = {**PLAIN, "namespace": "team-a", "name": "q", "gpus": 4, "limit_range": ASKED}
    other = {**PLAIN, "namespace": "team-a", "name": "compute", "hard": {"requests.cpu": "8"}}
    steps.present(world.api(), params(quotas=[first, other]))
    assert ranges(world)["q-defaults"]["spec"]["limits"][0]["defaultRequest"] == {"cpu": "500m"}
    steps.present(world.api(), params(quotas=[first, other]))
    assert world.server.writes() == []


def test_where_nothing_is_forced_there_is_no_limit_range() -> None:
    world = World("team-a")
    steps.present(world.api(), wanted(ASKED))
    steps.present(world.api(), wanted(ASKED, hard={GPU: "4"}))
    assert ranges(world) == {}


def test_check_mode_makes_none_and_a_foreign_one_is_refused_before_the_first_write() -> None:
    world = World("team-a")
    steps.present(world.api(check_mode=True), wanted(ASKED))
    assert world.server.writes() == []
    metadata = {"name": "q-defaults", "namespace": "team-a"}
    spec = {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}
    world.server.put({"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": spec})
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(), wanted(ASKED))
    assert caught.value.code == "QUOTA-DEFAULTS-FOREIGN"
    assert world.server.writes() == []
