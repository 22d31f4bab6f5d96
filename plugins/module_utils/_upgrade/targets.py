# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that bring drivers to nodes: a ClusterPolicy for all, or an NVIDIADriver for each pool."""

from __future__ import annotations

import json
import typing as t
from dataclasses import dataclass

from .._catalogue import driver_modules
from .._core.errors import InputError, NotReadyError
from .._core.objects import KubeObject, Snapshot, name, oldest
from .._core.ownership import owned
from .._nodes import devices
from .._nodes.labels import labels
from .._stack.nvidiadriver.judge import OWNER
from .options import Triple

POLICY, DRIVER = "ClusterPolicy", "NVIDIADriver"
_TRIPLE: t.Final = Triple._fields
# The upgradePolicy that an object had before an upgrade changed it, as JSON. It is there until the upgrade
# gives it back, also if somebody deletes the state of the upgrade.
_NOTE: t.Final = "accelerators.openshift/upgrade-policy-before"
_MOVE: t.Final = (
    "One template serves all nodes of a ClusterPolicy, so its waves hold nodes back by a label. With one "
    "NVIDIADriver for each pool (gpu_pools[].driver) each pool has a driver of its own."
)


@dataclass(frozen=True)
class Target:
    """An object that brings the driver to nodes. nodes: their names."""

    kind: str
    live: KubeObject
    nodes: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the name of the object."""
        return name(self.live)

    @property
    def object_name(self) -> str:
        """Return kind and name."""
        return f"{self.kind} {self.name}"

    @property
    def section(self) -> dict[str, t.Any]:
        """Return the part of the spec that describes the driver."""
        spec = self.live.get("spec") or {}
        return dict((spec.get("driver") or {}) if self.kind == POLICY else spec)

    @property
    def triple(self) -> Triple:
        """Return the driver that the object asks for."""
        return Triple.of(self.section)

    @property
    def rules(self) -> dict[str, t.Any]:
        """Return the upgradePolicy."""
        return dict(self.section.get("upgradePolicy") or {})

    @property
    def noted(self) -> dict[str, t.Any] | None:
        """Return the upgradePolicy that an upgrade still has to give back, or None without one."""
        text = (self.live["metadata"].get("annotations") or {}).get(_NOTE)
        try:
            found = json.loads(text) if text else None
        except ValueError:
            return None
        return found if isinstance(found, dict) else None

    @property
    def is_automatic(self) -> bool:
        """Return whether the operator's upgrade controller works on the nodes of the object."""
        if self.kind == POLICY:
            machines = (self.live["spec"].get("sandboxWorkloads") or {}).get("enabled")
            return bool(self.rules.get("autoUpgrade")) and not machines
        return bool(self.rules.get("autoUpgrade", True))

    def body(self, values: t.Mapping[str, t.Any]) -> KubeObject:
        """Return the merge patch that gives the part of the driver these values."""
        return {"spec": {"driver": dict(values)} if self.kind == POLICY else dict(values)}

    def patch_to(
        self, triple: Triple, rules: t.Mapping[str, t.Any], is_last: bool = False
    ) -> KubeObject | None:
        """Return the merge patch to this driver and these values of its upgradePolicy; None if all are so.

        The first change of the upgradePolicy notes the old one in the object. is_last: this gives it back.
        """
        values: dict[str, t.Any] = {}
        if self.triple != triple:
            values |= {key: value or None for key, value in zip(_TRIPLE, triple, strict=True)}
        if changed := _changed(rules, self.rules):
            values["upgradePolicy"] = changed
        found = self.body(values) if values else {}
        is_noted = _NOTE in (self.live["metadata"].get("annotations") or {})
        if is_last and is_noted:
            found["metadata"] = {"annotations": {_NOTE: None}}
        elif changed and not is_last and not is_noted:
            found["metadata"] = {"annotations": {_NOTE: json.dumps(self.rules, sort_keys=True)}}
        return found or None

    def before(self, left: t.Mapping[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Return what a rollback needs: the driver, and the upgradePolicy.

        left: what a failed upgrade has noted, whose upgradePolicy the object still has.
        """
        noted = self.rules if self.noted is None else self.noted
        return {"triple": list(self.triple), "rules": left["rules"] if left else noted}


def _changed(wanted: t.Mapping[str, t.Any], live: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the smallest merge patch of a map; a wanted None takes a key away."""
    found: dict[str, t.Any] = {}
    for key, value in wanted.items():
        now = live.get(key)
        if isinstance(value, dict):
            if inner := _changed(value, now if isinstance(now, dict) else {}):
                found[key] = inner
        elif value != now:
            found[key] = value
    return found


def restoring(before: t.Mapping[str, t.Any], now: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the values that bring a map back to what it was; None takes away a key that is new."""
    found: dict[str, t.Any] = {key: None for key in now if key not in before}
    for key, value in before.items():
        inner = now.get(key)
        if isinstance(value, dict) and isinstance(inner, dict):
            found[key] = restoring(value, inner)
        else:
            found[key] = value
    return found


def find(snapshot: Snapshot) -> list[Target]:
    """Return the objects that bring drivers, with their nodes. Raise NotReadyError if there is none.

    snapshot: policies, drivers, and nodes with GPUs. Of several policies the oldest counts.
    """
    policy = oldest(snapshot["policies"])
    if not policy:
        raise NotReadyError("UPGRADE-NO-DRIVER", why="it has no ClusterPolicy")
    driver = (policy.get("spec") or {}).get("driver") or {}
    names = sorted(map(name, snapshot["nodes"]))
    if not driver.get("useNvidiaDriverCRD"):
        if driver.get("enabled") is False:
            why = f"ClusterPolicy {name(policy)} has driver.enabled: false"
            remedy = "Upgrade the driver in the image of the nodes; the GPU operator does not manage it."
            raise NotReadyError("UPGRADE-NO-DRIVER", why=why, remedy=remedy)
        return [Target(POLICY, policy, tuple(names))]
    owners = {name(node): labels(node).get(OWNER, "") for node in snapshot["nodes"]}
    found = [
        Target(DRIVER, one, tuple(node for node in names if owners[node] == name(one)))
        for one in sorted(snapshot["drivers"], key=name)
        if (one.get("spec") or {}).get("driverType", "gpu") == "gpu"
    ]
    return [one for one in found if one.nodes]


def without_object(targets: t.Sequence[Target], nodes: t.Iterable[str]) -> list[str]:
    """Return the nodes whose driver none of the objects brings, sorted."""
    return sorted(set(nodes).difference(*(one.nodes for one in targets)))


def refuse_lost(targets: t.Sequence[Target], nodes: t.Iterable[str]) -> None:
    """Raise UPGRADE-NO-OBJECT for nodes whose driver no object brings: their upgrade would never come."""
    if lost := without_object(targets, nodes):
        raise NotReadyError("UPGRADE-NO-OBJECT", nodes=", ".join(lost), label=OWNER)


def refuse(target: Target, adopt: str) -> None:
    """Raise NotReadyError if the object cannot upgrade nodes, or if this task may not change it."""
    if not target.is_automatic:
        raise NotReadyError("UPGRADE-MANUAL", policy=target.object_name)
    if not owned(target.live) and adopt != "take":
        raise NotReadyError("UPGRADE-FOREIGN", policy=target.object_name)


def refuse_outgrown(wanted: Triple, nodes: t.Iterable[KubeObject]) -> None:
    """Raise UPGRADE-OLD-GPU if the driver's branch no longer supports the GPUs of a node."""
    for node in nodes:
        if wrong := driver_modules.outgrown(wanted.version, [devices.product(node)]):
            last = driver_modules.LAST_FOR_OLD
            raise InputError("UPGRADE-OLD-GPU", driver=wanted.path, node=name(node), fault=wrong, last=last)


def remark(targets: t.Sequence[Target]) -> str:
    """Return what to know about waves with these objects, or an empty text."""
    return _MOVE if any(one.kind == POLICY for one in targets) else ""
