# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators' catalogues: from one short data file a package to a file-based catalogue that `opm serve` reads."""

from __future__ import annotations

import base64
import json
import os
import typing as t
from dataclasses import dataclass
from pathlib import Path

from openshift_sandbox.catalogue import bundles
from openshift_sandbox.catalogue.crds import read
from openshift_sandbox.catalogue.service_version import cluster_service_version, csv_name
from openshift_sandbox.scenario import Scenario

Data = dict[str, t.Any]
Crds = t.Callable[[str], list[Data]]

PACKAGES: t.Final = Path(__file__).resolve().parents[2] / "catalog"
NAMESPACE: t.Final = "openshift-marketplace"
CATALOGS: t.Final = {
    "redhat-operators": {"display_name": "Red Hat Operators", "publisher": "Red Hat"},
    "certified-operators": {"display_name": "Certified Operators", "publisher": "Red Hat"},
}

# What the troubles foreign_csv and resolution_failed make a package depend on, unless they name it themselves.
FOREIGN_PACKAGE: t.Final = "kernel-module-management"
ABSENT_PACKAGE: t.Final = "openshift-cert-manager-operator"


def sources(scenario: Scenario) -> dict[str, str]:
    """The cluster's CatalogSources, each with the catalogue that it serves: OpenShift's own, or those of a mirror in their place."""
    mirrored: dict[str, str] = scenario.cluster.get("mirrored_catalogs") or {}
    return mirrored or {name: name for name in CATALOGS}


@dataclass(frozen=True)
class Package:
    """One operator as its catalogue carries it."""

    data: Data
    crds: tuple[Data, ...]

    @property
    def name(self) -> str:
        return str(self.data["package"])

    @property
    def catalog(self) -> str:
        return str(self.data["catalog"])

    @property
    def versions(self) -> list[str]:
        return [str(version) for version in self.data["versions"]]

    @property
    def channels(self) -> dict[str, list[str]]:
        return {
            str(name): [str(version) for version in versions]
            for name, versions in self.data["channels"].items()
        }

    def crds_of(self, version: str) -> tuple[Data, ...]:
        """A version may bring fewer than the newest one does."""
        wanted = self.data.get("crds_of", {}).get(version)
        return (
            self.crds
            if wanted is None
            else tuple(crd for crd in self.crds if crd["metadata"]["name"] in wanted)
        )

    def csv(self, version: str, failing: bool = False) -> Data:
        return cluster_service_version(
            self.data, version, self.crds_of(version), replaces=self.replaces(version), failing=failing
        )

    def replaces(self, version: str) -> str | None:
        """The CSV that this version is an upgrade of: the version before it, in whatever channel that one is."""
        before = self.versions[: self.versions.index(version)]
        return csv_name(self.data, before[-1]) if before else None


def packages(crds: Crds, scenario: Scenario, folder: Path = PACKAGES) -> list[Package]:
    """Every package that the scenario's catalogues carry, with the versions that it names for one (`cluster.catalogue`); one in two catalogues twice."""
    found = [read(path)[0] for path in sorted(folder.glob("*.yml"))]
    found = [{**data, **scenario.cluster.get("catalogue", {}).get(data["package"], {})} for data in found]
    found = [data for data in found if not scenario.trouble("package_missing", package=data["package"])]
    twice = [
        {**data, "catalog": trouble["catalog"]}
        for data in found
        for trouble in scenario.troubles_of("package_twice", package=data["package"])
    ]
    return [Package(data, tuple(crds(data["package"]))) for data in (*found, *twice)]


def deprecations(package: Package, scenario: Scenario) -> list[Data]:
    """What the catalogue says is to be left: the package, a channel or one version; each with its text."""
    found = []
    for trouble in scenario.troubles_of("deprecated", package=package.name):
        reference: Data = {"schema": "olm.package"}
        if "channel" in trouble:
            reference = {"schema": "olm.channel", "name": str(trouble["channel"])}
        elif "version" in trouble:
            reference = {"schema": "olm.bundle", "name": csv_name(package.data, str(trouble["version"]))}
        found.append({"reference": reference, "message": trouble["message"]})
    return found


def entries(package: Package, scenario: Scenario) -> list[Data]:
    """The package's blobs of a file-based catalogue."""
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
                "entries": [_edge(package, version) for version in versions],
            }
        )
    if told := deprecations(package, scenario):
        blobs.append({"schema": "olm.deprecations", "package": package.name, "entries": told})
    return blobs + [bundle(package, version, scenario) for version in package.versions]


def bundle(package: Package, version: str, scenario: Scenario) -> Data:
    """One version with its objects inline, so that OLM needs neither an image nor an unpack job; or, as real catalogues have it, only the image's name."""
    csv = package.csv(version, failing=_hits(scenario.trouble("csv_failed", package=package.name), version))
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
        for name in _required(package.name, scenario)
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


def write(directory: Path, found: list[Package], scenario: Scenario) -> dict[str, Path]:
    """One folder a catalogue under `directory`, each holding one file a package; folders by catalogue name."""
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


def _edge(package: Package, version: str) -> Data:
    edge: Data = {"name": csv_name(package.data, version)}
    if replaces := package.replaces(version):
        edge["replaces"] = replaces
    if skip_range := package.data.get("skip_range"):
        edge["skipRange"] = skip_range.format(version=version)
    return edge


def _required(package: str, scenario: Scenario) -> list[str]:
    """Dependencies that a trouble adds: another package's CSV in the same plan, or one that no catalogue has."""
    foreign = [
        trouble.get("with_package", FOREIGN_PACKAGE)
        for trouble in scenario.troubles_of("foreign_csv", package=package)
    ]
    unsolvable = [
        trouble.get("requires", ABSENT_PACKAGE)
        for trouble in scenario.troubles_of("resolution_failed", package=package)
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
