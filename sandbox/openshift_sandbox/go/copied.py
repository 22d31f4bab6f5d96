# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy a pinned Go module without some of its files, so that a build does not compile what they import."""

from __future__ import annotations

import json
import shutil
import subprocess
import typing as t
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Copied:
    """A module that a go.mod replaces with a copy. without: paths that the copy lacks."""

    module: str
    version: str
    without: tuple[str, ...]


def make(go: Path, wanted: Copied, target: Path, work: Path, env: t.Mapping[str, str]) -> None:
    """Copy the module, downloaded if it is missing, to a folder that it replaces.

    work: holds the go.sum that the module is checked against. Raises RuntimeError.
    """
    source = download(go, f"{wanted.module}@{wanted.version}", work, env)
    shutil.rmtree(target, ignore_errors=True)
    copy(source, target, wanted.without)


def download(go: Path, wanted: str, work: Path, env: t.Mapping[str, str]) -> Path:
    """Return the folder of a module (`path@version`) in Go's module cache; download it when it is missing.

    work: holds the go.sum that the module is checked against. Raises RuntimeError.
    """
    argv = [str(go), "mod", "download", "-json", wanted]
    done = subprocess.run(
        argv, cwd=work, env=dict(env), capture_output=True, text=True, timeout=300, check=False
    )
    answer = json.loads(done.stdout or "{}")
    if "Dir" not in answer:
        raise RuntimeError(f"{' '.join(argv)}: {answer.get('Error') or done.stderr.strip()}")
    return Path(answer["Dir"])


def copy(source: Path, target: Path, without: t.Collection[str]) -> None:
    """Copy a folder, with files that their owner may change, and without these paths in it."""

    def ignored(folder: str, names: list[str]) -> list[str]:
        place = Path(folder).relative_to(source)
        return [name for name in names if str(place / name) in without]

    shutil.copytree(source, target, copy_function=shutil.copyfile, ignore=ignored)
    for folder in (target, *(path for path in target.rglob("*") if path.is_dir())):
        folder.chmod(0o755)  # those of the module cache are read-only
