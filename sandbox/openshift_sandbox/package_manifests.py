# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for OLM's package server: PackageManifest objects from the same catalogues; the real ones are an aggregated API, not a stored kind."""

from __future__ import annotations

import typing as t

from openshift_sandbox import catalog
from openshift_sandbox.catalog import Package
from openshift_sandbox.client import Client
from openshift_sandbox.service_version import csv_name

Data = dict[str, t.Any]

API_VERSION: t.Final = "packages.operators.coreos.com/v1"
PLURAL: t.Final = "packagemanifests"


def publish(client: Client, packages: list[Package]) -> None:
    """Every package of the catalogues, and none that they no longer carry."""
    wanted = {package.name for package in packages}
    for stale in client.list(API_VERSION, PLURAL, catalog.NAMESPACE):
        if stale["metadata"]["name"] not in wanted:
            client.delete(API_VERSION, PLURAL, stale["metadata"]["name"], catalog.NAMESPACE)
    for package in packages:
        client.apply(manifest(package))


def manifest(package: Package) -> Data:
    source = catalog.CATALOGS[package.catalog]
    return {
        "apiVersion": API_VERSION,
        "kind": "PackageManifest",
        "metadata": {"name": package.name, "namespace": catalog.NAMESPACE, "labels": _labels(package)},
        "spec": {},
        "status": {
            "catalogSource": package.catalog,
            "catalogSourceDisplayName": source["display_name"],
            "catalogSourceNamespace": catalog.NAMESPACE,
            "catalogSourcePublisher": source["publisher"],
            "packageName": package.name,
            "provider": {"name": package.data["provider"]},
            "defaultChannel": str(package.data["default_channel"]),
            "channels": [_channel(package, name, versions) for name, versions in package.channels.items()],
        },
    }


def _labels(package: Package) -> dict[str, str]:
    architectures = {f"operatorframework.io/arch.{arch}": "supported" for arch in package.data["architectures"]}
    provider = package.data["provider"].replace(",", "").replace(" ", "-")
    return {"catalog": package.catalog, "catalog-namespace": catalog.NAMESPACE, "provider": provider, "provider-url": "", **architectures}


def _channel(package: Package, name: str, versions: list[str]) -> Data:
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
        "entries": [{"name": csv_name(package.data, version), "version": version} for version in reversed(versions)],
    }
