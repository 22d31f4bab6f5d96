# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The running GPU operator: its namespace, its release, and the images that its env names."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass, field

from openshift_sandbox.stand_ins.core.cluster import Cluster

Object = dict[str, t.Any]

NAME: t.Final = "gpu-operator"
NEWEST: t.Final = (26, 7)
# From this release on the driver pods carry a digest of what their driver was installed with.
DIGESTS: t.Final = (26, 7)
_TAG: t.Final = re.compile(r":v?(\d+)\.(\d+)")


@dataclass(frozen=True)
class Release:
    """The operator's namespace, the year and month of its release, and env name -> image."""

    namespace: str
    version: tuple[int, ...] = NEWEST
    images: t.Mapping[str, str] = field(default_factory=dict)

    @property
    def has_digests(self) -> bool:
        return self.version >= DIGESTS


def of(deployment: Object) -> Release:
    """Return the release that a Deployment runs; the newest one when the tag of its image says nothing."""
    template = (deployment.get("spec") or {}).get("template") or {}
    containers = (template.get("spec") or {}).get("containers") or []
    entries = [entry for one in containers for entry in one.get("env") or []]
    images = {one["name"]: one["value"] for one in entries if "_IMAGE" in one["name"] and one.get("value")}
    tags = [found for one in containers if (found := _TAG.search(one.get("image") or ""))]
    version = tuple(int(part) for part in tags[0].groups()) if tags else NEWEST
    return Release(deployment["metadata"]["namespace"], version, images)


def find(cluster: Cluster) -> Object | None:
    """Return the operator's Deployment, or None."""
    return next((one for one in cluster.objects("Deployment") if one["metadata"]["name"] == NAME), None)


def running(cluster: Cluster) -> Release | None:
    """Return the release that runs; None while the operator's Deployment is not Available."""
    deployment = find(cluster)
    if deployment is None or not cluster.available(NAME, deployment["metadata"]["namespace"]):
        return None
    return of(deployment)


def process(cluster: Cluster) -> frozenset[str]:
    """Return the uids of the operator's pods: other ones mean that the operator has started again."""
    deployment = find(cluster) or {}
    selector = ((deployment.get("spec") or {}).get("selector") or {}).get("matchLabels")
    if not selector:
        return frozenset()
    return frozenset(
        pod["metadata"]["uid"]
        for pod in cluster.objects("Pod", deployment["metadata"]["namespace"])
        if selector.items() <= (pod["metadata"].get("labels") or {}).items()
        and not pod["metadata"].get("deletionTimestamp")
    )
