# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for perftest between two pods, and for what a pod sees of RDMA devices.

The devices are those that the pod requested: functions of the SR-IOV operator or a whole adapter by Multus'
annotation, or all adapters of the node by `rdma/*`. The real ib_write_bw sends data; here it prints what it
printed on good hardware, and the troubles of README.md change that.
"""

from __future__ import annotations

import json
import re
import typing as t

from openshift_sandbox.hardware.instance_types import of_node
from openshift_sandbox.hardware.ports import Port, ports
from openshift_sandbox.stand_ins.cluster_network.attachments import STATUS
from openshift_sandbox.stand_ins.core.reconciler import Object
from openshift_sandbox.stand_ins.gpu_operator.measured import Output, Place

# A script with this word lists the RDMA devices of its pod.
MARK: t.Final = "rdma_devices"
RULE: t.Final = "-" * 87
# GT/s of a lane of the generations of PCIe, and Gb/s that 16 of them carry.
_LANES: t.Final = {3: 100.0, 4: 200.0, 5: 400.0, 6: 800.0}
_GENERATION: t.Final = {"ampere": 4, "ada-lovelace": 4, "hopper": 5, "blackwell": 5}
# Since this compute capability a GPU gives out its memory as DMA-BUF.
_DMABUF_SINCE: t.Final = (7, 5)
_NO_MR: t.Final = (
    "Couldn't allocate MR",
    "failed to create mr",
    "Failed to create MR",
    " Couldn't create IB resources",
)
NO_MEMORY_OF_NCCL: t.Final = (
    "pod-0:41:41 [0] NCCL INFO NCCL version 2.28.7+cuda13.0",
    "pod-0:41:58 [0] NCCL INFO Using network IB",
    "pod-0:41:58 [0] misc/ibvwrap.cc:179 NCCL WARN Call to ibv_reg_mr_iova2 failed with error "
    "Cannot allocate memory",
)


class Device(t.NamedTuple):
    """An RDMA device of a pod, and the number of the nearest GPU in the pod."""

    name: str
    port: Port
    gpu: int


def devices(on: Place) -> list[Device]:
    """Return the RDMA devices whose files the pod has."""
    found = ports(on.node["metadata"]["name"], of_node(on.node))
    if not found:
        return []
    asked: dict[str, int] = {}
    for container in on.pod.get("spec", {}).get("containers") or []:
        for name, number in ((container.get("resources") or {}).get("requests") or {}).items():
            asked[name] = asked.get(name, 0) + int(re.sub(r"\D.*", "", str(number)) or 0)
    text = (on.pod.get("metadata", {}).get("annotations") or {}).get(STATUS) or "[]"
    given = [
        entry["device-info"]["pci"].get("rdma-device", "")
        for entry in json.loads(text)
        if "device-info" in entry
    ]
    functions = sum(number for name, number in asked.items() if name.startswith("openshift.io/"))
    names = [*given, *(f"mlx5_{len(found) + at}" for at in range(len(given), functions))]
    if any(name.startswith("rdma/") for name in asked) or on.trouble("extra_rdma_devices"):
        names += [port.rdma for port in found if port.rdma not in names]
    count = max(1, len(on.devices))
    return [
        Device(name, found[at % len(found)], at % len(found) * count // len(found) % count)
        for at, name in enumerate(names)
    ]


def may_lock(on: Place) -> bool:
    """Return whether the pod may lock as much memory as it wants."""
    container: Object = next(iter(on.pod.get("spec", {}).get("containers") or []), {})
    context = container.get("securityContext") or {}
    has_right = "IPC_LOCK" in ((context.get("capabilities") or {}).get("add") or [])
    is_root = context.get("runAsUser") == 0
    return (has_right and is_root) or bool(context.get("privileged")) or _memlock(on) == "unlimited"


def _memlock(on: Place) -> str:
    return "unlimited" if on.trouble("memlock_unlimited") else "8192"


def listed(on: Place) -> list[str]:
    """Return what a script prints about the rights of its pod and about its devices."""
    asked = re.search(r"^echo (rdma asked=\d+)$", on.script, re.MULTILINE)
    is_right = may_lock(on) and _memlock(on) != "unlimited"
    user, effective = (0, f"{1 << 14:016x}") if is_right else (1000680000, "0" * 16)
    lines = [asked[1]] if asked else []
    lines.append(f"rdma rights uid={user} memlock={_memlock(on)} effective={effective}")
    shared = 3 if on.trouble("gpu_far_from_nic") else 7
    for number, device in enumerate(devices(on)):
        nic = device.port.nic
        link, gid = ("InfiniBand", "-") if nic.link == "IB" else ("Ethernet", "3")
        state = "DOWN" if on.trouble("link_down") else "ACTIVE"
        speed = "32.0" if nic.speed > 200 else "16.0"
        lines.append(
            f"rdma device={number} name={device.name} link={link} rate={nic.speed} state={state} gid={gid} "
            f"speed={speed} wide=16 gpu={device.gpu} shared={shared} gen={_generation(on)} lanes=16"
        )
    return lines


def _generation(on: Place) -> int:
    return _GENERATION.get(on.gpu.family, 3)


def rdma(on: Place) -> Output:
    """Print what ib_write_bw prints for each device and memory that the script asks for."""
    lines, mine = [*listed(on), "/usr/bin/ib_write_bw"], devices(on)
    if not mine:
        return Output([*lines, "No IB devices found"], 1)
    asked = re.search(r'^MEMORIES="([^"]*)"$', on.script, re.MULTILINE)
    lines.append("10.131.0.17     peer")
    for number, device in enumerate(mine):
        used = ""
        for memory in (asked[1] if asked else "host").split():
            if memory == "peermem" and used == "dmabuf":
                continue
            lines.append(f"rdma step device={number} memory={memory}")
            text, has_worked = _run(on, device, memory)
            lines += text
            used = memory if has_worked else used
    return Output([*lines, "rdma end", *on.readings()])


def _run(on: Place, device: Device, memory: str) -> tuple[list[str], bool]:
    """Return the output of one run, and whether it measured."""
    cuda = [] if memory == "host" or on.trouble("gpu_memory_unused") else _cuda(on, device)
    major, _dot, minor = on.gpu.compute.partition(".")
    if on.trouble("link_down"):
        return [" Port number 1 state is Down", " Couldn't set the link layer"], False
    if not may_lock(on):
        return [*cuda, *_NO_MR], False
    if cuda and memory == "dmabuf":
        if (int(major), int(minor)) < _DMABUF_SINCE or on.trouble("no_dmabuf"):
            return [*cuda, "DMA-BUF is not supported on this GPU", " Couldn't create IB resources"], False
        cuda.append(
            "using DMA-BUF for GPU buffer address at 0x7f3dfa600000 aligned at 0x7f3dfa600000 with aligned "
            "size 8388608"
        )
    if cuda and memory == "peermem" and on.trouble("no_peermem"):
        return [*cuda, *_NO_MR], False
    if cuda:
        cuda.append("allocated GPU buffer of a 8388608 address at 0x7f3dfa600000 for type CUDA_MEM_DEVICE")
    head = _header(device)
    links = {port.nic.link for node in on.partners for port in _ports(node)}
    if len(links) > 1:
        words = ["Failed to modify QP 4521 to RTR", " Unable to Connect the HCA's through the link"]
        return [*cuda, *head, *words], False
    speed = _speed(on, device, bool(cuda))
    end = ["deallocating GPU buffer 00007f3dfa600000", "destroying current CUDA Ctx"] if cuda else []
    return [*cuda, *head, *_table(speed), *end], True


def _ports(node: Object) -> list[Port]:
    return ports(node["metadata"]["name"], of_node(node))


def _speed(on: Place, device: Device, is_gpu: bool) -> float:
    """Return Gb/s: of the link, of the slot of the GPU, and of the slower partner."""
    slow = [on.trouble("slow_network", node=node) for node in on.partners or [on.node]]
    share = min((float(one.get("share", 0.5)) for one in slow if one), default=1.0)
    speed = device.port.nic.speed * 0.98 * share
    if is_gpu:
        speed = min(speed, _LANES[_generation(on)]) * (0.45 if on.trouble("gpu_far_from_nic") else 0.98)
    return speed


def _cuda(on: Place, device: Device) -> list[str]:
    return [
        "initializing CUDA",
        "Listing all CUDA devices in system:",
        *(
            f"CUDA device {number}: PCIe address is {0x1B + index:02X}:00"
            for number, index in enumerate(on.devices)
        ),
        "",
        f"Picking device No. {device.gpu}",
        f"[pid = 7, dev = {device.gpu}] device name = [{on.gpu.name}]",
        "creating CUDA Ctx",
        "making it the current CUDA Ctx",
    ]


def _header(device: Device) -> list[str]:
    is_ethernet = device.port.nic.link == "ETH"
    gid = "00:00:00:00:00:00:00:00:00:00:255:255:192:168:02:226"
    return [
        RULE,
        "                    RDMA_Write BW Test",
        f" Dual-port       : OFF\t\tDevice         : {device.name}",
        " Number of qps   : 4\t\tTransport type : IB",
        " Connection type : RC\t\tUsing SRQ      : OFF",
        " PCIe relax order: ON\t\tLock-free      : OFF",
        " ibv_wr* API     : ON\t\tUsing Enhanced Reorder      : OFF",
        " TX depth        : 128",
        " CQ Moderation   : 100",
        f" Mtu             : {1024 if is_ethernet else 4096}[B]",
        f" Link type       : {'Ethernet' if is_ethernet else 'IB'}",
        *([" GID index       : 3"] if is_ethernet else []),
        " Max inline data : 0[B]",
        " rdma_cm QPs\t : OFF",
        " Data ex. method : Ethernet",
        RULE,
        " local address: LID 0000 QPN 0x01ac PSN 0xc76db1 RKey 0x23beb2 VAddr 0x007f26a2c8b000",
        *([f" GID: {gid}"] if is_ethernet else []),
        " remote address: LID 0000 QPN 0x01a9 PSN 0x2f722 RKey 0x23beaf VAddr 0x007f820b24f000",
        RULE,
    ]


def _table(speed: float) -> list[str]:
    """Return the table of a run of some seconds, which has no peak."""
    rate = speed / 8 / 1.048576 / 1000
    columns = (f" {1 << 20:<7d}", f"{int(rate * 1e6 * 3):<10d}", f"   {0.0:<7.2f}", f"        {speed:<7.2f}")
    return [
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]",
        f"{'    '.join(columns)}\t\t     {rate:<7.6f}",
        RULE,
    ]
