# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MachineSets as the cluster autoscaler sees them: node groups with a size, bounds and a template node."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from openshift_sandbox.stand_ins.core.conditions import holds
from openshift_sandbox.stand_ins.core.pod_fit import Room
from openshift_sandbox.stand_ins.core.quantities import amount, amounts
from openshift_sandbox.stand_ins.machine_api.machine_sets import members

Object = dict[str, t.Any]

MIN_SIZE: t.Final = "machine.openshift.io/cluster-api-autoscaler-node-group-min-size"
MAX_SIZE: t.Final = "machine.openshift.io/cluster-api-autoscaler-node-group-max-size"
ACCELERATOR: t.Final = "cluster-api/accelerator"
GPU: t.Final = "nvidia.com/gpu"
DELETED: t.Final = "ToBeDeletedByClusterAutoscaler"
UPSTREAM: t.Final = "capacity.cluster-autoscaler.kubernetes.io/"
OPENSHIFT: t.Final = "machine.openshift.io/"
MIB: t.Final = 2**20
DEFAULT_PODS: t.Final = 110.0
STARTUP_PREFIXES: t.Final = (
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
)
# The labels that a template copies from a node of the group; the stable zone label is not among them.
TAKEN_LABELS: t.Final = (
    *(
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
    ),
    *(
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
    ),
)


@dataclass(frozen=True)
class Group:
    """A node group. `template` is None where neither annotations nor a node describe a replica."""

    machine_set: Object
    target: int
    minimum: int
    maximum: int
    machines: list[Object] = field(default_factory=list)
    nodes: list[Object] = field(default_factory=list)
    ready: list[Object] = field(default_factory=list)
    template: Room | None = None

    @property
    def name(self) -> str:
        return str(self.machine_set["metadata"]["name"])

    @property
    def id(self) -> str:
        return f"MachineSet/{self.machine_set['metadata']['namespace']}/{self.name}"

    @property
    def upcoming(self) -> int:
        """Return how many ordered nodes are not ready: pods wait for them instead of ordering more."""
        return max(0, self.target - len(self.ready))


@dataclass(frozen=True)
class View:
    """What the autoscaler sees.

    `stable` says which nodes may be templates; `templates` keeps earlier ones, by set.
    """

    machines: list[Object]
    nodes: t.Sequence[Object]
    startup: t.Collection[str]
    stable: t.Callable[[Object], bool]
    templates: dict[str, Room] = field(default_factory=dict)


def group(machine_set: Object, view: View) -> Group | None:
    """Return the node group.

    None for a set without bounds, or at zero with annotations that describe nothing.
    """
    annotations = machine_set["metadata"].get("annotations") or {}
    try:
        bounds = int(annotations.get(MIN_SIZE, 0)), int(annotations.get(MAX_SIZE, 0))
    except ValueError:
        return None
    own, target = members(machine_set, view.machines), machine_set["spec"].get("replicas", 1)
    capacity = scale_from_zero(annotations)
    if (
        bounds[1] == 0
        or bounds[0] < 0
        or bounds[1] < bounds[0]
        or (target == 0 and not {"cpu", "memory"} <= capacity.keys())
    ):
        return None
    by_id = {one["spec"]["providerID"]: one for one in own if one["spec"].get("providerID")}
    registered = [node for node in view.nodes if node["spec"].get("providerID") in by_id]
    up = [
        node
        for node in registered
        if ready(node, view.startup) and _has_labels_of(by_id[node["spec"]["providerID"]], node)
    ]
    model, uid = (
        next((node for node in up if not node["spec"].get("unschedulable") and view.stable(node)), None),
        machine_set["metadata"]["uid"],
    )
    if model:
        view.templates[uid] = _of_node(model, view.startup)
    template = view.templates.get(uid) or _of_set(machine_set, capacity, registered, view.startup)
    return Group(machine_set, target, *bounds, own, registered, up, template)


def ready(node: Object, startup: t.Collection[str]) -> bool:
    """Return whether a node counts as ready.

    A node with the accelerator label counts once its GPUs exist; one without the label counts at once.
    """
    awaited = ACCELERATOR in (node["metadata"].get("labels") or {}) and not gpus(node)
    return (
        holds(node, "Ready")
        and not awaited
        and not any(is_startup(one, startup) for one in node["spec"].get("taints") or [])
    )


def _has_labels_of(machine: Object, node: Object) -> bool:
    """Return whether the labels of the Machine have come: a real node has them before it is Ready."""
    wanted = (machine["spec"].get("metadata") or {}).get("labels") or {}
    return wanted.items() <= (node["metadata"].get("labels") or {}).items()


def gpus(node: Object) -> float:
    """Return how many GPUs a node can allocate."""
    return amount((node.get("status", {}).get("allocatable") or {}).get(GPU, 0))


def is_startup(taint: Object, startup: t.Collection[str]) -> bool:
    """Return whether a taint belongs only to the start of a node."""
    return taint["key"] in startup or taint["key"].startswith(STARTUP_PREFIXES)


def scale_from_zero(annotations: t.Mapping[str, str]) -> dict[str, float]:
    """Return the capacity in annotations: upstream's keys before OpenShift's.

    Every GPU counts as nvidia.com/gpu, whatever gpu-type says.
    """
    cpu = amount(annotations.get(f"{UPSTREAM}cpu") or annotations.get(f"{OPENSHIFT}vCPU") or 0)
    memory = (
        amount(annotations.get(f"{UPSTREAM}memory") or 0)
        or amount(annotations.get(f"{OPENSHIFT}memoryMb") or 0) * MIB
    )
    disk = amount(annotations.get(f"{UPSTREAM}ephemeral-disk") or 0)
    count = amount(annotations.get(f"{UPSTREAM}gpu-count") or 0) or amount(
        annotations.get(f"{OPENSHIFT}GPU") or 0
    )
    pods = (
        amount(annotations.get(f"{UPSTREAM}maxPods") or annotations.get(f"{OPENSHIFT}maxPods") or 0)
        or DEFAULT_PODS
    )
    return {
        name: value
        for name, value in (
            ("cpu", cpu),
            ("memory", memory),
            ("ephemeral-storage", disk),
            (GPU, count),
            ("pods", pods),
        )
        if value
    }


def _of_set(
    machine_set: Object, capacity: dict[str, float], nodes: t.Sequence[Object], startup: t.Collection[str]
) -> Room | None:
    if not {"cpu", "memory"} <= capacity.keys():
        return None
    spec, annotations = (
        machine_set["spec"]["template"]["spec"],
        machine_set["metadata"].get("annotations") or {},
    )
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": f"{machine_set['metadata']['name']}-asg",
    }
    labels |= (spec.get("metadata") or {}).get("labels") or {}
    labels |= dict(
        part.split("=", 1) for part in (annotations.get(f"{UPSTREAM}labels") or "").split(",") if "=" in part
    )
    if nodes:
        known = nodes[0]["metadata"].get("labels") or {}
        labels |= {key: known[key] for key in TAKEN_LABELS if known.get(key)}
    return Room(labels, [one for one in spec.get("taints") or [] if not is_startup(one, startup)], capacity)


def _of_node(node: Object, startup: t.Collection[str]) -> Room:
    taints = [
        one
        for one in node["spec"].get("taints") or []
        if not is_startup(one, startup) and one["key"] != DELETED
    ]
    return Room(node["metadata"].get("labels") or {}, taints, amounts(node["status"].get("allocatable")))
