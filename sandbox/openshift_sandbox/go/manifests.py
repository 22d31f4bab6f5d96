# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take the manifests that a program needs on its cluster out of its pinned Go module."""

from __future__ import annotations

import json
import typing as t
from dataclasses import dataclass
from pathlib import Path

import yaml

from openshift_sandbox.go import copied

FILE: t.Final = "manifests.json"
Object = dict[str, t.Any]


@dataclass(frozen=True)
class Manifests:
    """Manifests in a module. paths: YAML files, and folders of YAML files."""

    module: str
    version: str
    paths: tuple[str, ...]


def collect(go: Path, wanted: Manifests, target: Path, work: Path, env: t.Mapping[str, str]) -> None:
    """Write the objects of the manifests into one file of a folder, as JSON, which is read faster.

    work: holds the go.sum that the module is checked against. Raises RuntimeError.
    """
    source = copied.download(go, f"{wanted.module}@{wanted.version}", work, env)
    found = [obj for path in wanted.paths for file in _files(source / path) for obj in _objects(file)]
    (target / FILE).write_text(json.dumps(found))


def read(target: Path) -> list[Object]:
    """Return the objects of the manifests that were collected into a folder."""
    return t.cast("list[Object]", json.loads((target / FILE).read_text()))


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.yaml")) if path.is_dir() else [path]


def _objects(file: Path) -> list[Object]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [one for one in yaml.load_all(file.read_text(), Loader=loader) if one]
