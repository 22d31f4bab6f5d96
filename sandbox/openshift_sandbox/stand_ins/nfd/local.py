# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Feature files: what pods that mount features.d keep there, parsed as nfd-worker does.

The files of the machine-config operator are missing.
"""

from __future__ import annotations

import typing as t
from datetime import UTC, datetime

from openshift_sandbox.stand_ins.core.conditions import holds
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

FOLDER: t.Final = "/etc/kubernetes/node-feature-discovery/features.d"


class Local(t.NamedTuple):
    """local.label and local.feature of one node."""

    labels: dict[str, str]
    features: dict[str, str]


def by_node(cluster: Cluster) -> dict[str, Local]:
    """Return the files by node.

    A pod with features.d as hostPath copies its ConfigMaps there while it runs.
    """
    found: dict[str, Local] = {}
    for pod in cluster.objects("Pod"):
        volumes = pod["spec"].get("volumes") or []
        if not any(
            (one.get("hostPath") or {}).get("path", "").rstrip("/") == FOLDER for one in volumes
        ) or not _runs(pod):
            continue
        local = found.setdefault(pod["spec"]["nodeName"], Local({}, {}))
        for name in (one["configMap"]["name"] for one in volumes if one.get("configMap")):
            config_map = cluster.find("ConfigMap", name, pod["metadata"]["namespace"]) or {}
            for content in (
                text
                for file, text in sorted((config_map.get("data") or {}).items())
                if not file.startswith(".")
            ):
                parsed = parse(content)
                local.labels.update(parsed.labels)
                local.features.update(parsed.features)
    return found


def parse(content: str) -> Local:
    """Return the labels and features of a file.

    A wrong directive is skipped; `no-label` and `no-feature` hold for one line, an expiry time until the next
    one.
    """
    local, ends, skipped = Local({}, {}), None, set()
    for line in (raw.strip() for raw in content.split("\n")):
        if line.startswith("# +"):
            name, _is, value = line.removeprefix("# +").partition("=")
            if name == "expiry-time":
                ends = datetime.fromisoformat(value.strip())
            skipped.add(name)
        elif line and not line.startswith("#") and not (ends and ends < datetime.now(UTC)):
            key, is_given, value = line.partition("=")
            for directive, target in (("no-label", local.labels), ("no-feature", local.features)):
                if directive not in skipped:
                    target[key] = value if is_given else "true"
            skipped.clear()
    return local


def _runs(pod: Object) -> bool:
    return (
        bool(pod["spec"].get("nodeName"))
        and holds(pod, "Ready")
        and not pod["metadata"].get("deletionTimestamp")
    )
