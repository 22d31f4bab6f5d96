# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amounts of a queue: its part of a pool, and what it borrows and lends."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import VENDORS
from .._core import quantity
from .._core.errors import InputError
from .._core.syntax import resource_fault

Counts = t.Mapping[str, int]
# Kueue admits no Workload that requests a resource that its queue does not have. So a queue has more of
# these than any cluster: only devices are counted.
UNCOUNTED: t.Final = {"cpu": "1M", "memory": "1Pi", "ephemeral-storage": "1Pi"}
CODE: t.Final = "QUEUE-QUOTA"


def quota(
    path: str,
    gpus: int | None,
    resources: t.Mapping[str, t.Any] | None,
    devices: Counts,
    nodes: int,
    is_shared: bool,
) -> dict[str, str]:
    """Return the amount of each device of the pool, and of each other resource that the option names.

    devices: of a node. nodes: the highest number of nodes. is_shared: other queues have the pool too.
    Raises InputError.
    """
    named = dict(resources or {})
    if not devices:
        message = f"{path}.name: which GPUs the nodes of this pool offer is not known."
        raise InputError(CODE, message, "Set expected of the pool, such as {nvidia.com/gpu: 8}.")
    if gpus is not None:
        if len(devices) != 1:
            message = f"{path}.gpus: the pool offers {_listed(devices)}, so a number of GPUs says too little."
            example = ", ".join(f"{resource}: 8" for resource in devices)
            raise InputError(CODE, message, f"Set {path}.resources: {{{example}}} in place of gpus.")
        device = next(iter(devices))
        if device in named:
            message = f"{path}.gpus: {path}.resources gives a number of {device} too."
            raise InputError(CODE, message, f"Remove {path}.gpus or {path}.resources[{device}].")
        named = {**named, device: gpus}
    wanted = [resource for resource in devices if resource not in named]
    if wanted and named.keys() & devices:
        named |= dict.fromkeys(wanted, 0)
    elif wanted:
        named |= _whole(path, devices, nodes, is_shared)
    for key in named:
        if fault := resource_fault(key) if "/" in key else "":
            raise InputError(CODE, f"{path}.resources[{key}]: {key!r} {fault}.", "Correct the name.")
        if key not in devices and key.startswith(VENDORS):
            message = f"{path}.resources[{key}]: the pool offers {_listed(devices)}, not {key}."
            raise InputError(CODE, message, f"Write {_listed(devices)}.")
        if fault := quantity.fault(named[key], key in devices):
            where = f"{path}.resources[{key}]"
            raise InputError("QUOTA-QUANTITY", path=where, value=repr(named[key]), wanted=fault)
    return {
        key: str(int(quantity.parse(value))) if key in devices else quantity.canonical(value)
        for key, value in named.items()
    }


def _whole(path: str, devices: Counts, nodes: int, is_shared: bool) -> dict[str, int]:
    """Return all devices of the pool."""
    if is_shared:
        message = f"{path}: other queues have this pool too, so the number of GPUs is required."
        raise InputError(CODE, message, f"Set {path}.gpus.")
    if not nodes:
        message = f"{path}: how many nodes the pool has is not known, so the number of GPUs is required."
        raise InputError(CODE, message, f"Set {path}.gpus.")
    return {device: number * nodes for device, number in devices.items()}


def check_limits(
    path: str, borrow: int | None, lend: int | None, cohort: str, given: t.Mapping[str, str], devices: Counts
) -> None:
    """Raise InputError for a limit of borrowing or lending that means nothing. given: from `quota`."""
    for key, number in (("borrow", borrow), ("lend", lend)):
        if number is None:
            continue
        if number < 0:
            raise InputError("QUEUE-COHORT", path=f"{path}.{key}", number=number, wanted="0 or more")
        if not cohort:
            raise InputError("QUEUE-NO-COHORT", path=f"{path}.{key}", queue=path.partition(".")[0])
    least = min((int(given[device]) for device in devices), default=0)
    if lend is not None and lend > least:
        wanted = f"at most {least}, the queue's number of a device"
        raise InputError("QUEUE-COHORT", path=f"{path}.lend", number=lend, wanted=wanted)


def _listed(devices: t.Iterable[str]) -> str:
    return ", ".join(devices) or "no device"
