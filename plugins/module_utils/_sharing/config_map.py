# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The device plugin's ConfigMap: the profiles of pools in it, beside those of others."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import PLUGIN_CONFIG_MAP
from .._core.diff import managed_fields
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name
from . import profile
from .options import Shared

NAME: t.Final = PLUGIN_CONFIG_MAP
# Names of the keys whose content changed while pods of the device plugin had read the old one.
RESTART: t.Final = "accelerators.openshift/restart"


def data(live: KubeObject | None) -> dict[str, str]:
    """Return the profiles of a ConfigMap."""
    return dict((live or {}).get("data") or {})


def ours(live: KubeObject | None) -> dict[str, str]:
    """Return the profiles that this collection wrote."""
    fields = managed_fields(live).get("f:data") or {} if live else {}
    return {key: content for key, content in data(live).items() if f"f:{key}" in fields}


def others(live: KubeObject | None) -> set[str]:
    """Return the keys of profiles that other clients wrote."""
    return set(data(live)) - set(ours(live)) - {profile.WHOLE}


def restarts(live: KubeObject | None) -> list[str]:
    """Return the keys whose new content some pods of the device plugin have not read yet."""
    noted = (((live or {}).get("metadata") or {}).get("annotations") or {}).get(RESTART, "")
    return [key for key in noted.split(",") if key]


def wanted(live: KubeObject | None, pools: t.Sequence[Shared]) -> dict[str, str]:
    """Return all profiles of this collection: those of these pools as asked, those of other pools as is.

    Empty if no pool of this collection shares its GPUs.
    """
    here = {pool.key for pool in pools}
    found = {key: content for key, content in ours(live).items() if key not in here | {profile.WHOLE}}
    found |= {pool.key: pool.profile for pool in pools if pool.is_shared}
    return dict(sorted(found.items()))


def refuse_foreign(live: KubeObject | None, pools: t.Iterable[Shared]) -> None:
    """Raise AcceleratorError if the ConfigMap has a pool's key with another content, from another client."""
    mine, there = ours(live), data(live)
    for pool in pools:
        if pool.is_shared and pool.key in there and pool.key not in mine:
            if there[pool.key] == pool.profile:
                continue
            raise AcceleratorError(
                "GPU-SHARING-FOREIGN",
                name=name(live or {}),
                namespace=(live or {})["metadata"].get("namespace", ""),
                profile=pool.key,
                evidence=there[pool.key].splitlines(),
            )


def build(
    object_name: str,
    namespace: str,
    profiles: t.Mapping[str, str],
    live: KubeObject | None,
    stale: t.Iterable[str],
) -> KubeObject:
    """Return the manifest with these profiles. stale: keys that pods still have to read.

    A ConfigMap without other profiles gets the one of whole GPUs.
    """
    whole = {} if others(live) else {profile.WHOLE: profile.WHOLE_TEXT}
    noted = ",".join(sorted(set(stale) & set(profiles)))
    metadata: KubeObject = {"name": object_name, "namespace": namespace}
    if noted:
        metadata["annotations"] = {RESTART: noted}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {**profiles, **whole}}


def changed(live: KubeObject | None, manifest: KubeObject) -> list[str]:
    """Return the keys that exist and get another content."""
    before = data(live)
    return [key for key, content in manifest["data"].items() if key in before and before[key] != content]


def written(live: KubeObject) -> str:
    """Return when this collection last wrote the ConfigMap, as the API server's time; "" if never."""
    times = [
        str(entry.get("time") or "")
        for entry in live["metadata"].get("managedFields") or []
        if "f:data" in (entry.get("fieldsV1") or {})
    ]
    return max(times, default="")
