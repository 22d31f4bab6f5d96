# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Situations of a cluster as series: the alert that each of them fires, and what comes near and does not."""

from __future__ import annotations

import typing as t

GPU: t.Final = {"Hostname": "gpu-0", "gpu": "3", "UUID": "GPU-5d1f", "modelName": "NVIDIA A100"}
OTHER: t.Final = {**GPU, "gpu": "4", "UUID": "GPU-77aa"}
VGPU: t.Final = {**GPU, "modelName": "NVIDIA A10-24Q"}
WHERE: t.Final = "GPU 3 (NVIDIA A100) of node gpu-0"
POOL: t.Final = {
    "name": "training",
    "node_selector": {"accelerators.openshift/pool": "training"},
    "expected": {"nvidia.com/gpu": 8},
}
STARTUP: t.Final = "startup-taint.cluster-autoscaler.kubernetes.io/gpu-validation"
# The metric and labels of a series, and its values in promtool's notation, one for each minute.
Given = tuple[str, str]


class Situation(t.NamedTuple):
    """fires: series of a cluster with the trouble. calm: of those without. labels, text: of the alert."""

    fires: list[Given]
    labels: dict[str, str]
    text: str
    calm: list[list[Given]]


def series(metric: str, labels: t.Mapping[str, str], values: str) -> Given:
    """Return one series. values: such as 1x20 for twenty-one times 1."""
    inside = ", ".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{metric}{{{inside}}}", values


def _gpu(metric: str, values: str, **more: str) -> Given:
    return series(metric, {**GPU, **more}, values)


def _node(metric: str, values: str, **more: str) -> Given:
    return series(metric, {"node": "gpu-0", **more}, values)


def _devices(metric: str, values: str) -> Given:
    return _node(f"kube_node_status_{metric}", values, resource="nvidia_com_gpu")


def _state(value: str, values: str = "1x90") -> Given:
    return _node("kube_node_labels", values, label_nvidia_com_gpu_driver_upgrade_state=value)


def _quota(kind: str, values: str) -> Given:
    where = {"namespace": "lab", "resourcequota": "gpus", "resource": "requests.nvidia.com/gpu"}
    return series("kube_resourcequota", {**where, "type": kind}, values)


def _gate(metric: str, values: str) -> Given:
    where = {"namespace": "gpu-validation", "cronjob": "gpu-gate"}
    return series(f"kube_cronjob_{metric}", where, values)


def _lease(metric: str, values: str, **more: str) -> Given:
    return series(metric, {"namespace": "default", "lease": "accelerators-openshift", **more}, values)


_POOL: t.Final = _node("kube_node_labels", "1x90", label_accelerators_openshift_pool="training")
_HELD: t.Final = {"exported_namespace": "lab", "exported_pod": "notes-0"}
_HOLDER: t.Final = _lease("kube_lease_owner", "1x500", lease_holder="me@here")

SITUATIONS: t.Final[dict[str, Situation]] = {
    "GpuXid": Situation(
        [_gpu("DCGM_EXP_XID_ERRORS_COUNT", "1x5", xid="79")],
        {**GPU, "xid": "79"},
        f"{WHERE} reported Xid 79: it needs a reset, a reboot or a replacement.",
        [
            [_gpu("DCGM_EXP_XID_ERRORS_COUNT", "0x5", xid="79")],
            [_gpu("DCGM_EXP_XID_ERRORS_COUNT", "4x5", xid="13")],
        ],
    ),
    "GpuHot": Situation(
        [_gpu("DCGM_FI_DEV_GPU_TEMP", "91x30")],
        GPU,
        f"{WHERE} has 91 degrees Celsius.",
        [[_gpu("DCGM_FI_DEV_GPU_TEMP", "85x30")], [_gpu("DCGM_FI_DEV_GPU_TEMP", "91x7 80x20")]],
    ),
    "GpuEccErrors": Situation(
        [_gpu("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "2x5")],
        GPU,
        f"{WHERE} has 2 memory errors that ECC could not correct.",
        [[_gpu("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "0x5"), _gpu("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "9x5")]],
    ),
    "GpuRowRemapPending": Situation(
        [_gpu("DCGM_FI_DEV_ROW_REMAP_PENDING", "1x5")],
        GPU,
        f"{WHERE} remapped a row of its memory and needs a reset.",
        [[_gpu("DCGM_FI_DEV_ROW_REMAP_PENDING", "0x5")]],
    ),
    "GpuRowRemapFailed": Situation(
        [_gpu("DCGM_FI_DEV_ROW_REMAP_FAILURE", "1x5")],
        GPU,
        f"{WHERE} could not remap a row of its memory: replace the GPU.",
        [[_gpu("DCGM_FI_DEV_ROW_REMAP_FAILURE", "0x5")]],
    ),
    "GpuVgpuUnlicensed": Situation(
        [series("DCGM_FI_DEV_VGPU_LICENSE_STATUS", VGPU, "0x40")],
        {key: VGPU[key] for key in ("Hostname", "modelName")},
        f"vGPU {VGPU['modelName']} of node {VGPU['Hostname']} has no licence: it becomes slow.",
        [
            [series("DCGM_FI_DEV_VGPU_LICENSE_STATUS", VGPU, "1x40")],
            [_gpu("DCGM_FI_DEV_VGPU_LICENSE_STATUS", "0x40")],
        ],
    ),
    "GpuThrottled": Situation(
        [_gpu("DCGM_EXP_CLOCK_EVENTS_COUNT", "30x40", clock_event="hw_thermal")],
        {**GPU, "clock_event": "hw_thermal"},
        f"{WHERE} runs with a lower clock: hw_thermal.",
        [
            [_gpu("DCGM_EXP_CLOCK_EVENTS_COUNT", "30x40", clock_event="sw_power_cap")],
            [_gpu("DCGM_EXP_CLOCK_EVENTS_COUNT", "30x40", clock_event="gpu_idle")],
        ],
    ),
    "GpuIdle": Situation(
        [
            _gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0x90", **_HELD),
            series("DCGM_FI_DEV_GPU_UTIL", {**OTHER, **_HELD}, "0x90"),
        ],
        _HELD,
        "Pod notes-0 of namespace lab holds a GPU and does not use it.",
        [
            [_gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0x90")],
            [
                _gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0x90", **_HELD),
                series("DCGM_FI_DEV_GPU_UTIL", {**OTHER, **_HELD}, "40x90"),
            ],
        ],
    ),
    "GpuLost": Situation(
        [_devices("capacity", "8x30"), _devices("allocatable", "7x30")],
        {"node": "gpu-0", "resource": "nvidia_com_gpu"},
        "1 devices (nvidia_com_gpu) of node gpu-0 are out of service.",
        [[_devices("capacity", "8x30"), _devices("allocatable", "8x30")]],
    ),
    "GpuFewerThanExpected": Situation(
        [_POOL, _devices("allocatable", "6x30")],
        {"node": "gpu-0", "resource": "nvidia_com_gpu", "pool": "training"},
        "Node gpu-0 of pool training offers fewer devices (nvidia_com_gpu) than the 8 that its pool expects.",
        [
            [_POOL, _devices("allocatable", "8x30")],
            [
                _node("kube_node_labels", "1x30", label_accelerators_openshift_pool="other"),
                _devices("allocatable", "6x30"),
            ],
        ],
    ),
    "GpuNoMetrics": Situation(
        [_devices("capacity", "8x30"), series("DCGM_FI_DEV_GPU_TEMP", {"Hostname": "gpu-1"}, "40x30")],
        {"node": "gpu-0"},
        "Node gpu-0 has GPUs and no metrics: no other alert can see them.",
        [
            [_devices("capacity", "8x30"), _gpu("DCGM_FI_DEV_GPU_TEMP", "40x30")],
            [_devices("capacity", "0x30")],
        ],
    ),
    "GpuDriverUpgradeStuck": Situation(
        [_state("drain-required")],
        {"node": "gpu-0", "label_nvidia_com_gpu_driver_upgrade_state": "drain-required"},
        "The driver upgrade of node gpu-0 stays at drain-required.",
        [[_state("upgrade-required")], [_state("upgrade-done")], [_node("kube_node_labels", "1x90")]],
    ),
    "GpuDriverUpgradeFailed": Situation(
        [_state("upgrade-failed")],
        {"node": "gpu-0"},
        "The driver upgrade of node gpu-0 failed. The node stays cordoned.",
        [[_state("pod-restart-required")]],
    ),
    "GpuNodeCordoned": Situation(
        [_POOL, _node("kube_node_spec_unschedulable", "1x90")],
        {"node": "gpu-0"},
        "Node gpu-0 of a GPU pool takes no pods: it is cordoned.",
        [
            [_POOL, _node("kube_node_spec_unschedulable", "0x90")],
            [_node("kube_node_labels", "1x90"), _node("kube_node_spec_unschedulable", "1x90")],
        ],
    ),
    "GpuNodeNotValidated": Situation(
        [_node("kube_node_spec_taint", "1x90", key=STARTUP)],
        {"node": "gpu-0"},
        "The new node gpu-0 has not passed its validation and takes no pods.",
        [
            [_node("kube_node_spec_taint", "1x20", key=STARTUP)],
            [_node("kube_node_spec_taint", "1x90", key="nvidia.com/gpu")],
        ],
    ),
    "GpuQuotaNearlyUsed": Situation(
        [_quota("hard", "8x60"), _quota("used", "8x60")],
        {"namespace": "lab", "resourcequota": "gpus", "resource": "requests.nvidia.com/gpu"},
        "Namespace lab uses 100% of its quota gpus (requests.nvidia.com/gpu).",
        [[_quota("hard", "8x60"), _quota("used", "7x60")], [_quota("hard", "0x60"), _quota("used", "0x60")]],
    ),
    "GpuLeaseHeldLong": Situation(
        [_HOLDER, _lease("kube_lease_renew_time", "0+60x500")],
        {"lease_holder": "me@here"},
        "The run of me@here still holds the lease: no other run can change the GPU stack.",
        [
            [_HOLDER, _lease("kube_lease_renew_time", "0x500")],
            [
                _lease("kube_lease_owner", "1x500", lease_holder=""),
                _lease("kube_lease_renew_time", "0+60x500"),
            ],
        ],
    ),
    "GpuGateDown": Situation(
        [_gate("info", "1x60"), _gate("status_last_successful_time", "-1000x60")],
        {"namespace": "gpu-validation"},
        "The gate in namespace gpu-validation does not work: new GPU nodes stay closed to pods.",
        [
            [_gate("info", "1x60"), _gate("status_last_successful_time", "0+60x60")],
            [series("kube_cronjob_info", {"namespace": "lab", "cronjob": "backup"}, "1x60")],
        ],
    ),
}
