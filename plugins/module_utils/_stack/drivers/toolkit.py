# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Driver Toolkit images of each RHCOS version, and the source of a driver."""

from __future__ import annotations

import typing as t

from ..._core.objects import at
from ..._nodes.labels import labels

Data = dict[str, t.Any]
STREAM: t.Final = "driver-toolkit"
NAMESPACE: t.Final = "openshift"
# Labels of driver DaemonSets.
VERSION: t.Final = "openshift.driver-toolkit.rhcos"
USED: t.Final = "openshift.driver-toolkit"
WITHOUT_IMAGE: t.Final = "openshift.driver-toolkit.rhcos-image-missing"
PRECOMPILED: t.Final = "nvidia.com/precompiled"
CONTAINER: t.Final = "nvidia-driver-ctr"
# Source of a driver: built in the Driver Toolkit, an image compiled for the kernel, built with packages of
# the distribution, or installed on the host.
BY_TOOLKIT, BY_IMAGE, BY_PACKAGES, BY_HOST = "toolkit", "precompiled", "packages", "host"


def images(streams: t.Iterable[Data]) -> dict[str, str]:
    """Return RHCOS version -> image; the spec of the stream comes first, as the operator reads that."""
    found: dict[str, str] = {}
    for stream in streams:
        if stream["metadata"]["name"] != STREAM:
            continue
        for tag in at(stream, "spec.tags") or []:
            found[str(tag.get("name"))] = str(at(tag, "from.name") or "")
        for tag in at(stream, "status.tags") or []:
            items = (str(item.get("dockerImageReference")) for item in tag.get("items") or [])
            found.setdefault(str(tag.get("tag")), next(items, ""))
    return {tag: image for tag, image in found.items() if tag != "latest"}


def source(spec: t.Mapping[str, t.Any], daemonset: Data | None = None) -> str:
    """Return the source of a driver; an empty string if it is unknown yet.

    spec: of the ClusterPolicy. If NVIDIADriver objects bring the drivers, labels of the DaemonSet decide.
    """
    driver = spec.get("driver") or {}
    if driver.get("enabled") is False:
        return BY_HOST
    if driver.get("useNvidiaDriverCRD"):
        return _shown(daemonset) if daemonset else ""
    if driver.get("usePrecompiled"):
        return BY_IMAGE
    return BY_PACKAGES if at(spec, "operator.use_ocp_driver_toolkit") is False else BY_TOOLKIT


def _shown(daemonset: Data) -> str:
    marks = labels(daemonset)
    if marks.get(PRECOMPILED) == "true":
        return BY_IMAGE
    return BY_TOOLKIT if marks.get(USED) == "true" else BY_PACKAGES


def driver_image(daemonset: Data) -> str:
    """Return the image of the driver's container; an empty string without containers."""
    containers = daemonset["spec"]["template"]["spec"].get("containers") or []
    named = [one for one in containers if one.get("name") == CONTAINER] or containers
    return str(named[0].get("image") or "") if named else ""
