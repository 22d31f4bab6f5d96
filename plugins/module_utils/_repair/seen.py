# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run has seen of a node, and what follows from it."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core.objects import KubeObject, name
from .._nodes import node as node_facts
from . import findings, record as records
from .findings import Report
from .options import AUTO, REBOOT, REPLACE, GpuNodeRepairParams
from .record import Record

# What a run does.
NOTHING: t.Final = "nothing"
RESUME: t.Final = "resume"
STAYS: t.Final = "stays"
_REPLACE_ADVICE: t.Final = "replace"
# Seconds after which a node that has not started again may be asked again. Large servers need 20 minutes.
_LONGEST_BOOT: t.Final = 1800


@dataclass(frozen=True)
class Seen:
    """The node and what belongs to it.

    host: the BareMetalHost of its machine, or None. faults: one line each. expected: its devices. reports:
    Xids. unknown: what could not be read -> why. uuids: of all GPUs, as far as the cluster tells them.
    claims: whether pods claim its GPUs as devices. has_plugin: a Ready device plugin counts them.
    """

    node: KubeObject
    machine: KubeObject | None = None
    host: KubeObject | None = None
    faults: list[str] = field(default_factory=list)
    expected: dict[str, int] = field(default_factory=dict)
    reports: list[Report] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)
    uuids: list[str] = field(default_factory=list)
    claims: bool = False
    has_plugin: bool = False

    @property
    def name(self) -> str:
        """Return the node's name."""
        return name(self.node)

    @property
    def record(self) -> Record | None:
        """Return what an earlier run wrote."""
        return records.read(self.node)

    @property
    def has_rebooted(self) -> bool:
        """Return True if the node has started again since an earlier run wrote its record."""
        found = self.record
        return found is not None and found.boot != records.boot_of(self.node)

    @property
    def is_unclear(self) -> bool:
        """Return True if devices are missing because no plugin counts them, and nothing names a GPU."""
        is_alive = node_facts.is_ready(self.node) and not findings.conditions(self.node)
        return bool(is_alive and not self.has_plugin and not self.reports and not self.is_under_repair)

    @property
    def is_under_repair(self) -> bool:
        """Return True if an earlier run began a repair."""
        return self.record is not None or records.is_cordoned_here(self.node)


def action(seen: Seen, params: GpuNodeRepairParams, now: float) -> str:
    """Return what to do: nothing, resume (wait, validate), reboot, replace, or stays (it is as broken).

    now: epoch seconds.
    """
    found = seen.record
    is_rebooting = found is not None and not seen.has_rebooted and now - found.asked < _LONGEST_BOOT
    if not seen.faults and not is_rebooting:
        return RESUME if seen.is_under_repair else NOTHING
    if params["repair"] == REPLACE:
        return REPLACE
    if params["repair"] == AUTO and params["replace"] and findings.gravest(seen.reports) == _REPLACE_ADVICE:
        return REPLACE
    if found is None:
        return REBOOT
    if found.failed:
        if params["repair"] == REBOOT:
            return REBOOT
        return REPLACE if params["replace"] else STAYS
    return RESUME if seen.has_rebooted or is_rebooting else REBOOT
