# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for OLM's package server: PackageManifest objects from the catalogues.

The real one is an aggregated API, not a stored kind. There a package of two catalogues is two objects of one
name; here the second object has the name of its catalogue behind a dot.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.catalogue.packages import CATALOGS, NAMESPACE, Package, deprecations, sources
from openshift_sandbox.catalogue.service_version import csv_name
from openshift_sandbox.client import Client
from openshift_sandbox.scenario import Scenario

Data = dict[str, t.Any]
Told = dict[tuple[str, str], Data]

API_VERSION: t.Final = "packages.operators.coreos.com/v1"
PLURAL: t.Final = "packagemanifests"


def publish(client: Client, packages: list[Package], scenario: Scenario) -> None:
    """Write one object per package; delete those of packages that the catalogues no longer carry."""
    wanted: dict[str, Data] = {}
    for package in packages:
        obj = manifest(package, scenario)
        name = package.name if package.name not in wanted else f"{package.name}.{package.catalog}"
        wanted[name] = {**obj, "metadata": {**obj["metadata"], "name": name}}
    for stale in client.list(API_VERSION, PLURAL, NAMESPACE):
        if stale["metadata"]["name"] not in wanted:
            client.delete(API_VERSION, PLURAL, stale["metadata"]["name"], NAMESPACE)
    for obj in wanted.values():
        client.apply(obj)


def manifest(package: Package, scenario: Scenario) -> Data:
    """Return the PackageManifest of a package."""
    text = CATALOGS[package.catalog]
    source = next(name for name, origin in sources(scenario).items() if origin == package.catalog)
    told = {
        (one["reference"]["schema"], one["reference"].get("name", "")): {"message": one["message"]}
        for one in deprecations(package, scenario)
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "PackageManifest",
        "metadata": {
            "name": package.name,
            "namespace": NAMESPACE,
            "labels": _labels(package, source),
        },
        "spec": {},
        "status": {
            "catalogSource": source,
            "catalogSourceDisplayName": text["display_name"],
            "catalogSourceNamespace": NAMESPACE,
            "catalogSourcePublisher": text["publisher"],
            "packageName": package.name,
            "provider": {"name": package.data["provider"]},
            "defaultChannel": str(package.data["default_channel"]),
            "channels": [
                _channel(package, name, versions, told) for name, versions in package.channels.items()
            ],
            **_deprecation(told, "olm.package"),
        },
    }


def _labels(package: Package, source: str) -> dict[str, str]:
    architectures = {
        f"operatorframework.io/arch.{arch}": "supported" for arch in package.data["architectures"]
    }
    provider = package.data["provider"].replace(",", "").replace(" ", "-")
    return {
        "catalog": source,
        "catalog-namespace": NAMESPACE,
        "provider": provider,
        "provider-url": "",
        **architectures,
    }


def _deprecation(told: Told, schema: str, name: str = "") -> Data:
    return {"deprecation": told[schema, name]} if (schema, name) in told else {}


def _channel(package: Package, name: str, versions: list[str], told: Told) -> Data:
    csv = package.csv(versions[-1])
    spec = csv["spec"]
    return {
        "name": name,
        "currentCSV": csv["metadata"]["name"],
        "currentCSVDesc": {
            "displayName": spec["displayName"],
            "version": spec["version"],
            "description": spec["description"],
            "annotations": csv["metadata"]["annotations"],
            "installModes": spec["installModes"],
            "customresourcedefinitions": spec["customresourcedefinitions"],
            "keywords": spec["keywords"],
            "maturity": spec["maturity"],
            "provider": spec["provider"],
            "relatedImages": [image["image"] for image in spec["relatedImages"]],
        },
        "entries": [_entry(csv_name(package.data, version), version, told) for version in reversed(versions)],
        **_deprecation(told, "olm.channel", name),
    }


def _entry(name: str, version: str, told: Told) -> Data:
    return {"name": name, "version": version, **_deprecation(told, "olm.bundle", name)}
