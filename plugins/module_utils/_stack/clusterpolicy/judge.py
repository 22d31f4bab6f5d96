# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the stack of a ClusterPolicy: the policy, its operands, the nodes and their new kernels.

A ready policy does not prove that pods can use the GPUs.
"""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ..._core.daemon_sets import is_made_by
from ..._core.errors import text_of
from ..._core.objects import KubeObject, Snapshot, name, named
from ..._core.readiness import PENDING, Grace, Readiness, ready, worst
from ..._nodes.node import short
from ..._nodes.pool_nodes import nodes_of
from ..._nodes.system import system
from .. import operands, stages
from ..drivers import kernel
from ..judge import OF_OPERANDS, ROLLOUT, StackJudge, harden_some, judge_pools, one_line_each, patience
from ..node import late_outside, ready_but_outside
from ..params import LookParams, StackPool
from ..stages import Finding, on_object
from ..upgrade import RUNNING, with_progress
from . import gpudirect
from .manifest import effective_tolerations
from .node import WITHHELD, judge_node
from .status import explains, judge_policy, judge_status

# NFD writes the labels, so they do not depend on the GPU operator.
_NEEDED: t.Final = (stages.DRIVER, stages.CRD, stages.LABELS)
_OF_NODES: t.Final = {
    stages.LABELS: (),
    stages.DRIVER: (stages.CRD, stages.LABELS),
    stages.TOOLKIT: _NEEDED,
    stages.PLUGIN: (stages.TOOLKIT, *_NEEDED),
    stages.VALIDATOR: (stages.TOOLKIT, stages.PLUGIN, *_NEEDED),
    stages.METRICS: (stages.TOOLKIT, *_NEEDED),
    stages.ALLOCATABLE: (stages.PLUGIN, stages.TOOLKIT, *_NEEDED),
}
CHAIN: t.Final = stages.chain(_OF_NODES, "gpu-operator")
# That of a policy with driver.rdma.enabled.
RDMA_CHAIN: t.Final = stages.chain({**_OF_NODES, gpudirect.STAGE: _NEEDED}, "gpu-operator")
# Stage -> prefixes of the pods whose logs say why it is not ready, the likeliest first.
PODS: t.Final = {
    stages.CRD: ("gpu-operator-",),
    stages.LABELS: ("gpu-operator-",),
    stages.DRIVER: ("nvidia-driver-", "nvidia-gpu-driver-", "nvidia-vgpu-", "nvidia-vfio-manager-"),
    gpudirect.STAGE: ("nvidia-driver-", "nvidia-gpu-driver-"),
    stages.TOOLKIT: ("nvidia-container-toolkit-",),
    stages.PLUGIN: ("nvidia-device-plugin-", "nvidia-sandbox-device-plugin-"),
    stages.VALIDATOR: (
        *("nvidia-operator-validator-", "nvidia-sandbox-validator-"),
        *("nvidia-device-plugin-", "nvidia-vfio-manager-"),
    ),
    stages.METRICS: ("nvidia-dcgm-",),
    stages.ALLOCATABLE: ("nvidia-mig-manager-", "nvidia-device-plugin-", "nvidia-vgpu-device-manager-"),
}
# Every healthy start shows these codes for a moment; one that lasts fails the task.
PASSING: t.Final = ("GPU-CP-RECONCILE", "GPU-NVD-LEFT", "GPU-WORKLOAD", *OF_OPERANDS, *kernel.PASSING)
# A driver may take minutes to build. But once the device plugin runs, or the operator says ready, the devices
# come within seconds or never.
DOUBTFUL: t.Final = ("GPU-ALLOC",)


class Judge(StackJudge):
    """The judge of a wait; it fails devices that stay missing, and shows how far a new kernel has come."""

    def __init__(self, params: LookParams, clock: t.Callable[[], float]) -> None:
        super().__init__(
            lambda snapshot: judge(snapshot, params.name, params.pools),
            RDMA_CHAIN,
            patience(params, clock, PASSING),
        )
        self._params = params
        self._doubt = Grace(clock, params.grace, DOUBTFUL)
        self._kernels = KernelChain()

    def harden(self, findings: t.Sequence[Finding]) -> list[Finding]:
        """Return the findings; those about missing devices fail too, once devices should be there."""
        findings = super().harden(findings)
        is_claimed = findings[-1].is_ready and all(
            one.code not in (RUNNING, "GPU-CP-NOT-READY") for one in findings
        )
        doubtful = [is_claimed or one.reason.startswith(WITHHELD) for one in findings]
        return harden_some(self._doubt, findings, doubtful)

    def verdict(self, snapshot: Snapshot) -> Readiness:
        """Return the worst finding, with lines that show how far a new kernel has come."""
        verdict = worst(self.findings)
        if verdict.is_ready:
            message = "Every node runs every operand and offers what its pool promises."
            return ready("Reconciled", message)
        return verdict if verdict.is_failed else replace(verdict, details=self._lines(snapshot))

    def _lines(self, snapshot: Snapshot) -> tuple[str, ...]:
        nodes = [node for pool in self._params.pools for node in nodes_of(snapshot["nodes"], pool)]
        policy = named(snapshot["policies"], self._params.name)
        return self._kernels.tell(one_line_each(self.findings), nodes, policy, snapshot)


def judge(snapshot: Snapshot, object_name: str, pools: t.Sequence[StackPool]) -> list[Finding]:
    """Return the findings, causes before consequences; the last is the status of the policy."""
    policy = named(snapshot["policies"], object_name)
    if not policy:
        text = text_of("GPU-CP-ABSENT", policy=object_name)
        return [on_object(PENDING, "NoPolicy", **text._asdict(), waits=True)]
    findings = [
        judge_policy(policy, snapshot),
        *judge_pools(snapshot, pools, lambda node, pool, view: judge_node(node, pool, policy, view)),
        *judge_rollout(policy, snapshot["daemonsets"]),
    ]
    number = sum(len(nodes_of(snapshot["nodes"], pool)) for pool in pools)
    findings = with_progress(findings, number)
    status = judge_status(policy, number > 0)
    if not status.is_ready and all(one.is_ready for one in findings):
        late = late_outside(snapshot, pools)
        if explains(late, policy):
            status = ready_but_outside(late, f"ClusterPolicy {object_name}")
    return [*findings, status]


def judge_rollout(policy: KubeObject, daemonsets: t.Iterable[KubeObject]) -> list[Finding]:
    """Return a finding while the operator has not brought the policy to its DaemonSets.

    The conditions of a policy have no generation, so the DaemonSets are compared with the spec.
    """
    spec = policy.get("spec") or {}
    tolerated = {_plain(one) for one in effective_tolerations(policy)}
    late = []
    for one in daemonsets:
        if not is_made_by(one, "ClusterPolicy", name(policy)):
            continue
        component = operands.component(one)
        if not tolerated <= {_plain(entry) for entry in operands.tolerations(one)}:
            late.append(f"{component} (tolerations)")
        version = (spec.get(operands.COMPONENTS.get(component) or "") or {}).get("version")
        if version and not operands.runs_version(one, str(version)):
            late.append(f"{component} (version {version})")
    if not late:
        return []
    shown = ", ".join(sorted(late)[:3]) + (f" and {len(late) - 3} more" if len(late) > 3 else "")
    text = text_of("GPU-CP-NOT-READY", policy=name(policy), why=f"it is not applied yet to {shown}")
    return [on_object(PENDING, ROLLOUT, **text._asdict())]


def _plain(entry: KubeObject) -> tuple[str, ...]:
    """Return a toleration as a tuple; tolerations with the same meaning give the same tuple."""
    given = (entry.get("key"), entry.get("operator") or "Equal", entry.get("value"), entry.get("effect"))
    return tuple(one or "" for one in given)


class KernelChain:
    """The first kernel seen on each node; a node that now runs another goes through the steps in LINKS."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def tell(
        self, lines: t.Sequence[str], nodes: t.Iterable[KubeObject], policy: KubeObject, snapshot: Snapshot
    ) -> tuple[str, ...]:
        """Return the lines; a line of a node whose kernel changed also shows the node's step in LINKS."""
        places = {
            short(node["metadata"]["name"]): place
            for node in nodes
            if (place := self._place(node, policy, snapshot))
        }
        told = [
            f"{name}: {places.pop(name)}: {phrase}" if name in places else line
            for line in lines
            for name, _colon, phrase in [line.partition(": ")]
        ]
        return (*told, *(f"{name}: {place}" for name, place in sorted(places.items())))

    def _place(self, node: KubeObject, policy: KubeObject, snapshot: Snapshot) -> str:
        now = system(node).kernel
        first = self._first.setdefault(node["metadata"]["name"], now)
        if now == first:
            return ""
        link = kernel.match(node, policy, snapshot).link
        where = f"step {kernel.LINKS.index(link) + 1} of {len(kernel.LINKS)} ({link})" if link else "done"
        return f"kernel {_brief(first)} -> {_brief(now)}, {where}"


def _brief(release: str) -> str:
    """Return a kernel without distribution and architecture: 5.14.0-570.12.1 of …1.el9_6.x86_64."""
    return release.partition(".el")[0]
