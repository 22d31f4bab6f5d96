# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layer quota: quotas that do not count what they seem to, quotas that are used up, and queues."""

from __future__ import annotations

import json
import typing as t

from .._catalogue.device_quota import REQUESTS, ignored
from .._catalogue.well_known import VENDORS
from .._core import quantity
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, at, name
from .._nodes import devices
from .._quota import findings, keys
from . import model, pod
from .model import Layer, Seen, Trouble


def judge(seen: Seen) -> t.Iterator[Trouble]:
    asked = pod.judge(seen)
    yield from [asked] if asked and asked.layer == model.QUOTA else []
    for quota in _quotas(seen):
        for one in findings.of_quotas("", {}, [quota], findings.Known()):
            key = one.path.removeprefix("spec.hard[").removesuffix("]")
            about, old = f"ResourceQuota {_title(quota)}", f"Quota {name(quota)}"
            made = str(quota["metadata"].get("creationTimestamp") or "")
            message = one.message.replace(" of the same namespace", "").replace(old, about, 1)
            error = AcceleratorError(one.code, message, _mend(quota, key))
            yield model.of_error(model.QUOTA, about, error, since=made, is_alone=True)


def _quotas(seen: Seen) -> list[KubeObject]:
    """Return the quotas; for a pod of the option those of its namespace."""
    space = seen.pod.partition("/")[0]
    return [one for one in seen.of("quotas") if space in ("", one["metadata"]["namespace"])]


def _mend(quota: KubeObject, key: str) -> str:
    """Return the command that gives a limit the key that counts, or the one that shows the quota."""
    better, where = ignored(key), f"{name(quota)} -n {quota['metadata']['namespace']}"
    if not better:
        return f"Run `oc get resourcequota {where} -o yaml`, and correct its scopes."
    old, new = (f"/spec/hard/{one.replace('/', '~1')}" for one in (key, better))
    there = better in at(quota, "spec.hard")
    change = {"op": "remove", "path": old} if there else {"op": "move", "from": old, "path": new}
    return f"Run `oc patch resourcequota {where} --type json -p '{json.dumps([change])}'`; it ends no pod."


def notes(seen: Seen) -> t.Iterator[str]:
    offered = {key for node in seen.of("nodes") for key in devices.resources(node)}
    for quota in _quotas(seen):
        hard, used = at(quota, "status.hard") or {}, at(quota, "status.used") or {}
        for key in keys.extended(hard):
            limit, now = (quantity.parse(one.get(REQUESTS + key) or "0") for one in (hard, used))
            if now >= limit > 0:
                yield f"Quota {_title(quota)} is used up: {now} of {limit} {key}."
            elif offered and key.startswith(VENDORS) and key not in offered and limit:
                yield f"Quota {_title(quota)} limits {key}, which no GPU node offers now."


def _title(quota: KubeObject) -> str:
    return f"{quota['metadata']['namespace']}/{name(quota)}"


LAYER: t.Final = Layer(model.QUOTA, ("quotas",), judge, notes)
