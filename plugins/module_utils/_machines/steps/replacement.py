# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replace machines: create a new one, drain the old one's node, delete the old one; max_surge at a time.

The machine set's annotation names the Machines being replaced, so that the next run resumes an interrupted
one.
"""

from __future__ import annotations

import dataclasses
import time
import typing as t
from dataclasses import dataclass, field

from ..._core.errors import AcceleratorError, NotReadyError
from ..._core.objects import KubeObject, Snapshot
from ..._kube.client import Api
from ..._kube.kinds import known
from ..._nodes import cordons, drain_steps
from ..._nodes.drain_judge import Rules
from ..._pools.model import Pool
from .. import drift, machine_set, pool as machine_pool, removal
from ..candidates import Held, is_of
from ..machine import MachineError, counted, is_given_up, name, node_name, phase, refuse_mirrors, set_name
from ..plan import MachinePlan
from ..pool import Present
from ..pool_options import GpuMachinesetParams
from . import health, pool_objects, removal as removal_steps, writes
from .joining import Joining
from .pool_objects import queries

_GIVEN_BACK: t.Final = " Nothing was replaced; the pool is as it was."


def _made(machine: KubeObject) -> str:
    return str(machine["metadata"].get("creationTimestamp") or "")


@dataclass
class Replacement:
    """The replacement of outdated Machines. replaced: in check mode, those to be replaced."""

    api: Api
    plan: MachinePlan
    params: GpuMachinesetParams
    replaced: list[KubeObject] = field(default_factory=list)

    def run(self, snapshot: Snapshot) -> Snapshot:
        """Finish an interrupted replacement, then replace outdated Machines if wanted. Return the pool."""
        if self.api.wait_wanted or self.api.check_mode:
            snapshot = self._replaced(snapshot)
            restore(self.api, snapshot)
        return snapshot

    def _replaced(self, snapshot: Snapshot) -> Snapshot:
        pool, namespace = self.plan.pool.name, self.params["namespace"]
        begun = {
            set_: names
            for set_, manifest in self.plan.manifests.items()
            if (names := machine_set.replacing_of(manifest))
        }
        if begun:
            with health.paused(self.api, pool, namespace):
                for set_, names in begun.items():
                    snapshot = self._end(set_, names)
        outdated = [machine for machine in snapshot["machines"] if self._is_outdated(machine)]
        if self.params.get("on_change") != "replace" or not outdated:
            return snapshot
        drain_steps.check(
            self.api, {node_name(one) for one in outdated} - {""}, self._rules, self._why(len(outdated))
        )
        with health.paused(self.api, pool, namespace):
            return self._all_replaced(outdated)

    def _all_replaced(self, outdated: t.Sequence[KubeObject]) -> Snapshot:
        snapshot: Snapshot = {}
        surge = int(self.params["max_surge"])
        for set_ in sorted(set(map(set_name, outdated))):
            names = sorted(name(machine) for machine in outdated if set_name(machine) == set_)
            for first in range(0, len(names), surge):
                batch = names[first : first + surge]
                self._begin(set_, batch)
                snapshot = self._end(set_, batch)
        return snapshot

    def _wait(self, judge: Present, what: str) -> Snapshot:
        pool = self.plan.pool.name
        joining = Joining(self.api, self.params["approve_csrs"])
        return joining.wait(
            queries(pool, self.params["namespace"]), judge, judge.is_mine, f"pool {pool}: {what}"
        )

    @property
    def _rules(self) -> Rules:
        return Rules.of(self.params)

    def _why(self, number: int) -> str:
        return f"Pool {self.plan.pool.name} is to replace {counted(number)}"

    def _is_outdated(self, machine: KubeObject) -> bool:
        return _is_outdated(self.plan, machine)

    def _begin(self, set_: str, names: t.Sequence[str]) -> None:
        """Create new Machines beside the old ones; give them back if the provider refuses them."""
        self.api.progress(
            f"pool {self.plan.pool.name}: replacement of {', '.join(names)} starts with a new machine"
        )
        old = [name(machine) for machine in self._living(set_)]
        judge = self._written(set_, machine_set.surged(self.plan.manifests[set_], names))
        try:
            self._wait(judge, f"replacement of {', '.join(names)}")
        except NotReadyError as exc:
            if set_ in judge.refused():
                self._give_back(set_, old)
                exc.message += _GIVEN_BACK
            raise

    def give_up(self, refused: t.Collection[str], exc: AcceleratorError) -> bool:
        """Give the new Machines of interrupted replacements back if the provider refuses some of them.

        refused: names of sets with a refused Machine. Return True if there was such a replacement; the error
        says so then.
        """
        begun = {
            set_: names
            for set_, manifest in self.plan.manifests.items()
            if set_ in refused and (names := machine_set.replacing_of(manifest))
        }
        for set_, names in begun.items():
            self._give_back(set_, names)
        exc.message += _GIVEN_BACK if begun else ""
        return bool(begun)

    def _give_back(self, set_: str, kept: t.Collection[str]) -> None:
        """Mark the Machines that a replacement added, and lower the replicas. kept: Machines that stay.

        The Machine API chooses by itself what it deletes beyond the marked ones, also nodes with work.
        """
        manifest = self.plan.manifests[set_]
        living = self._living(set_)
        # First those without an instance, then the youngest: these are the ones that the surge added.
        extra = sorted((machine for machine in living if name(machine) not in kept), key=_made, reverse=True)
        extra.sort(key=lambda one: phase(one) in ("Provisioned", "Running"))
        surplus = extra[: max(0, len(living) - machine_set.share_of(manifest))]
        why = f"Pool {self.plan.pool.name} is to give back {counted(len(surplus))}"
        replicas = {set_: machine_set.replicas_of(manifest)}
        removal_steps.release(self.api, self.params["namespace"], surplus, self._rules, why, replicas)
        self._written(set_, machine_set.without_surge(manifest))

    def _living(self, set_: str) -> list[KubeObject]:
        machines = pool_objects.machines_of(self.api, self.plan.pool.name, self.params["namespace"])
        return [machine for machine in machines if set_name(machine) == set_ and phase(machine) != "Deleting"]

    def _end(self, set_: str, names: t.Sequence[str]) -> Snapshot:
        """Delete as many old Machines as the set has beyond its share."""
        living = self._living(set_)
        named = [machine for machine in living if name(machine) in names]
        others = [machine for machine in living if name(machine) not in names and self._is_outdated(machine)]
        # If a named Machine was deleted meanwhile, the set made another: an outdated one or any other goes,
        # the ones without GPU pods first.
        nodes = {node_name(machine) for machine in living if machine not in named} - {""}
        pods = drain_steps.pods_on(self.api, nodes) if len(named) < len(names) else []
        spare = removal.victims([one for one in living if one not in named and one not in others], 0, pods)
        others = removal.victims(others, 0, pods)
        surplus = (
            len(names)
            if self.api.check_mode
            else max(0, len(living) - machine_set.share_of(self.plan.manifests[set_]))
        )
        victims = [*named, *others, *spare][:surplus]
        removal_steps.release(
            self.api,
            self.params["namespace"],
            victims,
            self._rules,
            self._why(len(victims)),
            {set_: machine_set.replicas_of(self.plan.manifests[set_])},
        )
        judge = self._written(set_, machine_set.without_surge(self.plan.manifests[set_]))
        snapshot = self._wait(judge, f"removal of {', '.join(map(name, victims))}")
        self.replaced += map(removal.as_result, victims)
        return snapshot

    def _written(self, set_: str, manifest: KubeObject) -> Present:
        """Write the set. Return the judge of the pool with it."""
        live = self.api.get(known("MachineSet"), set_, self.params["namespace"])
        writes.apply(
            self.api,
            dataclasses.replace(self.plan, manifests={set_: manifest}),
            {set_: live} if live else {},
            adopt=self.params["adopt"],
        )
        self.plan = dataclasses.replace(self.plan, manifests={**self.plan.manifests, set_: manifest})
        return machine_pool.Present(self.plan, self.params["capacity_timeout"], time.time)


def foresee(machines: t.Iterable[KubeObject], plan: MachinePlan, params: GpuMachinesetParams) -> None:
    """Raise MachineError before any write if a Machine to replace is a mirror or its pool is autoscaled."""
    if params.get("on_change") != "replace":
        return
    outdated = [machine for machine in machines if _is_outdated(plan, machine)]
    refuse_mirrors(outdated)
    if plan.pool.autoscale and (names := sorted(map(name, outdated))):
        raise MachineError("POOL-AUTOSCALED", evidence=names, pool=plan.pool.name, machines=", ".join(names))


def foresee_types(held: t.Iterable[Held], pool: Pool, surge: int) -> None:
    """Raise MachineError before any write if a new instance type needs more than max_surge."""
    old = [
        held_set
        for held_set in held
        if held_set.replicas and not any(is_of(held_set, candidate, pool) for candidate in pool.candidates)
    ]
    number = sum(held_set.replicas for held_set in old)
    if number > surge:
        kinds = ", ".join(sorted({held_set.candidate for held_set in old}))
        raise MachineError(
            "POOL-SURGE",
            evidence=[f"{held_set.name}: {held_set.replicas} of {held_set.candidate}" for held_set in old],
            pool=pool.name,
            machines=counted(number),
            types=kinds,
            number=number,
            surge=surge,
        )


def _is_outdated(plan: MachinePlan, machine: KubeObject) -> bool:
    manifest = plan.wanted.get(set_name(machine))
    return manifest is not None and phase(machine) != "Deleting" and bool(drift.of_machine(machine, manifest))


def restore(api: Api, snapshot: Snapshot) -> None:
    """Uncordon nodes that a run which is over cordoned for a change that is no longer wanted."""
    going = {node_name(one) for one in snapshot["machines"] if phase(one) == "Deleting" or is_given_up(one)}
    for node in snapshot["nodes"]:
        if (
            cordons.is_for(node, cordons.FOR_POOL)
            and node["metadata"]["name"] not in going
            and api.guard.is_over(cordons.run(node))
        ):
            drain_steps.uncordon(api, node["metadata"]["name"])
