# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift: the fields in which a live machine set or Machine differs from the wanted set."""

from __future__ import annotations

import typing as t

from .._core.diff import covers, managed_fields, project, shape_of
from .._core.objects import KubeObject
from .._core.ownership import owned
from .._platforms.registry import CHOSEN
from .machine import MachineError, mirrored, phase, set_name
from .machine_set import name_of, provider_of
from .propagation import of_template

_PROVIDER: t.Final = "providerSpec."
# The machine-config operator also writes these fields (boot image, first-boot secret) into machine sets.
_OTHERS: t.Final = frozenset(("ami", "image", "template", "userDataSecret"))


def check(live: KubeObject) -> None:
    """Raise MachineError if the live set is a mirror of Cluster API or was not made by this collection."""
    if authority := mirrored(live):
        raise MachineError("MACH-MIRRORED", authority=authority, objects=f"machine set {name_of(live)}")
    if not owned(live):
        raise MachineError("MACH-FOREIGN", machine_set=name_of(live))


def to_write(live: KubeObject, wanted: KubeObject, on_change: str) -> tuple[KubeObject, str]:
    """Return the manifest to write, and a warning on what existing Machines do not get (or "")."""
    if on_change == "report":
        heads = _heads(of_set(live, wanted))
        return _as_it_is(live, wanted), heads and (
            f"Machine set {name_of(live)} differs from the pool in {heads} and was not changed (on_change: "
            "report)."
        )
    if on_change == "replace" or not live["spec"].get("replicas"):
        return wanted, ""
    heads = _heads(one for one in of_set(live, wanted) if one["field"].startswith(_PROVIDER))
    return wanted, heads and (
        f"Machine set {name_of(live)}: {heads} changed. New machines get the change; existing machines keep "
        "the old values."
    )


def of_set(live: KubeObject, wanted: KubeObject) -> list[KubeObject]:
    """Return each differing field as field, live and wanted, except boot images."""
    found = list(_provider(provider_of(live), provider_of(wanted)))
    have, want = of_template(live), of_template(wanted)
    found += _mapped("labels.", have.labels, want.labels)
    marks = [
        {f"{taint['key']}:{taint['effect']}": taint.get("value") or "" for taint in given.taints}
        for given in (have, want)
    ]
    return found + _mapped("taints.", *marks)


def of_machine(machine: KubeObject, wanted: KubeObject) -> list[KubeObject]:
    """Return the fields that only another Machine would get, unlike labels and taints."""
    return list(
        _provider((machine["spec"].get("providerSpec") or {}).get("value") or {}, provider_of(wanted))
    )


def report(
    live: t.Mapping[str, KubeObject], wanted: t.Mapping[str, KubeObject], machines: t.Iterable[KubeObject]
) -> list[KubeObject]:
    """Return one entry for each differing field of a set, with the Machines that have the live value.

    live, wanted: machine sets by name.
    """
    found: dict[tuple[str, str, str], KubeObject] = {}
    for name, manifest in wanted.items():
        for one in of_set(live[name], manifest) if name in live else ():
            found[name, one["field"], repr(one["live"])] = {"machine_set": name, **one, "machines": []}
    for machine in machines:
        name = set_name(machine)
        if name not in wanted or phase(machine) == "Deleting":
            continue
        for one in of_machine(machine, wanted[name]):
            entry = found.setdefault(
                (name, one["field"], repr(one["live"])), {"machine_set": name, **one, "machines": []}
            )
            entry["machines"] = sorted([*entry["machines"], machine["metadata"]["name"]])
    return [found[key] for key in sorted(found)]


def _as_it_is(live: KubeObject, wanted: KubeObject) -> KubeObject:
    """Return the wanted set with the live template, reduced to the fields that this collection owns."""
    template = project(
        live["spec"]["template"],
        ((shape_of(managed_fields(live)).get("spec") or {}).get("template")) or wanted["spec"]["template"],
    )
    return {**wanted, "spec": {**wanted["spec"], "template": template}}


def _heads(found: t.Iterable[KubeObject]) -> str:
    """Return the first part of each field, comma-separated."""
    return ", ".join(
        sorted({one["field"].removeprefix(_PROVIDER).partition(".")[0].partition("[")[0] for one in found})
    )


def _provider(have: KubeObject, want: KubeObject) -> t.Iterator[KubeObject]:
    # False and empty values count as absent: the API server adds some of them itself.
    for key in sorted(set(CHOSEN) & set(have) - set(want)):
        if have[key] or isinstance(have[key], dict):
            yield {"field": f"{_PROVIDER}{key}", "live": have[key], "wanted": None}
    yield from _differing(have, want, "")


def _differing(have: t.Any, want: t.Any, path: str) -> t.Iterator[KubeObject]:
    if isinstance(have, dict) and isinstance(want, dict):
        for key in sorted(set(want) - _OTHERS):
            yield from _differing(have.get(key), want[key], f"{path}.{key}")
    elif isinstance(have, list) and isinstance(want, list) and len(have) == len(want):
        for index, (one, other) in enumerate(zip(have, want, strict=True)):
            yield from _differing(one, other, f"{path}[{index}]")
    elif not covers(have, want) and (have or want or path.lstrip(".") in CHOSEN):
        yield {"field": f"{_PROVIDER}{path.lstrip('.')}", "live": have, "wanted": want}


def _mapped(prefix: str, have: t.Mapping[str, str], want: t.Mapping[str, str]) -> list[KubeObject]:
    keys = sorted(key for key in {*have, *want} if have.get(key) != want.get(key))
    return [{"field": f"{prefix}{key}", "live": have.get(key), "wanted": want.get(key)} for key in keys]
