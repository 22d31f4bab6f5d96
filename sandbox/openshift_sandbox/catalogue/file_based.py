# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make file-based catalogues for `opm serve` from the packages of a scenario."""

from __future__ import annotations

import base64
import json
import os
import typing as t
from pathlib import Path

from openshift_sandbox.catalogue import bundles
from openshift_sandbox.catalogue.packages import CATALOGS, Package, deprecations
from openshift_sandbox.catalogue.service_version import csv_name
from openshift_sandbox.scenario import Scenario

Data = dict[str, t.Any]

# The dependencies that the troubles foreign_csv and resolution_failed add, unless they name others.
FOREIGN_PACKAGE: t.Final = "kernel-module-management"
ABSENT_PACKAGE: t.Final = "openshift-cert-manager-operator"


def entries(package: Package, scenario: Scenario) -> list[Data]:
    """Return the blobs of one package in a file-based catalogue."""
    blobs: list[Data] = [
        {
            "schema": "olm.package",
            "name": package.name,
            "defaultChannel": package.data["default_channel"],
            "description": package.data["description"],
        }
    ]
    for channel, versions in package.channels.items():
        blobs.append(
            {
                "schema": "olm.channel",
                "package": package.name,
                "name": channel,
                "entries": [_edge(package, version, versions) for version in versions],
            }
        )
    if told := deprecations(package, scenario):
        blobs.append({"schema": "olm.deprecations", "package": package.name, "entries": told})
    return blobs + [bundle(package, version, scenario) for version in package.versions]


def bundle(package: Package, version: str, scenario: Scenario) -> Data:
    """Return one version of a package as a bundle.

    Its objects are inline, so that OLM needs no image and no unpack Job; or it names only an image, as real
    catalogues do.
    """
    csv = package.csv(version, failing=_hits(scenario.trouble("csv_failed", package=package.name), version))
    if seconds := scenario.delay("operator_start", 0.0):
        _slow_start(csv, seconds)
    properties = [_property("olm.package", {"packageName": package.name, "version": version})]
    crds = package.crds_of(version)
    for crd in crds:
        spec = crd["spec"]
        properties += [
            _property(
                "olm.gvk", {"group": spec["group"], "kind": spec["names"]["kind"], "version": served["name"]}
            )
            for served in spec["versions"]
            if served["served"]
        ]
    properties += [
        _property("olm.package.required", {"packageName": name, "versionRange": ">=0.0.0"})
        for name in _required(package.name, version, scenario)
    ]
    properties.append(_property("olm.csv.metadata", _metadata(csv)))
    image = bundles.image(package.name, version, scenario)
    if not image:
        properties += [_property("olm.bundle.object", {"data": _encoded(obj)}) for obj in (csv, *crds)]
    return {
        "schema": "olm.bundle",
        "package": package.name,
        "name": csv["metadata"]["name"],
        "image": image,
        "properties": properties,
        "relatedImages": csv["spec"]["relatedImages"],
    }


def _slow_start(csv: Data, seconds: float) -> None:
    """Let the pods of the operator become ready only after so many seconds. KWOK reads the annotations."""
    wait = {f"pod-ready.stage.kwok.x-k8s.io/{key}": f"{seconds:g}s" for key in ("delay", "jitter-delay")}
    for one in csv["spec"]["install"]["spec"]["deployments"]:
        one["spec"]["template"]["metadata"]["annotations"] = wait


def write(directory: Path, found: list[Package], scenario: Scenario) -> dict[str, Path]:
    """Write one folder per catalogue, with one file per package; return the folders by catalogue name."""
    folders = {name: directory / name for name in CATALOGS}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    wanted = {folders[package.catalog] / f"{package.name}.json": package for package in found}
    for stale in {path for folder in folders.values() for path in folder.glob("*.json")} - set(wanted):
        stale.unlink()
    for path, package in wanted.items():
        draft = path.with_suffix(".new")
        draft.write_text("\n".join(json.dumps(blob) for blob in entries(package, scenario)) + "\n")
        os.replace(draft, path)
    return folders


def _edge(package: Package, version: str, versions: list[str]) -> Data:
    """Return the entry of a version in a channel: it replaces the one before it there."""
    edge: Data = {"name": csv_name(package.data, version)}
    if before := versions[: versions.index(version)]:
        edge["replaces"] = csv_name(package.data, before[-1])
    if skip_range := package.data.get("skip_range"):
        edge["skipRange"] = skip_range.format(version=version)
    return edge


def _required(package: str, version: str, scenario: Scenario) -> list[str]:
    """Return the packages that a trouble adds to a version as dependencies.

    Another package, or one that no catalogue has.
    """
    foreign = [
        trouble.get("with_package", FOREIGN_PACKAGE)
        for trouble in scenario.troubles_of("foreign_csv", package=package)
        if _hits(trouble, version)
    ]
    unsolvable = [
        trouble.get("requires", ABSENT_PACKAGE)
        for trouble in scenario.troubles_of("resolution_failed", package=package)
        if _hits(trouble, version)
    ]
    return [name for name in foreign + unsolvable if name != package]


def _hits(trouble: Data | None, version: str) -> bool:
    return trouble is not None and str(trouble.get("version", version)) == version


def _metadata(csv: Data) -> Data:
    spec = csv["spec"]
    return {
        "annotations": csv["metadata"]["annotations"],
        "crdDescriptions": spec["customresourcedefinitions"],
        "labels": csv["metadata"]["labels"],
        **{
            key: spec[key]
            for key in ("description", "displayName", "installModes", "keywords", "maturity", "provider")
        },
    }


def _property(kind: str, value: Data) -> Data:
    return {"type": kind, "value": value}


def _encoded(obj: Data) -> str:
    return base64.b64encode(json.dumps(obj).encode()).decode()
