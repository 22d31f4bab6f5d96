# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health of an operator's stack, read only: what an upgrade waits for before its next step."""

from __future__ import annotations

import contextlib
import typing as t

from .._catalogue.well_known import GPU_PRESENT, WORKLOAD
from .._core.errors import ForbiddenError
from .._core.objects import KubeObject, Snapshot, name, number_of, oldest
from .._core.readiness import PENDING, Grace, Readiness, ready, worst
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._nfd import instance as nfd_instance
from .._nodes.labels import labels
from .._stack import stages, steps as stack_steps, virtual_machines
from .._stack.clusterpolicy import steps as policy_steps
from .._stack.clusterpolicy.node import CONTAINER
from .._stack.judge import GRACE, SLOW_GRACE
from .._stack.kmm import judge as kmm_judge
from .._stack.nicclusterpolicy import judge as nic_judge, steps as nic_steps
from .._stack.nvidiadriver import judge as driver_judge
from .._stack.operands import OPERATOR_LOG
from .._stack.params import LookParams, StackPool
from .._virtualization import steps as virtualization
from . import images, order

_NIC_PRESENT: t.Final = "feature.node.kubernetes.io/pci-15b3.present"
# Seconds for one node whose driver an operator replaces.
_NODE_TIMEOUT: t.Final = 600


class Target(t.NamedTuple):
    """What to judge. old: images of the release before, which no operand may run any longer."""

    package: str
    namespace: str
    old: frozenset[str] = frozenset()


def wait(api: Api, target: Target) -> str:
    """Wait until the operator's stack works, and return one line about what was judged.

    Raise NotReadyError or WaitTimeoutError with the cause. Writes nothing.
    """
    judged = {
        order.NFD: _nfd,
        order.GPU: _gpu,
        order.NETWORK: _network,
        order.KMM: _modules,
    }
    return judged[target.package](api, target)


def _gpu(api: Api, target: Target) -> str:
    policies = api.list_if_served(policy_steps.POLICY)
    if not policies:
        return "no ClusterPolicy: nothing to judge"
    drivers = api.list_if_served(known("NVIDIADriver"))
    nodes = api.list(known("Node"), labels=f"{GPU_PRESENT}=true")
    params = _params(name(oldest(policies)), target.namespace, _pool(GPU_PRESENT, len(nodes)))
    patience = Grace(api.clock, params.grace, driver_judge.PASSING)

    def others(snapshot: Snapshot) -> list[stages.Finding]:
        found = patience.harden(driver_judge.judge(snapshot, drivers, params.pools)) if drivers else []
        late = images.late(target.old, snapshot["daemonsets"], [*policies, *drivers])
        return [*found, *([_late(late)] if late else [])]

    queries = {"drivers": Query(known("NVIDIADriver"))} if drivers else {}
    policy_steps.observe_policy(api, params, policy_steps.ExtraCauses(queries, others))
    warn_of_names(api)
    return f"ClusterPolicy {params.name}: {number_of(len(nodes), 'GPU node')} ready"


def warn_of_names(api: Api) -> None:
    """Say which devices of virtual machines have a name since the upgrade that nobody permits."""
    nodes = [node for node in api.list(known("Node"), labels=WORKLOAD) if labels(node)[WORKLOAD] != CONTAINER]
    live = None
    with contextlib.suppress(ForbiddenError):
        live = virtualization.look(api) if nodes else None
    for text in virtual_machines.unpermitted(nodes, live).values() if live else ():
        api.warn(f"{text.code}: {text.message} {text.remedy}")


def _late(names: t.Sequence[str]) -> stages.Finding:
    message = f"The new operator has not brought its images to {', '.join(names[:5])} yet."
    return stages.on_object(PENDING, "Images", message, "GPU-CP-NOT-READY", OPERATOR_LOG)


def _network(api: Api, target: Target) -> str:
    if not api.list_if_served(nic_steps.POLICY):
        return "no NicClusterPolicy: nothing to judge"
    nodes = api.list(known("Node"), labels=f"{_NIC_PRESENT}=true")
    params = _params(nic_steps.NAME, target.namespace, _pool(_NIC_PRESENT, len(nodes)))
    others = nic_steps.node_policies(api.list_if_served(nic_steps.NODE_POLICY))
    queries = {"policies": Query(nic_steps.POLICY), **others, **stack_steps.stack_queries(params)}

    def result(seen: Snapshot, findings: list[stages.Finding]) -> dict[str, t.Any]:
        return nic_judge.summarize(seen, params.pools, [], findings)

    judge = nic_judge.judging(params, [], api.clock)
    stack_steps.observe(api, params, stack_steps.Wait("NIC stack", queries, judge, nic_judge.PODS, result))
    return f"NicClusterPolicy {nic_steps.NAME}: {number_of(len(nodes), 'node')} ready"


def _nfd(api: Api, target: Target) -> str:
    kind = known("NodeFeatureDiscovery")
    if not api.list_if_served(kind):
        return "no NodeFeatureDiscovery: nothing to judge"
    queries = {
        "instances": Query(kind, target.namespace),
        "daemonsets": Query(known("DaemonSet"), target.namespace),
        "deployments": Query(known("Deployment"), target.namespace),
    }
    patience = Grace(api.clock, SLOW_GRACE, ("NFD-DEGRADED",))

    def judge(seen: Snapshot) -> Readiness:
        found = patience.harden([nfd_instance.judge(one, name(one)) for one in seen["instances"]])
        workloads = [*seen["daemonsets"], *seen["deployments"]]
        late = [
            *images.late(target.old, workloads, seen["instances"]),
            *(name(one) for one in seen["daemonsets"] if not _is_rolled_out(one)),
        ]
        if late:
            why = ": the new operator has not rolled it out"
            found.append(nfd_instance.not_ready(", ".join(late), target.namespace, why))
        return worst(found) if found else ready("Available")

    seen = api.wait(queries, judge, "Node Feature Discovery", _settle(api))
    return f"NodeFeatureDiscovery {', '.join(name(one) for one in seen['instances'])}: available"


def _is_rolled_out(daemonset: KubeObject) -> bool:
    status = daemonset.get("status") or {}
    wanted = status.get("desiredNumberScheduled", 0)
    is_seen = status.get("observedGeneration", 0) >= daemonset["metadata"].get("generation", 0)
    is_new = bool(status.get("updatedNumberScheduled", wanted) >= wanted)
    return is_seen and is_new and bool(status.get("numberReady", 0) >= wanted)


def _modules(api: Api, target: Target) -> str:
    if not api.list_if_served(known("Module")):
        return "no Module: nothing to judge"

    def judge(seen: Snapshot) -> Readiness:
        found = [kmm_judge.judge_numbers(one) for one in seen["modules"]]
        return worst(found) if found else ready("Loaded")

    seen = api.wait({"modules": Query(known("Module"))}, judge, "kernel modules", _settle(api))
    return f"{number_of(len(seen['modules']), 'Module')} of KMM loaded"


def _settle(api: Api) -> float:
    """Return how long a verdict has to hold: after a write the status may still be the old one."""
    return stack_steps.REACTION if api.changes else 0.0


def _pool(label: str, count: int) -> list[StackPool]:
    """Return the nodes that have the label now, as one pool that keeps its size."""
    return [{"name": "all", "node_selector": {label: "true"}, "min_nodes": count}] if count else []


def _params(object_name: str, namespace: str, pools: list[StackPool]) -> LookParams:
    return LookParams(
        name=object_name,
        namespace=namespace,
        pools=pools,
        node_timeout=_NODE_TIMEOUT,
        grace=GRACE,
        slow_grace=SLOW_GRACE,
    )
