# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alerts: expression, duration, severity, and the error code that the same trouble has in a playbook.

Each alert has its section in docs/runbooks.md. The name of the node is in the label Hostname (DCGM
exporter of any release) or node (kube-state-metrics); the rulebook gpu_alerts reads both.
"""

from __future__ import annotations

import typing as t

from .._core.ownership import POOL
from .._frame import lease
from .._nodes.taints import STARTUP
from .._stack.signatures import WATCH, XIDS
from . import metrics

WARNING, CRITICAL, INFO = "warning", "critical", "info"
RUNBOOKS: t.Final = (
    "https://github.com/accelerators-openshift/accelerators.openshift/blob/main/docs/runbooks.md"
)
# Prefix of the metrics that our rules record.
RECORDED: t.Final = "accelerators_openshift:"
EXPECTED: t.Final = f"{RECORDED}node_gpus_expected"
ACTIVE: t.Final = f"{RECORDED}gpu_active:ratio"
_GPU: t.Final = "Hostname, gpu, UUID, modelName"
_DEVICES: t.Final = 'resource=~"nvidia_com_.+"'
_UPGRADE: t.Final = "label_nvidia_com_gpu_driver_upgrade_state"
_POOL: t.Final = metrics.node_label(POOL)
_LEASE: t.Final = f'namespace="{lease.NAMESPACE}", lease="{lease.NAME}"'
# The CronJob of `_workload`, which is after this package.
_GATE: t.Final = 'cronjob="gpu-gate"'
_COUNTED: t.Final = r'resource=~"requests.nvidia.com/.+|.+deviceclass.resource.k8s.io/devices"'
_SLOWED: t.Final = (
    'DCGM_EXP_CLOCK_EVENTS_COUNT{clock_event=~"hw_slowdown|hw_thermal|hw_power_brake|sw_thermal"}'
)
# A GPU that is no vGPU has no licence either. The name of a vGPU ends with its type, such as A10-24Q.
_LICENCE: t.Final = 'DCGM_FI_DEV_VGPU_LICENSE_STATUS{modelName=~".+-[0-9]+[ABCQ]"}'
_FATAL: t.Final = "|".join(str(number) for number, xid in XIDS.items() if xid.action != WATCH)
_WHERE: t.Final = "GPU {{ $labels.gpu }} ({{ $labels.modelName }}) of node {{ $labels.Hostname }}"


class Limits(t.NamedTuple):
    """What a user can change. temperature: degrees Celsius. quota: percent. The others are durations."""

    temperature: int = 85
    idle: str = "1h"
    cordoned: str = "1h"
    upgrade: str = "1h"
    quota: int = 90
    lease: str = "6h"


class Alert(t.NamedTuple):
    """One alert. lasts: how long the expression holds before the alert fires. text: what people read."""

    name: str
    code: str
    severity: str
    lasts: str
    expression: str
    text: str

    @property
    def runbook(self) -> str:
        """The address of its section in docs/runbooks.md."""
        return f"{RUNBOOKS}#{self.name.lower()}"

    @property
    def reads_cluster(self) -> bool:
        """Whether it needs kube-state-metrics, which only the platform's Prometheus has."""
        return EXPECTED in self.expression or bool(metrics.used(self.expression) & {*metrics.STATE})

    def rule(self) -> dict[str, t.Any]:
        """Return the rule of a PrometheusRule."""
        return {
            "alert": self.name,
            "expr": self.expression,
            "for": self.lasts,
            "labels": {"severity": self.severity, "code": self.code},
            "annotations": {"summary": self.text, "runbook_url": self.runbook},
        }


def alerts(limits: Limits) -> list[Alert]:
    """Return all alerts, in the order of docs/runbooks.md."""
    return [*_of_errors(limits), *_of_use(limits), *_of_devices(), *_of_upkeep(limits), *_of_cluster(limits)]


def _largest(series: str, *labels: str) -> str:
    """Return the largest value of each GPU."""
    return f"max by ({', '.join((_GPU, *labels))}) ({metrics.with_node(series)})"


def _of_errors(limits: Limits) -> list[Alert]:
    """Return the alerts about errors of one GPU, which the exporter reports."""
    return [
        Alert(
            *("GpuXid", "GPU-HW-XID", CRITICAL, "0m"),
            _largest(f'DCGM_EXP_XID_ERRORS_COUNT{{xid=~"{_FATAL}"}}', "xid") + " > 0",
            f"{_WHERE} reported Xid {{{{ $labels.xid }}}}: it needs a reset, a reboot or a replacement.",
        ),
        Alert(
            *("GpuHot", "GPU-HOT", WARNING, "10m"),
            f"{_largest('DCGM_FI_DEV_GPU_TEMP')} > {limits.temperature}",
            f"{_WHERE} has {{{{ $value }}}} degrees Celsius.",
        ),
        Alert(
            *("GpuEccErrors", "GPU-ECC", CRITICAL, "0m"),
            _largest("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL") + " > 0",
            f"{_WHERE} has {{{{ $value }}}} memory errors that ECC could not correct.",
        ),
        Alert(
            *("GpuRowRemapPending", "GPU-REMAP", WARNING, "0m"),
            _largest("DCGM_FI_DEV_ROW_REMAP_PENDING") + " > 0",
            f"{_WHERE} remapped a row of its memory and needs a reset.",
        ),
        Alert(
            *("GpuRowRemapFailed", "GPU-REMAP-FAILED", CRITICAL, "0m"),
            _largest("DCGM_FI_DEV_ROW_REMAP_FAILURE") + " > 0",
            f"{_WHERE} could not remap a row of its memory: replace the GPU.",
        ),
    ]


def _of_use(limits: Limits) -> list[Alert]:
    """Return the alerts about what one GPU does, which the exporter reports."""
    return [
        Alert(
            *("GpuVgpuUnlicensed", "GPU-VGPU-LICENSE", WARNING, "15m"),
            f"min by (Hostname, modelName) ({metrics.with_node(_LICENCE)}) == 0",
            "vGPU {{ $labels.modelName }} of node {{ $labels.Hostname }} has no licence: it becomes slow.",
        ),
        Alert(
            *("GpuThrottled", "GPU-THROTTLED", WARNING, "15m"),
            f"sum by ({_GPU}, clock_event) ({metrics.with_node(_SLOWED)}) > 0",
            f"{_WHERE} runs with a lower clock: {{{{ $labels.clock_event }}}}.",
        ),
        # Without the label Hostname: nobody has to look at the node.
        Alert(
            *("GpuIdle", "GPU-IDLE", INFO, limits.idle),
            f'max by (exported_namespace, exported_pod) ({ACTIVE}{{exported_pod!=""}}) < 0.01',
            "Pod {{ $labels.exported_pod }} of namespace {{ $labels.exported_namespace }} holds a GPU "
            "and does not use it.",
        ),
    ]


def _of_devices() -> list[Alert]:
    """Return the alerts about the devices of one node, which kube-state-metrics reports."""
    return [
        Alert(
            *("GpuLost", "GPU-LOST", CRITICAL, "10m"),
            f"max by (node, resource) (kube_node_status_capacity{{{_DEVICES}}})"
            f" - max by (node, resource) (kube_node_status_allocatable{{{_DEVICES}}}) > 0",
            "{{ $value }} devices ({{ $labels.resource }}) of node {{ $labels.node }} are out of service.",
        ),
        Alert(
            *("GpuFewerThanExpected", "GPU-ALLOC", WARNING, "15m"),
            f"{EXPECTED} > on (node, resource) group_left () "
            f"(max by (node, resource) (kube_node_status_allocatable{{{_DEVICES}}})"
            f" or max by (node, resource) ({EXPECTED}) * 0)",
            "Node {{ $labels.node }} of pool {{ $labels.pool }} offers fewer devices "
            "({{ $labels.resource }}) than the {{ $value }} that its pool expects.",
        ),
        Alert(
            *("GpuNoMetrics", "GPU-NO-METRICS", WARNING, "15m"),
            f"max by (node) (kube_node_status_capacity{{{_DEVICES}}}) > 0 unless on (node) "
            + metrics.with_node("DCGM_FI_DEV_GPU_TEMP", "node"),
            "Node {{ $labels.node }} has GPUs and no metrics: no other alert can see them.",
        ),
    ]


def _of_upkeep(limits: Limits) -> list[Alert]:
    """Return the alerts about changes of one node that do not end."""
    running = f'{_UPGRADE}!~"|upgrade-required|upgrade-done|upgrade-failed"'
    return [
        Alert(
            *("GpuDriverUpgradeStuck", "GPU-UPG-RUNNING", WARNING, limits.upgrade),
            f"max by (node, {_UPGRADE}) (kube_node_labels{{{running}}}) > 0",
            f"The driver upgrade of node {{{{ $labels.node }}}} stays at {{{{ $labels.{_UPGRADE} }}}}.",
        ),
        Alert(
            *("GpuDriverUpgradeFailed", "GPU-UPG-FAILED", CRITICAL, "5m"),
            f'max by (node) (kube_node_labels{{{_UPGRADE}="upgrade-failed"}}) > 0',
            "The driver upgrade of node {{ $labels.node }} failed. The node stays cordoned.",
        ),
        Alert(
            *("GpuNodeCordoned", "NODE-CORDONED", WARNING, limits.cordoned),
            "max by (node) (kube_node_spec_unschedulable) == 1 and on (node) "
            f'kube_node_labels{{{_POOL}!=""}}',
            "Node {{ $labels.node }} of a GPU pool takes no pods: it is cordoned.",
        ),
        Alert(
            *("GpuNodeNotValidated", "NODE-GATED", WARNING, "30m"),
            f'max by (node) (kube_node_spec_taint{{key="{STARTUP}"}}) == 1',
            "The new node {{ $labels.node }} has not passed its validation and takes no pods.",
        ),
    ]


def _of_cluster(limits: Limits) -> list[Alert]:
    """Return the alerts about quotas, runs, and the gate for new nodes."""
    by = "max by (namespace, resourcequota, resource)"
    hard, used = (f'{by} (kube_resourcequota{{type="{bound}", {_COUNTED}}})' for bound in ("hard", "used"))
    return [
        Alert(
            *("GpuQuotaNearlyUsed", "QUOTA-NEARLY-USED", INFO, "30m"),
            f"{used} / ({hard} > 0) >= {limits.quota / 100:g}",
            "Namespace {{ $labels.namespace }} uses {{ $value | humanizePercentage }} of its quota "
            "{{ $labels.resourcequota }} ({{ $labels.resource }}).",
        ),
        Alert(
            *("GpuLeaseHeldLong", "RUN-LONG", WARNING, limits.lease),
            f'max by (lease_holder) (kube_lease_owner{{{_LEASE}, lease_holder!=""}}) and on () '
            f"time() - max(kube_lease_renew_time{{{_LEASE}}}) < 180",
            "The run of {{ $labels.lease_holder }} still holds the lease: no other run can change the GPU "
            "stack.",
        ),
        # A CronJob that never ended well has no time of its last success. It runs each minute.
        Alert(
            *("GpuGateDown", "WORK-GATE-DOWN", WARNING, "10m"),
            f"max by (namespace) (kube_cronjob_info{{{_GATE}}}) unless on (namespace) "
            f"time() - max by (namespace) (kube_cronjob_status_last_successful_time{{{_GATE}}}) < 300",
            "The gate in namespace {{ $labels.namespace }} does not work: new GPU nodes stay closed to pods.",
        ),
    ]
