# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the DCGM exporter of a node: metrics of its GPUs, in the names of DCGM.

The real one asks DCGM for values and the kubelet for the pod of each GPU. Here a GPU that a pod holds is used
as the pod's annotation says, and everything else follows from that. The real one also has a series for each
slice of a GPU by MIG, here a GPU is whole.
"""

from __future__ import annotations

import re
import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core.index import Object
from openshift_sandbox.stand_ins.gpu_operator.output import device_uuid
from openshift_sandbox.stand_ins.gpu_operator.workloads import DEVICES
from openshift_sandbox.stand_ins.monitoring.exposition import Sample, page

# How much of each GPU a pod uses, from 0 to 1.
USE: t.Final = "sandbox.openshift/gpu-use"
USUAL: t.Final = 0.9
# What the exporter collects without a list of its own.
DEFAULT: t.Final = (
    *(f"DCGM_FI_DEV_{one}" for one in ("SM_CLOCK", "MEM_CLOCK", "MEMORY_TEMP", "GPU_TEMP", "POWER_USAGE")),
    *("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL"),
    *("DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_RESERVED"),
    *("DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"),
    *("DCGM_FI_PROF_DRAM_ACTIVE",),
)
_PHASES: t.Final = ("Succeeded", "Failed")
# An image of the last release that names the node in the label Hostname. From 4.8.3 on it is hostname
# (NVIDIA/dcgm-exporter, "Rename Hostname label to hostname").
OLDER: t.Final = "nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-distroless"
_RENAMED: t.Final = (4, 8, 3)
_RELEASE: t.Final = re.compile(r"dcgm-exporter:[\d.]+-(\d+)\.(\d+)\.(\d+)")


def node_label(image: str) -> str:
    """Return the label with which an exporter of this image names the node. A digest alone is a new one."""
    found = _RELEASE.search(image)
    is_older = found is not None and tuple(map(int, found.groups())) < _RENAMED
    return "Hostname" if is_older else "hostname"


def image_on(node: str, pods: t.Iterable[Object]) -> str:
    """Return the image of the exporter on the node; "" if none runs there."""
    for pod in pods:
        app = (pod["metadata"].get("labels") or {}).get("app", "")
        if "nvidia-dcgm-exporter" in app and pod["spec"].get("nodeName") == node:
            return str(pod["spec"]["containers"][0].get("image", ""))
    return ""


def fields(csv: str) -> list[str]:
    """Return the fields of the exporter's list."""
    lines = (line.strip() for line in csv.splitlines())
    return [line.partition(",")[0] for line in lines if line and not line.startswith("#")]


def metrics(
    node: Object,
    pods: t.Sequence[Object],
    collected: t.Sequence[str],
    troubles: t.Iterable[Object] = (),
) -> str:
    """Return the page of the node's exporter. troubles: of the type gpu_metric, of this node."""
    made_of = instance_types.of_node(node)
    if made_of is None or made_of.gpu is None:
        return ""
    name, holders = node["metadata"]["name"], _holders(node, pods)
    where = {node_label(image_on(name, pods)): name}
    samples = [
        sample
        for index in range(made_of.gpus)
        for sample in _of_gpu(where, index, made_of.gpu, holders.get(index), list(troubles))
    ]
    return page([one for one in samples if one.metric in collected])


def _holders(node: Object, pods: t.Iterable[Object]) -> dict[int, Object]:
    """Return the pod that holds each GPU."""
    found: dict[int, Object] = {}
    for pod in pods:
        here = pod["spec"].get("nodeName") == node["metadata"]["name"]
        if here and pod.get("status", {}).get("phase") not in _PHASES:
            given = (pod["metadata"].get("annotations") or {}).get(DEVICES, "")
            found |= {int(one.partition(":")[0]): pod for one in given.split(",") if one}
    return found


def _of_gpu(
    where: dict[str, str],
    index: int,
    gpu: instance_types.Gpu,
    pod: Object | None,
    troubles: t.Sequence[Object],
) -> t.Iterator[Sample]:
    (node,) = where.values()
    labels = {
        "gpu": str(index),
        "UUID": device_uuid(node, index),
        "device": f"nvidia{index}",
        "modelName": gpu.name,
        **where,
        **_pod_labels(pod),
    }
    broken = [one for one in troubles if one.get("gpu") in (None, index)]
    changed = {one["metric"] for one in broken}
    for metric, value, more in _values(gpu, _use(pod)):
        if metric not in changed:
            yield Sample(metric, {**labels, **more}, value)
    for one in broken:
        yield Sample(one["metric"], {**labels, **(one.get("labels") or {})}, float(one["value"]))


def _pod_labels(pod: Object | None) -> dict[str, str]:
    if pod is None:
        return {}
    metadata = pod["metadata"]
    container = pod["spec"]["containers"][0]["name"]
    return {"container": container, "namespace": metadata["namespace"], "pod": metadata["name"]}


def _use(pod: Object | None) -> float:
    given = (pod["metadata"].get("annotations") or {}).get(USE, USUAL) if pod else 0.0
    return float(given)


def _values(gpu: instance_types.Gpu, use: float) -> t.Iterator[tuple[str, float, dict[str, str]]]:
    """Return metric, value and further labels of a GPU of which so much is in use."""
    used, reserved = round(use * gpu.memory_mib * 0.8), 512
    plain = {
        "SM_CLOCK": 1410 if use else 210,
        "MEM_CLOCK": 1215,
        "MEMORY_TEMP": 40 + 30 * use,
        "GPU_TEMP": 35 + 40 * use,
        "POWER_USAGE": 50 + 300 * use,
        "TOTAL_ENERGY_CONSUMPTION": 1e9,
        "PCIE_REPLAY_COUNTER": 0,
        "GPU_UTIL": 100 * use,
        "MEM_COPY_UTIL": 60 * use,
        "ENC_UTIL": 0,
        "DEC_UTIL": 0,
        "XID_ERRORS": 0,
        "FB_USED": used,
        "FB_RESERVED": reserved,
        "FB_FREE": gpu.memory_mib - used - reserved,
        "NVLINK_BANDWIDTH_TOTAL": 0,
        "VGPU_LICENSE_STATUS": 0,
        "UNCORRECTABLE_REMAPPED_ROWS": 0,
        "CORRECTABLE_REMAPPED_ROWS": 0,
        "ROW_REMAP_FAILURE": 0,
        "ROW_REMAP_PENDING": 0,
        "ECC_SBE_VOL_TOTAL": 0,
        "ECC_DBE_VOL_TOTAL": 0,
    }
    for name, value in plain.items():
        yield f"DCGM_FI_DEV_{name}", float(value), {}
    shares = {"GR_ENGINE_ACTIVE": use, "PIPE_TENSOR_ACTIVE": 0.7 * use, "DRAM_ACTIVE": 0.5 * use}
    for name, share in {**shares, "PCIE_TX_BYTES": 1e6 * use, "PCIE_RX_BYTES": 1e6 * use}.items():
        yield f"DCGM_FI_PROF_{name}", share, {}
    window = {"window_size_in_ms": "300000"}
    yield "DCGM_EXP_XID_ERRORS_COUNT", 0.0, {**window, "xid": "0"}
    yield "DCGM_EXP_CLOCK_EVENTS_COUNT", 0.0 if use else 300.0, {**window, "clock_event": "gpu_idle"}
