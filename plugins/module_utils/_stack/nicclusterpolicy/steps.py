# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backend nicclusterpolicy: the stack of NVIDIA's network adapters.

Install NFD first, then this stack, then the GPU driver, which builds nvidia-peermem for the NIC driver.
"""

from __future__ import annotations

import contextlib
import typing as t

from ..._core import fields
from ..._core.errors import AcceleratorError, ForbiddenError, KindNotServedError
from ..._core.objects import KubeObject, Snapshot, at
from ..._core.ownership import owned
from ..._frame.adopt_or_apply import (
    adopt_or_apply,
    as_result,
    live_object,
    naming_differences,
    refuse_conflicts,
)
from ..._impact import consent, driver, policy_fields
from ..._impact.impact import Question
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..._nodes import drain
from ..._nodes.pool_nodes import check_pools, names_of
from ..clusterpolicy import preconditions
from ..params import StackParams, StackPool
from ..steps import Wait, example_csvs, observe, stack_queries
from . import manifest, traffic
from .judge import CHAIN, PODS, judge_gone, judging, outlived, summarize

NAME: t.Final = manifest.NAME
NAMESPACE: t.Final = manifest.NAMESPACE
POLICY: t.Final = known("NicClusterPolicy")
NODE_POLICY: t.Final = known("NicNodePolicy")
_FORCED: t.Final = (
    f"NicClusterPolicy {NAME} has force or deleteEmptyDir in spec.ofedDriver.upgradePolicy.drain, as the "
    "operator's sample does: an upgrade of the NIC driver ends all pods of a node, also those that nothing "
    "makes again, with their data. Set nvidia_network_operator_adopt: take (module option adopt) to set both "
    "to false."
)
_GPU_DRIVER: t.Final = "app.kubernetes.io/component=nvidia-driver"
# Uses of adapters that a message lists.
_SHOWN: t.Final = 10
# Prefix of a code -> fields of a foreign policy that may cause it.
CAUSES: t.Final = {
    "NIC-TAINT": ("spec.tolerations",),
    "NIC-ALLOC": ("spec.rdmaSharedDevicePlugin", "spec.sriovDevicePlugin"),
    "NIC-": ("spec.",),
}


def check(params: StackParams) -> None:
    manifest.check(params)
    check_pools(params.pools)


def present(api: Api, params: StackParams) -> dict[str, t.Any]:
    try:
        live = live_object(api, POLICY, {"metadata": {"name": NAME}})
    except KindNotServedError as exc:
        from .. import diagnose

        diagnose.explain_absent(api, NAME, params.namespace, CHAIN, exc)
        raise
    images = manifest.images_of(example_csvs(api, params.namespace, live, manifest.PACKAGE))
    wanted = manifest.build(params, images, live)
    others = api.list_if_served(NODE_POLICY)
    ends = _ends(api, params, live, wanted, others)
    other = adopt_or_apply(api, POLICY, wanted, params.adopt, live)
    pools, offered = params.pools, manifest.offered(params)
    wait = Wait(
        "NIC stack",
        {"policies": Query(POLICY), **node_policies(others), **stack_queries(params)},
        judging(params, offered, api.clock),
        PODS,
        lambda seen, findings: summarize(seen, pools, offered, findings),
    )
    with naming_differences(other, CAUSES):
        snapshot = observe(api, params, wait)
    rebuild = _nodes_to_rebuild(api, pools, snapshot)
    return {**summarize(snapshot, pools, offered), "rebuild": rebuild, **as_result(other), "ends": ends}


def node_policies(others: t.Sequence[KubeObject]) -> dict[str, Query]:
    """Return what a wait looks at to see the NicNodePolicies; nothing if there are none."""
    return {"node_policies": Query(NODE_POLICY)} if others else {}


def _ends(
    api: Api,
    params: StackParams,
    live: KubeObject | None,
    wanted: KubeObject,
    others: t.Sequence[KubeObject],
) -> list[dict[str, t.Any]]:
    is_written = live is None or owned(live) or params.adopt == "take"
    after = fields.applied(live, wanted) if is_written or live is None else live
    if set(driver.forced([after])) - set(driver.forced([wanted])):
        api.warn(_FORCED)
    if not is_written:
        return []
    manifest.refuse_twice(wanted, others, params.spec)
    preconditions.check_references(api, params, live, after)
    if owned(live):
        refuse_conflicts(live, wanted, params.adopt)
    before = live or {**wanted, "spec": {}}
    questions = policy_fields.of_nic(before, after)
    if changes := driver.nic_changes(before, after):
        _refuse_traffic(api, params, f"{', '.join(changes[:3])} of NicClusterPolicy {NAME} changes")
    return consent.ask(api, questions, params.on_busy, "NIC-BUSY")


def _refuse_traffic(api: Api, params: StackParams, why: str) -> None:
    """Raise NIC-TRAFFIC if a node itself uses its NVIDIA adapters, unless the user accepts that."""
    nodes = api.list(known("Node"), labels=driver.NIC_NODES) if params.node_traffic != "accept" else []
    if not nodes:
        return
    states, networks = _shown(api, "SriovNetworkNodeState"), _shown(api, "NodeNetworkState")
    found = traffic.find(nodes, states, networks)
    if found.used:
        shown = "; ".join(found.used[:_SHOWN])
        raise AcceleratorError("NIC-TRAFFIC", why=why, uses=shown, evidence=found.used)
    if found.unknown:
        api.warn(
            f"{why}, and the task cannot tell whether {', '.join(found.unknown[:_SHOWN])} send through "
            "NVIDIA adapters (node network, storage, bridges): no NodeNetworkState of nmstate shows it. The "
            "adapters are away while the driver is replaced."
        )


def _shown(api: Api, kind: str) -> list[KubeObject]:
    """Return what the cluster has of the kind; nothing if it does not serve or show it."""
    with contextlib.suppress(ForbiddenError):
        return api.list_if_served(known(kind))
    return []


def _nodes_to_rebuild(api: Api, pools: list[StackPool], snapshot: Snapshot) -> list[str]:
    """Return nodes whose GPU driver must be rebuilt, and warn of them; empty if this task changed nothing."""
    if not api.changes or api.check_mode:
        return []
    nodes = names_of(snapshot["nodes"], pools)
    found = outlived(nodes, snapshot["pods"], api.list(known("Pod"), labels=_GPU_DRIVER))
    if found:
        label = "nvidia.com/gpu-driver-upgrade-state=upgrade-required --overwrite"
        api.warn(
            f"The GPU driver of {', '.join(found)} was built before the NIC driver that runs now, "
            "so nvidia-peermem may not load. Rebuild it node by node: run "
            f"`oc label node {found[0]} {label}`, which ends the pods with GPUs there."
        )
    return found


def absent(api: Api, params: StackParams) -> dict[str, t.Any]:
    ends: list[dict[str, t.Any]] = []
    with contextlib.suppress(KindNotServedError):
        live = api.get(POLICY, NAME)
        if owned(live) and at(live, "spec.ofedDriver"):
            cause = f"NicClusterPolicy {NAME} is deleted, and with it the NIC driver"
            by, order = "the garbage collector", "all nodes at once"
            counts = drain.uses_devices
            _refuse_traffic(api, params, cause)
            asked = Question(cause, by, driver.NIC_NODES, is_certain=False, order=order, counts=counts)
            ends = consent.ask(api, [asked], params.on_busy, "NIC-BUSY")
    if api.delete(POLICY, NAME):
        queries = {"daemonsets": Query(known("DaemonSet"), params.namespace)}
        api.wait(queries, judge_gone, "NIC stack leaves")
    return {"name": NAME, "state": "absent", "reason": "", "components": [], "nodes": [], "ends": ends}
