# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bundles that a catalogue names as images, as real catalogues do, and folders with their content."""

from __future__ import annotations

import hashlib
import shutil
import typing as t
from pathlib import Path

import yaml

from openshift_sandbox.catalogue.packages import Package
from openshift_sandbox.scenario import Scenario

Data = dict[str, t.Any]

TROUBLE: t.Final = "bundle_image"
_PREFIX: t.Final = "operators.operatorframework.io.bundle"
_DUMPER: t.Final[t.Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def image(package: str, version: str, scenario: Scenario) -> str:
    """Return the name of the image of a bundle.

    An empty text where the catalogue holds its objects inline.
    """
    if not scenario.trouble(TROUBLE, package=package):
        return ""
    digest = hashlib.sha256(f"{package} {version}".encode()).hexdigest()
    return f"registry.example.com/bundles/{package}@sha256:{digest}"


def folder(root: Path, name: str) -> Path:
    """Return the folder with the content of an image; it does not exist when no registry has the image."""
    return root / "bundles" / name.rpartition(":")[2]


def lay_out(root: Path, packages: t.Iterable[Package], scenario: Scenario) -> None:
    """Write the content of every image that the registry has.

    All that catalogues name and no trouble removes.
    """
    for package in packages:
        missing = any(one.get("missing") for one in scenario.troubles_of(TROUBLE, package=package.name))
        for version in package.versions:
            name = image(package.name, version, scenario)
            place = folder(root, name)
            if name and missing:
                shutil.rmtree(place, ignore_errors=True)
            elif name and not place.exists():
                _write(place, package, version)


def _write(place: Path, package: Package, version: str) -> None:
    csv = package.csv(version)
    draft = place.with_suffix(".new")
    shutil.rmtree(draft, ignore_errors=True)
    for part in ("manifests", "metadata"):
        (draft / part).mkdir(parents=True)
    _dump(draft / "manifests" / f"{package.name}.clusterserviceversion.yaml", csv)
    for crd in package.crds_of(version):
        _dump(draft / "manifests" / f"{crd['metadata']['name']}.crd.yaml", crd)
    found = {
        "manifests.v1": "manifests/",
        "mediatype.v1": "registry+v1",
        "metadata.v1": "metadata/",
        "package.v1": package.name,
        "channels.v1": ",".join(
            channel for channel, versions in package.channels.items() if version in versions
        ),
        "channel.default.v1": str(package.data["default_channel"]),
    }
    _dump(
        draft / "metadata" / "annotations.yaml",
        {"annotations": {f"{_PREFIX}.{key}": value for key, value in found.items()}},
    )
    draft.rename(place)


def _dump(path: Path, content: Data) -> None:
    path.write_text(yaml.dump(content, Dumper=_DUMPER, sort_keys=False))
