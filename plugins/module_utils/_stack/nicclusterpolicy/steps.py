# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Backend nicclusterpolicy: NVIDIA's network adapters. The order is NFD, then this, then the GPU driver, which builds nvidia-peermem against it."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    KindNotServedError,
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.adopt_or_apply import (
    blamed,
    keep,
    look,
    told,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import common_selector
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import (
    check_pools,
    nodes_of,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import diagnose
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    steps as clusterpolicy_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import (
    judge as nic_judge,
    manifest as nic_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy.result import (
    summarize,
)

Data = dict[str, t.Any]
NAME: t.Final = nic_manifest.NAME
NAMESPACE: t.Final = "nvidia-network-operator"
POLICY: t.Final = known("NicClusterPolicy")
_GPU_DRIVER: t.Final = "app.kubernetes.io/component=nvidia-driver"
# Start of a code -> fields of somebody else's policy that it may come from.
CAUSES: t.Final = {
    "NIC-TAINT": ("spec.tolerations",),
    "NIC-ALLOC": ("spec.rdmaSharedDevicePlugin", "spec.sriovDevicePlugin"),
    "NIC-": ("spec.",),
}


def check(params: Data) -> None:
    nic_manifest.check(params)
    check_pools(params["pools"])


def present(api: Api, params: Data) -> Data:
    here = {"metadata": {"name": NAME}}
    try:
        live = look(api, POLICY, here)
    except KindNotServedError as exc:
        diagnose.explain_absent(api, NAME, params["namespace"], nic_judge.CHAIN, exc)
        raise
    manifest = nic_manifest.build(
        params, nic_manifest.images_of(clusterpolicy_steps.versions(api, params)), live
    )
    stranger = keep(api, POLICY, manifest, params["adopt"], live)
    with blamed(stranger, CAUSES):
        snapshot = observe(api, params, clusterpolicy_steps.settling(api, params))
    rebuild = outlived(api, params, snapshot)
    summary = summarize(snapshot, params["pools"], nic_manifest.offered(params))
    return {**summary, "rebuild": rebuild, **told(stranger)}


def observe(api: Api, params: Data, settle: float) -> dict[str, list[Data]]:
    queries = {
        "policies": Query(POLICY),
        "nodes": Query(
            known("Node"), labels=common_selector([pool["node_selector"] for pool in params["pools"]])
        ),
        "daemonsets": Query(known("DaemonSet"), params["namespace"]),
        "pods": Query(known("Pod"), params["namespace"]),
        "revisions": Query(known("ControllerRevision"), params["namespace"]),
    }
    judge, offered = nic_judge.judging(params, api.clock), nic_manifest.offered(params)
    try:
        snapshot = api.wait(queries, judge, "NIC stack", settle)
    except (NotReadyError, WaitTimeoutError) as exc:
        diagnose.explain(
            api,
            params["namespace"],
            judge,
            exc,
            nic_judge.PODS,
            lambda seen, parts: summarize(seen, params["pools"], offered, parts),
        )
        raise
    if note := next((one for one in judge.parts if one.reason == "OthersNotReady"), None):
        api.warn(note.message)
    return snapshot


def outlived(api: Api, params: Data, snapshot: dict[str, list[Data]]) -> list[str]:
    """Nodes whose GPU driver has to be built again, and a warning that says how; looked at only after a change of ours."""
    if not api.changes or api.check_mode:
        return []
    nodes = {
        node["metadata"]["name"] for pool in params["pools"] for node in nodes_of(snapshot["nodes"], pool)
    }
    found = nic_judge.outlived(nodes, snapshot["pods"], api.list(known("Pod"), labels=_GPU_DRIVER))
    if found:
        api.warn(
            f"The GPU driver of {', '.join(found)} was built before the NIC driver that runs now, so nvidia-peermem may not load: rebuild it node by node, "
            f"`oc label node {found[0]} nvidia.com/gpu-driver-upgrade-state=upgrade-required --overwrite`."
        )
    return found


def absent(api: Api, params: Data) -> Data:
    if api.delete(POLICY, NAME):
        api.wait(
            {"daemonsets": Query(known("DaemonSet"), params["namespace"])},
            nic_judge.judge_gone,
            "NIC stack leaves",
        )
    return {"name": NAME, "state": "absent", "reason": "", "components": [], "nodes": []}
