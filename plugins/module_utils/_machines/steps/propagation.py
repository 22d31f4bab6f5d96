# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy labels and taints from a set's template to its Machines, and remove old ones from their Nodes.

The nodelink controller copies them from Machine to Node again and again, so they leave the Machine first.
"""

from __future__ import annotations

import typing as t

from ..._core.errors import ConflictError
from ..._core.objects import KubeObject
from ..._kube.client import Api
from ..._kube.kinds import known
from .. import propagation, removal
from ..machine import name, node_name, phase, set_name
from ..propagation import Given

# How many times a patch of a Node is tried if others write the Node at the same time.
_RACES: t.Final = 3


def behind(machines: t.Iterable[KubeObject], sets: t.Mapping[str, KubeObject]) -> list[KubeObject]:
    """Return the Machines that `bring` would write."""
    ours = [
        (one, sets[set_name(one)]) for one in machines if set_name(one) in sets and phase(one) != "Deleting"
    ]
    return [
        one
        for one, manifest in ours
        if any(_patches(one, manifest)) or propagation.given_up(one, propagation.of_template(manifest))
    ]


def bring(
    api: Api, namespace: str, machines: t.Iterable[KubeObject], sets: t.Mapping[str, KubeObject]
) -> None:
    """Give Machines and Nodes the labels and taints of their sets. sets: the current ones by name."""
    ours = [
        (machine, propagation.of_template(sets[set_name(machine)]))
        for machine in machines
        if set_name(machine) in sets
    ]
    living = [(machine, wanted) for machine, wanted in ours if phase(machine) != "Deleting"]
    for machine, _wanted in living:
        for body in filter(None, _patches(machine, sets[set_name(machine)])):
            api.merge_patch(known("Machine"), name(machine), namespace, body)
    late = [
        (machine, wanted, old) for machine, wanted in living if (old := propagation.given_up(machine, wanted))
    ]
    for machine, wanted, old in late:
        _node(api, node_name(machine), wanted, old)
    for machine, wanted, _old in late:
        api.merge_patch(known("Machine"), name(machine), namespace, propagation.note_patch(wanted))


def _patches(machine: KubeObject, manifest: KubeObject) -> tuple[KubeObject, KubeObject]:
    """Return the patches of a Machine: labels and taints, then this collection's hook."""
    hooks = removal.hooks_of(manifest["spec"]["template"])
    return propagation.machine_patch(machine, propagation.of_template(manifest)), removal.with_hook(
        machine, hooks
    )


def _node(api: Api, node: str, wanted: Given, old: Given) -> None:
    for tries in range(_RACES):
        live = api.get(known("Node"), node) if node else None
        body = propagation.node_patch(live, wanted, old) if live else {}
        if not body:
            return
        try:
            api.merge_patch(known("Node"), node, None, body)
        except ConflictError:
            if tries == _RACES - 1:
                raise
        else:
            return
