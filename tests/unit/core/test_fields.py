"""Which fields an apply writes: what is asked for, and of the defaults what no other manager changed."""

from __future__ import annotations

import typing as t

import pytest
from unit.managed import live, patched

from ansible_collections.accelerators.openshift.plugins.module_utils._core import fields
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ConflictError

Object = dict[str, t.Any]
DEFAULTS: t.Final[Object] = {
    "driver": {"enabled": True, "upgradePolicy": {"autoUpgrade": True}, "certConfig": {"name": ""}},
    "devicePlugin": {"config": {"name": "", "default": ""}},
    "mig": {"strategy": "single"},
}


def manifest(asked: Object, there: Object | None = None, defaults: Object | None = None) -> Object:
    defaults = DEFAULTS if defaults is None else defaults
    metadata = {"name": "policy", **fields.replaced(defaults, asked)}
    return {
        "kind": "ClusterPolicy",
        "metadata": metadata,
        "spec": fields.with_defaults(defaults, asked, there),
    }


def test_a_new_object_has_every_default_and_the_second_run_is_equal() -> None:
    asked = {"driver": {"version": "595"}}
    first = manifest(asked)
    assert first["spec"]["driver"] == {**DEFAULTS["driver"], "version": "595"}
    assert manifest(asked, live(first)) == first
    assert fields.applied(live(first), first) == live(first)


def test_what_somebody_patched_stays() -> None:
    theirs = {
        "devicePlugin": {"config": {"name": "time-slicing", "default": "any"}},
        "mig": {"strategy": "mixed"},
    }
    there = patched(live(manifest({})), theirs)
    wanted = manifest({}, there)
    assert "mig" not in wanted["spec"]
    assert fields.applied(there, wanted)["spec"] == there["spec"]
    assert fields.conflicts(there, wanted["spec"]) == []


def test_a_default_that_a_new_release_changed_stays() -> None:
    there = live(manifest({}))
    newer = {**DEFAULTS, "mig": {"strategy": "none"}, "cdi": {"enabled": True}}
    assert manifest({}, there, newer)["spec"] == manifest({})["spec"]


def test_an_option_that_was_taken_out_gives_the_default_back() -> None:
    there = live(manifest({"mig": {"strategy": "mixed"}, "driver": {"version": "595"}}))
    assert there["metadata"]["annotations"] == {fields.REPLACED: "mig.strategy"}
    wanted = manifest({}, there)
    assert wanted["spec"] == DEFAULTS
    assert "annotations" not in wanted["metadata"]
    after = fields.applied(there, wanted)
    assert after["spec"] == DEFAULTS, "what only the option had goes"


def test_a_field_that_is_asked_for_and_changed_by_another_manager_is_a_conflict() -> None:
    asked = {"mig": {"strategy": "single"}, "driver": {"version": "595"}}
    there = patched(
        live(manifest(asked)), {"mig": {"strategy": "mixed"}}, "kubectl-patch", "2026-11-22T10:00:00Z"
    )
    (found,) = fields.conflicts(there, manifest(asked, there)["spec"])
    assert (found.path, found.live, found.asked, found.manager) == (
        "spec.mig.strategy",
        "mixed",
        "single",
        "kubectl-patch",
    )
    with pytest.raises(ConflictError) as caught:
        fields.refuse([found], "ClusterPolicy policy", "Set adopt: take.")
    assert caught.value.code == "API-CONFLICT"
    assert (
        "ClusterPolicy policy: spec.mig.strategy is 'mixed', set by kubectl-patch at 2026-11-22T10:00:00Z; "
        "the task asks for 'single'. Nothing was changed."
    ) in caught.value.message
    fields.refuse([], "ClusterPolicy policy", "")


def test_what_keeps_every_entry_of_theirs_is_no_conflict() -> None:
    theirs = [{"key": "theirs"}]
    there = patched(live(manifest({})), {"tolerations": theirs})
    assert fields.conflicts(there, {"tolerations": [*theirs, {"key": "ours"}]}) == []
    assert [one.path for one in fields.conflicts(there, {"tolerations": [{"key": "ours"}]})] == [
        "spec.tolerations"
    ]


def test_a_list_that_another_manager_applies_is_named_when_it_grows() -> None:
    there = patched(live(manifest({})), {"tolerations": [{"key": "theirs"}]}, "argocd-controller")
    longer = {"tolerations": [{"key": "theirs"}, {"key": "ours"}]}
    assert fields.extended(there, longer) == [], "who patches a list once does not write it again"
    there["metadata"]["managedFields"][-1]["operation"] = "Apply"
    (found,) = fields.extended(there, longer)
    assert (found.path, found.manager) == ("spec.tolerations", "argocd-controller")
    assert fields.extended(there, {"tolerations": [{"key": "theirs"}]}) == []
    assert fields.extended(there, {"tolerations": [{"key": "ours"}]}) == []


@pytest.mark.parametrize("manager", ["accelerators.openshift", "before-first-apply"])
def test_our_own_writes_and_fields_of_nobody_are_no_conflict(manager: str) -> None:
    there = patched(live(manifest({})), {"mig": {"strategy": "mixed"}}, manager)
    assert fields.conflicts(there, {"mig": {"strategy": "single"}}) == []


def test_a_field_that_only_the_status_writer_has_is_no_conflict() -> None:
    there = patched(live(manifest({})), {"mig": {"strategy": "mixed"}}, "gpu-operator")
    there["metadata"]["managedFields"][-1]["subresource"] = "status"
    assert fields.conflicts(there, {"mig": {"strategy": "single"}}) == []


def test_an_empty_spec_that_a_manager_applied_owns_no_field_in_it() -> None:
    there = live(manifest({"mig": {"strategy": "mixed"}}))
    there["metadata"]["managedFields"] = [{"manager": "argocd-controller", "fieldsV1": {"f:spec": {}}}]
    assert fields.conflicts(there, {"mig": {"strategy": "single"}}) == []
    there["metadata"]["managedFields"][0]["fieldsV1"] = {"f:spec": {"f:mig": {}}}
    (found,) = fields.conflicts(there, {"mig": {"strategy": "single"}})
    assert found.path == "spec.mig.strategy", "a map below spec can be one that its owner holds as a whole"
