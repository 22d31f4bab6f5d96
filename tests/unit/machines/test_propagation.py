"""Labels and taints on their way from a template over a Machine to its Node."""

from __future__ import annotations

import copy
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import propagation
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.propagation import NOTE, Given
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import STARTUP_TAINT

Data = dict[str, t.Any]
OLD = Given(
    {"team": "ml", "tier": "1"},
    [{"key": "gpu", "value": "a", "effect": "NoSchedule"}, {"key": "x", "effect": "NoExecute"}],
)
NEW = Given({"team": "ai"}, [{"key": "gpu", "value": "b", "effect": "NoSchedule"}])
FOREIGN = {"key": "own", "effect": "NoSchedule"}


def machine(given: Given, note: Given | str | None = None, **labels: str) -> Data:
    text = note if isinstance(note, str) else (note or given).note
    return {
        "metadata": {"name": "m", "annotations": {NOTE: text}},
        "spec": {"metadata": {"labels": {**given.labels, **labels}}, "taints": [FOREIGN, *given.taints]},
    }


def node(given: Given, **labels: str) -> Data:
    return {
        "metadata": {"name": "n", "resourceVersion": "7", "labels": {**given.labels, **labels}},
        "spec": {"taints": [*given.taints, FOREIGN]},
    }


def patched(obj: Data, body: Data) -> Data:
    """What a merge patch makes of it."""
    result = copy.deepcopy(obj)
    for key, value in body.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key) or {}, value) if isinstance(value, dict) else value
    return result


def test_a_machine_that_has_it_needs_nothing() -> None:
    assert propagation.machine_patch(machine(NEW), NEW) == {}
    assert not propagation.given_up(machine(NEW), NEW)
    assert propagation.node_patch(node(NEW), NEW, Given()) == {}


def test_what_was_given_up_goes_from_machine_and_node_and_what_is_foreign_stays() -> None:
    after = patched(machine(OLD, mine="x"), propagation.machine_patch(machine(OLD, mine="x"), NEW))
    assert after["spec"]["metadata"]["labels"] == {"team": "ai", "mine": "x"}
    assert after["spec"]["taints"] == [FOREIGN, *NEW.taints]
    old = propagation.given_up(after, NEW)
    assert (old.labels, old.taints) == ({"tier": "1"}, OLD.taints)
    body = propagation.node_patch(node(OLD, mine="x"), NEW, old)
    assert body["metadata"] == {"labels": {"tier": None}, "resourceVersion": "7"}
    assert body["spec"]["taints"] == [FOREIGN, *NEW.taints]
    done = patched(after, propagation.note_patch(NEW))
    assert not propagation.given_up(done, NEW)
    assert propagation.machine_patch(done, NEW) == {}


def test_an_interrupted_run_goes_on_where_it_was() -> None:
    halfway = patched(machine(OLD), propagation.machine_patch(machine(OLD), NEW))
    assert propagation.machine_patch(halfway, NEW) == {}
    assert propagation.given_up(halfway, NEW).taints == OLD.taints
    other = Given({"team": "ai", "tier": "1"})
    assert propagation.given_up(halfway, other).labels == {}


def test_a_label_that_somebody_changed_is_theirs() -> None:
    assert "tier" not in propagation.machine_patch(machine(OLD, tier="2"), NEW)["spec"]["metadata"]["labels"]
    assert propagation.node_patch(node(NEW, tier="2"), NEW, Given({"tier": "1"})) == {}


@pytest.mark.parametrize("note", ["", "{", "[]", '{"labels": null}'])
def test_without_a_readable_note_nothing_is_taken_away(note: str) -> None:
    body = propagation.machine_patch(machine(OLD, note), NEW)
    assert body["metadata"]["annotations"] == {NOTE: NEW.note}
    assert body["spec"]["metadata"]["labels"] == {"team": "ai"}
    assert {"key": "x", "effect": "NoExecute"} in body["spec"]["taints"]


def test_the_startup_taint_never_comes_again_and_goes_when_the_pool_has_no_gate() -> None:
    gated, opened = Given(NEW.labels, [*NEW.taints, STARTUP_TAINT]), Given(NEW.labels, NEW.taints)
    assert propagation.machine_patch(machine(opened, note=gated), gated) == {}
    assert propagation.node_patch(node(opened), gated, Given()) == {}
    assert propagation.machine_patch(machine(gated), gated) == {}, "who has it keeps it"
    assert propagation.given_up(machine(gated), gated) == Given()
    after = patched(machine(gated), propagation.machine_patch(machine(gated), opened))
    assert STARTUP_TAINT not in after["spec"]["taints"]
    gone = propagation.given_up(after, opened)
    assert propagation.node_patch(node(gated), opened, gone)["spec"]["taints"] == [*NEW.taints, FOREIGN]
