# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the GPU operator reads about the cluster before it makes anything."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import KERNEL, OSTREE
from openshift_sandbox.stand_ins.gpu_operator.labels import PRESENT
from openshift_sandbox.stand_ins.gpu_operator.operands import Object
from openshift_sandbox.stand_ins.gpu_operator.rules.release import Release

# From this release on the tags of drivers leave out RHEL's minor version.
MAJOR_ONLY: t.Final = (26, 7)
RELEASE: t.Final = "feature.node.kubernetes.io/system-os_release."


def completed_version(cluster_version: Object | None) -> str | None:
    """Return the version of the last completed update, or None."""
    history = ((cluster_version or {}).get("status") or {}).get("history") or []
    return next((one["version"] for one in history if one.get("state") == "Completed"), None)


def unknown_system(nodes: t.Iterable[Object]) -> str | None:
    """Return what the operator says about the first GPU node without labels of its operating system."""
    first = next(_gpu_labels(nodes), None)
    if first is None:
        return None
    for part, key in (("name", "ID"), ("version", "VERSION_ID")):
        if f"{RELEASE}{key}" not in first:
            return (
                f"failed to retrieve GPU node OS info: unable to retrieve OS {part} from label {RELEASE}{key}"
            )
    return None


def toolkit_images(stream: Object | None, nodes: t.Iterable[Object]) -> dict[str, str | None]:
    """Return the Driver Toolkit image of each RHCOS version on GPU nodes.

    None when the toolkit cannot be used.
    """
    if stream is None:
        return {}
    images: dict[str, str | None] = {}
    for tag in stream.get("spec", {}).get("tags") or []:
        images[tag["name"]] = (tag.get("from") or {}).get("name")
    for tag in stream.get("status", {}).get("tags") or []:
        images.setdefault(
            tag["tag"], next((item.get("dockerImageReference") for item in tag.get("items") or []), None)
        )
    versions = {labels[OSTREE] for labels in _gpu_labels(nodes) if OSTREE in labels}
    return {version: images.get(version) for version in sorted(versions)}


def kernels(nodes: t.Iterable[Object], release: Release) -> dict[str, str]:
    """Return the operating system of each kernel on GPU nodes, as the end of an image tag."""
    found = {labels[KERNEL]: labels for labels in _gpu_labels(nodes) if KERNEL in labels}
    return {
        kernel: _system(labels.get(f"{RELEASE}ID", ""), labels.get(f"{RELEASE}VERSION_ID", ""), release)
        for kernel, labels in found.items()
    }


def _gpu_labels(nodes: t.Iterable[Object]) -> t.Iterator[dict[str, str]]:
    for node in nodes:
        labels = node["metadata"].get("labels") or {}
        if labels.get(PRESENT) == "true":
            yield labels


def _system(name: str, version: str, release: Release) -> str:
    is_major = name == "rhel" and release.version >= MAJOR_ONLY
    return f"{name}{version.partition('.')[0] if is_major else version}"
