"""A patch of a list that others write too: it is made again from what they wrote, or not at all."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ConflictError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.patch_as_read import patch_as_read
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known

CONSOLE: t.Final = known("Console")
NEVER: t.Final = 99


def enter(entries: list[str], others: int) -> tuple[bool, list[str], int]:
    """Enter `ours` while others write so often before us. Return the answer, the list, and the tries."""
    server = FakeServer("Console")
    server.put(
        {
            "apiVersion": CONSOLE.api_version,
            "kind": "Console",
            "metadata": {"name": "cluster"},
            "spec": {"plugins": entries},
        }
    )
    api, tries = api_on(server), 0

    def patch() -> dict[str, t.Any]:
        nonlocal tries
        tries += 1
        live = api.get(CONSOLE, "cluster")
        assert live is not None
        found = live["spec"]["plugins"]
        if tries <= others:
            server.put({**live, "spec": {"plugins": [*found, f"other-{tries}"]}})
        if "ours" in found:
            return {}
        version = {"resourceVersion": live["metadata"]["resourceVersion"]}
        return {"metadata": version, "spec": {"plugins": [*found, "ours"]}}

    is_written = patch_as_read(api, CONSOLE, "cluster", patch)
    return is_written, (api.get(CONSOLE, "cluster") or {})["spec"]["plugins"], tries


def test_what_others_wrote_meanwhile_stays() -> None:
    assert enter(["a"], others=0) == (True, ["a", "ours"], 1)
    assert enter(["a"], others=2) == (True, ["a", "other-1", "other-2", "ours"], 3)
    assert enter(["a"], others=4) == (True, ["a", "other-1", "other-2", "other-3", "other-4", "ours"], 5)


def test_nothing_is_written_where_nothing_is_to_do() -> None:
    assert enter(["ours"], others=0) == (False, ["ours"], 1)


def test_the_fifth_conflict_is_told() -> None:
    with pytest.raises(ConflictError):
        enter(["a"], others=NEVER)
