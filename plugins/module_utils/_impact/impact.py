# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a write ends: which pods with devices, on which nodes, why, by whom, and in what order.

A write that may end pods counts as one that ends them.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, number_of
from .._nodes import drain
from .._nodes.labels import labels
from .._nodes.taints import matches

FAIL: t.Final = "fail"
DRAIN: t.Final = "drain"
WAIT: t.Final = "wait"
REMEDY: t.Final = (
    "Set gpu_on_busy: wait (module option on_busy) to write only when these pods have ended, "
    "or gpu_on_busy: drain to let them end now."
)
_SHOWN: t.Final = 200


@dataclass(frozen=True)
class Ending:
    """A pod that a write ends.

    owner: kind and name of its controller, or empty. devices: such as `2 GPU`; none if the pod ends only with
    its gang.
    """

    node: str
    namespace: str
    pod: str
    owner: str
    devices: tuple[str, ...]

    @property
    def title(self) -> str:
        """Return namespace/name of the pod."""
        return f"{self.namespace}/{self.pod}"

    @property
    def line(self) -> str:
        """Return node, pod, controller and devices as one line."""
        by = f" of {self.owner}" if self.owner else ""
        return f"{self.node}: pod {self.title}{by}: {', '.join(self.devices) or 'no device'}"


@dataclass(frozen=True)
class Impact:
    """What one write ends.

    cause: why, as a clause. by: who ends the pods. nodes: the nodes that the write reaches. order: in what
    order. is_certain: False if the write only may end them.
    """

    cause: str
    by: str
    nodes: tuple[str, ...]
    endings: tuple[Ending, ...]
    is_certain: bool
    order: str = "node by node"

    @property
    def line(self) -> str:
        """Return one sentence: how many pods end, why, by whom, and in what order."""
        spaces = len({one.namespace for one in self.endings})
        nodes = len({one.node for one in self.endings})
        others = sum(not one.devices for one in self.endings)
        more = f" and {number_of(others, 'other pod')} of their gangs" if others else ""
        pods = number_of(len(self.endings) - others, "GPU pod")
        what = f"{pods}{more} of {number_of(spaces, 'namespace')}"
        verb = "end" if len(self.endings) > 1 else "ends"
        doing = verb if self.is_certain else "may end"
        return (
            f"{what} on {number_of(nodes, 'node')} {doing}, because {self.cause}; by: {self.by}; "
            f"order: {self.order}"
        )


@dataclass(frozen=True)
class Question:
    """What to find out before a write: the pods with devices on the nodes that it reaches.

    labels: the selector of these nodes. node_selector: further labels that they have. reaches: whether the
    write reaches a node with these labels; None for every node.
    """

    cause: str
    by: str
    labels: str
    node_selector: t.Mapping[str, str] = field(default_factory=dict)
    is_certain: bool = True
    order: str = "node by node"
    reaches: t.Callable[[t.Mapping[str, str]], bool] | None = None

    def answer(self, nodes: t.Iterable[KubeObject], pods: t.Iterable[KubeObject]) -> Impact | None:
        """Return the impact on these nodes, which `labels` selects; None if nothing ends."""
        names = sorted(
            node["metadata"]["name"]
            for node in nodes
            if matches(self.node_selector, labels(node))
            and (self.reaches is None or self.reaches(labels(node)))
        )
        found = tuple(endings(pods, names))
        if not found:
            return None
        return Impact(self.cause, self.by, tuple(names), found, self.is_certain, self.order)


def endings(pods: t.Iterable[KubeObject], nodes: t.Collection[str]) -> list[Ending]:
    """Return the pods with devices that end when these nodes lose their devices, by node and name."""
    found = [ending(pod) for pod in drain.busy(pods) if drain.node_of(pod) in nodes]
    return sorted(found, key=lambda one: (one.node, one.namespace, one.pod))


def ending(pod: KubeObject) -> Ending:
    """Return the pod as one that ends, whether it has devices or not."""
    place = (drain.node_of(pod), pod["metadata"]["namespace"], pod["metadata"]["name"])
    return Ending(*place, drain.owner(pod), tuple(_devices(pod["spec"])))


def _devices(spec: KubeObject) -> t.Iterator[str]:
    counted: dict[str, int] = {}
    for one in [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]:
        resources = one.get("resources") or {}
        for key, value in {**(resources.get("requests") or {}), **(resources.get("limits") or {})}.items():
            if key.startswith(drain.DEVICES) and str(value).isdigit() and int(value):
                counted[key] = counted.get(key, 0) + int(value)
    yield from (f"{number} {key}" for key, number in sorted(counted.items()))
    yield from (f"claim {one['name']}" for one in spec.get("resourceClaims") or [])


def as_result(impacts: t.Iterable[Impact]) -> list[dict[str, t.Any]]:
    """Return the value of the result's key `ends`: one map for each impact."""
    return [
        {
            "because": one.cause,
            "by": one.by,
            "order": one.order,
            "certain": one.is_certain,
            "nodes": list(one.nodes),
            "pods": [
                {
                    "node": ending.node,
                    "namespace": ending.namespace,
                    "name": ending.pod,
                    "owner": ending.owner,
                    "devices": list(ending.devices),
                }
                for ending in one.endings
            ],
        }
        for one in impacts
    ]


def lines(impacts: t.Iterable[Impact]) -> list[str]:
    """Return one sentence for each impact, then one line for each pod that ends."""
    given = list(impacts)
    pods = list(dict.fromkeys(ending.line for one in given for ending in one.endings))
    more = [f"and {len(pods) - _SHOWN} more pods"] if len(pods) > _SHOWN else []
    return [*(one.line for one in given), *pods[:_SHOWN], *more]


def refusal(impacts: t.Sequence[Impact], code: str, so_far: str = "Nothing was changed.") -> AcceleratorError:
    """Return the failure of `on_busy: fail`: it names nodes and pods, and its facts have the key `ends`.

    so_far: a sentence that says what the task has changed.
    """
    pods = list(dict.fromkeys(one for impact in impacts for one in impact.endings))
    named = [f"{one.title} on {one.node}" for one in pods]
    shown = ", ".join(named[:10]) + (f" and {len(named) - 10} more" if len(named) > 10 else "")
    message = f"{'. '.join(one.line for one in impacts)}. The pods: {shown}. {so_far}"
    return AcceleratorError(code, message, REMEDY, lines(impacts), facts={"ends": as_result(impacts)})
