# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Steps of the module gpu_quota: apply the quota, wait until it counts, find who uses it, and prove it."""

from __future__ import annotations

import typing as t

from .._core.errors import ForbiddenError
from .._core.objects import KubeObject
from .._frame.argspec import StateParams
from .._kube.client import Api, Query
from .._kube.kinds import known
from . import keys, resource_quota


class GpuQuotaParams(StateParams):
    """The options of gpu_quota. hard: limit for each resource, as in `spec.hard` of a ResourceQuota."""

    namespace: str
    name: str
    gpus: int | None
    claims: bool
    hard: dict[str, t.Any] | None
    create_namespace: bool
    prove: bool


QUOTA: t.Final = known("ResourceQuota")


def absent(api: Api, params: GpuQuotaParams) -> dict[str, t.Any]:
    """Delete the quota if this collection created it, and return its name and namespace."""
    api.delete(QUOTA, params["name"], params["namespace"])
    return {"quota": {"name": params["name"], "namespace": params["namespace"]}}


def present(api: Api, params: GpuQuotaParams) -> dict[str, t.Any]:
    """Apply the quota and return its usage, holders and proof.

    Raises AcceleratorError if the namespace is missing, or if the API server would admit more than the limit.
    """
    name, namespace = params["name"], params["namespace"]
    limits = keys.hard(params["gpus"], params["hard"], params["claims"])
    if params["prove"]:
        resource_quota.check_provable(limits)
    live = resource_quota.named(api.list(QUOTA, namespace), name)
    if live is None and api.get(known("Namespace"), namespace) is None:
        if not params["create_namespace"]:
            raise resource_quota.no_namespace(namespace)
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    applied = api.apply(resource_quota.build(name, namespace, limits), live=live)
    seen = api.wait(
        {"quotas": Query(QUOTA, namespace)},
        lambda found: resource_quota.judge(found["quotas"], name, limits),
        f"quota {namespace}/{name}",
        on_timeout_code="QUOTA-NOT-COUNTED",
    )["quotas"]
    live = applied if api.check_mode else resource_quota.named(seen, name) or applied
    for text in resource_quota.doubts(name, limits, nodes(api, limits), seen, classes(api, limits)):
        api.warn(text)
    facts = resource_quota.summarize(live, limits)
    facts["holders"] = holders(api, namespace, limits) if resource_quota.is_used(facts) else []
    facts["proof"] = prove(api, live, limits) if params["prove"] and not api.check_mode else None
    return {"quota": facts}


def nodes(api: Api, limits: t.Mapping[str, str]) -> list[KubeObject] | None:
    """Return the nodes, or None if the quota limits no extended resource or they may not be read."""
    if not keys.extended(limits):
        return None
    try:
        return api.list(known("Node"), keep=resource_quota.offering)
    except ForbiddenError:
        return None


def classes(api: Api, limits: t.Mapping[str, str]) -> list[KubeObject] | None:
    """Return the DeviceClasses, or None if the quota limits no devices or they may not be read.

    A cluster that does not serve dynamic resource allocation has none.
    """
    if not keys.classes(limits):
        return None
    try:
        return api.list(known("DeviceClass"), metadata_only=True) if api.served(known("DeviceClass")) else []
    except ForbiddenError:
        return None


def holders(api: Api, namespace: str, limits: t.Mapping[str, str]) -> list[dict[str, t.Any]]:
    """Return the pods and the claims of the namespace that use up the limits."""
    found: list[dict[str, t.Any]] = []
    if keys.extended(limits):
        found += resource_quota.holders(limits, api.list(known("Pod"), namespace))
    if keys.classes(limits):
        found += resource_quota.claimants(limits, api.list(known("ResourceClaim"), namespace))
    return found


def prove(api: Api, live: KubeObject, limits: t.Mapping[str, str]) -> str:
    """Return the API server's refusal of a pod, or a claim, that requests more than is left.

    Raises AcceleratorError if the API server would admit it.
    """
    end = api.deadline.elapsed() + resource_quota.PROOF_PATIENCE
    while True:
        try:
            api.dry_run_create(resource_quota.proof(live, limits))
        except ForbiddenError as exc:
            if resource_quota.refusing_quota(exc.message):
                return exc.message
            if not resource_quota.is_transient_refusal(exc.message) or api.deadline.passed:
                raise
        else:
            if api.deadline.elapsed() >= end or api.deadline.passed:
                raise resource_quota.not_enforced(live, limits)
        api.deadline.sleep(0.2)
