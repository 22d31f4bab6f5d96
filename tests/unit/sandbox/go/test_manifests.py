# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifests in a module are one file beside the programs that need them."""

from __future__ import annotations

from pathlib import Path

import pytest

from openshift_sandbox.go import copied, manifests

ENV = {"GOFLAGS": ""}


def test_files_and_folders_become_one_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "module", tmp_path / "bin"
    for name, text in (
        ("crds/b.yaml", "kind: B\n"),
        ("crds/a.yaml", "---\nkind: A\n---\n"),
        ("crds/README.md", "no manifest"),
        ("hooks.yaml", "kind: Mutating\n---\nkind: Validating\n"),
    ):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    target.mkdir()
    asked: list[str] = []

    def download(_go: Path, wanted: str, _work: Path, _env: object) -> Path:
        asked.append(wanted)
        return source

    monkeypatch.setattr(copied, "download", download)
    wanted = manifests.Manifests("example.com/program", "v1.2.3", ("crds", "hooks.yaml"))
    manifests.collect(Path("go"), wanted, target, tmp_path, ENV)
    assert asked == ["example.com/program@v1.2.3"]
    assert [one["kind"] for one in manifests.read(target)] == ["A", "B", "Mutating", "Validating"]
