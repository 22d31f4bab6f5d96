"""Pools that fail while the others go on: whose error is kept, and what is raised at the end."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Grace,
    failed,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.late import Late, by_pool


def test_without_go_on_every_error_is_raised() -> None:
    late = Late()
    with pytest.raises(NotReadyError), late.hold({"a": failed(), "b": ready()}):
        raise NotReadyError("X", "no")
    assert late.titles == set()
    late.raise_if_any()


def test_after_a_failure_the_failed_pools_are_late() -> None:
    extended: list[int] = []
    late = Late(go_on=True, extend=lambda: extended.append(1))
    with late.hold({"a": failed(), "b": pending(), "c": ready()}):
        raise NotReadyError("X", "no")
    assert late.titles == {"a"}
    assert extended == []


def test_after_the_deadline_every_pool_that_is_not_ready_is_late_and_the_task_gets_more_time() -> None:
    extended: list[int] = []
    late = Late(go_on=True, extend=lambda: extended.append(1))
    with late.hold({"a": pending(), "b": ready()}):
        raise WaitTimeoutError("X", "no")
    assert late.titles == {"a"}
    assert extended == [1]


def test_an_error_of_no_other_pool_is_raised() -> None:
    late = Late(go_on=True, titles={"a"})
    with pytest.raises(NotReadyError), late.hold({"a": failed(), "b": ready()}):
        raise NotReadyError("X", "no")
    with pytest.raises(AcceleratorError), late.hold({"b": failed()}):
        raise AcceleratorError("X", "no wait raises this")
    assert late.titles == {"a"}


def test_the_first_error_has_the_words_of_the_others() -> None:
    late = Late(go_on=True)
    with late.hold({"a": failed()}):
        raise NotReadyError("FIRST", "One.", "Do it.", ["line 1"])
    with late.hold({"b": pending()}):
        raise WaitTimeoutError("SECOND", "Two.", "", ["line 2"])
    with pytest.raises(NotReadyError) as caught:
        late.raise_if_any()
    assert (caught.value.code, caught.value.remedy) == ("FIRST", "Do it.")
    assert caught.value.message == "One. SECOND: Two."
    assert caught.value.evidence == ["line 1", "line 2"]


def test_the_worst_finding_of_each_pool_is_its_verdict() -> None:
    verdicts = {"late": failed("Before")}
    found = [("a", ready()), ("late", failed()), ("b", ready()), ("a", pending("Slow", code="SLOW"))]
    hardened = by_pool(Grace(lambda: 0.0, 0.0, ["SLOW"]), found, {"late"}, verdicts)
    assert [one.verdict for one in hardened] == ["ready", "ready", "failed"]
    assert (verdicts["a"].verdict, verdicts["a"].reason) == ("failed", "Slow")
    assert (verdicts["b"].verdict, verdicts["late"].reason) == ("ready", "Before")
