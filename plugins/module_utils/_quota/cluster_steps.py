# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps for ClusterResourceQuotas: read them before the first write, apply them, wait until they count."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError, KindNotServedError
from .._core.objects import KubeObject, name
from .._core.ownership import owned
from .._kube.client import Api, Query
from .._kube.kinds import known
from . import cluster_quota
from .cluster_quota import Wanted
from .options import GpuQuotaParams

KIND: t.Final = known("ClusterResourceQuota")
Live = dict[str, KubeObject]


def look(api: Api, params: GpuQuotaParams, wanted: t.Sequence[Wanted]) -> Live:
    """Return the live quotas by name, in one request, before the first write.

    Raises AcceleratorError if the cluster does not serve them, or for a foreign one of the same name.
    """
    if not wanted:
        return {}
    try:
        live = {name(quota): quota for quota in api.list(KIND)}
    except KindNotServedError:
        raise AcceleratorError("QUOTA-NOT-SERVED", version=cluster_quota.API_VERSION) from None
    for quota in wanted:
        if quota.name in live and not owned(live[quota.name]) and params["adopt"] == "report":
            raise AcceleratorError("QUOTA-FOREIGN", quota=quota.name)
    return live


def present(
    api: Api, params: GpuQuotaParams, wanted: t.Sequence[Wanted], live: Live
) -> list[dict[str, t.Any]]:
    """Apply the quotas and return the use of each, by namespace."""
    before = len(api.changes)
    force = params["adopt"] == "take"
    now = {
        quota.name: api.apply(cluster_quota.build(quota), force_conflicts=force, live=live.get(quota.name))
        for quota in wanted
    }
    is_changed = len(api.changes) > before
    if wanted and (is_changed or not cluster_quota.judge(now.values(), wanted).is_ready):
        seen = api.wait(
            {"quotas": Query(KIND)},
            lambda found: cluster_quota.judge(found["quotas"], wanted),
            "quotas of several namespaces",
            on_timeout_code="QUOTA-NOT-COUNTED",
        )["quotas"]
        now |= {name(quota): quota for quota in seen if name(quota) in now and not api.check_mode}
    return [_facts(api, quota, now[quota.name]) for quota in wanted]


def _facts(api: Api, quota: Wanted, live: KubeObject) -> dict[str, t.Any]:
    problems = cluster_quota.findings(quota, live)
    for finding in problems:
        api.warn(finding.warning)
    facts = cluster_quota.summarize(quota, live)
    facts["findings"] = [finding.as_result() for finding in problems]
    return facts


def absent(api: Api, params: GpuQuotaParams) -> list[dict[str, t.Any]]:
    """Delete the quotas that this collection created, and return their names."""
    found = []
    for quota in params["cluster_quotas"] or []:
        api.delete(KIND, quota["name"])
        found.append({"name": quota["name"]})
    return found
