"""When a node counts as tuned, and what is said when it is not."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock
from unit.tuning.builders import conditions, node, profile, rule, tuned_object, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned import judge

OWN: t.Final = "gpu-training"
DEPS: t.Final = "tuned.openshift.io/bootcmdline-deps"
WANTED: t.Final = judge.Wanted(tuning(profile="accelerator"), "text")
TUNED: t.Final = tuned_object(OWN, rule(OWN, 19))


def degraded(reason: str, message: str = "boom") -> dict[str, t.Any]:
    return {"conditions": conditions("False", "True", reason=reason, message=message)}


def test_a_node_that_runs_the_text_is_ready() -> None:
    assert judge.judge_node(WANTED, node("n1"), [profile("n1", OWN, data="text")]).is_ready


def test_releases_without_texts_and_generations_count_too() -> None:
    live = profile("n1", OWN)
    del live["status"]["observedGeneration"]
    assert judge.judge_node(WANTED, node("n1"), [live]).is_ready


@pytest.mark.parametrize(
    ("of_profile", "of_node", "is_read"),
    [
        ("default:1,gpu-training:2", "default:1,gpu-training:1", False),
        ("a:1", "", False),
        ("a:1", "a:1", True),
    ],
)
def test_tuned_has_read_the_text_if_generation_or_annotation_says_so(
    of_profile: str, of_node: str, is_read: bool
) -> None:
    """TuneD leaves the generation behind when a change ends in the same conditions."""
    live, where = profile("n1", OWN, data="text", observedGeneration=1), node("n1")
    assert judge.judge_node(WANTED, where, [live]).is_ready, "a release without the annotation"
    live["metadata"]["annotations"] = {DEPS: of_profile}
    where["metadata"]["annotations"] = {DEPS: of_node}
    verdict = judge.judge_node(WANTED, where, [live])
    assert (verdict.is_ready, verdict.code) == (is_read, "" if is_read else "TUNE-NOT-APPLIED")
    live["status"]["observedGeneration"] = 2
    assert judge.judge_node(WANTED, where, [live]).is_ready


@pytest.mark.parametrize(
    ("profiles", "code", "says"),
    [
        ([], "TUNE-NO-PROFILE", "no Profile yet"),
        ([profile("n2", OWN)], "TUNE-NO-PROFILE", "no Profile yet"),
        ([profile("n1", "openshift-node")], "TUNE-OTHER-PROFILE", "chooses profile openshift-node"),
        ([profile("n1", OWN, data="old text")], "TUNE-NOT-APPLIED", "not yet read"),
        ([profile("n1", OWN, active="openshift-node")], "TUNE-NOT-APPLIED", "openshift-node is active"),
        ([profile("n1", OWN, conditions=conditions("False"))], "TUNE-NOT-APPLIED", "not applied yet"),
        ([profile("n1", OWN, conditions=[])], "TUNE-NOT-APPLIED", "not applied yet"),
        ([profile("n1", OWN, **degraded("TunedError"))], "TUNE-DEGRADED", "boom"),
        ([profile("n1", OWN, **degraded("TunedSysctlOverride"))], "TUNE-SYSCTL", "boom"),
        ([profile("n1", OWN, **degraded("Deferred"))], "TUNE-DEGRADED", "boom"),
    ],
)
def test_a_node_that_does_not(profiles: list[KubeObject], code: str, says: str) -> None:
    verdict = judge.judge_node(WANTED, node("n1"), profiles)
    assert not verdict.is_ready
    assert verdict.code == code
    assert "node n1" in verdict.message
    assert says in verdict.message
    assert verdict.remedy


def test_defer_waits_for_no_restart() -> None:
    later = judge.Wanted(tuning(profile="accelerator", defer=True), "text")
    live = profile("n1", OWN, active="openshift-node", **degraded("Deferred"))
    assert judge.judge_node(later, node("n1"), [live]).is_ready
    summary = judge.summarize(later, [node("n1")], [live])
    assert (summary["ready"], summary["nodes"][0]["deferred"]) == (True, True)


def snapshot(*profiles: KubeObject, tuned: KubeObject = TUNED) -> dict[str, list[KubeObject]]:
    nodes = [node(one["metadata"]["name"]) for one in profiles]
    return {"tuneds": [tuned], "profiles": [*profiles], WANTED.query: nodes}


def test_all_nodes_together() -> None:
    ask = judge.Judge([WANTED], 30, FakeClock())
    assert ask(snapshot(profile("n1", OWN), profile("n2", OWN))).message == "2 nodes tuned"
    verdict = ask(snapshot(profile("n1", OWN), profile("n2", OWN, active="x"), profile("n3", "y")))
    assert not verdict.is_ready
    assert [line.split(":")[0] for line in verdict.details] == ["node n2", "node n3"]
    assert ask(snapshot()).is_ready


@pytest.mark.parametrize("live", [profile("n1", OWN, **degraded("TunedError")), profile("n1", "theirs")])
def test_trouble_may_pass_until_the_grace_is_over(live: KubeObject) -> None:
    clock = FakeClock()
    ask = judge.Judge([WANTED], 30, clock)
    assert not ask(snapshot(live)).is_failed
    clock.seconds += 31
    assert ask(snapshot(live)).is_failed


def test_an_overridden_sysctl_and_an_invalid_object_fail_at_once() -> None:
    ask = judge.Judge([WANTED], 30, FakeClock())
    assert ask(snapshot(profile("n1", OWN, **degraded("TunedSysctlOverride")))).is_failed
    wrong = {"type": "Valid", "status": "False", "reason": "InvalidConfiguration", "message": "duplicate x"}
    verdict = ask(snapshot(profile("n1", OWN), tuned={**TUNED, "status": {"conditions": [wrong]}}))
    assert (verdict.is_failed, verdict.code) == (True, "TUNE-INVALID")
    assert "duplicate x" in verdict.message


def test_nodes_that_still_have_a_profile() -> None:
    both = [profile("n1", "openshift-node", active=OWN), profile("n2", "openshift-node")]
    assert judge.gone(both, [OWN]).message == "1 node still tuned: n1"
    assert judge.gone(both[1:], [OWN]).is_ready
