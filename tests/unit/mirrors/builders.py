# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirror sets and operators for the tests of mirrored images."""

from __future__ import annotations

import typing as t

from unit.operators.builders import csv_name, offer

from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors.images import Operator
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.order import GPU
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.upgrade_path import Stop, Way

Data = dict[str, t.Any]
MIRROR: t.Final = "registry.example.com:8443"
CATALOG: t.Final = "registry.redhat.io/redhat/certified-operator-index:v4.22"
DIGEST: t.Final = f"sha256:{'1' * 64}"
_FIELDS: t.Final = {
    "ImageDigestMirrorSet": "imageDigestMirrors",
    "ImageTagMirrorSet": "imageTagMirrors",
    "ImageContentSourcePolicy": "repositoryDigestMirrors",
}


def mirror_set(kind: str = "ImageDigestMirrorSet", never: bool = False, **mirrors: str) -> Data:
    """Return a mirror set. mirrors: source -> mirror; _dot_, _in_ and any_ stand for `.`, `/` and `*`."""
    policy = {"mirrorSourcePolicy": "NeverContactSource"} if never else {}
    entries = [
        {
            "source": key.replace("any_dot_", "*.").replace("_dot_", ".").replace("_in_", "/"),
            "mirrors": [mirror],
            **policy,
        }
        for key, mirror in mirrors.items()
    ]
    api_version = "config.openshift.io/v1"
    if kind == "ImageContentSourcePolicy":
        api_version = "operator.openshift.io/v1alpha1"
    metadata = {"name": f"{kind[5:8].lower()}-oc-mirror"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": {_FIELDS[kind]: entries}}


def operator(installed: str = "", *stops: tuple[str, str, tuple[str, ...]], **channels: str) -> Operator:
    """Return the GPU operator. stops: channel, version and the versions that are passed."""
    way = Way(
        GPU,
        csv_name(installed) if installed else "",
        stops[-1][0] if stops else next(iter(channels)),
        tuple(
            Stop(channel, csv_name(version), tuple(map(csv_name, passed)))
            for channel, version, passed in stops
        ),
    )
    found = offer(GPU, True, ["nvcr.io/nvidia/driver@sha256:2"], **channels)
    heads = {one["currentCSV"]: one["currentCSVDesc"]["relatedImages"] for one in found["status"]["channels"]}
    return Operator(way, found, CATALOG, heads)
