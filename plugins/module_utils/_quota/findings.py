# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings about the quotas of a namespace: what counts nothing, what is not counted, what allows less."""

from __future__ import annotations

import typing as t

from .._catalogue.device_quota import ignored
from .._core import quantity
from .._core.errors import text_of
from .._core.objects import KubeObject
from .._core.ownership import owned
from . import keys, scopes

Limits = t.Mapping[str, str]
COUNTS_NOTHING: t.Final = "QUOTA-COUNTS-NOTHING"


class Finding(t.NamedTuple):
    """Something that a person has to know about a quota. path: the field in question.

    is_ours: whether this collection created the quota, or creates it now.
    """

    code: str
    quota: str
    path: str
    message: str
    is_ours: bool = True

    @classmethod
    def of(cls, code: str, quota: str, path: str, is_ours: bool, **facts: object) -> Finding:
        """Return the finding with the code's text, which may name the quota."""
        text = text_of(code, quota=quota, **facts)
        return cls(code, quota, path, f"{text.message} {text.remedy}", is_ours)

    @property
    def warning(self) -> str:
        return f"{self.message} ({self.code})"

    def as_result(self) -> dict[str, t.Any]:
        """Return the entry of the module's result."""
        return {"code": self.code, "quota": self.quota, "path": self.path, "message": self.message} | {
            "ours": self.is_ours
        }


class Known(t.NamedTuple):
    """What exists in the cluster, or will. None stands for what is not known, and so not doubted.

    resources: extended resources that nodes advertise. device_classes, priority_classes: their names.
    """

    resources: t.Collection[str] | None = None
    device_classes: t.Collection[str] | None = None
    priority_classes: t.Collection[str] | None = None


def of_limits(name: str, limits: Limits, known: Known) -> list[Finding]:
    """Return the limits of our quota that count something that does not exist."""
    found = []
    for key in filter(keys.is_device, limits):
        device, is_class = keys.device_of(key), bool(keys.classes([key]))
        there = known.device_classes if is_class else known.resources
        if there is None or device in there:
            continue
        lack = f"There is no DeviceClass {device}" if is_class else f"No node advertises {device}"
        message = f"{lack}: quota {name} limits something that does not exist (yet)."
        found.append(Finding(COUNTS_NOTHING, name, f"spec.hard[{key}]", message))
    return found


def of_quotas(
    name: str, limits: Limits, quotas: t.Iterable[KubeObject], known: Known, is_scoped: bool = False
) -> list[Finding]:
    """Return what is wrong with the quotas of the namespace that limit devices.

    name, limits: our quota. quotas: all of its namespace. is_scoped: ours counts only some pods.
    """
    found = []
    for quota in quotas:
        if any(keys.is_device(key) or ignored(key) for key in _hard(quota)):
            found += _void(quota, known)
            if quota["metadata"]["name"] != name:
                found += [*_ignored(quota), *_not_counted(quota)]
                found += [] if is_scoped else _stricter(name, limits, quota)
    return found


def first_void(found: t.Iterable[Finding], name: str) -> Finding | None:
    """Return the finding that the quota matches no pod, or None."""
    return next(
        (
            entry
            for entry in found
            if entry.code == COUNTS_NOTHING and entry.quota == name and entry.path.startswith("spec.scope")
        ),
        None,
    )


def _void(quota: KubeObject, known: Known) -> list[Finding]:
    spec, name = quota.get("spec") or {}, quota["metadata"]["name"]
    devices = [key for key in _hard(quota) if keys.is_device(key)]
    if not scopes.are_set(spec) or not devices:
        return []
    void = scopes.void(spec, known.priority_classes)
    if void is None and (claimed := [key for key in devices if keys.classes([key])]):
        void = scopes.Void(
            f"spec.hard[{claimed[0]}]", "claims of devices have no scope, and the quota has scopes"
        )
    if void is None:
        return []
    message = (
        f"Quota {name} counts no pod with a device: {void.why} ({void.path}). Its limit of {devices[0]} "
        "stops nobody."
    )
    return [Finding(COUNTS_NOTHING, name, void.path, message, owned(quota))]


def _ignored(quota: KubeObject) -> list[Finding]:
    name = quota["metadata"]["name"]
    return [
        Finding(
            COUNTS_NOTHING,
            name,
            f"spec.hard[{key}]",
            f"Quota {name} of the same namespace has the key {key}, which the API server accepts and never "
            f"enforces; the key that counts is {better}.",
            owned(quota),
        )
        for key in _hard(quota)
        if (better := ignored(key))
    ]


def _not_counted(quota: KubeObject) -> list[Finding]:
    name, status = quota["metadata"]["name"], quota.get("status") or {}
    counted = set(status.get("hard") or {}) & set(status.get("used") or {})
    return [
        Finding.of("QUOTA-NOT-COUNTED", name, f"status.hard[{key}]", owned(quota), keys=key)
        for key in _hard(quota)
        if keys.is_device(key) and key not in counted
    ]


def _stricter(name: str, limits: Limits, quota: KubeObject) -> list[Finding]:
    """Return the limits of another quota that allow less than ours: the smaller one wins."""
    if scopes.are_set(quota.get("spec") or {}):
        return []
    other, hard = quota["metadata"]["name"], _hard(quota)
    return [
        Finding.of(
            "QUOTA-STRICTER", other, f"spec.hard[{key}]", owned(quota), key=key, limit=hard[key], ours=name
        )
        for key, value in limits.items()
        if key in hard and quantity.parse(hard[key]) < quantity.parse(value)
    ]


def _hard(quota: KubeObject) -> dict[str, str]:
    hard: dict[str, str] = (quota.get("spec") or {}).get("hard") or {}
    return hard
