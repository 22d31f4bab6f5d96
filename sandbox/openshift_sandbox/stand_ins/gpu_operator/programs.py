# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for programs that measure GPUs: they print what the real ones print, with numbers of a table.

The troubles of README.md change the numbers and the words.
"""

from __future__ import annotations

import json
import re
import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Object
from openshift_sandbox.stand_ins.gpu_operator import traffic
from openshift_sandbox.stand_ins.gpu_operator.measured import Output, Place

# Type -> share of what the GPU does in half precision.
_TYPES: t.Final = {"fp32": 0.08, "tf32": 0.45, "bf16": 1.0, "fp16": 1.0, "fp8": 2.0}


def matmul(on: Place) -> Output:
    """Print a line for each device and type."""
    asked = re.search(r"python3 - \d+ (\S+) <<", on.script)
    lines = on.readings()
    units = [int(part.partition(":")[0]) for part in on.parts] or list(on.devices)
    for name in (asked[1] if asked else "fp16").split(","):
        for number, index in enumerate(units):
            value = on.gpu.fp16_tflops * _TYPES[name] * on.share(index) / (7 if on.parts else 1)
            lines.append(
                f"matmul gpu={number} type={name} size=8192 windows=20 seconds=10.2 median={value:.1f} "
                f"least={value * 0.99:.1f} greatest={value * 1.01:.1f} finite=true"
            )
    return Output(lines)


def compute_domain(on: Place) -> Output:
    """Print the channels of IMEX. Trouble `imex_channels` (count) changes their number."""
    number = int((on.trouble("imex_channels") or {"count": 1}).get("count", 2))
    return Output([" ".join(["imex channels:", *(f"channel{index}" for index in range(number))])])


_TESTS: t.Final = {
    1: (("Deployment", ("software",)),),
    2: (
        ("Deployment", ("software",)),
        ("Hardware", ("memory", "pcie")),
        ("Integration", ("context_create",)),
    ),
    3: (
        ("Deployment", ("software",)),
        ("Hardware", ("memory", "diagnostic", "nvbandwidth", "pcie")),
        ("Stress", ("memory_bandwidth", "targeted_stress", "targeted_power")),
    ),
}


def dcgm(on: Place) -> Output:
    """Print DCGM's JSON. Trouble `dcgm_fails` (gpu, test, error_id, severity, text) fails one test."""
    asked = re.search(r"--run (\d)", on.script)
    host = re.search(r"^host=(\S+)$", on.script, re.MULTILINE)
    level = min(3, int(asked[1]) if asked else 2)
    troubles = {number: on.trouble("dcgm_fails", index) for number, index in enumerate(on.devices)}
    categories = [
        {"category": category, "tests": [_test(name, troubles) for name in names]}
        for category, names in _TESTS[level]
    ]
    entities = [
        {"device_id": on.gpu.pci_device, "entity_id": number, "serial_num": f"16531230{index:05d}"}
        for number, index in enumerate(on.devices)
    ]
    document = {
        "DCGM Diagnostic": {"test_categories": categories},
        "entity_groups": [{"entities": entities, "entity_group": "GPU", "entity_group_id": 1}],
        "metadata": {"Driver Version Detected": "580.105.08", "version": "4.6.0"},
    }
    ids = ",".join(f"gpu:{number}" for number in range(len(on.devices)))
    code = 205 if any(troubles.values()) else 0
    top = f"dcgm way=standalone gpus={ids}: {host[1] if host else 'nvidia-dcgm:5555'}"
    rows = [
        row
        for number, uuid in enumerate(on.uuids)
        for row in (f"| {number:<6} | Name: {on.gpu.name:<63}|", f"|        | Device UUID: {uuid:<56}|")
    ]
    text = json.dumps(document, indent="\t", separators=(",", " : ")).splitlines()
    return Output([*rows, top, *on.readings(), *text, f"exit code {code}"], code)


def _test(name: str, troubles: t.Mapping[int, Object | None]) -> Object:
    results = []
    for number, trouble in troubles.items():
        entry: Object = {"entity_group": "GPU", "entity_group_id": 1, "entity_id": number, "status": "Pass"}
        if trouble and trouble.get("test", "memory") == name:
            warning = {
                "error_category": 10,
                "error_id": int(trouble.get("error_id", 85)),
                "error_severity": int(trouble.get("severity", 6)),
                "warning": trouble.get(
                    "text", f"GPU {number} had memory errors and row remappings are pending Reset GPU."
                ),
            }
            entry |= {"status": "Fail", "warnings": [warning]}
        results.append(entry)
    is_good = all(one["status"] == "Pass" for one in results)
    return {"name": name, "results": results, "test_summary": {"status": "Pass" if is_good else "Fail"}}


def nvbandwidth(on: Place) -> Output:
    """Print the program's JSON: copies from and to the host, and between each two GPUs."""
    shares = [on.share(index) for index in on.devices]
    host = [[f"{on.speeds.host * share:.4f}" for share in shares]]
    cases = [_case("host_to_device_memcpy_ce", host), _case("device_to_host_memcpy_ce", host)]
    if on.speeds.pair and len(shares) > 1:
        pairs = [
            [f"{on.speeds.pair * min(one, other):.3f}" if row != column else "N/A"
             for column, other in enumerate(shares)]
            for row, one in enumerate(shares)
        ]  # fmt: skip
        cases.append(_case("device_to_device_memcpy_write_ce", pairs))
    else:
        cases.append({"name": "device_to_device_memcpy_write_ce", "status": "Waived"})
    document = {"nvbandwidth": {"Driver Version": "580.105.08", "git_version": "v0.8", "testcases": cases}}
    text = json.dumps(document, indent="\t", separators=(",", " : ")).splitlines()
    tool = "/usr/libexec/datacenter-gpu-manager-4/plugins/cuda13/nvbandwidth"
    return Output([f"nvbandwidth by={tool}", *on.readings(), *text, "exit code 0"])


def _case(name: str, matrix: list[list[str]]) -> Object:
    numbers = [float(cell) for row in matrix for cell in row if cell != "N/A"]
    return {"bandwidth_matrix": matrix, "name": name, "status": "Passed", "sum": round(sum(numbers), 3)}


def nccl(on: Place) -> Output:
    """Print NCCL's lines and the table, inside a node or over the nodes of the pod's partners.

    Troubles `nccl_sockets` and `slow_network` (share) of one partner hold for all of them.
    """
    nodes = len(on.partners) or 1
    ranks = nodes * len(on.devices)
    sockets = any(on.trouble("nccl_sockets", node=node) for node in on.partners)
    first = re.search(r"^NODE_RANK=(\d+)\nNODES=(\d+)\nMASTER_ADDR=(\S+)$", on.script, re.MULTILINE)
    more = f" rank={first[1]} nodes={first[2]} first={first[3]}" if first and nodes > 1 else ""
    has_rdma, direct = on.nic is not None, on.speeds.pair > 0
    is_own = traffic.MARK in on.script
    if is_own and nodes > 1 and not sockets and traffic.devices(on) and not traffic.may_lock(on):
        return Output([*traffic.listed(on), *_head(on, more), *traffic.NO_MEMORY_OF_NCCL], 1)
    way, speed = ("P2P/CUMEM" if direct else "SHM/direct/direct"), on.speeds.reduce * on.least
    if nodes > 1:
        by_rdma = has_rdma and not sockets and (not is_own or bool(traffic.devices(on)))
        way, speed = ("NET/IB/0/GDRDMA", 46.5 * len(on.devices)) if by_rdma else ("NET/Socket/0", 2.6)
        slow = [on.trouble("slow_network", node=node) for node in on.partners]
        speed *= min((float(one.get("share", 0.5)) for one in slow if one), default=1.0) * on.least
    lines = [*(traffic.listed(on) if is_own else []), *_head(on, more)]
    lines.append("pod-0:41:41 [0] NCCL INFO NCCL version 2.28.7+cuda13.0")
    if nodes > 1:
        lines.append(f"pod-0:41:58 [0] NCCL INFO Using network {'Socket' if 'Socket' in way else 'IB'}")
    lines.append(f"pod-0:41:58 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via {way}")
    lines += [_row(8 << 20 << step, ranks, speed * (0.5 if step < 5 else 1.0)) for step in range(11)]
    return Output([*lines, "# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {speed:g}",
                   *on.readings()])  # fmt: skip


def _head(on: Place, more: str) -> list[str]:
    """Return what the script and NCCL print before they measure."""
    mine = [f"uverbs{number}" for number in range(len(traffic.devices(on)))]
    verbs = mine if traffic.MARK in on.script else ["uverbs0"] if on.nic else []
    return [
        "rdma devices: mlx5_0" if on.nic else "rdma devices:",
        " ".join(["rdma verbs:", *verbs]),
        f"nccl part=all_reduce{more}",
        *(
            f"#  Rank {rank:2d} Group  0 Pid {41 + rank:6d} on pod-0 device {rank:2d} [0000:1b:00] "
            f"{on.gpu.name}"
            for rank in range(len(on.devices))
        ),
    ]


def _row(size: int, ranks: int, busbw: float) -> str:
    algbw = busbw / (2 * (ranks - 1) / ranks)
    seconds = size / algbw / 1e9
    return (
        f"{size:12d}  {size // 4:12d}  {'float':>8}  {'sum':>6}  {-1:6d}{'':32}"
        f"  {seconds * 1e6:7.1f}  {algbw:6.2f}  {busbw:6.2f}  {0:6g}"
    )


def resnet50(on: Place) -> Output:
    """Print the table of steps, pictures per second and loss, of today or of 2019."""
    is_old = "resnet.py" in on.script
    lines = ["  Step Epoch Img/sec  Loss    LR", *on.readings()]
    for number, index in enumerate(on.devices[:1] if is_old else on.devices):
        name, rate = "" if is_old else f"gpu={number} ", on.speeds.images * on.share(index)
        lines += [] if is_old else [f"gpu={number} batch_size=256"]
        for step in (1, *range(10, 91, 10)):
            speed = rate * (0.1 if step == 1 else 0.7 if step == 10 else 1.0)
            loss = 7.0 - step / 30
            lines.append(f"{name}{step:6d} {step:5.1f} {speed:7.1f} {loss:6.3f} {loss + 0.9:6.3f} {0.1:7.5f}")
    return Output(lines)


def gpu_burn(on: Place) -> Output:
    """Print the progress and a verdict for each GPU."""
    speeds = [on.gpu.fp16_tflops * 250 * on.share(index) for index in on.devices]
    heat = [91 if on.trouble("throttled", index) else 66 for index in on.devices]
    done = " - ".join(f"9999 ({speed:.0f} Gflop/s) " for speed in speeds)
    errors = " - ".join("0 " for _speed in speeds)
    warm = " - ".join(f"{degrees} C " for degrees in heat)
    progress = f"100.0%  proc'd: {done}  errors: {errors}  temps: {warm}"
    verdicts = [f"\tGPU {number}: OK" for number in range(len(speeds))]
    return Output([*on.readings(), progress, f"Tested {len(speeds)} GPUs:", *verdicts])


def trtexec(on: Place) -> Output:
    """Print throughput and latency of one GPU."""
    rate, at = on.speeds.queries * on.least, "[11/28/2026-10:00:00] [I]"
    middle = 1000 / rate
    return Output(
        [
            f"{at} === Performance summary ===",
            f"{at} Throughput: {rate:.1f} qps",
            f"{at} Latency: min = {middle * 0.9:.4f} ms, max = {middle * 1.4:.4f} ms, "
            f"mean = {middle:.4f} ms, median = {middle:.4f} ms, percentile(90%) = {middle * 1.1:.4f} ms, "
            f"percentile(95%) = {middle * 1.2:.4f} ms, percentile(99%) = {middle * 1.3:.4f} ms",
            *on.readings(),
            "&&&& PASSED TensorRT.trtexec [TensorRT v101400] # trtexec --onnx=ResNet50.onnx",
        ]
    )


def vllm(on: Place) -> Output:
    """Print the result of 256 requests to a server on all GPUs."""
    rate = on.speeds.tokens * on.least * len(on.devices)
    rows = {
        "Successful requests:": 256,
        "Failed requests:": 0,
        "Output token throughput (tok/s):": f"{rate:.2f}",
        "Total token throughput (tok/s):": f"{rate * 2:.2f}",
        "Median TTFT (ms):": f"{250000 / rate:.2f}",
        "Median TPOT (ms):": f"{90000 / rate:.2f}",
    }
    title = "============ Serving Benchmark Result ============"
    return Output([title, *(f"{key:<40} {value!s:<10}" for key, value in rows.items()), *on.readings()])


def own(on: Place) -> Output:
    """Print what the `echo` lines of a user's script print, and 100 where its Python prints a number."""
    echoed = re.findall(r"^\s*\(?echo [\"']([^\"'\n]*)[\"']\)?\s*$", on.script, re.MULTILINE)
    printed = re.findall(r'\bprint\((?:"([^"\n]*:)", |json\.dumps\(\{"(\w+)": )', on.script)
    return Output(
        [*echoed, *(f"{text} 100.0" if text else json.dumps({key: 100.0}) for text, key in printed)]
    )


_PROGRAMS: t.Final[dict[str, t.Callable[[Place], Output]]] = {
    one.__name__: one
    for one in (
        compute_domain,
        matmul,
        dcgm,
        nvbandwidth,
        nccl,
        traffic.rdma,
        resnet50,
        gpu_burn,
        trtexec,
        vllm,
        own,
    )
}
# Releases of PyTorch's image: the last one with code for GPUs before Turing, the first ones for newer GPUs.
_LAST_FOR_VOLTA: t.Final = (25, 7)
_TURING: t.Final = (7, 5)
_FIRST: t.Final = {(9, 0): (22, 9), (10, 0): (25, 1)}
_NO_CODE: t.Final = (
    "torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device"
)


def output(what: str | None, on: Place) -> Output:
    """Return what the program prints after the list of its devices, nothing for one that is not here."""
    if what not in _PROGRAMS:
        return Output()
    major, _dot, minor = on.gpu.compute.partition(".")
    compute, found = (int(major), int(minor)), re.search(r"/pytorch:(\d\d)\.(\d\d)-", on.image)
    release = (int(found[1]), int(found[2])) if found else None
    is_newer = release and any(compute >= kind and release < first for kind, first in _FIRST.items())
    if is_newer or (release and compute < _TURING and release > _LAST_FOR_VOLTA):
        return Output([_NO_CODE], 1)
    return _PROGRAMS[what](on)
