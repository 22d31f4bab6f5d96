# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for kube-state-metrics: what the API server holds, as metrics.

The real one has hundreds of metrics and watches; here are those that alerts, dashboards and reports of this
collection read. As OpenShift configures the real one, all labels of nodes are there, and no annotations.
"""

from __future__ import annotations

import datetime
import re
import typing as t

from openshift_sandbox.stand_ins.core.index import Object
from openshift_sandbox.stand_ins.core.quantities import amount
from openshift_sandbox.stand_ins.monitoring.exposition import Sample, page

Objects = t.Sequence[Object]


class State(t.NamedTuple):
    """The objects of a cluster."""

    nodes: Objects = ()
    pods: Objects = ()
    replica_sets: Objects = ()
    jobs: Objects = ()
    quotas: Objects = ()
    leases: Objects = ()
    cron_jobs: Objects = ()


def metrics(state: State) -> str:
    """Return the page of kube-state-metrics."""
    samples = [sample for node in state.nodes for sample in _node(node)]
    for metric, label, objects in (
        ("kube_pod_owner", "pod", state.pods),
        ("kube_replicaset_owner", "replicaset", state.replica_sets),
        ("kube_job_owner", "job_name", state.jobs),
    ):
        samples += [_owner(metric, label, one) for one in objects]
    samples += [sample for one in state.quotas for sample in _quota(one)]
    samples += [sample for one in state.leases for sample in _lease(one)]
    samples += [sample for one in state.cron_jobs for sample in _cron_job(one)]
    return page(samples)


def label_name(key: str) -> str:
    """Return the name that the label of an object has on a metric."""
    plain = re.sub(r"\W", "_", key)
    return "label_" + re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", plain).lower()


def _node(node: Object) -> t.Iterator[Sample]:
    name, labels = node["metadata"]["name"], node["metadata"].get("labels") or {}
    given = {label_name(key): str(value) for key, value in labels.items()}
    yield Sample("kube_node_labels", {"node": name, **given}, 1)
    cordoned = bool(node.get("spec", {}).get("unschedulable"))
    yield Sample("kube_node_spec_unschedulable", {"node": name}, float(cordoned))
    for taint in node.get("spec", {}).get("taints") or []:
        where = {key: taint.get(key, "") for key in ("key", "value", "effect")}
        yield Sample("kube_node_spec_taint", {"node": name, **where}, 1)
    for part in ("capacity", "allocatable"):
        for resource, text in (node.get("status", {}).get(part) or {}).items():
            where = {"node": name, "resource": re.sub(r"\W", "_", resource), "unit": "integer"}
            yield Sample(f"kube_node_status_{part}", where, amount(text))


def _owner(metric: str, label: str, one: Object) -> Sample:
    metadata = one["metadata"]
    owner: Object = next(iter(metadata.get("ownerReferences") or []), {})
    return Sample(
        metric,
        {
            "namespace": metadata["namespace"],
            label: metadata["name"],
            "owner_kind": owner.get("kind", ""),
            "owner_name": owner.get("name", ""),
            "owner_is_controller": str(bool(owner.get("controller"))).lower() if owner else "",
        },
        1,
    )


def _quota(quota: Object) -> t.Iterator[Sample]:
    metadata, status = quota["metadata"], quota.get("status") or {}
    for part in ("hard", "used"):
        for resource, text in (status.get(part) or {}).items():
            where = {"namespace": metadata["namespace"], "resourcequota": metadata["name"]}
            yield Sample("kube_resourcequota", {**where, "resource": resource, "type": part}, amount(text))


def _lease(lease: Object) -> t.Iterator[Sample]:
    metadata, spec = lease["metadata"], lease.get("spec") or {}
    where = {"lease": metadata["name"], "namespace": metadata["namespace"]}
    yield Sample("kube_lease_owner", {**where, "lease_holder": spec.get("holderIdentity") or ""}, 1)
    if renewed := spec.get("renewTime"):
        moment = datetime.datetime.fromisoformat(renewed.replace("Z", "+00:00"))
        yield Sample("kube_lease_renew_time", where, moment.timestamp())


def _cron_job(one: Object) -> t.Iterator[Sample]:
    where = {"namespace": one["metadata"]["namespace"], "cronjob": one["metadata"]["name"]}
    yield Sample("kube_cronjob_info", where, 1)
    if ended := (one.get("status") or {}).get("lastSuccessfulTime"):
        moment = datetime.datetime.fromisoformat(ended.replace("Z", "+00:00"))
        yield Sample("kube_cronjob_status_last_successful_time", where, moment.timestamp())
