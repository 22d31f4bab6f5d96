# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""manifests: many objects in one task, errors named by path, kinds of a new CRD, other managers' fields."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.wire import Audit

Data = dict[str, t.Any]

SPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "it-plain"}}


def config_map(name: str, **data: str) -> Data:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "it-plain"},
        "data": data,
    }


def definition(plural: str = "widgets", kind: str = "Widget") -> Data:
    schema = {
        "openAPIV3Schema": {
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
        }
    }
    spec = {
        "group": "example.com",
        "names": {"plural": plural, "kind": kind},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": spec,
    }


WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "one"}, "spec": {"size": 1}}


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        (
            [SPACE, config_map("a"), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}],
            "objects[2].metadata.name is missing",
        ),
        (
            [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}],
            "objects[0].metadata.namespace is missing",
        ),
        ("kind: [", "objects is not YAML"),
    ],
)
def test_a_wrong_object_is_named_and_nothing_is_sent(
    objects: t.Any, words: str, playbook: Playbook, audit: Audit
) -> None:
    task = playbook.module("manifests", objects=objects)
    assert (task.failed, task["code"]) == (True, "INPUT-MANIFEST")
    assert words in task["msg"]
    assert audit.of(task) == []


def test_only_what_differs_is_written(playbook: Playbook, audit: Audit) -> None:
    first = playbook.module("manifests", objects=[config_map("a", x="1"), config_map("b", x="1"), SPACE])
    assert [entry["kind"] for entry in first["objects"]] == ["Namespace", "ConfigMap", "ConfigMap"]
    second = playbook.module("manifests", objects=[config_map("a", x="1"), config_map("b", x="2"), SPACE])
    assert [entry["changed"] for entry in second["objects"]] == [False, False, True]
    assert audit.writes(second) in (["patch configmaps it-plain/b"], [])
    assert playbook.module(
        "manifests", objects=[config_map("a"), config_map("b"), SPACE], state="absent"
    ).changed


def test_a_definition_and_its_first_object_in_one_task(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    objects = [WIDGET, definition(), SPACE]
    checked = playbook.module("manifests", objects=objects, namespace="it-plain", check=True)
    assert checked.changed
    assert audit.writes(checked) == []
    made = playbook.module("manifests", objects=objects, namespace="it-plain")
    assert not made.failed, made.result
    assert cluster.client.get("example.com/v1", "widgets", "one", "it-plain")
    again = playbook.module("manifests", objects=objects, namespace="it-plain")
    assert (again.changed, audit.writes(again)) == (False, [])
    wrong = playbook.module("manifests", objects=[WIDGET | {"spec": {"sise": 1}}], namespace="it-plain")
    assert wrong["code"] == "API-INVALID"
    assert "objects[0] (Widget one)" in wrong["message"]
    assert ".spec.sise" in wrong["message"]
    gone = playbook.module("manifests", objects=objects, namespace="it-plain", state="absent")
    assert [entry["kind"] for entry in gone["objects"]] == ["Widget", "CustomResourceDefinition", "Namespace"]
    assert not playbook.module("manifests", objects=objects, namespace="it-plain", state="absent").changed


def test_a_field_of_another_manager_is_a_named_conflict(cluster: Cluster, playbook: Playbook) -> None:
    cluster.client.apply(SPACE)
    cluster.client.apply(config_map("theirs", x="1"))
    task = playbook.module("manifests", objects=[config_map("theirs", x="2")])
    assert task["code"] == "API-CONFLICT"
    assert "integration-tests" in task["msg"]
    assert playbook.module("manifests", objects=[config_map("theirs", x="2")], force_conflicts=True).changed
    kept = playbook.module("manifests", objects=[config_map("theirs")], state="absent")
    assert not kept.changed
    assert cluster.client.get("v1", "configmaps", "theirs", "it-plain")
