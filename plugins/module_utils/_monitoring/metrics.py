# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metrics that exist on a cluster, and the list of those that the DCGM exporter collects.

The exporter ends with an error if its list has a field that it does not know. So a field outside this table
never gets into the list.
"""

from __future__ import annotations

import difflib
import re
import typing as t

from .._core.errors import InputError

# Each metric that the exporter collects with our list: its type, and what it is. The first part is what the
# exporter collects without a list of its own, so that dashboards of others keep their data.
COLLECTED: t.Final[dict[str, tuple[str, str]]] = {
    "DCGM_FI_DEV_SM_CLOCK": ("gauge", "Clock of the streaming multiprocessors (MHz)"),
    "DCGM_FI_DEV_MEM_CLOCK": ("gauge", "Clock of the memory (MHz)"),
    "DCGM_FI_DEV_MEMORY_TEMP": ("gauge", "Temperature of the memory (C)"),
    "DCGM_FI_DEV_GPU_TEMP": ("gauge", "Temperature of the GPU (C)"),
    "DCGM_FI_DEV_POWER_USAGE": ("gauge", "Power draw (W)"),
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": ("counter", "Energy since the driver was loaded (mJ)"),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": ("counter", "Retries on PCIe"),
    "DCGM_FI_DEV_GPU_UTIL": ("gauge", "Use of the GPU (%)"),
    "DCGM_FI_DEV_MEM_COPY_UTIL": ("gauge", "Use of the memory's bandwidth (%)"),
    "DCGM_FI_DEV_ENC_UTIL": ("gauge", "Use of the encoder (%)"),
    "DCGM_FI_DEV_DEC_UTIL": ("gauge", "Use of the decoder (%)"),
    "DCGM_FI_DEV_XID_ERRORS": ("gauge", "Number of the last Xid error"),
    "DCGM_FI_DEV_FB_FREE": ("gauge", "Free memory (MiB)"),
    "DCGM_FI_DEV_FB_USED": ("gauge", "Used memory (MiB)"),
    "DCGM_FI_DEV_FB_RESERVED": ("gauge", "Memory that the driver reserves (MiB)"),
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL": ("gauge", "Traffic on all NVLinks"),
    "DCGM_FI_DEV_VGPU_LICENSE_STATUS": ("gauge", "Whether the vGPU has its licence"),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": ("counter", "Rows remapped for uncorrectable errors"),
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": ("counter", "Rows remapped for correctable errors"),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": ("gauge", "Whether a row could not be remapped"),
    "DCGM_FI_DRIVER_VERSION": ("label", "Version of the driver"),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": ("gauge", "Share of the time in which the compute engine works"),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": ("gauge", "Share of the cycles in which tensor cores work"),
    "DCGM_FI_PROF_DRAM_ACTIVE": ("gauge", "Share of the cycles in which the memory works"),
    "DCGM_FI_PROF_PCIE_TX_BYTES": ("gauge", "Bytes a second that leave over PCIe"),
    "DCGM_FI_PROF_PCIE_RX_BYTES": ("gauge", "Bytes a second that arrive over PCIe"),
    # What the alerts need besides.
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": ("counter", "Single-bit ECC errors since the driver was loaded"),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": ("counter", "Double-bit ECC errors since the driver was loaded"),
    "DCGM_FI_DEV_ROW_REMAP_PENDING": ("gauge", "Whether a remapped row waits for a reset of the GPU"),
    "DCGM_EXP_XID_ERRORS_COUNT": ("gauge", "Xid errors in the last five minutes"),
    "DCGM_EXP_CLOCK_EVENTS_COUNT": ("gauge", "Reasons for a lower clock in the last five minutes"),
}
# Fields that a user can add.
OPTIONAL: t.Final[dict[str, tuple[str, str]]] = {
    "DCGM_FI_DEV_BAR1_TOTAL": ("gauge", "Size of the BAR1 memory (MiB)"),
    "DCGM_FI_DEV_BAR1_USED": ("gauge", "Used BAR1 memory (MiB)"),
    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL": ("counter", "Double-bit ECC errors in the life of the GPU"),
    "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL": ("counter", "Single-bit ECC errors in the life of the GPU"),
    "DCGM_FI_DEV_MAX_MEM_CLOCK": ("gauge", "Highest clock of the memory (MHz)"),
    "DCGM_FI_DEV_MAX_SM_CLOCK": ("gauge", "Highest clock of the streaming multiprocessors (MHz)"),
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": ("counter", "CRC errors in data on NVLink"),
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": ("counter", "CRC errors in flow control on NVLink"),
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": ("counter", "Recoveries on NVLink"),
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": ("counter", "Retries on NVLink"),
    "DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX": ("gauge", "Highest power limit (W)"),
    "DCGM_FI_DEV_POWER_VIOLATION": ("counter", "Time with a lower clock for the power limit"),
    "DCGM_FI_DEV_RETIRED_DBE": ("counter", "Memory pages retired for double-bit errors"),
    "DCGM_FI_DEV_RETIRED_PENDING": ("counter", "Memory pages that wait to be retired"),
    "DCGM_FI_DEV_RETIRED_SBE": ("counter", "Memory pages retired for single-bit errors"),
    "DCGM_FI_DEV_SERIAL": ("label", "Serial number of the GPU"),
    "DCGM_FI_DEV_THERMAL_VIOLATION": ("counter", "Time with a lower clock for the temperature"),
    "DCGM_FI_DEV_VBIOS_VERSION": ("label", "Version of the VBIOS"),
    "DCGM_FI_PROF_PIPE_FP16_ACTIVE": ("gauge", "Share of the cycles in which FP16 pipes work"),
    "DCGM_FI_PROF_PIPE_FP32_ACTIVE": ("gauge", "Share of the cycles in which FP32 pipes work"),
    "DCGM_FI_PROF_PIPE_FP64_ACTIVE": ("gauge", "Share of the cycles in which FP64 pipes work"),
    "DCGM_FI_PROF_SM_ACTIVE": ("gauge", "Share of the cycles in which a multiprocessor has work"),
    "DCGM_FI_PROF_SM_OCCUPANCY": ("gauge", "Share of a multiprocessor's warps that are resident"),
}
# Metrics of OpenShift's kube-state-metrics that the rules use. It serves the labels of nodes, and no
# annotations: its list of allowed labels has nodes=[*].
STATE: t.Final = (
    "kube_cronjob_info",
    "kube_cronjob_status_last_successful_time",
    "kube_lease_owner",
    "kube_lease_renew_time",
    "kube_node_labels",
    "kube_node_spec_taint",
    "kube_node_spec_unschedulable",
    "kube_node_status_allocatable",
    "kube_node_status_capacity",
    "kube_resourcequota",
)
_METRIC: t.Final = re.compile(r"\b(?:DCGM_\w+|kube_\w+)\b(?!\s*=)")


def with_node(expression: str, label: str = "Hostname") -> str:
    """Return the series of the exporter with the name of their node in this label, whatever its release is.

    The exporter names the node Hostname, and from release 4.8.3 on (GPU operator 26.7.0) hostname. During an
    upgrade a cluster has both.
    """
    for label_name in ("Hostname", "hostname"):
        if label_name != label:
            expression = f'label_replace({expression}, "{label}", "$1", "{label_name}", "(.+)")'
    return expression


def node_label(key: str) -> str:
    """Return the label of kube_node_labels for a label of nodes, as kube-state-metrics names it."""
    plain = re.sub(r"\W", "_", key)
    return "label_" + re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", plain).lower()


def resource_label(name: str) -> str:
    """Return the value of the label resource for a resource of nodes, as kube-state-metrics writes it."""
    return re.sub(r"\W", "_", name)


def used(expression: str) -> set[str]:
    """Return the metrics of the exporter and of kube-state-metrics that an expression reads."""
    return set(_METRIC.findall(expression))


def check(asked: t.Sequence[str]) -> None:
    """Raise InputError with the path of a metric that the exporter does not know."""
    for index, name in enumerate(asked):
        if name not in COLLECTED and name not in OPTIONAL:
            near = difflib.get_close_matches(name, [*COLLECTED, *OPTIONAL], 3)
            known = " or ".join(near or ["DCGM_FI_PROF_SM_ACTIVE"])
            raise InputError("MON-METRIC", index=index, name=repr(name), known=known)


def as_csv(asked: t.Sequence[str]) -> str:
    """Return the exporter's list: our metrics, and those that the user asks for, one on a line."""
    table = {**COLLECTED, **{name: OPTIONAL[name] for name in asked if name in OPTIONAL}}
    lines = [f"{name}, {kind}, {text}." for name, (kind, text) in table.items()]
    return "\n".join(["# Field, type, help", *lines, ""])
