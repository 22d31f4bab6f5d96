# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages and CSVs for the tests of operator upgrades."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._operators.order import GPU

Object = dict[str, t.Any]
OLD_DRIVER, NEW_DRIVER = "nvcr.io/nvidia/driver@sha256:1", "nvcr.io/nvidia/driver@sha256:2"
OLD_MANAGER, NEW_MANAGER = "nvcr.io/nvidia/manager@sha256:1", "nvcr.io/nvidia/manager@sha256:2"


def csv_name(version: str, package: str = GPU) -> str:
    return f"{package}.v{version}"


def offer(package: str = GPU, skips: bool = True, images: t.Sequence[str] = (), **channels: str) -> Object:
    """Return a PackageManifest. channels: name (a dot is a double underscore) -> versions, oldest first."""
    found = []
    for key, text in channels.items():
        versions = text.split()
        head = versions[-1]
        annotations = {"olm.skipRange": f">=1.0.0 <{head}"} if skips else {}
        found.append(
            {
                "name": key.replace("__", "."),
                "currentCSV": csv_name(head, package),
                "currentCSVDesc": {
                    "version": head,
                    "annotations": annotations,
                    "relatedImages": list(images),
                },
                "entries": [{"name": csv_name(one, package), "version": one} for one in reversed(versions)],
            }
        )
    return {
        "metadata": {"name": package},
        "status": {"packageName": package, "channels": found, "defaultChannel": found[0]["name"]},
    }


def csv(version: str, package: str = GPU, **env: str) -> Object:
    """Return a CSV whose operator has this env."""
    container = {"env": [{"name": key, "value": value} for key, value in env.items()]}
    deployment = {"spec": {"template": {"spec": {"containers": [container]}}}}
    return {
        "metadata": {"name": csv_name(version, package), "namespace": "n"},
        "spec": {"version": version, "install": {"spec": {"deployments": [deployment]}}},
        "status": {"phase": "Succeeded"},
    }
