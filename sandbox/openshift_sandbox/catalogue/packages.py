# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators' packages: one data file each, and what a scenario changes about them."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass
from pathlib import Path

from openshift_sandbox.catalogue import images
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


def sources(scenario: Scenario) -> dict[str, str]:
    """Return the cluster's CatalogSources, each with the catalogue that it serves.

    They are OpenShift's own, or those of a mirror instead.
    """
    mirrored: dict[str, str] = scenario.cluster.get("mirrored_catalogs") or {}
    return mirrored or {name: name for name in CATALOGS}


@dataclass(frozen=True)
class Package:
    """One operator, as its catalogue carries it."""

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
        """Return the CRDs of a version; an older version may have fewer."""
        wanted = self.data.get("crds_of", {}).get(version)
        return (
            self.crds
            if wanted is None
            else tuple(crd for crd in self.crds if crd["metadata"]["name"] in wanted)
        )

    def csv(self, version: str, failing: bool = False) -> Data:
        """Return the ClusterServiceVersion of a version."""
        return cluster_service_version(
            self.data, version, self.crds_of(version), replaces=self.replaces(version), failing=failing
        )

    def replaces(self, version: str) -> str | None:
        """Return the name of the CSV that a version upgrades: the version before it, in any channel."""
        before = self.versions[: self.versions.index(version)]
        return csv_name(self.data, before[-1]) if before else None


def load(crds: Crds, scenario: Scenario, folder: Path = PACKAGES) -> list[Package]:
    """Return every package that the scenario's catalogues carry.

    The scenario may name other versions of a package. A package in two catalogues is returned twice.
    """
    found = [read(path)[0] for path in sorted(folder.glob("*.yml"))]
    found = [{**data, **scenario.cluster.get("catalogue", {}).get(data["package"], {})} for data in found]
    if "registry" in scenario.cluster:
        found = [with_tiny_images(data) for data in found]
    found = [data for data in found if not scenario.trouble("package_missing", package=data["package"])]
    twice = [
        {**data, "catalog": trouble["catalog"]}
        for data in found
        for trouble in scenario.troubles_of("package_twice", package=data["package"])
    ]
    return [Package(data, tuple(crds(data["package"]))) for data in (*found, *twice)]


def with_tiny_images(data: Data) -> Data:
    """Return a package whose digests are those of the images that the sandbox's registry has."""

    def tiny(found: Data) -> Data:
        return {
            name: images.named("@".join(image)).split("@") if isinstance(image, list) else image
            for name, image in found.items()
        }

    older = {version: tiny(found) for version, found in data.get("images_of", {}).items()}
    return {**data, "images": tiny(data.get("images", {})), "images_of": older}


def deprecations(package: Package, scenario: Scenario) -> list[Data]:
    """Return what the catalogue calls deprecated.

    A package, a channel or a version, each with its message.
    """
    found = []
    for trouble in scenario.troubles_of("deprecated", package=package.name):
        reference: Data = {"schema": "olm.package"}
        if "channel" in trouble:
            reference = {"schema": "olm.channel", "name": str(trouble["channel"])}
        elif "version" in trouble:
            reference = {"schema": "olm.bundle", "name": csv_name(package.data, str(trouble["version"]))}
        found.append({"reference": reference, "message": trouble["message"]})
    return found
