# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of a Go module lacks the files that a build is to do without."""

from __future__ import annotations

from pathlib import Path

from openshift_sandbox.go import copied


def test_a_copy_lacks_what_it_is_to_lack_and_can_be_removed(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    for name in ("go.mod", "plugins/plugins.go", "plugins/minimum.go", "web/ui/app/index.ts", "web/web.go"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
    for path in source.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    copied.copy(source, target, ("plugins/plugins.go", "web/ui/app"))
    files = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert files == {"go.mod", "plugins/minimum.go", "web/web.go"}
    assert all(path.stat().st_mode & 0o200 for path in target.rglob("*"))
    for path in source.rglob("*"):
        path.chmod(0o755)
