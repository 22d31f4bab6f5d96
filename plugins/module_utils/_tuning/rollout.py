# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the coming writes make nodes do: which nodes reboot, in what order, and which pods with GPUs end."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from .._catalogue.well_known import ZONE
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name, number_of
from .._impact import impact
from .._impact.impact import Ending, Impact, Question
from .._nodes import drain
from .._nodes.labels import labels
from . import pool_judge

BY: t.Final = "the machine-config operator"
_ORDER: t.Final = "by zone and age"


@dataclass(frozen=True)
class Reboot:
    """The nodes of one pool that reboot.

    name: of the GPU pool. path: of the option. because: a clause. nodes: in their order. at_once: how many of
    them at the same time, a number or a percentage. endings: the pods with GPUs that end there.
    """

    name: str
    path: str
    because: str
    nodes: tuple[str, ...]
    at_once: str
    endings: tuple[Ending, ...]

    @property
    def line(self) -> str:
        """Return one sentence that names the nodes in their order, and the number of pods."""
        end = "ends" if len(self.endings) == 1 else "end"
        pods = f", where {number_of(len(self.endings), 'GPU pod')} {end}" if self.endings else ""
        verb = "reboots" if len(self.nodes) == 1 else "reboot"
        return (
            f"pool {self.name}: {', '.join(self.nodes)} {verb}, {self.at_once} at a time, "
            f"because {self.because}{pods}"
        )

    def as_result(self) -> dict[str, t.Any]:
        """Return the reboot as JSON, for a module's result and the report of the plan."""
        pods = [{"node": one.node, "namespace": one.namespace, "name": one.pod} for one in self.endings]
        return {
            "pool": self.name,
            "because": self.because,
            "by": BY,
            "nodes": list(self.nodes),
            "at_once": self.at_once,
            "pods": pods,
        }


@dataclass(frozen=True)
class RebootQuestion(Question):
    """The question about some of the nodes that `labels` selects. names: of these nodes."""

    names: frozenset[str] = frozenset()
    counts: t.Callable[[KubeObject], bool] = drain.uses_devices

    def answer(self, nodes: t.Iterable[KubeObject], pods: t.Iterable[KubeObject]) -> Impact | None:
        """Return the impact on the named nodes; None if nothing ends."""
        return super().answer([node for node in nodes if name(node) in self.names], pods)


def in_order(nodes: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Return the nodes as the machine-config operator takes them: by zone, then by age; without zone last."""
    return sorted(
        nodes,
        key=lambda one: (
            ZONE not in labels(one),
            labels(one).get(ZONE, ""),
            str(one["metadata"].get("creationTimestamp") or ""),
            name(one),
        ),
    )


def at_once(pool: KubeObject | None) -> str:
    """Return how many nodes of the pool the operator updates at the same time."""
    return str(((pool or {}).get("spec") or {}).get("maxUnavailable") or 1)


def reboot(
    pool: str,
    path: str,
    because: str,
    nodes: t.Iterable[KubeObject],
    live: KubeObject | None,
    pods: t.Iterable[KubeObject],
) -> Reboot:
    """Return the reboot of these nodes. live: the MachineConfigPool whose maxUnavailable counts."""
    names = tuple(map(name, in_order(nodes)))
    return Reboot(pool, path, because, names, at_once(live), tuple(impact.endings(pods, names)))


def behind(nodes: t.Iterable[KubeObject], pool: KubeObject | None) -> list[KubeObject]:
    """Return the nodes that do not run the configuration of the MachineConfigPool."""
    config = pool_judge.target(pool or {})
    return [node for node in nodes if not pool_judge.is_at(node, config)]


def question(found: Reboot, selector: str) -> RebootQuestion:
    """Return what to ask before the write that makes the nodes reboot."""
    order = f"{', '.join(found.nodes)} ({_ORDER}), {found.at_once} at a time"
    cause = f"nodes reboot: {found.because}"
    return RebootQuestion(cause, BY, selector, order=order, names=frozenset(found.nodes))


def refuse(reboots: t.Sequence[Reboot]) -> None:
    """Raise REBOOT-NEVER for pools whose nodes would reboot although their tuning says `reboot: never`."""
    if not reboots:
        return
    paths = ", ".join(f"{one.path}.reboot" for one in reboots)
    lines = [one.line for one in reboots]
    pods = [ending.line for found in reboots for ending in found.endings]
    raise AcceleratorError(
        "REBOOT-NEVER",
        evidence=[*lines, *pods],
        facts={"reboots": [one.as_result() for one in reboots]},
        paths=paths,
        reboots=". ".join(lines),
    )
