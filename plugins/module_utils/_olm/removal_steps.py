# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of olm_operator with state absent: delete the operator, and its CRDs if asked, but nothing else."""

from __future__ import annotations

import typing as t

from .._core.adoption import other_manager
from .._core.errors import KindNotServedError
from .._core.objects import KubeObject
from .._core.ownership import owned
from .._kube.client import Api, Query
from .._kube.kinds import Kind, known
from . import removal, subscription
from .custom_resources import owned_kinds
from .elsewhere import cluster_operator_of
from .subscription import OperatorParams

_CSV: t.Final = known("ClusterServiceVersion")
_CRD: t.Final = known("CustomResourceDefinition")
_CONTENTS: t.Final = (
    "Deployment",
    "DaemonSet",
    "StatefulSet",
    "Job",
    "CronJob",
    "Pod",
    "PersistentVolumeClaim",
    "Service",
    "ConfigMap",
    "Secret",
)


def absent(api: Api, params: OperatorParams) -> KubeObject:
    """Delete the operator if this collection installed it. Return the facts (operator)."""
    name, namespace = params["name"], params["namespace"]
    if cluster_operator_of(name):
        api.warn(f"{name} is part of OpenShift and stays.")
    else:
        _remove(api, name, namespace, params["force"], params["remove_crds"])
    return {"operator": {"package": name, "namespace": namespace}}


def _remove(api: Api, name: str, namespace: str, force: bool, with_crds: bool) -> None:
    try:
        subscriptions, found = api.list(known("Subscription"), namespace), api.list(_CSV, namespace)
    except KindNotServedError:
        return
    home, live = (
        api.get(known("Namespace"), namespace),
        subscription.subscribed(subscriptions, name, namespace),
    )
    if live is not None and not owned(live):
        keeper = other_manager(live)
        by = f" but by {keeper}" if keeper else ""
        object_name = live["metadata"]["name"]
        api.warn(f"Subscription {object_name} was not created by this collection{by}; the operator stays.")
        return
    doomed = removal.csvs(live, home, found, name)
    crds = (
        _crds(api, name, namespace, doomed)
        if with_crds and (live is not None or doomed or not _is_elsewhere(api, name))
        else []
    )
    if (with_crds or not force) and not api.check_mode:
        kinds = {kind for csv in doomed for kind in owned_kinds(csv)}
        removal.check_unused(_custom_resources(api, kinds), name)
    if live is not None:
        api.delete(known("Subscription"), live["metadata"]["name"], namespace)
    for csv in doomed:
        if removal.is_leaving(csv) or api.delete(
            _CSV, csv["metadata"]["name"], namespace, owned_only=False, wait=False
        ):
            queries = {"csvs": Query(_CSV, namespace, csv["metadata"]["name"])}
            api.wait(
                queries, removal.judge_leaving(csv), f"operator {name} leaves", on_timeout_code="OLM-CSV-HELD"
            )
    if not removal.others(subscriptions, found, [*([live] if live else []), *doomed]):
        _remove_home(api, namespace, home)
    _remove_crds(api, crds, name)


def _is_elsewhere(api: Api, name: str) -> bool:
    """Return True if another namespace has the operator, to which the CRDs belong then."""
    return any((obj.get("spec") or {}).get("name") == name for obj in api.list(known("Subscription")))


def _remove_home(api: Api, namespace: str, home: KubeObject | None) -> None:
    for group in filter(owned, api.list(known("OperatorGroup"), namespace)):
        api.delete(known("OperatorGroup"), group["metadata"]["name"], namespace)
    if not owned(home):
        return
    # Metadata only, so that no Secret is read.
    foreign = removal.foreign_objects(
        obj for kind in _CONTENTS for obj in api.list(known(kind), namespace, metadata_only=True)
    )
    if foreign:
        api.warn(f"Namespace {namespace} stays: it holds {', '.join(foreign)}.")
    else:
        api.delete(known("Namespace"), namespace)


def _crds(api: Api, name: str, namespace: str, doomed: t.Sequence[KubeObject]) -> list[KubeObject]:
    """Return the operator's CRDs without those that belong to another package as well."""
    label = removal.label(name, namespace)
    labelled = api.list(_CRD, labels=label, metadata_only=True) if label else []
    found = [
        crd for crd in (api.get(_CRD, crd) for crd in removal.crd_names(doomed, labelled)) if crd is not None
    ]
    for crd in found:
        if shared := removal.shared_with(crd, name):
            api.warn(
                f"CustomResourceDefinition {crd['metadata']['name']} stays: "
                f"it belongs to {', '.join(shared)} as well."
            )
    return [crd for crd in found if not removal.shared_with(crd, name)]


def _remove_crds(api: Api, crds: t.Sequence[KubeObject], name: str) -> None:
    if not api.check_mode:
        queries = {crd["metadata"]["name"]: Query(Kind(*removal.served_as(crd))) for crd in crds}
        seen = (
            api.wait(queries, removal.judge_empty, f"objects of {name} leave", on_timeout_code="OLM-CRDS")
            if queries
            else {}
        )
        removal.check_empty(seen)
    for crd in crds:
        api.delete(_CRD, crd["metadata"]["name"], owned_only=False)


def _custom_resources(api: Api, kinds: t.Collection[tuple[str, str, str]]) -> list[KubeObject]:
    return [
        obj
        for api_version, kind, plural in sorted(kinds)
        for obj in api.list_if_served(Kind(api_version, kind, plural), metadata_only=True)
    ]
