# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the tenants of access_grant, and name a wrong value by its path."""

from __future__ import annotations

import typing as t

from .._core.errors import InputError
from .._core.syntax import name_fault
from . import grant_options
from .grant import Subject
from .tenants import Tenant

PATH: t.Final = "gpu_rbac_tenants"
_KEYS: t.Final = ("name", "namespaces", "subjects", "queues", "priority_classes")
# Required key -> a value of it.
_REQUIRED: t.Final = {
    "name": "team-a",
    "namespaces": "[team-a]",
    "subjects": "[{kind: Group, name: team-a}]",
}
# Longer names would make the names of objects too long.
_LONGEST: t.Final = 33
# These belong to the cluster, and every pod of the control plane has one.
_SYSTEM: t.Final = "system-"
_OPENSHIFT: t.Final = ("openshift", "openshift-", "kube-", "default")


def read(given: t.Sequence[t.Mapping[str, t.Any]] | None) -> tuple[Tenant, ...] | None:
    """Return the tenants, or None if the task names none. Raise InputError with the path of a wrong value."""
    if given is None:
        return None
    found = tuple(_tenant(entry, f"{PATH}[{index}]") for index, entry in enumerate(given))
    names = [tenant.name for tenant in found]
    for index, name in enumerate(names):
        if name in names[:index]:
            message = f"{PATH}[{index}].name: {name} is the name of {PATH}[{names.index(name)}] too."
            raise InputError("INPUT-VALUE", message, f"Set {PATH}[{index}].name to a name of its own.")
    return found


def _tenant(given: t.Mapping[str, t.Any], path: str) -> Tenant:
    for key in given:
        grant_options.choice(key, f"{path}.{key}", _KEYS)
    grant_options.require(given, path, _REQUIRED)
    name = str(given["name"])
    fault = name_fault(name) or (f"is longer than {_LONGEST} characters" if len(name) > _LONGEST else "")
    if fault:
        raise InputError(
            "INPUT-VALUE", f"{path}.name: {name!r} {fault}.", f"Set {path}.name to a short name."
        )
    namespaces = _names(given["namespaces"], f"{path}.namespaces")
    for index, namespace in enumerate(namespaces):
        if namespace in _OPENSHIFT or namespace.startswith(_OPENSHIFT[1:3]):
            where = f"{path}.namespaces[{index}]"
            message = f"{where}: {namespace} belongs to the cluster, not to a tenant."
            raise InputError("INPUT-VALUE", message, f"Set {where} to a namespace of the tenant.")
    classes = _names(given.get("priority_classes"), f"{path}.priority_classes")
    for index, priority_class in enumerate(classes):
        if priority_class.startswith(_SYSTEM):
            where = f"{path}.priority_classes[{index}]"
            message = f"{where}: {priority_class} is a priority class of the cluster itself."
            raise InputError("INPUT-VALUE", message, f"Set {where} to a priority class for GPU work.")
    subjects = tuple(
        _subject(entry, f"{path}.subjects[{index}]")
        for index, entry in enumerate(_list(given["subjects"], f"{path}.subjects"))
    )
    return Tenant(name, namespaces, subjects, _names(given.get("queues"), f"{path}.queues"), classes)


def _subject(given: t.Any, path: str) -> Subject:
    if not isinstance(given, dict):
        raise InputError(
            "INPUT-TYPE", f"{path} must be a mapping.", f"Write {path}: {{kind: Group, name: NAME}}."
        )
    if "playbooks" in given:
        message = f"{path}.playbooks is set, and a tenant runs no playbook."
        raise InputError("INPUT-VALUE", message, f"Remove {path}.playbooks, or use gpu_rbac_subjects.")
    return grant_options.subject(given, path, ())


def _list(given: t.Any, path: str) -> list[t.Any]:
    if not isinstance(given, (list, tuple)):
        raise InputError("INPUT-TYPE", f"{path} must be a list.", f"Write {path} as a list.")
    return list(given)


def _names(given: t.Any, path: str) -> tuple[str, ...]:
    found = _list([] if given is None else given, path)
    for index, name in enumerate(found):
        fault = name_fault(name) if isinstance(name, str) else "must be text"
        if fault:
            where = f"{path}[{index}]"
            raise InputError("INPUT-VALUE", f"{where}: {name!r} {fault}.", f"Set {where} to a name.")
    return tuple(dict.fromkeys(found))
