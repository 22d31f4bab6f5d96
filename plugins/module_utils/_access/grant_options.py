# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the options of access_grant, and name a wrong one by its path."""

from __future__ import annotations

import difflib
import typing as t

from .._core.errors import InputError
from .._core.syntax import name_fault
from . import needs
from .grant import Subject, Wanted

_KINDS: t.Final = ("User", "Group", "ServiceAccount")
_KEYS: t.Final = ("kind", "name", "namespace", "playbooks")
# Required key -> a value of it.
_REQUIRED: t.Final = {"kind": "Group", "name": "gpu-admins"}
# Groups of everybody: their members are not chosen by anyone.
_EVERYBODY: t.Final = ("system:authenticated", "system:unauthenticated", "system:serviceaccounts")
_NOBODY: t.Final = "system:anonymous"


def read(
    playbooks: t.Sequence[str],
    namespace: str,
    namespaces: t.Mapping[str, t.Any],
    subjects: t.Sequence[t.Mapping[str, t.Any]],
) -> Wanted:
    """Return the options of access_grant. Raise InputError with the path of the first wrong value."""
    names = tuple(dict.fromkeys(playbooks)) or tuple(needs.GRANTED)
    for index, name in enumerate(names):
        playbook(name, f"gpu_rbac_playbooks[{index}]")
    _namespace(namespace, "gpu_rbac_namespace")
    places = {**needs.NAMESPACES, **_places(namespaces)}
    return Wanted(
        names,
        namespace,
        places,
        tuple(subject(entry, f"gpu_rbac_subjects[{index}]", names) for index, entry in enumerate(subjects)),
    )


def playbook(name: str, path: str) -> None:
    """Raise InputError unless a playbook of this name has rights of its own."""
    choice(name, path, tuple(needs.GRANTED))


def _places(namespaces: t.Mapping[str, t.Any]) -> dict[str, tuple[str, ...]]:
    found = {}
    for place, given in namespaces.items():
        path = f"gpu_rbac_namespaces.{place}"
        choice(place, path, tuple(needs.NAMESPACES))
        listed = [given] if isinstance(given, str) else given
        if not isinstance(listed, (list, tuple)):
            raise InputError("INPUT-TYPE", f"{path} must be a name or a list.", f"Write {path}: [NAME].")
        for index, name in enumerate(listed):
            _namespace(name, f"{path}[{index}]")
        found[str(place)] = tuple(dict.fromkeys(map(str, listed)))
    return found


def subject(given: t.Mapping[str, t.Any], path: str, playbooks: tuple[str, ...]) -> Subject:
    """Return a subject; without playbooks of its own it gets these. Raise InputError with the path."""
    for key in given:
        choice(key, f"{path}.{key}", _KEYS)
    require(given, path, _REQUIRED)
    kind, name, namespace = str(given["kind"]), str(given["name"]), given.get("namespace")
    choice(kind, f"{path}.kind", _KINDS)
    if kind == "ServiceAccount":
        if not namespace:
            why, example = ": a ServiceAccount is in a namespace", "gpu-automation"
            raise InputError("INPUT-REQUIRED", option=f"{path}.namespace", example=example, also=why)
        _namespace(namespace, f"{path}.namespace")
    elif namespace:
        message = f"{path}.namespace is set, and a {kind} is in no namespace."
        raise InputError("INPUT-VALUE", message, f"Remove {path}.namespace.")
    if name == _NOBODY or name.startswith(_EVERYBODY):
        message = f"{path}.name is {name}: people and programs that nobody chose would get the rights."
        raise InputError("INPUT-VALUE", message, f"Set {path}.name to one user, group or service account.")
    return Subject(kind, name, str(namespace or ""), _listed(given.get("playbooks"), path, playbooks))


def require(given: t.Mapping[str, t.Any], path: str, examples: t.Mapping[str, str]) -> None:
    """Raise InputError for a required key that is missing. examples: required key -> a value of it."""
    for key, example in examples.items():
        if not given.get(key):
            raise InputError("INPUT-REQUIRED", option=f"{path}.{key}", example=example)


def _listed(given: t.Any, path: str, playbooks: tuple[str, ...]) -> tuple[str, ...]:
    if given is None:
        return playbooks
    if not isinstance(given, (list, tuple)):
        message = f"{path}.playbooks must be a list."
        raise InputError("INPUT-TYPE", message, f"Write {path}.playbooks: [{playbooks[0]}].")
    for index, playbook_name in enumerate(given):
        choice(playbook_name, f"{path}.playbooks[{index}]", playbooks)
    return tuple(given)


def choice(value: object, path: str, allowed: tuple[str, ...]) -> None:
    """Raise InputError with the path unless the value is one of those allowed."""
    if value in allowed:
        return
    near = difflib.get_close_matches(str(value), allowed, 1)
    did = f"Did you mean {near[0]}? " if near else ""
    raise InputError(
        "INPUT-VALUE", f"{path}: {value!r} is not allowed here.", f"{did}Allowed: {', '.join(allowed)}."
    )


def _namespace(value: object, path: str) -> None:
    fault = name_fault(value) if isinstance(value, str) else "must be text"
    if fault:
        raise InputError("INPUT-VALUE", f"{path}: {value!r} {fault}.", f"Set {path} to a namespace.")
