# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An object is ours if this collection set its label; a copy that somebody made with the label is foreign."""

from __future__ import annotations

import typing as t

import pytest
from unit import managed

from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import (
    has_label,
    owned,
    setter,
)

LABEL: t.Final = "app.kubernetes.io/managed-by"
OURS: t.Final = "accelerators.openshift"


def entry(manager: str, operation: str = "Apply", *labels: str) -> dict[str, t.Any]:
    fields: dict[str, t.Any] = (
        {"f:labels": {f"f:{one}": {} for one in labels}} if labels else {"f:annotations": {}}
    )
    return {"manager": manager, "operation": operation, "fieldsV1": {"f:metadata": fields}}


def labelled(*entries: dict[str, t.Any]) -> dict[str, t.Any]:
    metadata: dict[str, t.Any] = {"name": "one", "labels": {LABEL: OURS}}
    return {"metadata": {**metadata, **({"managedFields": list(entries)} if entries else {})}}


@pytest.mark.parametrize(
    "obj",
    [
        labelled(entry(OURS, "Apply", LABEL)),
        labelled(entry(OURS, "Update", LABEL)),
        labelled(entry("kubectl-label", "Update", LABEL), entry(OURS, "Apply", LABEL)),
        labelled(),
        labelled(entry("before-first-apply", "Update")),
        labelled({"manager": "kubectl-edit", "operation": "Update"}),
    ],
    ids=["applied", "created", "both", "no record", "no record of the label", "no fields"],
)
def test_an_object_that_we_labelled_is_ours(obj: dict[str, t.Any]) -> None:
    assert owned(obj)


@pytest.mark.parametrize("manager", ["kubectl-create", "kubectl-client-side-apply", "argocd-controller"])
def test_a_copy_with_our_label_is_foreign(manager: str) -> None:
    copy = labelled(entry(manager, "Update", LABEL), entry(OURS, "Update"))
    assert not owned(copy)
    assert has_label(copy)


@pytest.mark.parametrize("obj", [None, {}, {"metadata": {"labels": {LABEL: "Helm"}}}])
def test_an_object_without_our_label_is_foreign(obj: dict[str, t.Any] | None) -> None:
    assert not owned(obj)


def test_who_set_a_field_of_the_spec() -> None:
    entries = [managed.entry("other", {"x": 1}), managed.entry("oc", {"unschedulable": True}, time="T")]
    assert setter({"metadata": {"managedFields": entries}}, "unschedulable") == ("oc", "T")
    assert setter({"metadata": {"managedFields": entries}}, "paused") == ("", "")
    assert setter({"metadata": {}}, "paused") == ("", "")
