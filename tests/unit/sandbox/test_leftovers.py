# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A test file that starts another API server on the sandbox of all leaves controllers that pause."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from leftovers import SERVER, Leftovers

from openshift_sandbox.sandbox import Sandbox


class Empty:
    """Stand in for the client of a cluster without objects."""

    def list(self, *_what: str, labels: str | None = None) -> list[dict[str, t.Any]]:
        return []


def run(sandbox: Sandbox, pid: int) -> None:
    """Write into the record of the sandbox that its API server has this pid."""
    child = {"pid": pid, "started": f"boot/{pid}", "log": "", "argv": [], "nested": False}
    sandbox.state.set(processes={SERVER: child})


def test_another_api_server_is_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sandbox, "client", lambda *_: Empty())
    sandbox = Sandbox(tmp_path / "sandbox")
    sandbox.create()
    run(sandbox, 1)
    found = Leftovers(sandbox)
    assert found.sweep(grace=0) == []
    run(sandbox, 2)
    assert [str(one) for one in found.sweep(grace=0)] == ["restart kube-apiserver"]
    assert found.sweep(grace=0) == [], "the next file does not pay for it"
