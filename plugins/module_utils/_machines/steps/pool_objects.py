# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of a pool on the API server: queries for them, its Machines, and marks on Machines to delete."""

from __future__ import annotations

import typing as t

from ..._core.objects import KubeObject
from ..._core.ownership import pool_label, selector
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from .. import removal
from ..machine import name


def hosts(platform: str, namespace: str) -> dict[str, Query]:
    """Return the query for hosts on bare metal, where no Machine reports its host's fault."""
    return {"hosts": Query(known("BareMetalHost"), namespace)} if platform == "BareMetal" else {}


def queries(pool: str, namespace: str) -> dict[str, Query]:
    labels = selector(pool_label(pool))
    kinds = {"machine_sets": "MachineSet", "machines": "Machine", "nodes": "Node"}
    return {
        key: Query(known(kind), None if kind == "Node" else namespace, labels=labels)
        for key, kind in kinds.items()
    }


def machines_of(api: Api, pool: str, namespace: str) -> list[KubeObject]:
    return api.list(known("Machine"), namespace, labels=selector(pool_label(pool)))


def mark(api: Api, namespace: str, machines: t.Iterable[KubeObject]) -> None:
    """Mark Machines as the first that their sets delete, and remove this collection's hook."""
    for machine in machines:
        if body := removal.released(machine):
            api.merge_patch(known("Machine"), name(machine), namespace, body)


def unhook(api: Api, namespace: str, machines: t.Iterable[KubeObject]) -> None:
    """Remove this collection's hook, so that it does not hold up a drain."""
    for machine in machines:
        if body := removal.without_hook(machine):
            api.merge_patch(known("Machine"), name(machine), namespace, body)
