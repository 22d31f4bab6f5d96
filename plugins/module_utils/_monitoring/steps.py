# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_monitoring: read what is there, refuse, then write what differs."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError, ForbiddenError
from .._core.objects import KubeObject, name
from .._core.ownership import owned, selector
from .._frame.patch_as_read import patch_as_read
from .._kube.client import Api, Query
from .._kube.kinds import Kind, known
from .._olm import support
from . import console, judge, manifest, metrics, options, rules, targets
from .options import GpuMonitoringParams
from .querier import check_url, opened

_MAP, _RULE, _MONITOR = known("ConfigMap"), known("PrometheusRule"), known("ServiceMonitor")
_NAMESPACE: t.Final = known("Namespace")
_PLUGIN, _CONSOLE, _DEPLOYMENT = known("ConsolePlugin"), known("Console"), known("Deployment")


def present(api: Api, params: GpuMonitoringParams) -> dict[str, t.Any]:
    """Set the monitoring up. Return the module's result. Raise AcceleratorError before the first write."""
    if params["url"]:
        check_url(params["url"])
    is_platform = params["prometheus"] == options.PLATFORM
    alerts = [alert for alert in options.read(params) if is_platform or not alert.reads_cluster]
    space, image = params["namespace"], _image(api, params)
    csv = metrics.as_csv([*params["metrics"], *(console.METRICS if image else ())])
    wanted = [manifest.metric_list(space, csv)]
    wanted.append(manifest.rule(space, rules.groups(alerts, params["pools"] if is_platform else [])))
    wanted += [manifest.console_dashboard(for_developers=bool(image))] if params["dashboard"] else []
    wanted += console.build(space, image) if image else []
    if api.applied is not None:  # a render comes before the stack, whose operator brings a ServiceMonitor
        _apply(api, wanted, params["adopt"])
        return {"monitoring": {"namespace": space, "console": _plug(api, space, image) if image else {}}}
    home, found = _namespace(api, params), judge.exporting(_stack(api))
    other = judge.scraper(api.list(_MONITOR, space))
    _apply(api, wanted + ([] if other else [manifest.service_monitor(space)]), params["adopt"])
    if other:
        api.delete(_MONITOR, manifest.NAME, space)
    if not params["dashboard"]:
        api.delete(_MAP, manifest.NAME, manifest.CONSOLE)
    kept = _collect(api, found, params["adopt"])
    _label(api, home, is_platform)
    plugin = _plug(api, space, image) if image else _unplug(api, space)
    scraped = _scraped(api, params)
    if other and judge.honours_labels(other):
        api.warn(
            f"{judge.object_name(other)} has honorLabels: true, so the alert GpuIdle does not see which pod "
            "holds a GPU. Set gpu_operator_spec: {dcgmExporter: {serviceMonitor: {honorLabels: false}}}."
        )
    return {
        "monitoring": {
            "namespace": space,
            "prometheus": params["prometheus"],
            "stack": judge.object_name(found),
            "scraped_by": name(other) if other else manifest.NAME,
            "scraped": scraped,
            "alerts": [alert.name for alert in alerts],
            "metrics": len(csv.splitlines()) - 1,
            "kept": kept,
            "console": plugin,
        }
    }


def _apply(api: Api, wanted: t.Sequence[KubeObject], adopt: str) -> None:
    """Apply our objects. Raise AcceleratorError before the first write if others have one of them."""
    lives = [_live(api, obj) for obj in wanted]
    for obj, live in zip(wanted, lives, strict=True):
        judge.refuse_foreign(live, obj, adopt)
    for obj, live in zip(wanted, lives, strict=True):
        api.apply(obj, force_conflicts=adopt == "take", live=live)


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
    plugin = _unplug(api, space)
    for kind, place in ((_RULE, space), (_MONITOR, space), (_MAP, manifest.CONSOLE)):
        api.delete(kind, manifest.NAME, place)
    found = _stack(api)
    if found is not None and judge.collects(found) == manifest.NAME:
        _patch(api, found, "")
    api.delete(_MAP, manifest.NAME, space)
    live = api.get(_NAMESPACE, space)
    if live is not None:
        _label(api, live, False)
    return {"monitoring": {"namespace": space, "console": plugin}}


def _image(api: Api, params: GpuMonitoringParams) -> str:
    """Return the image of the console plugin, or "" if none is asked for. Raises AcceleratorError."""
    if not params["console"]:
        return ""
    console.refuse(api.get_if_served(_CONSOLE, "cluster") if api.served(_PLUGIN) else None)
    return params["console_image"] or console.image(
        support.cluster_release(api.get(known("ClusterVersion"), "version"))
    )


def _plug(api: Api, space: str, image: str) -> dict[str, t.Any]:
    """Wait until the plugin works, and have the console load it. Return what the result says of it."""
    queries = {
        "deployments": Query(_DEPLOYMENT, space, console.NAME),
        "pods": Query(known("Pod"), space, labels=selector(console.LABELS)),
    }
    api.wait(queries, console.works(space), "console plugin", on_timeout_code="MON-CONSOLE")
    return {"image": image, **_list(api, is_wanted=True)}


def _unplug(api: Api, space: str) -> dict[str, t.Any]:
    """Take away the plugin that this collection made, and its entry first."""
    if not owned(api.get_if_served(_PLUGIN, console.NAME)):
        return {}
    found = _list(api, is_wanted=False)
    for kind in (_DEPLOYMENT, known("Service")):
        api.delete(kind, console.NAME, space)
    api.delete(_PLUGIN, console.NAME)
    return found


def _list(api: Api, *, is_wanted: bool) -> dict[str, t.Any]:
    """Put the plugin into the list of the console, or take it out. Return a note about its pods, if any."""

    def patch() -> KubeObject:
        live = api.get(_CONSOLE, "cluster")
        return console.listing(live, is_wanted=is_wanted) if live else {}

    return {"note": console.NOTE} if patch_as_read(api, _CONSOLE, "cluster", patch) else {}


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
    return api.get(kind, wanted["metadata"]["name"], wanted["metadata"].get("namespace"))


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
