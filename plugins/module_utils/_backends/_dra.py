# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Backend dra: a GPUCluster, whose DRA driver publishes GPUs as ResourceSlices, and NVIDIADriver objects that bring the driver."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _cluster_policy as cluster_policy
from ansible_collections.accelerators.openshift.plugins.module_utils import _gpu_cluster as gpu_cluster
from ansible_collections.accelerators.openshift.plugins.module_utils import _gpu_cluster_truth as gpu_truth
from ansible_collections.accelerators.openshift.plugins.module_utils import _nvidia_driver as nvidia_driver
from ansible_collections.accelerators.openshift.plugins.module_utils import _stack
from ansible_collections.accelerators.openshift.plugins.module_utils._backends import (
    _clusterpolicy as clusterpolicy,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._backends import (
    _nvidiadriver as nvidiadriver,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._cluster_policy_default import (
    example,
    example_driver,
    example_of,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    KindNotServedError,
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.grace import Patience
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._gpu_cluster_summary import summarize
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import slices
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import common_selector
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import check_pools
from ansible_collections.accelerators.openshift.plugins.module_utils._procedures import (
    _stage_facts as stage_facts,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_part import Part
from ansible_collections.accelerators.openshift.plugins.module_utils._stage_judge import Judge

Data = dict[str, t.Any]
NAME: t.Final = gpu_cluster.NAME
NAMESPACE: t.Final = clusterpolicy.NAMESPACE
CLUSTER: t.Final = known("GPUCluster")
SLICE: t.Final = known("ResourceSlice")


def check(params: Data) -> None:
    gpu_cluster.check(params)
    nvidia_driver.check(params)
    check_pools(params["pools"])


def present(api: Api, params: Data) -> Data:
    refuse_old_cluster(api)
    gpu_cluster.refuse_policy(api.list(clusterpolicy.POLICY) if api.served(clusterpolicy.POLICY) else [])
    csvs = clusterpolicy.versions(api, params)
    section = cluster_policy.merge(
        example(csvs).get("driver") or {}, cluster_policy.asked(params).get("driver") or {}
    )
    wanted = nvidia_driver.build(params, section, example_driver(csvs))
    there = _drivers(api, params)
    nvidiadriver.settle_selectors(api, wanted, there, params)
    nvidiadriver.refuse_unmade(api, params, wanted, there)
    differs = nvidiadriver.keep(api, params, wanted, there)
    live = api.get(CLUSTER, NAME) if api.served(CLUSTER) or not api.check_mode else None
    manifest = gpu_cluster.build(params, example_of("GPUCluster", csvs), live)
    if live is None or owned(live):
        api.apply(manifest, force_conflicts=live is not None, live=live)
    else:
        differs += clusterpolicy.settle_foreign(api, params, CLUSTER, manifest["spec"], live)
    snapshot = observe(api, params, wanted)
    return {**summarize(snapshot, params["pools"], wanted), "differs": differs}


def _drivers(api: Api, params: Data) -> list[Data]:
    """Where the kind is not served, an operator that check mode only foretells may bring it."""
    if api.check_mode and not api.served(nvidiadriver.DRIVER):
        return []
    try:
        return api.list(nvidiadriver.DRIVER)
    except KindNotServedError as exc:
        stage_facts.explain_absent(api, NAME, params["namespace"], gpu_truth.CHAIN, exc)
        raise


def refuse_old_cluster(api: Api, otherwise: str = "backend clusterpolicy") -> None:
    if api.served(SLICE):
        return
    version = api.get(known("ClusterVersion"), "version") if api.served(known("ClusterVersion")) else None
    release = (((version or {}).get("status") or {}).get("desired") or {}).get("version")
    message = f"This cluster{f' ({release})' if release else ''} does not serve resource.k8s.io/v1, on which dynamic resource allocation stands."
    raise NotReadyError(
        "GPU-DRA-RELEASE",
        message,
        f"Update to OpenShift 4.21 or later (Kubernetes 1.34), or use {otherwise}.",
    )


def observe(api: Api, params: Data, wanted: t.Sequence[Data]) -> dict[str, list[Data]]:
    queries = {
        "clusters": Query(CLUSTER),
        "drivers": Query(nvidiadriver.DRIVER),
        "nodes": Query(
            known("Node"), labels=common_selector([pool["node_selector"] for pool in params["pools"]])
        ),
        "daemonsets": Query(known("DaemonSet"), params["namespace"]),
        "pods": Query(known("Pod"), params["namespace"]),
        "revisions": Query(known("ControllerRevision"), params["namespace"]),
        "slices": Query(SLICE),
        "streams": Query(known("ImageStream"), "openshift", "driver-toolkit"),
    }
    judge = Judge(
        lambda snapshot: gpu_truth.judge(snapshot, params["pools"], wanted),
        gpu_truth.CHAIN,
        Patience(api.clock, params["grace"], gpu_truth.PASSING),
    )

    def told(seen: dict[str, list[Data]], parts: list[Part]) -> Data:
        return summarize(seen, params["pools"], wanted, parts)

    try:
        snapshot = api.wait(queries, judge, "DRA stack", clusterpolicy.settling(api, params))
    except (NotReadyError, WaitTimeoutError) as exc:
        stage_facts.explain(api, params["namespace"], judge, exc, gpu_truth.PODS, told)
        raise
    if note := next((one for one in judge.parts if one.reason == "OthersNotReady"), None):
        api.warn(note.message)
    return snapshot


def absent(api: Api, params: Data) -> Data:
    """Claims first: a pod whose claim nobody can release any more would hang. Then the stack, then the driver below it."""
    live = api.get(CLUSTER, NAME) if api.served(CLUSTER) else None
    if live is not None and owned(live):
        used = slices.held(api.list(known("ResourceClaim")), but=params["namespace"])
        if used:
            message = f"Pods use GPUs by {len(used)} ResourceClaims: {', '.join(used[:5])}{', …' if used[5:] else ''}. Without the DRA driver they could not end."
            raise NotReadyError(
                "GPU-DRA-BUSY", message, "Delete those pods first: `oc get resourceclaims -A`.", used
            )
        api.delete(CLUSTER, NAME)
    nvidiadriver.remove_drivers(api, lambda _api: NAME if live is not None and not owned(live) else "")
    if api.changes:
        queries = {
            "daemonsets": Query(known("DaemonSet"), params["namespace"]),
            "pods": Query(known("Pod"), params["namespace"]),
        }
        api.wait(queries, _stack.judge_gone, "DRA stack leaves")
    return {"name": NAME, "state": "absent", "reason": "", "driver_version": "", "nodes": []}
