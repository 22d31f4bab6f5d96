# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the Prometheus operator: the configuration of Prometheus, from ServiceMonitors and rules.

The real one watches each second resource that an administrator can choose, and reloads Prometheus within a
minute or two; here a change is there within seconds, and only Services of the DCGM exporter have targets. An
exporter is scraped every five seconds.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core import selectors
from openshift_sandbox.stand_ins.core.conditions import holds
from openshift_sandbox.stand_ins.core.index import Object

MONITORED: t.Final = "openshift.io/cluster-monitoring"
INTERVAL: t.Final = "5s"
STATE: t.Final = "kube-state-metrics"


class Monitored(t.NamedTuple):
    """The objects that the configuration comes from."""

    namespaces: t.Sequence[Object] = ()
    services: t.Sequence[Object] = ()
    pods: t.Sequence[Object] = ()
    monitors: t.Sequence[Object] = ()
    rules: t.Sequence[Object] = ()


def spaces(found: Monitored) -> set[str]:
    """Return the namespaces that the platform's Prometheus looks at."""
    return {
        one["metadata"]["name"]
        for one in found.namespaces
        if (one["metadata"].get("labels") or {}).get(MONITORED) == "true"
    }


def configuration(found: Monitored, exporters: str) -> Object:
    """Return the configuration of Prometheus. exporters: host and port that serve the page of each node."""
    here = spaces(found)
    jobs = [
        job
        for monitor in found.monitors
        if monitor["metadata"]["namespace"] in here
        for job in _jobs(monitor, found, exporters)
    ]
    state = {
        "job_name": STATE,
        "honor_labels": True,
        "metrics_path": f"/{STATE}",
        "static_configs": [{"targets": [exporters]}],
    }
    return {
        "global": {"scrape_interval": INTERVAL, "evaluation_interval": INTERVAL},
        "rule_files": ["rules.yml"],
        "scrape_configs": [state, *jobs],
    }


def _jobs(monitor: Object, found: Monitored, exporters: str) -> t.Iterator[Object]:
    metadata, spec = monitor["metadata"], monitor["spec"]
    for number, endpoint in enumerate(spec.get("endpoints") or []):
        targets = [
            {"targets": [exporters], "labels": labels} for labels in _targets(monitor, found, endpoint)
        ]
        if targets:
            yield {
                "job_name": f"{metadata['namespace']}/{metadata['name']}/{number}",
                "honor_labels": bool(endpoint.get("honorLabels")),
                "static_configs": targets,
            }


def _targets(monitor: Object, found: Monitored, endpoint: Object) -> t.Iterator[dict[str, str]]:
    """Return the labels of each target: the exporter's pods behind the Services that the monitor selects."""
    spec, space = monitor["spec"], monitor["metadata"]["namespace"]
    for service in found.services:
        metadata = service["metadata"]
        ports = [port["name"] for port in service["spec"].get("ports") or [] if "name" in port]
        if (
            metadata["namespace"] != space
            or endpoint.get("port") not in ports
            or not selectors.matches(spec.get("selector") or {}, metadata.get("labels") or {})
        ):
            continue
        job = (metadata.get("labels") or {}).get(spec.get("jobLabel", ""), metadata["name"])
        for pod in found.pods:
            if _serves(pod, service):
                yield {
                    "__metrics_path__": f"/nodes/{pod['spec']['nodeName']}",
                    "job": job,
                    "namespace": space,
                    "pod": pod["metadata"]["name"],
                    "service": metadata["name"],
                    "instance": pod["spec"]["nodeName"],
                }


def _serves(pod: Object, service: Object) -> bool:
    wanted, labels = service["spec"].get("selector") or {}, pod["metadata"].get("labels") or {}
    same = pod["metadata"]["namespace"] == service["metadata"]["namespace"]
    selected = bool(wanted) and all(labels.get(key) == value for key, value in wanted.items())
    return same and selected and holds(pod, "Ready") and "nvidia-dcgm-exporter" in labels.get("app", "")


def rules(found: Monitored) -> Object:
    """Return the rules of all PrometheusRules. Names of groups are those of their objects too."""
    here = spaces(found)
    return {
        "groups": [
            {**group, "name": f"{one['metadata']['namespace']}/{one['metadata']['name']}/{group['name']}"}
            for one in found.rules
            if one["metadata"]["namespace"] in here
            for group in one["spec"].get("groups") or []
        ]
    }
