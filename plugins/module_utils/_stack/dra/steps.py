# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backend dra: NVIDIADriver objects, and a GPUCluster, whose DRA driver publishes GPUs as ResourceSlices."""

from __future__ import annotations

import typing as t

from ..._core import fields
from ..._core.errors import KindNotServedError, NotReadyError
from ..._core.objects import KubeObject, Snapshot, merge
from ..._core.ownership import owned
from ..._impact import consent, policy_fields
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..._nodes import dra
from ..._nodes.dra_steps import refuse_old_cluster
from ..._nodes.pool_nodes import check_pools
from ..clusterpolicy import manifest as policy_manifest, preconditions, steps as policy_steps
from ..clusterpolicy.default_spec import example, example_driver, example_of, release
from ..drivers import files
from ..drivers.steps import mirrored, remove_files, write_files
from ..nvidiadriver import manifest as driver_manifest, steps as driver_steps
from ..params import StackParams
from ..steps import Wait, example_csvs, observe, settle_foreign, stack_queries, toolkit_query
from . import manifest
from .judge import CHAIN, PODS, judging, summarize

NAME: t.Final = manifest.NAME
NAMESPACE: t.Final = policy_steps.NAMESPACE
CLUSTER: t.Final = known("GPUCluster")
SLICE: t.Final = known("ResourceSlice")


def check(params: StackParams) -> None:
    manifest.check(params)
    driver_manifest.check(params)
    files.check(params)
    check_pools(params.pools)


def present(api: Api, params: StackParams) -> dict[str, t.Any]:
    refuse_old_cluster(api)
    policy = policy_steps.POLICY
    manifest.refuse_policy(api.list(policy) if api.served(policy) else [])
    there = _drivers(api, params)
    live = api.get(CLUSTER, NAME) if api.served(CLUSTER) or not api.check_mode else None
    csvs = example_csvs(api, params.namespace, live)
    params = mirrored(api, files.named(params), lambda: csvs)
    asked = policy_manifest.asked(params).get("driver") or {}
    section = merge(example(csvs).get("driver") or {}, asked)
    wanted = driver_manifest.build(params, section, example_driver(csvs), there)
    driver_steps.settle_selectors(api, wanted, there, params)
    driver_steps.refuse_unmade(api, params, wanted, there, release(csvs))
    cluster = manifest.build(params, example_of("GPUCluster", csvs), live)
    questions = driver_steps.questions(params, wanted, there, release(csvs))
    if live is None or owned(live) or params.adopt == "take":
        after = fields.applied(live, cluster)
        preconditions.check_references(api, params, live, after)
        questions += policy_fields.of_cluster(live, after) if live else []
    ends = consent.ask(api, questions, params.on_busy, policy_steps.BUSY)
    write_files(api, params)
    differs = driver_steps.keep(api, params, wanted, there)
    if live is None or owned(live):
        api.apply(cluster, force_conflicts=live is not None, live=live)
    else:
        differs += settle_foreign(api, params.adopt, CLUSTER, cluster["spec"], live)
    snapshot = _observe(api, params, wanted)
    remove_files(api, params, snapshot["pods"])
    from .. import diagnose

    found = summarize(snapshot, params.pools, wanted)
    judge = judging(params, wanted, api.clock)
    diagnose.explain_look(api, params.namespace, judge, snapshot, found, PODS)
    return {**found, "differs": differs, "ends": ends}


def _drivers(api: Api, params: StackParams) -> list[KubeObject]:
    """Return the NVIDIADriver objects; none in check mode if an earlier task may install their kind.

    Raise KindNotServedError otherwise.
    """
    if api.check_mode and not api.served(driver_steps.DRIVER):
        return []
    try:
        return api.list(driver_steps.DRIVER)
    except KindNotServedError as exc:
        from .. import diagnose

        diagnose.explain_absent(api, NAME, params.namespace, CHAIN, exc)
        raise


def _observe(api: Api, params: StackParams, wanted: t.Sequence[KubeObject]) -> Snapshot:
    queries = {
        "clusters": Query(CLUSTER),
        "drivers": Query(driver_steps.DRIVER),
        **stack_queries(params),
        "slices": Query(SLICE),
        "streams": toolkit_query(),
    }
    wait = Wait(
        "DRA stack",
        queries,
        judging(params, wanted, api.clock),
        PODS,
        lambda seen, findings: summarize(seen, params.pools, wanted, findings),
    )
    return observe(api, params, wait)


def absent(api: Api, params: StackParams) -> dict[str, t.Any]:
    """Delete the GPUCluster, then its drivers, and wait until no operand is left. Return the module's result.

    Drivers beside a ClusterPolicy are of that stack: they stay, and its operands are not waited for. Raise
    NotReadyError while pods hold claims: without the DRA driver these pods could not end.
    """
    policy = policy_steps.POLICY
    has_policy = bool(api.list(policy)) if api.served(policy) else False
    live = api.get(CLUSTER, NAME) if api.served(CLUSTER) else None
    if live is not None and owned(live):
        used = dra.claims_in_use(api.list(known("ResourceClaim")), but=params.namespace)
        if used:
            shown = f"{', '.join(used[:5])}{', …' if used[5:] else ''}"
            raise NotReadyError("GPU-DRA-BUSY", devices="GPUs", pods=shown, evidence=used)
        api.delete(CLUSTER, NAME)
    if not has_policy:
        driver_steps.remove_drivers(api, lambda _api: NAME if live is not None and not owned(live) else "")
    if api.changes and not has_policy:
        policy_steps.wait_gone(api, params, "DRA stack leaves")
    if not has_policy:
        policy_steps.remove_labels(api, params)
    return {"name": NAME, "state": "absent", "reason": "", "driver_version": "", "nodes": []}
