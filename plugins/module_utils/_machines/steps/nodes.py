# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain one node, make it schedulable again, or replace it by another machine of its set."""

from __future__ import annotations

import contextlib
import difflib
import time
import typing as t
from dataclasses import dataclass

from ..._core.errors import AcceleratorError, KindNotServedError
from ..._core.objects import KubeObject
from ..._core.ownership import owned, pool_of, selector
from ..._core.readiness import Readiness, pending, ready, worst
from ..._frame.argspec import LockParams, WaitParams
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..._nodes import cordons, drain_steps, node as node_facts
from ..._nodes.drain_judge import Rules
from .. import csr, machine as machine_facts
from ..machine_set import LOG, replicas_of
from ..options import DrainParams, JoiningParams
from . import health, pool_objects
from .joining import Joining

_LINK: t.Final = "machine.openshift.io/machine"
# On bare metal the new node has the old name, so a playbook that is started again would replace it once more.
_YOUNG: t.Final = 600.0


class GpuNodeParams(DrainParams, JoiningParams, LockParams, WaitParams):
    """The options of gpu_node."""

    name: str
    machine_uid: str | None
    state: t.Literal["schedulable", "drained", "replaced"]
    namespace: str


def ensure(api: Api, params: GpuNodeParams) -> dict[str, t.Any]:
    """Bring the node into the wanted state. Return the names of the node, of its Machine and of new Machines.

    Raise AcceleratorError if nothing of that name exists.
    """
    if params["approve_csrs"]:
        csr.require_package()
    node, machine = find(api, params["name"], params["namespace"])
    if node is None and machine is None:
        if params["state"] == "replaced" and params["machine_uid"]:
            api.warn(f"There is no node and no machine {params['name']}: it was replaced already.")
            return {"node": "", "machine": "", "machine_uid": "", "new_machines": []}
        raise absent(api, params["name"], params["namespace"])
    name = node_facts.name(node) if node else ""
    facts: dict[str, t.Any] = {
        "node": name,
        "machine": machine_facts.name(machine) if machine else "",
        "machine_uid": _uid(machine),
        "new_machines": [],
    }
    if params["state"] == "schedulable":
        if node and node_facts.is_cordoned(node):
            drain_steps.uncordon(api, name)
    elif params["state"] == "drained":
        drain_steps.drain(
            api,
            {name} - {""},
            Rules.of(params),
            f"Node {name} is to be drained",
            cordons.FOR_ADMIN,
        )
    elif warning := was_replaced(machine, name, params["machine_uid"]):
        api.warn(warning)
        return {**facts, "machine": "", "machine_uid": ""}
    else:
        facts["new_machines"] = replace(api, name, machine, params)
    return facts


def absent(api: Api, name: str, namespace: str) -> AcceleratorError:
    """Return the error about a name that nothing has, with the nearest names."""
    names = [node_facts.name(node) for node in api.list(known("Node"), metadata_only=True)]
    with contextlib.suppress(KindNotServedError):
        names += [machine_facts.name(machine) for machine in api.list(known("Machine"), namespace)]
    near = difflib.get_close_matches(name, names, n=3)
    also = f" Did you mean {' or '.join(near)}?" if near else ""
    return AcceleratorError("NODE-ABSENT", name=name, also=also)


def was_replaced(machine: KubeObject | None, node: str, wanted: str | None) -> str:
    """Return why nothing is replaced: the Machine whose uid is wanted is gone. Return "" if it is there."""
    if machine is None or wanted in (None, "", _uid(machine)):
        return ""
    return (
        f"The machine of node {node} is {machine_facts.name(machine)} with uid {_uid(machine)}. The one with "
        f"uid {wanted} is gone, so nothing was replaced."
    )


def refuse_young(machine: KubeObject, node: str, params: GpuNodeParams, now: float) -> None:
    """Raise NODE-YOUNG if a young Machine was named by its node alone. now: epoch seconds."""
    made = str(machine["metadata"].get("creationTimestamp") or "")
    age = machine_facts.seconds_since(made, now)
    if params["machine_uid"] or params["name"] != node or not made or age >= _YOUNG:
        return
    raise AcceleratorError(
        "NODE-YOUNG",
        machine=machine_facts.name(machine),
        node=node,
        seconds=f"{age:.0f}",
        uid=_uid(machine),
    )


def _uid(machine: KubeObject | None) -> str:
    return str(machine["metadata"].get("uid") or "") if machine else ""


def find(api: Api, name: str, namespace: str) -> tuple[KubeObject | None, KubeObject | None]:
    """Return the node and its Machine by the name of either."""
    node = api.get(known("Node"), name)
    try:
        if node is None:
            machine = api.get(known("Machine"), name, namespace)
            of = machine_facts.node_name(machine) if machine else ""
            return (api.get(known("Node"), of) if of else None), machine
        place, _slash, link = str((node["metadata"].get("annotations") or {}).get(_LINK, "")).rpartition("/")
        return node, api.get(known("Machine"), link, place or namespace) if link else None
    except KindNotServedError:
        return node, None


def _not_ours(node: str, set_name: str, namespace: str) -> AcceleratorError:
    """Return the failure for a node whose machine set is not ours; set_name: "" if it has none."""
    if set_name:
        what = f"this collection did not make its machine set {set_name}"
        remedy = f"machineset {set_name} -n {namespace}"
    else:
        what, remedy = "it has no machine set that would make another machine", f"node {node}"
    return AcceleratorError("NODE-FOREIGN", node=node, why=what, object=remedy)


def replace(api: Api, node: str, machine: KubeObject | None, params: GpuNodeParams) -> list[str]:
    """Drain the node, delete its Machine, and wait for the new one. Return the names of new Machines.

    Raise AcceleratorError if this collection did not make the machine set.
    """
    namespace = params["namespace"]
    machine, live = replaceable(api, node, machine, namespace)
    refuse_young(machine, node, params, time.time())
    drain_steps.check(api, {node} - {""}, Rules.of(params), _why(node, params))
    with health.paused(api, pool_of(live), namespace):
        return _another(api, node, machine, machine_facts.set_name(machine), params)


def replaceable(
    api: Api, node: str, machine: KubeObject | None, namespace: str
) -> tuple[KubeObject, KubeObject]:
    """Return the Machine and its set. Raise AcceleratorError if this collection did not make the set."""
    set_name = machine_facts.set_name(machine) if machine else ""
    live = api.get(known("MachineSet"), set_name, namespace) if set_name else None
    if machine is None or live is None or not owned(live):
        raise _not_ours(node, set_name if live else "", namespace)
    machine_facts.refuse_mirrors([machine])
    return machine, live


def _why(node: str, params: GpuNodeParams) -> str:
    return f"Node {node or params['name']} is to be replaced"


def _another(api: Api, node: str, machine: KubeObject, set_name: str, params: GpuNodeParams) -> list[str]:
    namespace = params["namespace"]
    drain_steps.drain(api, {node} - {""}, Rules.of(params), _why(node, params))
    pool_objects.unhook(api, namespace, [machine])
    before = {machine_facts.name(one) for one in _members(api, set_name, namespace)}
    api.delete(known("Machine"), machine_facts.name(machine), namespace, owned_only=False)
    queries = {
        "machine_sets": Query(known("MachineSet"), namespace, set_name),
        "machines": Query(known("Machine"), namespace, labels=selector({machine_facts.SET: set_name})),
        "nodes": Query(known("Node")),
    }
    judge = Whole(set_name, float(params["capacity_timeout"]))
    snapshot = Joining(api, params["approve_csrs"]).wait(
        queries, judge, lambda one: machine_facts.set_name(one) == set_name, f"machine set {set_name}"
    )
    return sorted(name for one in snapshot["machines"] if (name := machine_facts.name(one)) not in before)


@dataclass(frozen=True)
class Whole:
    """Judge whether the set has as many Machines as live replicas, and each is a Ready node."""

    name: str
    capacity_timeout: float

    def __call__(self, snapshot: t.Mapping[str, t.Sequence[KubeObject]]) -> Readiness:
        nodes = {node_facts.name(node): node for node in snapshot["nodes"]}
        living = [machine for machine in snapshot["machines"] if machine_facts.phase(machine) != "Deleting"]
        parts = [
            machine_facts.judge(
                one, nodes.get(machine_facts.node_name(one)), time.time(), self.capacity_timeout, self.name
            )
            for one in living
        ]
        wanted = sum(map(replicas_of, snapshot["machine_sets"]))
        if len(living) != wanted:
            text = f"machine set {self.name} has {len(living)} of {wanted} machines"
            parts.append(
                pending(
                    "Scaling",
                    text,
                    code="MACH-TIMEOUT",
                    remedy=LOG,
                    details=(text,),
                )
            )
        verdict = worst(parts)
        return (
            ready("Running", f"machines that are ready nodes: {len(living)}", details=verdict.details)
            if verdict.is_ready
            else verdict
        )


def _members(api: Api, set_name: str, namespace: str) -> list[KubeObject]:
    return api.list(known("Machine"), namespace, labels=selector({machine_facts.SET: set_name}))
