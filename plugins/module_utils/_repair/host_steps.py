# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replacement on bare metal: another host must be free, else the new machine takes the broken host again."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name
from .._kube.client import Api
from .._kube.kinds import known
from .._machines.steps import hosts
from .seen import Seen


def require_another(api: Api, seen: Seen, host: KubeObject, machine_set: KubeObject) -> None:
    """Raise MACH-HOST if no host is free, or soon free, for a new machine of the set."""
    namespace, selector = host["metadata"]["namespace"], selector_of(machine_set)
    supply = hosts.supply_of(api.list(known("BareMetalHost"), namespace), selector)
    if supply.free or supply.coming:
        return
    raise AcceleratorError(
        "MACH-HOST",
        f"Node {seen.name} was not replaced: {supply.summary(selector)}, so the new machine would take the "
        f"broken host {name(host)} again.",
        f"Run `oc get baremetalhost -n {namespace} --show-labels`, then add or free a host and run again; or "
        "have the hardware repaired.",
        supply.lines,
    )


def keep_out(host: KubeObject, machine_set: KubeObject) -> str:
    """Return how to keep the broken host out of the free hosts until it is repaired."""
    object_name, namespace = name(host), host["metadata"]["namespace"]
    key = next(iter(selector_of(machine_set).get("matchLabels") or {}), "")
    remedy = (
        f"oc label baremetalhost -n {namespace} {object_name} {key}-"
        if key
        else f"oc delete baremetalhost -n {namespace} {object_name}"
    )
    return (
        f"The broken BareMetalHost {object_name} becomes free, and a later machine may take it. Run "
        f"`{remedy}` to keep it out until it is repaired; no pod ends, since no node runs on it."
    )


def selector_of(machine_set: KubeObject) -> dict[str, t.Any]:
    """Return the hostSelector of the set's machines; {} selects every host."""
    template = machine_set["spec"].get("template") or {}
    value = ((template.get("spec") or {}).get("providerSpec") or {}).get("value") or {}
    return dict(value.get("hostSelector") or {})
