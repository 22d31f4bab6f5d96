# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a process of the sandbox counts as ended, by what /proc says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from openshift_sandbox import processes


@pytest.mark.parametrize(
    ("state", "threads", "is_over"),
    [("S", 9, False), ("Z", 1, True), ("Z", 0, True), ("X", 1, True), ("Z", 3, False)],
)
def test_a_process_is_over_with_its_last_thread(
    state: str, threads: int, is_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zombie with threads that still end holds its ports: a process started then could not listen."""
    fields = [state, *["0"] * 16, str(threads), "0", "4711", "0"]
    files = {"stat": f"7 (kube (api) server) {' '.join(fields)}", "boot_id": "boot"}
    monkeypatch.setattr(Path, "read_text", lambda path: files[path.name])
    assert processes.identity(7) == (None if is_over else "boot/4711")
