# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the module gpu_quota: apply the quotas, wait until they count, find who uses them, prove them."""

from __future__ import annotations

import contextlib
import typing as t

from .._core.errors import AcceleratorError, ApiError, ForbiddenError
from .._core.objects import KubeObject
from .._core.ownership import PURPOSE, TEAM, owned
from .._frame import new_namespace
from .._kube.client import Api, Query
from .._kube.kinds import known
from . import (
    cluster_quota,
    cluster_steps,
    findings,
    keys,
    limit_range,
    limit_range_steps,
    options,
    others,
    resource_quota,
    scopes,
    use,
)
from .findings import Finding
from .offered import Offered
from .options import GpuQuotaParams, Wanted

QUOTA: t.Final = known("ResourceQuota")
NAMESPACE: t.Final = known("Namespace")
# Namespace -> its quotas.
Live = dict[str, list[KubeObject]]


def absent(api: Api, params: GpuQuotaParams) -> dict[str, t.Any]:
    """Delete the quotas that this collection created, and return their names and namespaces."""
    found = []
    for namespace, name in options.with_limit_range(params):
        limit_range_steps.absent(api, namespace, name)
    for namespace, name in options.named(params):
        api.delete(QUOTA, name, namespace)
        found.append({"name": name, "namespace": namespace})
    return _facts(params, found, cluster_steps.absent(api, params))


def present(api: Api, params: GpuQuotaParams) -> dict[str, t.Any]:
    """Apply the quotas and return their usage, holders and proofs.

    A quota that fails does not keep the others from being applied. Raises AcceleratorError with the first
    failure, for example if a namespace is missing, or if the API server would admit more than the limit.
    """
    wanted, across = options.read(params), cluster_quota.read(params["cluster_quotas"] or [])
    theirs = cluster_steps.look(api, params, across)
    live = quotas(api, list(dict.fromkeys(quota.namespace for quota in wanted)))
    create_namespaces(api, params, wanted, live)
    offered, found, failures = Offered(api, params), list[dict[str, t.Any]](), list[AcceleratorError]()
    for quota in wanted:
        try:
            plan = limit_range_steps.look(api, quota, wanted, live[quota.namespace])
            found.append(_present(api, params, quota, live[quota.namespace], offered, plan))
        except AcceleratorError as exc:
            failures.append(exc)
    across_facts: list[dict[str, t.Any]] = []
    try:
        across_facts = cluster_steps.present(api, params, across, theirs)
    except AcceleratorError as exc:
        failures.append(exc)
    if failures:
        first, *more = failures
        first.evidence += [f"{exc.code}: {exc.message}" for exc in more]
        first.facts |= _facts(params, found, across_facts) if found else {}
        raise first
    return _facts(params, found, across_facts)


def _facts(
    params: GpuQuotaParams, found: list[dict[str, t.Any]], across: list[dict[str, t.Any]]
) -> dict[str, t.Any]:
    facts = {"quotas": found} if params["namespace"] is None else {"quota": found[0]}
    return facts if params["cluster_quotas"] is None else {**facts, "cluster_quotas": across}


def quotas(api: Api, namespaces: t.Sequence[str]) -> Live:
    """Return the quotas of the namespaces, with few requests."""
    found: Live = {namespace: [] for namespace in namespaces}
    if len(namespaces) > 1:
        try:
            seen = api.list(QUOTA, keep=lambda item: item if item["metadata"]["namespace"] in found else None)
        except ForbiddenError:
            pass
        else:
            for quota in seen:
                found[quota["metadata"]["namespace"]].append(quota)
            return found
    return {namespace: api.list(QUOTA, namespace) for namespace in namespaces}


def create_namespaces(api: Api, params: GpuQuotaParams, wanted: t.Iterable[Wanted], live: Live) -> None:
    """Create the namespaces that are missing. Raises AcceleratorError before the first write."""
    unsure = dict.fromkeys(quota.namespace for quota in wanted if not live[quota.namespace])
    missing = [name for name in unsure if api.get(NAMESPACE, name) is None]
    if missing and not params["create_namespaces"]:
        raise AcceleratorError("QUOTA-NO-NAMESPACE", namespace=missing[0])
    existing: list[str] = []
    if missing and not params["namespaces"]:
        existing = [namespace["metadata"]["name"] for namespace in api.list(NAMESPACE, metadata_only=True)]
    for name in missing:
        if why := options.refused_namespace(name, params["namespaces"], existing):
            raise AcceleratorError("QUOTA-NEW-NAMESPACE", namespace=name, why=why)
    for name in missing:
        metadata = {"name": name, "labels": {PURPOSE: TEAM}}
        # Without the label of ownership: what the team puts into it is never ours to delete.
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, own=False)


def _present(
    api: Api,
    params: GpuQuotaParams,
    quota: Wanted,
    seen: list[KubeObject],
    offered: Offered,
    plan: limit_range.Plan | None,
) -> dict[str, t.Any]:
    before = len(api.changes)
    live = resource_quota.named(seen, quota.name)
    takes = params["adopt"] == "take"
    kept = [] if takes else others.differing(live, quota.limits, quota.selector)
    limit_range_steps.before(api, quota, plan)
    applied, limits = _applied(api, quota, live, kept, takes)
    limit_range_steps.after(api, plan, applied)
    is_changed = len(api.changes) > before
    if is_changed or not resource_quota.judge(seen, quota.name, limits).is_ready:
        seen = api.wait(
            {"quotas": Query(QUOTA, quota.namespace)},
            lambda found: resource_quota.judge(found["quotas"], quota.name, limits),
            f"quota {quota.object_name}",
            on_timeout_code="QUOTA-NOT-COUNTED",
        )["quotas"]
    now = applied if api.check_mode else resource_quota.named(seen, quota.name) or applied
    problems = _findings(quota, now, limits, seen, offered if is_changed else None)
    problems += limit_range.findings(quota.name, plan.lacking) if plan else []
    for text in [finding.warning for finding in problems]:
        api.warn(text)
    used, holding = _used(api, quota, limits, seen, is_changed)
    for text in resource_quota.overused(quota.object_name, limits, used):
        api.warn(text)
    facts = resource_quota.summarize(now, limits)
    facts["kept"] = [field.as_result() for field in kept]
    facts["findings"] = [finding.as_result() for finding in problems]
    if resource_quota.is_used(facts) and not holding:
        holding = holders(api, quota, limits)
    facts["holders"], facts["use"] = holding, use.summarize(holding)
    facts["proof"] = _proof(api, quota, now, limits, problems) if params["prove"] else None
    return facts


def _findings(
    ours: Wanted,
    now: KubeObject,
    limits: t.Mapping[str, str],
    seen: list[KubeObject],
    offered: Offered | None,
) -> list[Finding]:
    """Return what counts nothing, and which other quota allows less.

    offered: None if nothing changed. Nodes and classes are read only for what is new: thousands of nodes are
    many pages.
    """
    quotas = [now, *(quota for quota in seen if quota["metadata"]["name"] != ours.name)]
    known = findings.Known() if offered is None else offered.known(limits, quotas)
    is_scoped = scopes.are_set(now.get("spec") or {})
    return findings.of_limits(ours.name, limits, known) + findings.of_quotas(
        ours.name, limits, quotas, known, is_scoped
    )


def _proof(
    api: Api, quota: Wanted, now: KubeObject, limits: t.Mapping[str, str], problems: t.Sequence[Finding]
) -> str | None:
    """Return what the server said. Raises AcceleratorError for a quota that its scopes make void."""
    if api.check_mode:
        return None
    if void := findings.first_void(problems, quota.name):
        if not others.has_scopes_of_others(now, quota.selector):
            return _not_proven(api, now, void.message)
        raise resource_quota.void(quota.object_name, void.message, void.path)
    return prove(api, now, limits, quota.classes[0] if quota.classes else "")


def _applied(
    api: Api, quota: Wanted, live: KubeObject | None, kept: t.Sequence[others.Kept], takes: bool
) -> tuple[KubeObject, dict[str, str]]:
    """Apply what is ours to set; return the quota as it is then, and its limits."""
    theirs = {field.key: field.live for field in kept}
    limits = {key: theirs.get(key, value) for key, value in quota.limits.items()}
    valid = {key: value for key, value in limits.items() if value is not None}
    if live is not None and kept:
        api.warn(others.warning(live, kept))
        if not owned(live) or set(theirs) >= set(quota.limits):
            return live, valid
    own = {key: value for key, value in quota.limits.items() if key not in theirs}
    selector = None if others.SCOPES in theirs else quota.selector
    if live is not None and takes:
        live = _without_scopes(api, quota, live)
    marks = {limit_range.MARK: limit_range.object_name(quota.name)} if quota.defaults else None
    manifest = resource_quota.build(quota.name, quota.namespace, own, selector, marks)
    force = takes or (live is not None and others.is_nobodys(live))
    return api.apply(manifest, force_conflicts=force, live=live), valid


def _without_scopes(api: Api, quota: Wanted, live: KubeObject) -> KubeObject:
    """Return the quota without the scopeSelector of another manager: an apply cannot take it away."""
    if quota.selector or not others.has_scopes_of_others(live, None):
        return live
    body = {"spec": {"scopeSelector": None}}
    return api.merge_patch(QUOTA, quota.name, quota.namespace, body)


def _used(
    api: Api, quota: Wanted, limits: t.Mapping[str, str], seen: list[KubeObject], is_changed: bool
) -> tuple[dict[str, str], list[dict[str, t.Any]]]:
    """Return what the namespace uses, and its holders if they had to be read.

    In check mode pods and claims say it where no quota counts yet.
    """
    used = resource_quota.counted(seen, limits, quota.name if quota.classes else None)
    holding: list[dict[str, t.Any]] = []
    if api.check_mode and is_changed and any(keys.is_device(key) and key not in used for key in limits):
        with contextlib.suppress(ForbiddenError):
            holding = holders(api, quota, limits)
            used = {**resource_quota.held(holding, limits), **used}
    return used, holding


def holders(api: Api, quota: Wanted, limits: t.Mapping[str, str]) -> list[dict[str, t.Any]]:
    """Return the pods and the claims of the namespace that use up the limits."""
    found: list[dict[str, t.Any]] = []
    if keys.extended(limits):
        found += resource_quota.holders(limits, api.list(known("Pod"), quota.namespace), quota.classes)
    if keys.classes(limits):
        found += resource_quota.claimants(limits, api.list(known("ResourceClaim"), quota.namespace))
    return found


def prove(api: Api, live: KubeObject, limits: t.Mapping[str, str], priority_class: str = "") -> str:
    """Return the quota's refusal of a pod, or a claim, that requests more than is left.

    Any other refusal proves nothing, for example that of a policy engine: return it after "not proven: ", and
    warn. Raises AcceleratorError if the API server would admit the pod.
    """
    if not keys.extended(limits) and not keys.classes(limits):
        return _not_proven(api, live, "the quota has no limit of devices")
    end = api.deadline.elapsed() + resource_quota.PROOF_PATIENCE
    while True:
        try:
            api.dry_run_create(resource_quota.proof(live, limits, priority_class))
        except ApiError as exc:
            if resource_quota.refusing_quota(exc.message):
                return exc.message
            if not new_namespace.is_transient(exc.message) or api.deadline.passed:
                return _not_proven(api, live, exc.message)
        else:
            if api.deadline.elapsed() >= end or api.deadline.passed:
                raise resource_quota.not_enforced(live, limits)
        api.deadline.sleep(0.2)


def _not_proven(api: Api, live: KubeObject, why: str) -> str:
    text = f"not proven: {why}"
    api.warn(
        f"Quota {live['metadata']['namespace']}/{live['metadata']['name']} is set, and {text.rstrip('.')}. "
        "To ask for no proof, set gpu_policy_prove: false (module option prove)."
    )
    return text
