"""Grace periods: a trouble is final only after it has lasted, and only if it is one of the named ones."""

from __future__ import annotations

from unit.engine import FakeClock

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Grace,
    Readiness,
    failed,
    pending,
    ready,
)

CRASH = pending("CrashLoop", "it crashes", code="GPU-CRASH")


def verdicts(grace: Grace, *found: Readiness) -> list[str]:
    return [one.verdict for one in grace.harden(found)]


def test_a_trouble_that_lasts_becomes_final_with_its_own_words() -> None:
    clock = FakeClock()
    grace = Grace(clock, 60, ("GPU-CRASH",))
    assert verdicts(grace, CRASH, ready()) == ["pending", "ready"]
    clock.sleep(59)
    assert verdicts(grace, CRASH) == ["pending"]
    clock.sleep(1)
    assert grace.harden([CRASH]) == [failed("CrashLoop", "it crashes", code="GPU-CRASH")]


def test_a_trouble_that_went_away_starts_again() -> None:
    clock = FakeClock()
    grace = Grace(clock, 60, ("GPU-CRASH",))
    for found in (CRASH, ready(), CRASH):
        verdicts(grace, found)
        clock.sleep(40)
    assert verdicts(grace, CRASH) == ["pending"]
    clock.sleep(20)
    assert verdicts(grace, CRASH) == ["failed"]


def test_another_reason_of_the_same_code_is_another_trouble() -> None:
    clock = FakeClock()
    grace = Grace(clock, 60, ("GPU-CRASH",))
    verdicts(grace, CRASH)
    clock.sleep(60)
    assert verdicts(grace, pending("ImagePull", code="GPU-CRASH")) == ["pending"]


def test_other_codes_never_become_final() -> None:
    clock = FakeClock()
    grace = Grace(clock, 0, ("GPU-CRASH",))
    assert verdicts(grace, pending(code="GPU-SLOW"), failed(code="GPU-LOST"), CRASH) == [
        "pending",
        "failed",
        "failed",
    ]


def test_a_code_may_have_its_own_time() -> None:
    clock = FakeClock()
    grace = Grace(clock, 60, ("GPU-CRASH", "GPU-LABEL"), {"GPU-CRASH": 300})
    label = pending("Label", code="GPU-LABEL")
    found = []
    for seconds in (61, 238, 1):
        found.append(verdicts(grace, CRASH, label))
        clock.sleep(seconds)
    found.append(verdicts(grace, CRASH, label))
    assert found == [
        ["pending", "pending"],
        ["pending", "failed"],
        ["pending", "failed"],
        ["failed", "failed"],
    ]
