# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an upgrade changes in CustomResourceDefinitions."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.crd_changes import (
    CrdChange,
    between,
    refuse_lost,
)

Object = dict[str, t.Any]
CRD: t.Final = "things.example.com"


def crd(stored: t.Sequence[str] = ("v1",), **versions: Object | None) -> Object:
    found = [
        {"name": object_name, "served": True, "schema": {"openAPIV3Schema": schema or {}}}
        for object_name, schema in versions.items()
    ]
    return {
        "metadata": {"name": CRD},
        "spec": {"versions": found},
        "status": {"storedVersions": list(stored)},
    }


def schema(**properties: Object) -> Object:
    return {"properties": {"spec": {"properties": properties}}}


def test_a_crd_that_keeps_all_has_no_change() -> None:
    before, after = crd(v1=schema(a={})), crd(v1=schema(a={}, b={}))
    assert between(before, after) is None


def test_a_new_crd_is_shown() -> None:
    change = between(None, crd(v1=None))
    assert change is not None
    assert (change.line, change.as_result()["is_new"]) == (f"{CRD}: is new", True)


def test_versions_and_fields_that_go_are_shown_with_their_paths() -> None:
    old = schema(
        a={}, b={"items": {"properties": {"c": {}}}}, d={"additionalProperties": {"properties": {"e": {}}}}
    )
    new = schema(b={"items": {"properties": {}}}, d={"additionalProperties": {"properties": {}}})
    change = between(crd(v1=old, v1alpha1=None), crd(v1=new, v2=None))
    assert change == CrdChange(
        CRD,
        added=("v2",),
        removed=("v1alpha1",),
        fields=("v1: spec.a", "v1: spec.b[].c", "v1: spec.d.*.e"),
    )
    assert "loses versions v1alpha1; loses fields v1: spec.a" in change.line


def test_a_part_that_keeps_unknown_fields_loses_none() -> None:
    free = {"properties": {"spec": {"x-kubernetes-preserve-unknown-fields": True}}}
    assert between(crd(v1=schema(a={})), crd(v1=free)) is None


def test_a_stored_version_that_goes_is_refused() -> None:
    change = between(crd(["v1alpha1", "v1"], v1alpha1=None, v1=None), crd(v1=None))
    assert change is not None
    with pytest.raises(AcceleratorError) as caught:
        refuse_lost([change], "install-1")
    assert caught.value.code == "OLM-CRD-STORED"
    assert "takes away version v1alpha1" in caught.value.message
    assert f"oc patch crd {CRD} --subresource=status" in caught.value.remedy
    refuse_lost([change._replace(lost=())], "install-1")
