# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""MachineAutoscalers: one for each machine set of a pool, with the bounds of its replicas."""

from __future__ import annotations

import typing as t

from .._core import conditions
from .._core.errors import AcceleratorError, text_of
from .._core.objects import KubeObject
from .._core.ownership import MANAGED_BY, owned, pool_label, pool_of
from .._core.readiness import Readiness, pending, ready, worst
from .._pools.model import Autoscale
from .machine_set import API_VERSION, name_of, replicas_of
from .placement import Zones, spread

# Annotations that the operator writes on the set of a MachineAutoscaler; a set that has them is scaled.
MIN_SIZE, MAX_SIZE = (
    f"machine.openshift.io/cluster-api-autoscaler-node-group-{bound}-size" for bound in ("min", "max")
)
DEPLOYMENT: t.Final = "cluster-autoscaler-default"


def build(machine_set: KubeObject, least: int, most: int) -> KubeObject:
    """Return the manifest for a machine set. least, most: bounds of its replicas."""
    metadata = machine_set["metadata"]
    return {
        "apiVersion": "autoscaling.openshift.io/v1beta1",
        "kind": "MachineAutoscaler",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": {**MANAGED_BY, **pool_label(pool_of(machine_set))},
        },
        "spec": {
            "minReplicas": least,
            "maxReplicas": most,
            "scaleTargetRef": {"apiVersion": API_VERSION, "kind": "MachineSet", "name": metadata["name"]},
        },
    }


def manifests(
    scale: Autoscale, sets: t.Sequence[KubeObject], live: t.Sequence[KubeObject], is_held: bool
) -> list[KubeObject]:
    """Return the MachineAutoscalers of a pool's sets.

    is_held: whether the cluster's GPU limit keeps the pool at its max, so that each zone may hold all of it;
    else each zone gets a part. The live minima stay as long as their sum is right.
    """
    names = sorted(map(name_of, sets))
    least, most = scale.min, scale.max
    if is_held:
        have = {target_of(one): int(one["spec"]["minReplicas"]) for one in live if target_of(one) in names}
        low = (
            have
            if set(have) == set(names) and sum(have.values()) == least
            else _low(least, {name_of(machine_set): replicas_of(machine_set) for machine_set in sets})
        )
        high = dict.fromkeys(names, most)
    else:
        low, high = spread(least, names), spread(most, names)
    return [
        build(machine_set, low[name_of(machine_set)], high[name_of(machine_set)])
        for machine_set in sorted(sets, key=name_of)
        if high[name_of(machine_set)]
    ]


def _low(least: int, replicas: Zones) -> Zones:
    placed = dict.fromkeys(sorted(replicas), 0)
    for _one in range(least):
        placed[max(placed, key=lambda name: replicas[name] - placed[name])] += 1
    return placed


def target_of(autoscaler: KubeObject) -> str:
    """Return the name of the machine set that it scales; empty for another kind."""
    reference = autoscaler["spec"]["scaleTargetRef"]
    return str(reference["name"]) if reference["kind"] == "MachineSet" else ""


def is_scaled(machine_set: KubeObject) -> bool:
    return bool({MIN_SIZE, MAX_SIZE} & set(machine_set["metadata"].get("annotations") or {}))


def check(sets: t.Sequence[KubeObject], live: t.Sequence[KubeObject]) -> None:
    """Raise AcceleratorError if a foreign MachineAutoscaler scales one of the sets."""
    names = set(map(name_of, sets))
    for autoscaler in live:
        if target_of(autoscaler) in names and not owned(autoscaler):
            raise AcceleratorError(
                "MACH-AUTOSCALER-FOREIGN",
                name=name_of(autoscaler),
                machine_set=target_of(autoscaler),
                namespace=autoscaler["metadata"]["namespace"],
            )


class Judge:
    """Judge whether each set has the bounds of its MachineAutoscaler and the cluster autoscaler runs."""

    def __init__(self, wanted: t.Sequence[KubeObject]) -> None:
        self._bounds = {
            target_of(autoscaler): {
                MIN_SIZE: str(autoscaler["spec"]["minReplicas"]),
                MAX_SIZE: str(autoscaler["spec"]["maxReplicas"]),
            }
            for autoscaler in wanted
        }

    def __call__(self, snapshot: t.Mapping[str, t.Sequence[KubeObject]]) -> Readiness:
        annotations = {
            name_of(one): one["metadata"].get("annotations") or {} for one in snapshot["machine_sets"]
        }
        parts = [self._operator(name, annotations.get(name, {})) for name in sorted(self._bounds)]
        return worst([*parts, _running(snapshot["deployments"])])

    def _operator(self, name: str, annotations: t.Mapping[str, str]) -> Readiness:
        if self._bounds[name].items() <= annotations.items():
            return ready()
        text = text_of(
            "MACH-AUTOSCALER", done=f"given machine set {name} the bounds of its MachineAutoscaler"
        )
        return pending("NoBounds", **text._asdict(), details=(text.message,))


def _running(deployments: t.Sequence[KubeObject]) -> Readiness:
    if any(conditions.is_true(deployment, "Available") for deployment in deployments):
        return ready()
    if deployments:
        text = text_of("MACH-AUTOSCALER-DOWN", deployment=DEPLOYMENT)
    else:
        text = text_of("MACH-AUTOSCALER", done=f"made the deployment {DEPLOYMENT}")
    return pending("NoAutoscaler", **text._asdict(), details=(text.message,))


def summarize(wanted: KubeObject) -> KubeObject:
    spec = wanted["spec"]
    return {
        "name": name_of(wanted),
        "pool": pool_of(wanted),
        "machine_set": target_of(wanted),
        "min": spec["minReplicas"],
        "max": spec["maxReplicas"],
    }
