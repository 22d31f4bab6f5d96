"""The index: the newest version wins, in whatever order versions arrive."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.index import Index


def node(version: int, name: str = "a") -> dict[str, t.Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "resourceVersion": str(version)}}


def test_older_versions_change_nothing() -> None:
    index = Index()
    assert index.put(node(5))
    assert not index.put(node(5))
    assert not index.put(node(4))
    assert index.get("a", "") == node(5)


def test_a_late_event_does_not_bring_a_deleted_object_back() -> None:
    index = Index()
    index.put(node(5))
    assert index.remove(node(7))
    assert not index.put(node(6))
    assert index.get("a", "") is None
    assert index.put(node(8))


def test_a_list_removes_only_what_was_known_before_it() -> None:
    index = Index()
    index.put(node(1, "gone"))
    before = index.versions()
    index.put(node(2, "new"))
    assert index.resync([node(3, "listed")], before)
    assert [one["metadata"]["name"] for one in index.all(None)] == ["listed", "new"]
