# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The dashboard of OpenShift's console, in the old format of Grafana with rows, which the console shows."""

from __future__ import annotations

import json
import typing as t

from .alerts import ACTIVE
from .metrics import with_node
from .rules import TOTAL, USED

Data = dict[str, t.Any]
KEY: t.Final = "accelerators-openshift.json"
_XIDS: t.Final = with_node('DCGM_EXP_XID_ERRORS_COUNT{xid!=""}')
_SLOWED: t.Final = with_node('DCGM_EXP_CLOCK_EVENTS_COUNT{clock_event!~"|gpu_idle|clocks_setting"}')
# Each row: its panels with title, unit, expression and legend. A panel without a legend shows one number.
ROWS: t.Final[tuple[tuple[str, tuple[tuple[str, str, str, str], ...]], ...]] = (
    (
        "Cluster",
        (
            ("GPUs", "none", "count(DCGM_FI_DEV_GPU_TEMP)", ""),
            (
                "GPUs that a pod holds",
                "none",
                'count(DCGM_FI_DEV_GPU_TEMP{exported_pod!=""}) or vector(0)',
                "",
            ),
            ("Average use", "percentunit", f"avg({ACTIVE})", ""),
            ("Memory in use", "percentunit", f"sum({USED}) / sum({TOTAL})", ""),
            ("Power", "watt", "sum(DCGM_FI_DEV_POWER_USAGE)", ""),
        ),
    ),
    (
        "Use",
        (
            ("Use of each GPU", "percentunit", ACTIVE, "{{Hostname}} {{gpu}}"),
            (
                "Use by namespace",
                "percentunit",
                f"avg by (exported_namespace) ({ACTIVE})",
                "{{exported_namespace}}",
            ),
            (
                *("Tensor cores", "percentunit"),
                with_node("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"),
                "{{Hostname}} {{gpu}}",
            ),
        ),
    ),
    (
        "Memory",
        (
            ("Memory of each GPU", "bytes", USED, "{{Hostname}} {{gpu}}"),
            ("Share of the memory", "percentunit", f"{USED} / {TOTAL}", "{{Hostname}} {{gpu}}"),
        ),
    ),
    (
        "Health",
        (
            ("Temperature", "celsius", with_node("DCGM_FI_DEV_GPU_TEMP"), "{{Hostname}} {{gpu}}"),
            ("Power of each GPU", "watt", with_node("DCGM_FI_DEV_POWER_USAGE"), "{{Hostname}} {{gpu}}"),
            (
                *("Xid errors", "none"),
                f"sum by (Hostname, gpu, xid) ({_XIDS}) > 0",
                "{{Hostname}} {{gpu}} Xid {{xid}}",
            ),
            (
                *("Lower clock", "none"),
                f"sum by (Hostname, gpu, clock_event) ({_SLOWED}) > 0",
                "{{Hostname}} {{gpu}} {{clock_event}}",
            ),
        ),
    ),
    (
        "Nodes and quotas",
        (
            (
                *("Devices that each node offers", "none"),
                'max by (node, resource) (kube_node_status_allocatable{resource=~"nvidia_com_.+"})',
                "{{node}} {{resource}}",
            ),
            (
                *("Quota in use", "none"),
                "max by (namespace, resource) "
                '(kube_resourcequota{type="used", resource=~"requests.nvidia.com/.+"})',
                "{{namespace}} {{resource}}",
            ),
        ),
    ),
)


def expressions() -> list[str]:
    """Return every expression of the dashboard."""
    return [panel[2] for _title, panels in ROWS for panel in panels]


def text() -> str:
    """Return the dashboard as JSON."""
    numbers = iter(range(1, 100))
    rows = [
        {
            "title": title,
            "height": "250px",
            "showTitle": True,
            "panels": [_panel(next(numbers), 12 // len(panels), *panel) for panel in panels],
        }
        for title, panels in ROWS
    ]
    whole = {
        "title": "GPUs (accelerators.openshift)",
        "uid": "accelerators-openshift",
        "schemaVersion": 14,
        "style": "dark",
        "tags": ["gpu"],
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser",
        "annotations": {"list": []},
        "templating": {"list": []},
        "rows": rows,
    }
    return json.dumps(whole, indent=1) + "\n"


def _panel(number: int, span: int, title: str, unit: str, expression: str, legend: str) -> Data:
    target = {"expr": expression, "format": "time_series", "legendFormat": legend, "refId": "A"}
    shared = {"id": number, "title": title, "span": span, "datasource": "prometheus", "targets": [target]}
    if not legend:
        return {**shared, "type": "singlestat", "format": unit, "valueName": "current"}
    axis = {"format": unit, "show": True, "min": 0}
    return {**shared, "type": "graph", "lines": True, "yaxes": [axis, {**axis, "show": False}]}
