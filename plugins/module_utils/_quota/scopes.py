# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scopes of a ResourceQuota: which pods it counts, and scopes that no pod with a device can have."""

from __future__ import annotations

import typing as t

from .._catalogue.device_quota import STANDARD
from .._core.errors import InputError
from .._core.syntax import name_fault
from . import keys

PRIORITY: t.Final = "PriorityClass"
SELECTOR: t.Final = "spec.scopeSelector"
_SCOPES: t.Final = "spec.scopes"
# Scopes that no pod can have together.
_APART: t.Final = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
# This scope selects volume claims alone.
_OF_VOLUMES: t.Final = "VolumeAttributesClass"
# The API server refuses other standard keys in a quota with the scope PriorityClass.
WITH_PRIORITY: t.Final = frozenset(
    ("pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
)


class Void(t.NamedTuple):
    """Why the scopes of a quota exclude every pod with a device, and the path of the field that does it."""

    path: str
    why: str


class _Term(t.NamedTuple):
    path: str
    scope: str
    operator: str
    values: tuple[str, ...]


def selector(classes: t.Sequence[str]) -> dict[str, t.Any] | None:
    """Return the scopeSelector of a quota that counts only pods of these classes, or None without a class."""
    if not classes:
        return None
    return {"matchExpressions": [{"scopeName": PRIORITY, "operator": "In", "values": sorted(classes)}]}


def check(limits: t.Mapping[str, str], asked: t.Sequence[str]) -> None:
    """Raise InputError for limits that a quota of some priority classes cannot have, or for a bad name."""
    for number, name in enumerate(asked):
        if not name or any(map(name_fault, name.split("."))):
            raise InputError("QUOTA-CLASS", index=number, name=repr(name))
    if not asked:
        return
    for key in limits:
        if keys.classes([key]):
            why = "it counts claims, which have none, so the quota would count nothing"
        elif key in STANDARD and key not in WITH_PRIORITY:
            why = "the API server refuses that"
        else:
            continue
        raise InputError("QUOTA-SCOPE", key=key, why=why)


def classes(spec: t.Mapping[str, t.Any]) -> list[str]:
    """Return the priority classes whose pods alone the quota counts."""
    terms = _terms(spec)
    return [name for term in terms if (term.scope, term.operator) == (PRIORITY, "In") for name in term.values]


def are_set(spec: t.Mapping[str, t.Any]) -> bool:
    """Return whether the quota counts only some pods."""
    return bool(_terms(spec))


def shown(spec: t.Mapping[str, t.Any]) -> str:
    """Return the scopes in one line, such as `PriorityClass In [gpu-training]`."""
    return ", ".join(
        " ".join((term.scope, term.operator, f"[{', '.join(term.values)}]" if term.values else "")).rstrip()
        for term in _terms(spec)
    )


def void(spec: t.Mapping[str, t.Any], known: t.Collection[str] | None = None) -> Void | None:
    """Return why no pod with a device has all the scopes, or None if one can have them.

    known: names of the PriorityClasses that exist or will; None if they are not known.
    """
    terms = _terms(spec)
    first = {term.scope: term for term in reversed(terms)}
    for one, other in _APART:
        if one in first and other in first:
            return Void(first[other].path, f"no pod has the scopes {one} and {other} together")
    if _OF_VOLUMES in first:
        return Void(first[_OF_VOLUMES].path, f"the scope {_OF_VOLUMES} counts volume claims, and no pods")
    return _no_class([term for term in terms if term.scope == PRIORITY], known)


def _no_class(terms: t.Sequence[_Term], known: t.Collection[str] | None) -> Void | None:
    named = [term for term in terms if term.operator == "In"]
    path = (named or terms)[0].path if terms else ""
    without = [term for term in terms if term.operator == "DoesNotExist"]
    if without and any(term.operator in ("In", "Exists") for term in terms):
        return Void(without[0].path, "no pod has a priority class and no priority class at the same time")
    if not named:
        return None
    left = set(named[0].values).intersection(*(term.values for term in named[1:]))
    left -= {value for term in terms if term.operator == "NotIn" for value in term.values}
    if not left:
        return Void(path, "no priority class fulfils all of its terms")
    if known is not None and not left & set(known):
        return Void(path, f"there is no PriorityClass {' or '.join(sorted(left))}")
    return None


def _terms(spec: t.Mapping[str, t.Any]) -> list[_Term]:
    found = [
        _Term(f"{_SCOPES}[{number}]", str(name), "Exists", ())
        for number, name in enumerate(spec.get("scopes") or [])
    ]
    expressions = (spec.get("scopeSelector") or {}).get("matchExpressions") or []
    return found + [
        _Term(
            f"{SELECTOR}.matchExpressions[{number}]",
            str(expression.get("scopeName")),
            str(expression.get("operator")),
            tuple(expression.get("values") or ()),
        )
        for number, expression in enumerate(expressions)
    ]
