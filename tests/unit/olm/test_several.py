"""Several operators in one task: the order of their steps, and failures that hide no other operator."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import FakeServer
from unit.olm.builders import ASK, V2, at
from unit.remedies.case import checked
from unit.remedies.clusters.olm_world import GPU, NFD, catalog, manifest, server_with

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    operators,
    removal_steps,
    several,
    subscription,
)

Object = dict[str, t.Any]
OPERATORS: t.Final = [
    {"name": NFD, "namespace": "openshift-nfd"},
    {"name": GPU, "namespace": "nvidia-gpu-operator", "wait_timeout": 20},
]


def asked(**more: t.Any) -> subscription.OlmOperatorParams:
    return t.cast(subscription.OlmOperatorParams, checked("olm_operator", {"operators": OPERATORS, **more}))


def steps(monkeypatch: pytest.MonkeyPatch, fails: t.Mapping[str, AcceleratorError]) -> list[str]:
    """Replace the steps of one operator. Return the list that they write into. fails: by what they write."""
    done: list[str] = []

    def step(api: Api, line: str) -> None:
        done.append(f"{line} {api.deadline.remaining():.0f}")
        if line in fails:
            api.http.deadline.sleep(60) if isinstance(fails[line], WaitTimeoutError) else None
            raise fails[line]

    def request(
        api: Api, one: subscription.OperatorParams, _listed: object
    ) -> tuple[Object, subscription.Ask]:
        step(api, f"request {one['name']}")
        return at("", V2), ASK

    def follow(api: Api, _live: Object, _ask: subscription.Ask, one: subscription.OperatorParams) -> Object:
        step(api, f"{one['until']} {one['name']}")
        return {"operator": {"package": one["name"]}, "driver_change": None, "ends": [one["until"]]}

    monkeypatch.setattr(operators, "request", request)
    monkeypatch.setattr(operators, "follow", follow)
    return done


def api_of(seconds: float = 60) -> Api:
    return api_on(FakeServer(), FakeClock(), seconds)


def test_all_are_asked_for_and_approved_before_the_first_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = steps(monkeypatch, {})
    found = several.ensure(api_of(), asked(wait_timeout=60))
    assert [line.rpartition(" ")[0] for line in done] == [
        f"{stage} {name}" for stage in ("request", "approved", "installed") for name in (NFD, GPU)
    ]
    assert [line.rpartition(" ")[2] for line in done] == ["60", "20"] * 3, "each has its own time"
    assert [one["ends"] for one in found["operators"]] == [["approved", "installed"]] * 2


@pytest.mark.parametrize(
    ("until", "stages"),
    [("requested", ["request", "requested"] * 2), ("approved", ["request"] * 2 + ["approved"] * 2)],
)
def test_the_task_goes_as_far_as_it_is_told(
    monkeypatch: pytest.MonkeyPatch, until: str, stages: list[str]
) -> None:
    """Without a wait, one operator comes after the other: what was just listed is not listed again."""
    done = steps(monkeypatch, {})
    several.ensure(api_on(FakeServer(), wait_wanted=until != "requested"), asked(until=until))
    assert [line.partition(" ")[0] for line in done] == stages


def test_an_operator_that_fails_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    late = WaitTimeoutError("OLM-PENDING", "nfd: not ready after 60 s", "Look.")
    done = steps(monkeypatch, {f"approved {NFD}": late})
    with pytest.raises(AcceleratorError) as failed:
        several.ensure(api_of(), asked(wait_timeout=60))
    assert (failed.value.code, failed.value.message, failed.value.remedy) == (
        "OLM-PENDING",
        "nfd: not ready after 60 s",
        "Look.",
    )
    assert f"approved {GPU} 10" in done, "its time is over, and it still shows its state"
    assert done[-1].startswith(f"installed {GPU}")
    nfd, gpu = failed.value.facts["operators"]
    assert (nfd["code"], nfd["operator"]["package"], gpu["ends"]) == (
        "OLM-PENDING",
        NFD,
        ["approved", "installed"],
    )


def test_a_failure_says_what_is_wrong_with_each_operator() -> None:
    """Without the packages in the catalogue, and nothing is written for either."""
    server = server_with(catalog("redhat-operators"), catalog("certified-operators"))
    with pytest.raises(AcceleratorError) as failed:
        several.ensure(api_on(server), asked())
    assert failed.value.code == "OLM-NO-PACKAGE"
    assert f"OLM-NO-PACKAGE: Package {GPU}" in failed.value.message
    assert failed.value.message.startswith(f"Package {NFD}")
    assert [one["code"] for one in failed.value.facts["operators"]] == ["OLM-NO-PACKAGE"] * 2
    assert server.writes() == []


def test_one_text_for_one_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    locked = AcceleratorError("RUN-LOCKED", "Another run holds the lease.", "Wait.")
    steps(monkeypatch, {f"request {NFD}": locked, f"request {GPU}": locked})
    with pytest.raises(AcceleratorError) as failed:
        several.ensure(api_of(), asked())
    assert (failed.value.message, failed.value.remedy) == (locked.message, locked.remedy)


def test_a_package_that_is_missing_keeps_no_other_from_its_subscription() -> None:
    server = server_with(catalog("redhat-operators"), catalog("certified-operators"), manifest(GPU))
    with pytest.raises(AcceleratorError):
        several.ensure(api_on(server, wait_wanted=False), asked(until="requested"))
    assert [name for kind, name in server.writes() if "subscriptions" in name] != []


def test_a_contradiction_is_refused_before_the_first_write() -> None:
    server = server_with(catalog("redhat-operators"), manifest(NFD))
    wrong = {"name": GPU, "namespace": "n", "approval": "Automatic", "approve": "never"}
    options = checked("olm_operator", {"operators": [OPERATORS[0], wrong]})
    with pytest.raises(AcceleratorError, match="Automatic"):
        several.ensure(api_on(server), t.cast(subscription.OlmOperatorParams, options))
    assert server.writes() == []


def test_all_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[str] = []

    def absent(_api: Api, one: subscription.OperatorParams) -> Object:
        removed.append(one["name"])
        return {"operator": {"package": one["name"]}}

    monkeypatch.setattr(removal_steps, "absent", absent)
    found = several.ensure(api_of(), asked(state="absent"))
    assert removed == [NFD, GPU]
    assert [one["operator"]["package"] for one in found["operators"]] == removed


def test_an_entry_has_the_options_of_a_task_with_one_operator() -> None:
    (entry,) = t.cast(list[Object], asked(operators=[OPERATORS[0]])["operators"])
    assert entry.keys() - checked("olm_operator", t.cast(Object, OPERATORS[0])).keys() == set()
