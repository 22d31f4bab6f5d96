# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backend nicclusterpolicy: the stack of NVIDIA's network adapters.

Install NFD first, then this stack, then the GPU driver, which builds nvidia-peermem for the NIC driver.
"""

from __future__ import annotations

import contextlib
import typing as t

from ..._core import fields
from ..._core.errors import KindNotServedError
from ..._core.objects import KubeObject, Snapshot, at, name
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
from ..._nodes.pool_nodes import check_pools, nodes_of
from ..clusterpolicy import preconditions
from ..params import StackParams, StackPool
from ..steps import Wait, installed_csvs, observe, stack_queries
from . import manifest
from .judge import CHAIN, PODS, judge_gone, judging, outlived, summarize

NAME: t.Final = manifest.NAME
NAMESPACE: t.Final = manifest.NAMESPACE
POLICY: t.Final = known("NicClusterPolicy")
_GPU_DRIVER: t.Final = "app.kubernetes.io/component=nvidia-driver"
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
    images = manifest.images_of(installed_csvs(api, params.namespace))
    wanted = manifest.build(params, images, live)
    ends = _ends(api, params, live, wanted)
    other = adopt_or_apply(api, POLICY, wanted, params.adopt, live)
    pools, offered = params.pools, manifest.offered(params)
    wait = Wait(
        "NIC stack",
        {"policies": Query(POLICY), **stack_queries(params)},
        judging(params, offered, api.clock),
        PODS,
        lambda seen, findings: summarize(seen, pools, offered, findings),
    )
    with naming_differences(other, CAUSES):
        snapshot = observe(api, params, wait)
    rebuild = _nodes_to_rebuild(api, pools, snapshot)
    return {**summarize(snapshot, pools, offered), "rebuild": rebuild, **as_result(other), "ends": ends}


def _ends(
    api: Api, params: StackParams, live: KubeObject | None, wanted: KubeObject
) -> list[dict[str, t.Any]]:
    if live is not None and not (owned(live) or params.adopt == "take"):
        return []
    preconditions.check_references(api, params, live, fields.applied(live, wanted))
    if live is None:
        return []
    if owned(live):
        refuse_conflicts(live, wanted, params.adopt)
    questions = policy_fields.of_nic(live, fields.applied(live, wanted))
    return consent.ask(api, questions, params.on_busy, "NIC-BUSY")


def _nodes_to_rebuild(api: Api, pools: list[StackPool], snapshot: Snapshot) -> list[str]:
    """Return nodes whose GPU driver must be rebuilt, and warn of them; empty if this task changed nothing."""
    if not api.changes or api.check_mode:
        return []
    nodes = {name(node) for pool in pools for node in nodes_of(snapshot["nodes"], pool)}
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
            asked = Question(cause, by, driver.NIC_NODES, is_certain=False, order=order, counts=counts)
            ends = consent.ask(api, [asked], params.on_busy, "NIC-BUSY")
    if api.delete(POLICY, NAME):
        queries = {"daemonsets": Query(known("DaemonSet"), params.namespace)}
        api.wait(queries, judge_gone, "NIC stack leaves")
    return {"name": NAME, "state": "absent", "reason": "", "components": [], "nodes": [], "ends": ends}
