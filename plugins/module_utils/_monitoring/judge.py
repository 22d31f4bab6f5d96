# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the cluster has of the monitoring, and why a task cannot set it up."""

from __future__ import annotations

import re
import typing as t

from .._core import diff, fields
from .._core.adoption import keeper
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name, oldest
from .._core.ownership import owned
from .manifest import EXPORTERS, MARK, MONITORED, NAME
from .options import PLATFORM, USER_WORKLOAD

_USER_WORKLOAD: t.Final = re.compile(r"^enableUserWorkload:\s*true\s*(#.*)?$", re.MULTILINE)
_TAKE: t.Final = "set gpu_monitoring_adopt: take (module option adopt)"


def stack(policies: t.Sequence[KubeObject], clusters: t.Sequence[KubeObject]) -> KubeObject | None:
    """Return the object of the GPU stack: the oldest ClusterPolicy, the GPUCluster, or None."""
    return oldest(policies) or next(iter(clusters), None)


def exporting(found: KubeObject | None) -> KubeObject:
    """Return the object of the GPU stack. Raises AcceleratorError if there is none, or no exporter."""
    if found is None:
        raise AcceleratorError("MON-NO-STACK", lack="The cluster has no ClusterPolicy and no GPUCluster")
    if _exporter(found).get("enabled") is False:
        raise AcceleratorError("MON-NO-EXPORTER", policy=object_name(found))
    return found


def object_name(obj: KubeObject) -> str:
    """Return kind and name."""
    return f"{obj['kind']} {name(obj)}"


def collects(found: KubeObject) -> str:
    """Return the name of the ConfigMap with the exporter's list, or "" if it has its own list."""
    return str((_exporter(found).get("config") or {}).get("name") or "")


def _exporter(found: KubeObject) -> dict[str, t.Any]:
    return (found.get("spec") or {}).get("dcgmExporter") or {}


def scraper(monitors: t.Iterable[KubeObject]) -> KubeObject | None:
    """Return the ServiceMonitor of others that scrapes the exporter, or None."""
    for monitor in monitors:
        wanted = ((monitor.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
        if name(monitor) in EXPORTERS or (wanted.get("app") in EXPORTERS and name(monitor) != NAME):
            return monitor
    return None


def honours_labels(monitor: KubeObject) -> bool:
    """Return whether the pod of a metric is in the label pod, not in exported_pod."""
    return any(endpoint.get("honorLabels") for endpoint in (monitor.get("spec") or {}).get("endpoints") or [])


def has_user_workload(config: KubeObject | None) -> bool:
    """Return whether monitoring of user workload is on. config: ConfigMap cluster-monitoring-config."""
    text = ((config or {}).get("data") or {}).get("config.yaml") or ""
    return bool(_USER_WORKLOAD.search(text))


def refuse_namespace(namespace: KubeObject, prometheus: str, adopt: str, config: KubeObject | None) -> None:
    """Raise AcceleratorError if the chosen Prometheus would not scrape the namespace."""
    label = (namespace["metadata"].get("labels") or {}).get(MONITORED)
    if prometheus == PLATFORM and label not in (None, "true") and adopt != "take":
        raise AcceleratorError("MON-PROMETHEUS", namespace=name(namespace), label=MONITORED, value=label)
    if prometheus != USER_WORKLOAD:
        return
    if label == "true" and not is_marked(namespace):
        raise AcceleratorError("MON-PASSED-OVER", namespace=name(namespace), label=MONITORED)
    if not has_user_workload(config):
        raise AcceleratorError("MON-USER-WORKLOAD")


def is_marked(namespace: KubeObject) -> bool:
    """Return whether the namespace got the label from us."""
    return MARK in (namespace["metadata"].get("annotations") or {})


def refuse_foreign(live: KubeObject | None, wanted: KubeObject, adopt: str) -> None:
    """Raise AcceleratorError for an object that we did not create, or whose fields others changed."""
    if live is None or adopt == "take":
        return
    place = diff.object_name(wanted)
    if not owned(live):
        raise AcceleratorError("MON-FOREIGN", object=place, owner=keeper(live))
    for part in ("spec", "data"):
        found = fields.conflicts(live, wanted.get(part) or {}, under=(part,))
        fields.refuse(found, place, f"{_TAKE[0].upper()}{_TAKE[1:]}, or give the fields their values back.")
