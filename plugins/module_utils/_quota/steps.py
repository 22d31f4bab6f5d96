# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Steps of the module gpu_quota: apply the quotas, wait until they count, find who uses them, prove them."""

from __future__ import annotations

import contextlib
import typing as t

from .._core import refusals
from .._core.errors import AcceleratorError, ApiError, ForbiddenError
from .._core.objects import KubeObject
from .._core.ownership import PURPOSE, TEAM, owned
from .._kube.client import Api, Query
from .._kube.kinds import known
from . import keys, options, others, resource_quota
from .offered import Offered
from .options import GpuQuotaParams, Wanted

QUOTA: t.Final = known("ResourceQuota")
NAMESPACE: t.Final = known("Namespace")
# Namespace -> its quotas.
Live = dict[str, list[KubeObject]]


def absent(api: Api, params: GpuQuotaParams) -> dict[str, t.Any]:
    """Delete the quotas that this collection created, and return their names and namespaces."""
    found = []
    for namespace, name in options.named(params):
        api.delete(QUOTA, name, namespace)
        found.append({"name": name, "namespace": namespace})
    return _facts(params, found)


def present(api: Api, params: GpuQuotaParams) -> dict[str, t.Any]:
    """Apply the quotas and return their usage, holders and proofs.

    A quota that fails does not keep the others from being applied. Raises AcceleratorError with the first
    failure, for example if a namespace is missing, or if the API server would admit more than the limit.
    """
    wanted = options.read(params)
    live = quotas(api, list(dict.fromkeys(one.namespace for one in wanted)))
    create_namespaces(api, params, wanted, live)
    offered, found, failures = Offered(api), list[dict[str, t.Any]](), list[AcceleratorError]()
    for one in wanted:
        try:
            found.append(_present(api, params, one, live[one.namespace], offered))
        except AcceleratorError as exc:
            failures.append(exc)
    if failures:
        first, *more = failures
        first.evidence += [f"{exc.code}: {exc.message}" for exc in more]
        first.facts |= _facts(params, found) if found else {}
        raise first
    return _facts(params, found)


def _facts(params: GpuQuotaParams, found: list[dict[str, t.Any]]) -> dict[str, t.Any]:
    return {"quota": found[0]} if params["quotas"] is None else {"quotas": found}


def quotas(api: Api, namespaces: t.Sequence[str]) -> Live:
    """Return the quotas of the namespaces, with few requests."""
    found: Live = {namespace: [] for namespace in namespaces}
    if len(namespaces) > 1:
        try:
            seen = api.list(QUOTA, keep=lambda one: one if one["metadata"]["namespace"] in found else None)
        except ForbiddenError:
            pass
        else:
            for one in seen:
                found[one["metadata"]["namespace"]].append(one)
            return found
    return {namespace: api.list(QUOTA, namespace) for namespace in namespaces}


def create_namespaces(api: Api, params: GpuQuotaParams, wanted: t.Iterable[Wanted], live: Live) -> None:
    """Create the namespaces that are missing. Raises AcceleratorError before the first write."""
    unsure = dict.fromkeys(one.namespace for one in wanted if not live[one.namespace])
    missing = [name for name in unsure if api.get(NAMESPACE, name) is None]
    if missing and not params["create_namespace"]:
        raise resource_quota.no_namespace(missing[0])
    existing: list[str] = []
    if missing and not params["namespaces"]:
        existing = [one["metadata"]["name"] for one in api.list(NAMESPACE, metadata_only=True)]
    for name in missing:
        if why := options.refused_namespace(name, params["namespaces"], existing):
            raise options.not_created(name, why)
    for name in missing:
        metadata = {"name": name, "labels": {PURPOSE: TEAM}}
        # Without the label of ownership: what the team puts into it is never ours to delete.
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, own=False)


def _present(
    api: Api, params: GpuQuotaParams, one: Wanted, seen: list[KubeObject], offered: Offered
) -> dict[str, t.Any]:
    before = len(api.changes)
    live = resource_quota.named(seen, one.name)
    kept = [] if params["adopt"] == "take" else others.differing(live, one.limits)
    applied, limits = _applied(api, one, live, kept, params["adopt"] == "take")
    is_changed = len(api.changes) > before
    if is_changed or not resource_quota.judge(seen, one.name, limits).is_ready:
        seen = api.wait(
            {"quotas": Query(QUOTA, one.namespace)},
            lambda found: resource_quota.judge(found["quotas"], one.name, limits),
            f"quota {one.title}",
            on_timeout_code="QUOTA-NOT-COUNTED",
        )["quotas"]
    now = applied if api.check_mode else resource_quota.named(seen, one.name) or applied
    # Nodes and classes are read only for limits that are new: thousands of nodes are many pages.
    is_compared = is_changed and params["nodes_exist"]
    nodes, classes = (offered.nodes(limits), offered.classes(limits)) if is_compared else (None, None)
    for text in resource_quota.doubts(one.name, limits, nodes, seen, classes):
        api.warn(text)
    for text in resource_quota.overused(one.title, limits, _used(api, one, limits, seen, is_changed)):
        api.warn(text)
    facts = resource_quota.summarize(now, limits)
    facts["kept"] = [field.as_result() for field in kept]
    facts["holders"] = holders(api, one.namespace, limits) if resource_quota.is_used(facts) else []
    facts["proof"] = prove(api, now, limits) if params["prove"] and not api.check_mode else None
    return facts


def _applied(
    api: Api, one: Wanted, live: KubeObject | None, kept: t.Sequence[others.Kept], takes: bool
) -> tuple[KubeObject, dict[str, str]]:
    """Apply the limits that are ours to set; return the quota as it is then, and its limits."""
    theirs = {field.key: field.live for field in kept}
    limits = {key: theirs.get(key, value) for key, value in one.limits.items()}
    valid = {key: value for key, value in limits.items() if value is not None}
    if live is not None and kept:
        api.warn(others.warning(live, kept))
        if not owned(live) or len(kept) == len(one.limits):
            return live, valid
    own = {key: value for key, value in one.limits.items() if key not in theirs}
    manifest = resource_quota.build(one.name, one.namespace, own)
    force = takes or (live is not None and others.is_nobodys(live))
    return api.apply(manifest, force_conflicts=force, live=live), valid


def _used(
    api: Api, one: Wanted, limits: t.Mapping[str, str], seen: list[KubeObject], is_changed: bool
) -> dict[str, str]:
    """Return what the namespace uses. In check mode pods and claims say it where no quota counts yet."""
    used = resource_quota.counted(seen, limits)
    if api.check_mode and is_changed and any(keys.is_device(key) and key not in used for key in limits):
        with contextlib.suppress(ForbiddenError):
            used = {**resource_quota.held(holders(api, one.namespace, limits), limits), **used}
    return used


def holders(api: Api, namespace: str, limits: t.Mapping[str, str]) -> list[dict[str, t.Any]]:
    """Return the pods and the claims of the namespace that use up the limits."""
    found: list[dict[str, t.Any]] = []
    if keys.extended(limits):
        found += resource_quota.holders(limits, api.list(known("Pod"), namespace))
    if keys.classes(limits):
        found += resource_quota.claimants(limits, api.list(known("ResourceClaim"), namespace))
    return found


def prove(api: Api, live: KubeObject, limits: t.Mapping[str, str]) -> str:
    """Return the quota's refusal of a pod, or a claim, that requests more than is left.

    Any other refusal proves nothing, for example that of a policy engine: return it after "not proven: ", and
    warn. Raises AcceleratorError if the API server would admit the pod.
    """
    if not keys.extended(limits) and not keys.classes(limits):
        return _not_proven(api, live, "the quota has no limit of devices")
    end = api.deadline.elapsed() + resource_quota.PROOF_PATIENCE
    while True:
        try:
            api.dry_run_create(resource_quota.proof(live, limits))
        except ApiError as exc:
            if resource_quota.refusing_quota(exc.message):
                return exc.message
            if not refusals.is_transient(exc.message) or api.deadline.passed:
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
