# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Backend dra: a GPUCluster, whose DRA driver publishes GPUs as ResourceSlices, and NVIDIADriver objects that bring the driver."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    KindNotServedError,
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.grace import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import merge
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import slices
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import common_selector
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import check_pools
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import diagnose
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
    manifest as clusterpolicy_manifest,
    steps as clusterpolicy_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.default_spec import (
    example,
    example_driver,
    example_of,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra import (
    judge as dra_judge,
    manifest as dra_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra.result import summarize
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    manifest as nvidiadriver_manifest,
    steps as nvidiadriver_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stage_judge import Judge

Data = dict[str, t.Any]
NAME: t.Final = dra_manifest.NAME
NAMESPACE: t.Final = clusterpolicy_steps.NAMESPACE
CLUSTER: t.Final = known("GPUCluster")
SLICE: t.Final = known("ResourceSlice")


def check(params: Data) -> None:
    dra_manifest.check(params)
    nvidiadriver_manifest.check(params)
    check_pools(params["pools"])


def present(api: Api, params: Data) -> Data:
    refuse_old_cluster(api)
    dra_manifest.refuse_policy(
        api.list(clusterpolicy_steps.POLICY) if api.served(clusterpolicy_steps.POLICY) else []
    )
    csvs = clusterpolicy_steps.versions(api, params)
    section = merge(
        example(csvs).get("driver") or {}, clusterpolicy_manifest.asked(params).get("driver") or {}
    )
    wanted = nvidiadriver_manifest.build(params, section, example_driver(csvs))
    there = _drivers(api, params)
    nvidiadriver_steps.settle_selectors(api, wanted, there, params)
    nvidiadriver_steps.refuse_unmade(api, params, wanted, there)
    differs = nvidiadriver_steps.keep(api, params, wanted, there)
    live = api.get(CLUSTER, NAME) if api.served(CLUSTER) or not api.check_mode else None
    manifest = dra_manifest.build(params, example_of("GPUCluster", csvs), live)
    if live is None or owned(live):
        api.apply(manifest, force_conflicts=live is not None, live=live)
    else:
        differs += clusterpolicy_steps.settle_foreign(api, params, CLUSTER, manifest["spec"], live)
    snapshot = observe(api, params, wanted)
    return {**summarize(snapshot, params["pools"], wanted), "differs": differs}


def _drivers(api: Api, params: Data) -> list[Data]:
    """Where the kind is not served, an operator that check mode only foretells may bring it."""
    if api.check_mode and not api.served(nvidiadriver_steps.DRIVER):
        return []
    try:
        return api.list(nvidiadriver_steps.DRIVER)
    except KindNotServedError as exc:
        diagnose.explain_absent(api, NAME, params["namespace"], dra_judge.CHAIN, exc)
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
        "drivers": Query(nvidiadriver_steps.DRIVER),
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
        lambda snapshot: dra_judge.judge(snapshot, params["pools"], wanted),
        dra_judge.CHAIN,
        Grace(api.clock, params["grace"], dra_judge.PASSING),
    )

    def told(seen: dict[str, list[Data]], parts: list[Part]) -> Data:
        return summarize(seen, params["pools"], wanted, parts)

    try:
        snapshot = api.wait(queries, judge, "DRA stack", clusterpolicy_steps.settling(api, params))
    except (NotReadyError, WaitTimeoutError) as exc:
        diagnose.explain(api, params["namespace"], judge, exc, dra_judge.PODS, told)
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
    nvidiadriver_steps.remove_drivers(api, lambda _api: NAME if live is not None and not owned(live) else "")
    if api.changes:
        queries = {
            "daemonsets": Query(known("DaemonSet"), params["namespace"]),
            "pods": Query(known("Pod"), params["namespace"]),
        }
        api.wait(queries, clusterpolicy_judge.judge_gone, "DRA stack leaves")
    return {"name": NAME, "state": "absent", "reason": "", "driver_version": "", "nodes": []}
