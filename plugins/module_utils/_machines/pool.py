# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readiness of a pool: judges of its machine sets, Machines and Nodes together."""

from __future__ import annotations

import collections
import typing as t
from dataclasses import dataclass, field

from .._core.errors import AcceleratorError, text_of
from .._core.objects import KubeObject, Snapshot
from .._core.readiness import Readiness, pending, ready, worst
from .._nodes import formatting as node_formatting, node as node_facts
from .._pools.model import Candidate
from . import machine as machine_facts, machine_set, trouble
from .plan import MachinePlan


@dataclass
class Present:
    """Judge whether each set has its Machines, each with a Ready Node that has the pool's labels and taints.

    now: returns epoch seconds. seen: the last snapshot. troubled: by name, the last summary of each Machine
    that got no instance or lost it, also after its deletion. has_waited: whether a snapshot was not ready.
    """

    plan: MachinePlan
    capacity_timeout: float
    now: t.Callable[[], float]
    seen: Snapshot = field(default_factory=dict)
    troubled: dict[str, KubeObject] = field(default_factory=dict)
    has_waited: bool = False

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self.seen = snapshot
        nodes = {node_facts.name(node): node for node in snapshot["nodes"]}
        machines = [
            machine
            for machine in snapshot["machines"]
            if machine_facts.set_name(machine) in self.plan.manifests
        ]
        self._remember(machines)
        parts = [
            machine_set.judge(live_set)
            for live_set in snapshot["machine_sets"]
            if machine_set.name_of(live_set) in self.plan.manifests
        ]
        parts += [self._machine(machine, nodes) for machine in sorted(machines, key=machine_facts.name)]
        wanted = self._wanted(snapshot)
        parts += self._counts(machines, wanted)
        verdict = worst(parts)
        self.has_waited |= not verdict.is_ready
        done = f"{self._obtained(parts)} of {sum(wanted.values())} machines are ready nodes"
        if verdict.is_ready:
            return ready("Running", done, details=verdict.details)
        if verdict.is_failed and self._is_enough(self._obtained(parts)):
            return ready(
                "Running",
                f"{done}; the autoscaler asked for the others: {verdict.message}",
                details=verdict.details,
            )
        if verdict.is_failed:
            return verdict
        return pending(
            verdict.reason,
            f"{done}; {verdict.message}",
            code=verdict.code or "MACH-TIMEOUT",
            remedy=verdict.remedy,
            details=verdict.details,
        )

    def refused(self) -> dict[str, tuple[str, str]]:
        """Return error code and provider's text by name of each set whose Machine gets no instance."""
        found: dict[str, tuple[str, str]] = {}
        for machine in self.seen.get("machines", ()):
            code, text = machine_facts.refused(machine, self.now(), self.capacity_timeout)
            if (
                code
                and machine_facts.set_name(machine) in self.plan.manifests
                and not self._is_going(machine)
            ):
                found.setdefault(machine_facts.set_name(machine), (code, text))
        return found

    def attempt(self, candidate: Candidate, exc: AcceleratorError) -> dict[str, t.Any]:
        """Return what a candidate was asked for, and what it had supplied when the wait failed."""
        return {
            "instance_type": candidate.instance_type,
            "zones": [share.zone for share in self.plan.shares.values() if share.zone],
            "wanted": sum(self.plan.replicas.values()),
            "obtained": sum(1 for machine in self.seen.get("machines", ()) if self.has_instance(machine)),
            "code": exc.code,
            "message": exc.message,
        }

    def is_mine(self, machine: KubeObject) -> bool:
        return machine_facts.set_name(machine) in self.plan.manifests

    def has_instance(self, machine: KubeObject) -> bool:
        """Return whether a Machine of the plan has its instance."""
        is_there = (
            machine_facts.phase(machine) in ("Provisioned", "Running") and trouble.find(machine) is None
        )
        return is_there and machine_facts.set_name(machine) in self.plan.manifests

    def _is_going(self, machine: KubeObject) -> bool:
        """Return whether the Machine's set is about to delete it.

        A Machine that an interrupted run only marked still belongs to the pool.
        """
        of = machine_facts.set_name(machine)
        living = [
            one
            for one in self.seen["machines"]
            if machine_facts.set_name(one) == of and machine_facts.phase(one) != "Deleting"
        ]
        return machine_facts.is_given_up(machine) and len(living) > self._wanted(self.seen).get(of, 0)

    def _wanted(self, snapshot: Snapshot) -> dict[str, int]:
        """Return the wanted number of Machines by set; for a pool with autoscale, the live replicas."""
        live = {
            machine_set.name_of(live_set): machine_set.replicas_of(live_set)
            for live_set in snapshot["machine_sets"]
            if self.plan.pool.autoscale
        }
        return {name: live.get(name, replicas) for name, replicas in self.plan.replicas.items()}

    def _is_enough(self, obtained: int) -> bool:
        """Return whether a pool with autoscale has its initial machines; the autoscaler owns the others."""
        return bool(self.plan.pool.autoscale) and obtained >= self.plan.pool.replicas

    @staticmethod
    def _obtained(parts: t.Iterable[Readiness]) -> int:
        return sum(1 for part in parts if part.is_ready and part.reason == "Running")

    def _machine(self, machine: KubeObject, nodes: t.Mapping[str, KubeObject]) -> Readiness:
        if self._is_going(machine) and not self.has_instance(machine):
            text = f"{machine_facts.name(machine)} is marked for deletion"
            return pending(
                "GivenUp",
                text,
                code="MACH-TIMEOUT",
                remedy=machine_set.LOG,
                details=(text,),
            )
        node = nodes.get(machine_facts.node_name(machine))
        place, is_watched = (
            self.plan.place(machine_facts.set_name(machine)),
            bool(self.plan.pool.health),
        )
        verdict = machine_facts.judge(
            machine, node, self.now(), self.capacity_timeout, place, self._host(machine), is_watched
        )
        of = machine_facts.set_name(machine)
        missing = (
            machine_facts.lacks(node, self.plan.node_labels(of), self.plan.taints(of))
            if node and verdict.is_ready
            else []
        )
        if missing:
            text = f"node {machine_facts.node_name(machine)} lacks {', '.join(missing)}"
            return pending("NodeIncomplete", text, details=(text,))
        return verdict

    def _remember(self, machines: t.Iterable[KubeObject]) -> None:
        for one in map(machine_facts.summarize, machines):
            if one["code"]:
                self.troubled[one["name"]] = one
            elif one["phase"] != "Deleting":
                self.troubled.pop(one["name"], None)

    def _host(self, machine: KubeObject) -> KubeObject | None:
        name = trouble.host_name(machine).rpartition("/")[2]
        return (
            next((host for host in self.seen.get("hosts", ()) if host["metadata"]["name"] == name), None)
            if name
            else None
        )

    @staticmethod
    def _counts(machines: t.Sequence[KubeObject], wanted: t.Mapping[str, int]) -> list[Readiness]:
        parts = []
        for name, replicas in wanted.items():
            living = [
                machine
                for machine in machines
                if machine_facts.set_name(machine) == name and machine_facts.phase(machine) != "Deleting"
            ]
            if len(living) != replicas:
                text = f"machine set {name} has {len(living)} of {replicas} machines"
                parts.append(
                    pending("Scaling", text, code="MACH-TIMEOUT", remedy=machine_set.LOG, details=(text,))
                )
        return parts


@dataclass
class Absent:
    """Judge whether all sets of the pool are gone with their Machines and Nodes, except the kept sets.

    leaving: names of the nodes whose Machines go. Nobody deletes the pool's other nodes.
    """

    kept: frozenset[str]
    leaving: set[str] = field(default_factory=set)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        machines = [
            machine for machine in snapshot["machines"] if machine_facts.set_name(machine) not in self.kept
        ]
        self.leaving |= set(map(machine_facts.node_name, machines))
        nodes = [node for node in snapshot["nodes"] if node_facts.name(node) in self.leaving]
        sets = [one for one in snapshot["machine_sets"] if machine_set.name_of(one) not in self.kept]
        lines = [
            f"machine set {machine_set.name_of(one)} is still there{machine_set.held_by(one)}" for one in sets
        ]
        lines += [
            f"machine {machine_facts.name(machine)}: {machine_facts.phase(machine)}" for machine in machines
        ]
        lines += [f"node {node_facts.name(node)} is still there" for node in nodes]
        if not lines:
            return ready("Gone", "all machines and nodes are gone")
        held = [live_set for live_set in sets if machine_set.held_by(live_set)]
        if held and not machines and not nodes:
            return _stuck(held, tuple(lines))
        counts = machine_facts.counted(len(machines)), machine_facts.counted(len(nodes), "node")
        text = text_of("MACH-DELETE-TIMEOUT", left=", ".join(counts))
        return pending("Deleting", **text._asdict(), details=tuple(lines))


def _stuck(held: t.Sequence[KubeObject], lines: tuple[str, ...]) -> Readiness:
    """Return the verdict on machine sets without Machines that finalizers keep."""
    names = ", ".join(f"{machine_set.name_of(held_set)}{machine_set.held_by(held_set)}" for held_set in held)
    first = held[0]["metadata"]
    text = text_of("MACH-SET-HELD", sets=names, name=first["name"], namespace=first["namespace"])
    return pending("Held", **text._asdict(), details=lines)


@dataclass
class Gone:
    """Judge whether the sets of these names are gone, with their Machines and Nodes.

    leaving: as in Absent.
    """

    names: frozenset[str]
    leaving: set[str] = field(default_factory=set)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        staying = frozenset(machine_set.name_of(one) for one in snapshot["machine_sets"]) | frozenset(
            map(machine_facts.set_name, snapshot["machines"])
        )
        return Absent(staying - self.names, self.leaving)(snapshot)


def facts(snapshot: Snapshot, plan: MachinePlan) -> dict[str, t.Any]:
    """Return the plan's machine_sets, machines and nodes."""
    machines = [
        machine
        for machine in snapshot.get("machines", ())
        if machine_facts.set_name(machine) in plan.manifests
    ]
    names = {machine_facts.node_name(machine) for machine in machines}
    nodes = [node for node in snapshot.get("nodes", ()) if node_facts.name(node) in names]
    live = {machine_set.name_of(live_set): live_set for live_set in snapshot.get("machine_sets", ())}
    ready_nodes = {node_facts.name(node) for node in nodes if node_facts.is_ready(node)}
    ready_in = collections.Counter(
        machine_facts.set_name(one) for one in machines if machine_facts.node_name(one) in ready_nodes
    )
    expected = {
        machine_facts.node_name(machine): plan.shares[machine_facts.set_name(machine)].candidate.expected
        for machine in machines
    }
    return {
        "machine_sets": [
            machine_set.summarize(
                live.get(name, {}),
                manifest,
                plan.shares[name].zone,
                plan.shares[name].candidate.instance_type,
                ready_in[name],
            )
            for name, manifest in plan.manifests.items()
        ],
        "machines": [
            machine_facts.summarize(machine) for machine in sorted(machines, key=machine_facts.name)
        ],
        "nodes": [
            node_formatting.summarize(node, expected[node_facts.name(node)])
            for node in sorted(nodes, key=node_facts.name)
        ],
    }
