# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user data of new machines: a copy of the workers', which names the pool's own configuration.

A machine with it boots straight into the configuration, where one with the workers' user data reboots once.
"""

from __future__ import annotations

import base64
import binascii
import json
import typing as t

from .._core.objects import KubeObject
from .._core.ownership import pool_label
from . import machine_config

NAMESPACE: t.Final = "openshift-machine-api"
# Annotation of the copy: the name of the secret that it is a copy of.
COPY_OF: t.Final = "accelerators.openshift/user-data-of"
_KEY: t.Final = "userData"
_WORKER_PATH: t.Final = f"/config/{machine_config.WORKER}"
# Fields of a providerSpec that name the secret.
_FIELDS: t.Final = ("userDataSecret", "userData")


def secret_name(pool: str) -> str:
    """Return the name of the pool's secret."""
    return f"{machine_config.pool_name(pool)}-user-data"


def build(pool: str, source: KubeObject) -> KubeObject | None:
    """Return the pool's secret; None if the source does not name the workers' configuration."""
    try:
        text = base64.b64decode((source.get("data") or {}).get(_KEY) or "", validate=True)
        ignition = json.loads(text)
    except (binascii.Error, ValueError):
        return None
    sources = list(_sources(ignition))
    if not any(str(one["source"]).endswith(_WORKER_PATH) for one in sources):
        return None
    for one in sources:
        base, worker, _rest = str(one["source"]).rpartition(_WORKER_PATH)
        if worker:
            one["source"] = f"{base}/config/{machine_config.pool_name(pool)}"
    data = json.dumps(ignition, separators=(",", ":"), sort_keys=True).encode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": secret_name(pool),
            "namespace": NAMESPACE,
            "labels": pool_label(pool),
            "annotations": {COPY_OF: source["metadata"]["name"]},
        },
        "type": "Opaque",
        "data": {**(source.get("data") or {}), _KEY: base64.b64encode(data).decode()},
    }


def _sources(ignition: t.Any) -> t.Iterator[dict[str, t.Any]]:
    """Yield the entries of `merge`, or of `append` in the older version, that have a source."""
    config = ((ignition if isinstance(ignition, dict) else {}).get("ignition") or {}).get("config") or {}
    for entries in (config.get("merge"), config.get("append")):
        yield from (entry for entry in entries or [] if isinstance(entry, dict) and entry.get("source"))


def names_of(machine_set: KubeObject) -> str:
    """Return the name of the secret with the user data of the set's machines, or an empty text."""
    value = _value(machine_set)
    return next((str(value[key]["name"]) for key in _FIELDS if (value.get(key) or {}).get("name")), "")


def patch(machine_set: KubeObject, secret: str) -> KubeObject:
    """Return the merge patch that gives the set's new machines the user data of this secret."""
    value = _value(machine_set)
    key = next(key for key in _FIELDS if (value.get(key) or {}).get("name"))
    provider = {"value": {key: {"name": secret}}}
    return {"spec": {"template": {"spec": {"providerSpec": provider}}}}


def _value(machine_set: KubeObject) -> KubeObject:
    spec = machine_set["spec"]["template"]["spec"]
    return dict((spec.get("providerSpec") or {}).get("value") or {})
