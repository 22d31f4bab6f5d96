"""Plain objects: what is wrong is named by its path, what is right comes in an order that works."""

from __future__ import annotations

import re
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import manifest as manifests


def obj(kind: str = "ConfigMap", name: str = "a", **metadata: t.Any) -> dict[str, t.Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **metadata}}


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        (
            [obj(), obj(name="b"), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}],
            "objects[2].metadata.name is missing",
        ),
        ([{"apiVersion": "v1", "kind": "ConfigMap"}], "objects[0].metadata.name is missing"),
        ([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": "a"}], "objects[0].metadata is a text"),
        ([{"apiVersion": "v1", "metadata": {"name": "a"}}], "objects[0].kind is empty"),
        ([{"kind": "ConfigMap", "metadata": {"name": "a"}}], "objects[0].apiVersion is empty"),
        (
            [{"apiVersion": 1, "kind": "ConfigMap", "metadata": {"name": "a"}}],
            "objects[0].apiVersion is a number",
        ),
        ([obj(name=5)], "objects[0].metadata.name is a number"),  # type: ignore[arg-type]
        ([obj(), 7], "objects[1] is a number"),
        (7, "objects is a number"),
        ([obj(), obj()], "objects[1] is the same object as objects[0]"),
        (
            [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "a-"}}],
            "objects[0].metadata.generateName would make a new object",
        ),
        ([obj(resourceVersion="7")], "objects[0].metadata.resourceVersion is set by the API server"),
        ("objects.yml", "objects[0] is a text"),
        (["objects.yml"], "objects[0][0] is a text"),
        (["apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n"], "objects[0][0].metadata.name is missing"),
        (["a: [1"], "objects[0] is not YAML"),
        ([{"kind": "List", "items": [obj(), {}]}], "objects[0].items[1].apiVersion is empty"),
        ([obj() | {"data": {1: "a"}}], "objects[0].data[1] has a key that is a number"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(objects: t.Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        manifests.read(objects)
    assert words in caught.value.message
    assert caught.value.code == "INPUT-MANIFEST"


@pytest.mark.parametrize(
    "objects",
    [
        [obj(), obj(name="b")],
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
        ["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", obj(name="b")],
        [{"apiVersion": "v1", "kind": "List", "items": [obj(), obj(name="b")]}],
    ],
)
def test_every_way_to_hand_objects_in(objects: t.Any) -> None:
    assert [entry.manifest for entry in manifests.read(objects)] == [obj(), obj(name="b")]


def test_what_others_stand_on_comes_first() -> None:
    kinds = ["Widget", "ConfigMap", "CustomResourceDefinition", "Deployment", "Namespace", "Role"]
    entries = manifests.read([obj(kind) for kind in kinds])
    assert [entry.kind for entry in entries] == [
        "Namespace",
        "CustomResourceDefinition",
        "Role",
        "ConfigMap",
        "Widget",
        "Deployment",
    ]
    assert [entry.is_ground for entry in entries] == [True, True, False, False, False, False]


def test_what_a_cluster_prints_is_trimmed() -> None:
    (entry,) = manifests.read([obj(creationTimestamp=None) | {"status": {}}])
    assert entry.manifest == obj()


@pytest.mark.parametrize(
    ("given", "namespaced", "default", "outcome"),
    [
        ("x", True, "y", "x"),
        (None, True, "y", "y"),
        (None, False, "y", None),
        (None, True, None, "objects[0].metadata.namespace is missing"),
        ("x", False, None, "objects[0].metadata.namespace is 'x', but ConfigMap is cluster-wide"),
    ],
)
def test_namespaces(given: str | None, namespaced: bool, default: str | None, outcome: str | None) -> None:
    (entry,) = manifests.read([obj(namespace=given)])
    if outcome and outcome.startswith("objects"):
        with pytest.raises(InputError, match=re.escape(outcome)):
            manifests.place(entry, namespaced, default)
    else:
        assert manifests.place(entry, namespaced, default).namespace == outcome


@pytest.mark.parametrize(
    ("found", "ready"),
    [
        ([], False),
        ([{}], False),
        ([{"status": {"conditions": [{"type": "Established", "status": "True"}]}}], True),
    ],
)
def test_definitions_are_served(found: list[dict[str, t.Any]], ready: bool) -> None:
    assert manifests.judge_established({"widgets.example.com": found}).is_ready is ready
