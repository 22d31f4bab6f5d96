# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods that keep the machine-config operator from draining a node."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, name
from .._nodes import drain, node as node_facts
from .._nodes.labels import labels
from .._nodes.node import CURRENT, DESIRED
from .._nodes.taints import matches
from .pool_judge import annotation
from .selectors import selects


def is_draining(node: KubeObject) -> bool:
    """Return True if the operator has cordoned the node to give it another configuration."""
    under_way = annotation(node, CURRENT) != annotation(node, DESIRED)
    return under_way and node_facts.is_cordoned(node) and node_facts.is_ready(node)


def blocked(pods: t.Iterable[KubeObject], budgets: t.Sequence[KubeObject]) -> list[str]:
    """Return a line for each pod that a PodDisruptionBudget keeps from being evicted now.

    A virtual machine with a device has one too: it cannot move to another node.
    """
    lines = []
    for pod in pods:
        if matches(drain.LAUNCHER, labels(pod)) and drain.uses_devices(pod):
            machine = drain.owner(pod).rpartition(" ")[2]
            lines.append(
                f"pod {drain.name(pod)} on {drain.node_of(pod)}: virtual machine {machine} has a device and "
                "cannot move; somebody has to stop it"
            )
            continue
        for one in budgets:
            is_near = one["metadata"].get("namespace") == pod["metadata"].get("namespace")
            status = one.get("status") or {}
            if not is_near or status.get("disruptionsAllowed"):
                continue
            if selects(one["spec"].get("selector"), labels(pod)):
                healthy = f"{status.get('currentHealthy', 0)} of {status.get('desiredHealthy', 0)}"
                lines.append(
                    f"pod {drain.name(pod)} on {drain.node_of(pod)}: PodDisruptionBudget {name(one)} allows "
                    f"no disruption ({healthy} needed pods are healthy)"
                )
    return lines
