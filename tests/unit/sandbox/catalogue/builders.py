# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages of the catalogues, with small CRDs instead of real ones."""

from __future__ import annotations

import base64
import json
import typing as t

from openshift_sandbox.catalogue import file_based, packages
from openshift_sandbox.catalogue.packages import Package
from openshift_sandbox.scenario import Scenario

Data = dict[str, t.Any]
CALM = Scenario("calm")
PACKAGES = {
    "fpga-operator": (
        "certified-operators",
        "fpga-operator",
        {"OwnNamespace", "SingleNamespace"},
        "fpga-operator",
    ),
    "nfd": (
        "redhat-operators",
        "openshift-nfd",
        {"OwnNamespace", "SingleNamespace"},
        "nfd-controller-manager",
    ),
    "gpu-operator-certified": (
        "certified-operators",
        "nvidia-gpu-operator",
        {"OwnNamespace", "SingleNamespace"},
        "gpu-operator",
    ),
    "nvidia-network-operator": (
        "certified-operators",
        "nvidia-network-operator",
        {"OwnNamespace", "SingleNamespace"},
        "nvidia-network-operator-controller-manager",
    ),
    "sriov-network-operator": (
        "redhat-operators",
        "openshift-sriov-network-operator",
        {"OwnNamespace", "SingleNamespace", "AllNamespaces"},
        "sriov-network-operator",
    ),
    "kernel-module-management": (
        "redhat-operators",
        "openshift-kmm",
        {"AllNamespaces"},
        "kmm-operator-controller",
    ),
    "kubevirt-hyperconverged": ("redhat-operators", "openshift-cnv", {"OwnNamespace"}, "hco-operator"),
    "kueue-operator": (
        "redhat-operators",
        "openshift-kueue-operator",
        {"AllNamespaces"},
        "openshift-kueue-operator",
    ),
}


def crds(package: str) -> list[Data]:
    names = {"kind": "Thing", "plural": f"{package}-things"}
    versions = [
        {"name": "v1alpha1", "served": False, "storage": False},
        {"name": "v1", "served": True, "storage": True},
    ]
    return [
        {
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{package}-things.example.com"},
            "spec": {"group": "example.com", "names": names, "versions": versions},
        }
    ]


def load(name: str, *troubles: Data) -> Package:
    return next(
        package
        for package in packages.load(crds, Scenario("x", troubles=list(troubles)))
        if package.name == name
    )


def bundle(name: str, version: str | None = None, *troubles: Data) -> Data:
    package = load(name, *troubles)
    return file_based.bundle(package, version or package.versions[-1], Scenario("x", troubles=list(troubles)))


def values(blob: Data, kind: str) -> list[Data]:
    return [one["value"] for one in blob["properties"] if one["type"] == kind]


def csv_of(blob: Data) -> Data:
    objects = [json.loads(base64.b64decode(value["data"])) for value in values(blob, "olm.bundle.object")]
    return t.cast("Data", next(obj for obj in objects if obj["kind"] == "ClusterServiceVersion"))
