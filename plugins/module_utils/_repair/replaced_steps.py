# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps after a replacement: wait until the new nodes offer the devices of the old one, and validate them."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, Snapshot, name, number_of
from .._core.readiness import Readiness, pending, ready
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._machines import machine as machine_facts
from .._machines.steps import nodes as node_steps
from .._machines.steps.nodes import GpuNodeParams
from .._nodes import claims as gpu_claims, devices
from .._workload import chosen, steps as validation_steps
from . import findings

VARIABLE: t.Final = "gpu_replace_validation"


class New(t.NamedTuple):
    """New Machines in a namespace, with the devices of each of their nodes. variable: of a playbook."""

    machines: t.Sequence[str]
    expected: t.Mapping[str, int]
    namespace: str
    variable: str


class GpuNodeWithValidation(GpuNodeParams):
    """The options of gpu_node. validation: of the new node, None for none."""

    validation: dict[str, t.Any] | None


def ensure(api: Api, params: GpuNodeWithValidation) -> dict[str, t.Any]:
    """Do what gpu_node is asked for, and validate the node of a new Machine if that is asked for too."""
    given = params["validation"]
    if given is None or params["state"] != "replaced":
        return node_steps.ensure(api, params)
    chosen.check(given, VARIABLE)
    old, _machine = node_steps.find(api, params["name"], params["namespace"])
    found = node_steps.ensure(api, params)
    if old and found["new_machines"]:
        new = New(found["new_machines"], findings.wanted(old), params["namespace"], VARIABLE)
        found["workload"] = validate(api, new, given)
    return found


def validate(api: Api, new: New, given: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Validate the nodes of new Machines once they offer their devices, and return what was measured."""
    queries = {
        "machines": Query(known("Machine"), new.namespace),
        "nodes": Query(known("Node")),
        **({"slices": Query(known("ResourceSlice"))} if given.get("claims") else {}),
    }
    snapshot = api.wait(queries, lambda seen: judge(seen, new), f"devices of {', '.join(new.machines)}")
    made = nodes(snapshot, new)
    expected: dict[str, t.Mapping[str, t.Any] | None] = {name(node): new.expected for node in made}
    with chosen.remedies(new.variable):
        params = chosen.validation(made, expected, api.deadline.remaining(), given)
        return t.cast(dict[str, t.Any], validation_steps.present(api, params)["workload"])


def nodes(snapshot: Snapshot, new: New) -> list[KubeObject]:
    """Return the nodes of the new Machines, with claims with what their ResourceSlices offer."""
    made = [machine for machine in snapshot["machines"] if name(machine) in new.machines]
    names = set(map(machine_facts.node_name, made))
    found = [node for node in snapshot["nodes"] if name(node) in names]
    if "slices" not in snapshot:
        return found
    return [gpu_claims.offering(node, snapshot["slices"]) for node in found]


def judge(snapshot: Snapshot, new: New) -> Readiness:
    """Return ready once each new Machine has a node with all its devices."""
    made = nodes(snapshot, new)
    lacking = [
        f"{name(node)}: {devices.offered(node, key)} of {number} {key}"
        for node in made
        for key, number in new.expected.items()
        if devices.offered(node, key) < number
    ]
    if len(made) < len(new.machines):
        lacking.append(f"{len(made)} of {number_of(len(new.machines), 'node')} there")
    if not lacking:
        return ready("Offered")
    return pending(
        "Devices",
        f"devices are missing: {'; '.join(lacking)}",
        code="GPU-ALLOC",
        remedy="Run diagnose.yml with the pools to see what the driver stack of the new node waits for.",
        details=tuple(lacking),
    )
