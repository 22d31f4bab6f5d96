# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of backend kmm: a Module of Kernel Module Management, and its verification for a future kernel."""

from __future__ import annotations

import contextlib
import typing as t

from ..._core.adoption import Foreign
from ..._core.errors import AcceleratorError, KindNotServedError, NotReadyError, WaitTimeoutError
from ..._core.objects import KubeObject, Snapshot, at, name
from ..._core.ownership import owned, selector
from ..._frame.adopt_or_apply import adopt_or_apply, as_result, live_object, remove
from ..._kube.client import Api, Query
from ..._kube.kinds import by_name, known
from ..._nodes.dra_steps import refuse_old_cluster
from ..._nodes.pool_nodes import check_pools, nodes_of
from .. import diagnose
from ..params import StackParams, StackPool
from ..pods import trouble
from ..signatures import recognise, spoken
from ..steps import ask_change
from . import (
    admission,
    dependencies,
    devices,
    images,
    judge as kmm_judge,
    kernels,
    manifest as kmm_manifest,
    preflight as kmm_preflight,
)
from .versions import Versions, refuse_claimed

NAME: t.Final = ""
NAMESPACE: t.Final = "openshift-kmm"
MODULE: t.Final = known("Module")
# Seconds: a Module has no observedGeneration, so for a moment numbers and nodes may be those of before.
_REACTION: t.Final = 2.0
BUILD: t.Final = known("Build")
_OF_IMAGES: t.Final = ("GPU-KMM-BUILD", "GPU-KMM-SIGN")
_SECURE_BOOT: t.Final = (
    "Set kmm.sign, with a key whose certificate the nodes' firmware trusts (mokutil --import), and another "
    "container_image, since KMM does not sign one that exists; or turn Secure Boot off."
)
# Code -> fields that may be its cause in a Module that this collection did not create.
_CAUSES: t.Final = {
    "GPU-TAINT": ("spec.tolerations",),
    "GPU-KMM-": ("spec.",),
    "GPU-ALLOC": ("spec.devicePlugin",),
}


def check(params: StackParams) -> None:
    check_pools(params.pools)
    kmm_manifest.check(params)


def present(api: Api, params: StackParams) -> dict[str, t.Any]:
    done: dict[str, t.Any] = {"name": params.name, "state": "ready", "reason": "", "nodes": []}
    if not kmm_manifest.is_preflight_only(params):
        done = _load(api, params)
    if at(params.kmm, "preflight"):
        done["preflight"] = _verify(api, params)
    return done


def _load(api: Api, params: StackParams) -> dict[str, t.Any]:
    wanted, options = kmm_manifest.build(params), params.kmm or {}
    if devices.driver(params):
        refuse_old_cluster(api)
    nodes = api.list(known("Node"), labels=selector(wanted["spec"]["selector"]))
    _survey(api, params.pools, wanted, nodes)
    _require(api, params)
    try:
        live = live_object(api, MODULE, wanted)
    except KindNotServedError as exc:
        diagnose.explain_absent(api, params.name, NAMESPACE, kmm_judge.chain(params), exc)
        raise
    ours = live is None or owned(live) or params.adopt == "take"
    if live is not None and ours:
        admission.refuse_switch(live, wanted)
    # With a version the nodes get another module one by one, by a label that Versions writes.
    harmless = ("moduleLoader.container",) if at(params.kmm, "version") else ()
    on = selector(wanted["spec"]["selector"])
    ends = ask_change(api, params, live, wanted, nodes=on, harmless=harmless)
    versions = Versions(api, params, nodes if ours else [])
    versions.begin()
    for one in dependencies.own(options, params.name, params.namespace) if ours else ():
        api.apply(one, force_conflicts=True)
    foreign = adopt_or_apply(api, MODULE, wanted, params.adopt, live)

    def wait_for(node: str) -> None:
        _wait(api, params, wanted, kmm_judge.Judge(params, api.clock, node), f"node {node}")

    rolled = versions.roll(wait_for)
    return {**_settled(api, params, wanted, live, foreign), "rolled": rolled, "ends": ends}


def _settled(
    api: Api,
    params: StackParams,
    wanted: KubeObject,
    live: KubeObject | None,
    foreign: Foreign | None,
) -> dict[str, t.Any]:
    """Wait until the Module is ready on all nodes, and return the result. live: the Module of before."""
    judge = kmm_judge.Judge(params, api.clock)
    settle = max(params.settle, _REACTION if live is not None and api.changes else 0)
    try:
        snapshot = _wait(api, params, wanted, judge, f"Module {params.name}", settle)
    except (NotReadyError, WaitTimeoutError) as exc:
        exc.facts["special_resource"] |= as_result(foreign)
        if foreign:
            foreign.blame(exc, _CAUSES)
        raise
    return {**judge.summarize(snapshot), **kmm_judge.summarize_stages(params, snapshot), **as_result(foreign)}


def _survey(api: Api, pools: list[StackPool], wanted: KubeObject, nodes: list[KubeObject]) -> None:
    pooled = [node for pool in pools for node in nodes_of(nodes, pool)] if pools else nodes
    ours = set(map(name, pooled))
    fits = kernels.survey(nodes, kernels.mappings(wanted))
    lacking = [f"{one.node} (kernel {one.kernel})" for one in fits if not one.mappings and one.node in ours]
    if lacking:
        fits_not = f"{len(lacking)} of {len(ours)} nodes: {', '.join(lacking[:5])}"
        raise NotReadyError("GPU-KMM-KERNEL", nodes=fits_not, evidence=lacking)
    for one in fits:
        if not one.mappings:
            api.warn(
                f"Node {one.node} is selected, and no kernel mapping fits its kernel {one.kernel}: "
                "KMM leaves it out. It is in none of the pools."
            )
        elif one.mappings[1:]:
            places = ", ".join(f"kmm.kernel_mappings[{at}]" for at in one.mappings)
            api.warn(f"Node {one.node}: {places} fit its kernel {one.kernel}; KMM uses the first.")


def _require(api: Api, params: StackParams) -> None:
    """Raise NotReadyError if an object that an option names is missing. Of Secrets only metadata is read."""
    for need in dependencies.needs(params.kmm or {}):
        if api.list(known(need.kind), params.namespace, fields=by_name(need.name), metadata_only=True):
            continue
        missing = NotReadyError(
            "GPU-KMM-ABSENT",
            option=need.path,
            kind=need.kind,
            name=need.name,
            namespace=params.namespace,
            also=", or set kmm.create_service_accounts" if need.kind == "ServiceAccount" else "",
        )
        if not api.check_mode:
            raise missing
        api.warn(f"{missing.message} {missing.remedy}")


def _wait(
    api: Api,
    params: StackParams,
    wanted: KubeObject,
    judge: kmm_judge.Judge,
    stage: str,
    settle: float = 0.0,
) -> dict[str, list[KubeObject]]:
    """Wait until the judge says ready, and return the last snapshot; a failed wait carries the result."""
    object_name, namespace = params.name, params.namespace
    of_module = f"{kernels.PREFIX}/module.name={object_name}"
    queries = {
        "modules": Query(MODULE, namespace, object_name),
        "nodes": Query(known("Node"), labels=selector(wanted["spec"]["selector"])),
        "configs": Query(known("NodeModulesConfig")),
        "pods": Query(known("Pod"), namespace, labels=of_module),
        "pulls": Query(known("Pod"), namespace, labels=f"{images.OWNER}={object_name}"),
    }
    if images.are_made(wanted) and api.served(BUILD):
        queries["builds"] = Query(BUILD, namespace, labels=of_module)
    if devices.driver(params):
        queries["slices"] = Query(known("ResourceSlice"))
    try:
        return api.wait(queries, judge, stage, settle)
    except (NotReadyError, WaitTimeoutError) as exc:
        failed = "" if isinstance(exc, WaitTimeoutError) else exc.code
        _explain(api, exc, judge.seen)
        olm = diagnose.operator(api, NAMESPACE, kmm_judge.PACKAGE) if judge.seen else {}
        exc.facts["special_resource"] = {
            **judge.summarize(judge.seen),
            **kmm_judge.summarize_stages(params, {**judge.seen, **olm}, failed),
        }
        raise


def _explain(api: Api, exc: AcceleratorError, seen: Snapshot) -> None:
    """Add the logs of up to three broken pods to the error, those of the cause first.

    A text that we know in the log of the cause replaces the error's code and remedy.
    """
    broken = [pod["metadata"] for pod in (*seen.get("pods", ()), *seen.get("pulls", ())) if trouble(pod)]
    made = images.pods_of_builds(seen.get("builds", ()))
    others = [(one["namespace"], one["name"]) for one in broken]
    nodes = {name(pod): pod["spec"].get("nodeName") or "" for pod in seen.get("pods", ())}
    cause = [*made, *(place for place in others if not made)] if exc.code in _OF_IMAGES else others
    for place in dict.fromkeys([*cause, *made, *others][:3]):
        with contextlib.suppress(AcceleratorError):
            log = api.log(*place, tail_lines=60)
            exc.evidence += [f"{place[1]}: {line}" for line in log.splitlines() if line.strip()][-10:]
            text = recognise(log)
            if text and place in cause and exc.code in (*_OF_IMAGES, "GPU-KMM-LOAD", "GPU-KMM-PLUGIN"):
                exc.message += f" The log of pod {place[1]} says that {text.meaning}: {spoken(text, log)}"
                names = {"namespace": place[0], "pod": place[1], "node": nodes.get(place[1], "")}
                remedy = _SECURE_BOOT if text.code == "GPU-DRV-SIGN" else text.advice(exc.remedy, **names)
                exc.code, exc.remedy = text.code, remedy


def _verify(api: Api, params: StackParams) -> dict[str, t.Any]:
    """Let KMM verify the Modules for a future kernel, in the API version that the cluster serves."""
    asked = (params.kmm or {})["preflight"]
    kind = known(kmm_preflight.kind_of(asked))
    if not api.served(kind):
        kind = kind._replace(api_version=kmm_manifest.API_VERSION)
    wanted = kmm_preflight.build(asked, kind.api_version)
    live = live_object(api, kind, wanted)
    # KMM does not verify again what it has verified once, so another attempt needs a new object.
    is_stale = live is not None and bool(kmm_preflight.failures(live))
    if is_stale:
        api.delete(kind, wanted["metadata"]["name"])
    if not (is_stale and api.check_mode):
        api.apply(wanted, force_conflicts=True)
    judge = kmm_preflight.Judge(params.name, params.namespace)
    queries = {"preflights": Query(kind, None, wanted["metadata"]["name"]), "modules": Query(MODULE)}
    try:
        snapshot = api.wait(queries, judge, f"preflight of kernel {asked['kernel_version']}")
    except (NotReadyError, WaitTimeoutError) as exc:
        exc.facts["special_resource"] = {"preflight": kmm_preflight.summarize(asked, judge.seen)}
        raise
    return kmm_preflight.summarize(asked, snapshot)


def absent(api: Api, params: StackParams) -> dict[str, t.Any]:
    """Delete the Module, which unloads the kernel module everywhere, then what we created for it."""
    asked = at(params.kmm, "preflight")
    gone: dict[str, t.Any] = {
        "name": params.name,
        "state": "absent",
        "reason": "",
        "nodes": [],
        "ends": [],
    }
    with contextlib.suppress(KindNotServedError):
        if asked:
            api.delete(known(kmm_preflight.kind_of(asked)), kmm_preflight.name_of(asked))
        live = api.get(MODULE, params.name, params.namespace) if params.name else None
        if live is not None and owned(live):
            refuse_claimed(api, live)
            gone["ends"] = ask_change(api, params, live, None, nodes=selector(live["spec"]["selector"]))
        if not params.name or (live is not None and not remove(api, MODULE, params.name, params.namespace)):
            return gone
        Versions(api, params, []).forget()
        ours = f"{kmm_manifest.PART_OF}={params.name}"
        for kind in map(known, ("ConfigMap", "RoleBinding", "ServiceAccount")):
            for one in api.list(kind, params.namespace, labels=ours):
                api.delete(kind, name(one), params.namespace)
    return gone
