# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ImageDigestMirrorSets and ImageTagMirrorSets: where a cluster without internet finds images."""

from __future__ import annotations

import typing as t

Object = dict[str, t.Any]

CONFIG: t.Final = "config.openshift.io/v1"
KINDS: t.Final = {
    "ImageDigestMirrorSet": ("idms-oc-mirror", "imageDigestMirrors"),
    "ImageTagMirrorSet": ("itms-oc-mirror", "imageTagMirrors"),
}


def objects(cluster: Object) -> list[Object]:
    """Return them as oc-mirror names them; none without `image_mirrors` (source: mirror)."""
    mirrors = [
        {"source": source, "mirrors": [mirror], "mirrorSourcePolicy": "NeverContactSource"}
        for source, mirror in (cluster.get("image_mirrors") or {}).items()
    ]
    return [
        {"apiVersion": CONFIG, "kind": kind, "metadata": {"name": name}, "spec": {field: mirrors}}
        for kind, (name, field) in KINDS.items()
        if mirrors
    ]


def mirror_of(repository: str, mirrors: t.Mapping[str, str]) -> str:
    """Return the place of a repository behind the mirror of its longest source, or "" without a mirror."""
    inside = [one for one in mirrors if repository == one or repository.startswith(f"{one}/")]
    source = max(inside, key=len, default="")
    return mirrors[source] + repository.removeprefix(source) if source else ""
