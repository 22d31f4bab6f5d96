# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_monitoring: read what is there, refuse, then write what differs."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError, ForbiddenError
from .._core.objects import KubeObject, name
from .._kube.client import Api
from .._kube.kinds import Kind, known
from . import judge, manifest, metrics, options, rules, targets
from .options import GpuMonitoringParams
from .querier import check_url, opened

_MAP, _RULE, _MONITOR = known("ConfigMap"), known("PrometheusRule"), known("ServiceMonitor")
_NAMESPACE: t.Final = known("Namespace")


def present(api: Api, params: GpuMonitoringParams) -> dict[str, t.Any]:
    """Set the monitoring up. Return the module's result. Raise AcceleratorError before the first write."""
    if params["url"]:
        check_url(params["url"])
    is_platform = params["prometheus"] == options.PLATFORM
    alerts = [alert for alert in options.read(params) if is_platform or not alert.reads_cluster]
    space, found = _namespace(api, params), judge.exporting(_stack(api))
    other = judge.scraper(api.list(_MONITOR, params["namespace"]))
    csv = metrics.as_csv(params["metrics"])
    _apply(api, params, other, csv, rules.groups(alerts, params["pools"] if is_platform else []))
    kept = _collect(api, found, params["adopt"])
    _label(api, space, is_platform)
    scraped = _scraped(api, params)
    if other and judge.honours_labels(other):
        api.warn(
            f"{judge.object_name(other)} has honorLabels: true, so the alert GpuIdle does not see which pod "
            "holds a GPU. Set gpu_operator_spec: {dcgmExporter: {serviceMonitor: {honorLabels: false}}}."
        )
    return {
        "monitoring": {
            "namespace": params["namespace"],
            "prometheus": params["prometheus"],
            "stack": judge.object_name(found),
            "scraped_by": name(other) if other else manifest.NAME,
            "scraped": scraped,
            "alerts": [alert.name for alert in alerts],
            "metrics": len(csv.splitlines()) - 1,
            "kept": kept,
        }
    }


def _apply(
    api: Api,
    params: GpuMonitoringParams,
    other: KubeObject | None,
    csv: str,
    groups: t.Sequence[t.Mapping[str, t.Any]],
) -> None:
    """Apply our objects, and delete those that are not wanted any more. Refuse before the first write.

    other: the ServiceMonitor of others.
    """
    space, is_taken = params["namespace"], params["adopt"] == "take"
    wanted = [manifest.metric_list(space, csv), manifest.rule(space, groups)]
    wanted += [] if other else [manifest.service_monitor(space)]
    wanted += [manifest.console_dashboard()] if params["dashboard"] else []
    lives = [_live(api, obj) for obj in wanted]
    for obj, live in zip(wanted, lives, strict=True):
        judge.refuse_foreign(live, obj, params["adopt"])
    for obj, live in zip(wanted, lives, strict=True):
        api.apply(obj, force_conflicts=is_taken, live=live)
    if other:
        api.delete(_MONITOR, manifest.NAME, space)
    if not params["dashboard"]:
        api.delete(_MAP, manifest.NAME, manifest.CONSOLE)


def _scraped(api: Api, params: GpuMonitoringParams) -> dict[str, t.Any]:
    """Return which exporters Prometheus reaches, or why it could not be asked. Warn of those that fail."""
    try:
        querier = opened(api, params["url"], pauses=())
        found = targets.judged(
            querier.instant(targets.up(params["namespace"])), querier.instant(targets.DATA)
        )
    except AcceleratorError as exc:
        return targets.not_asked(exc.message)
    for text in targets.warnings(found, params["namespace"], bool(api.changes)):
        api.warn(text)
    return found


def absent(api: Api, params: GpuMonitoringParams) -> dict[str, t.Any]:
    """Take away what `present` made. Return the module's result."""
    space = params["namespace"]
    for kind, place in ((_RULE, space), (_MONITOR, space), (_MAP, manifest.CONSOLE)):
        api.delete(kind, manifest.NAME, place)
    found = _stack(api)
    if found is not None and judge.collects(found) == manifest.NAME:
        _patch(api, found, "")
    api.delete(_MAP, manifest.NAME, space)
    live = api.get(_NAMESPACE, space)
    if live is not None:
        _label(api, live, False)
    return {"monitoring": {"namespace": space}}


def _namespace(api: Api, params: GpuMonitoringParams) -> KubeObject:
    """Return the namespace of the exporter. Raises AcceleratorError if Prometheus would not scrape it."""
    found = api.get(_NAMESPACE, params["namespace"])
    if found is None:
        raise AcceleratorError("MON-NO-STACK", lack=f"Namespace {params['namespace']} does not exist")
    config = None
    if params["prometheus"] == options.USER_WORKLOAD:
        try:
            config = api.get(_MAP, "cluster-monitoring-config", "openshift-monitoring")
        except ForbiddenError as exc:
            exc.remedy = f"Set gpu_monitoring_prometheus: platform, or: {exc.remedy}"
            raise
    judge.refuse_namespace(found, params["prometheus"], params["adopt"], config)
    return found


def _stack(api: Api) -> KubeObject | None:
    """Return the object of the GPU stack, or None without one."""
    policies, clusters = (api.list_if_served(known(kind)) for kind in ("ClusterPolicy", "GPUCluster"))
    return judge.stack(policies, clusters)


def _live(api: Api, wanted: KubeObject) -> KubeObject | None:
    kind: Kind = known(wanted["kind"])
    return api.get(kind, wanted["metadata"]["name"], wanted["metadata"]["namespace"])


def _collect(api: Api, found: KubeObject, adopt: str) -> list[dict[str, t.Any]]:
    """Give the exporter our list. Return the list of others that stays."""
    theirs = judge.collects(found)
    if theirs == manifest.NAME:
        return []
    if theirs and adopt != "take":
        api.warn(
            f"{judge.object_name(found)} keeps the exporter's list {theirs}: alerts see only the metrics in "
            "it. Set gpu_monitoring_adopt: take (module option adopt) to use the list of this collection."
        )
        return [{"field": "spec.dcgmExporter.config.name", "live": theirs, "wanted": manifest.NAME}]
    _patch(api, found, manifest.NAME)
    return []


def _patch(api: Api, found: KubeObject, config: str) -> None:
    api.merge_patch(known(found["kind"]), name(found), None, manifest.collecting(config))


def _label(api: Api, space: KubeObject, is_wanted: bool) -> None:
    """Give the namespace the label, or take away the label that we gave it."""
    label = (space["metadata"].get("labels") or {}).get(manifest.MONITORED)
    if (is_wanted and label != "true") or (not is_wanted and judge.is_marked(space)):
        api.merge_patch(_NAMESPACE, name(space), None, manifest.labelled(is_wanted))
