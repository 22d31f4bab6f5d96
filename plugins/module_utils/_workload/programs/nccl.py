# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Program nccl: how fast GPUs add up their data, inside a node or over several.

Inside a node it is `all_reduce_perf` of nccl-tests, once by the best way there is between the GPUs, and once
through the NIC if the pod has an RDMA device. Over nodes it is a script of our own, which needs no ssh and no
MPI and prints the same table.
"""

from __future__ import annotations

import re
import typing as t

from . import devices, images, rdma, readings
from .program import Figure, Finding, GpuNode, Program, Result, Settings

ALL_REDUCE: t.Final = "all_reduce"
LOOPBACK: t.Final = "loopback"
PORT: t.Final = 29500
SOCKETS: t.Final = "WORK-RDMA-SOCKETS"
# Smaller ones do not fill the links. `all_reduce_perf` takes less than asked if the memory is too small.
LARGE: t.Final = 1 << 30
WORKER: t.Final = """\
import os, platform, sys, time, datetime, torch
import torch.distributed as dist
WARM, ROUNDS, SECONDS, MOST = 2, 20, 2.0, 60.0
def line(size, world, seconds, wrong):
    algbw = size / seconds / 1e9
    busbw = algbw * 2 * (world - 1) / world
    return (f"{size:12d}  {size // 4:12d}  {'float':>8}  {'sum':>6}  {-1:6d}{'':32}"
            f"  {seconds * 1e6:7.1f}  {algbw:6.2f}  {busbw:6.2f}  {wrong:6g}"), busbw
def agreed(value, how):
    shared = torch.tensor([value], dtype=torch.float64, device="cuda")
    dist.all_reduce(shared, op=how)
    return shared.item()
def timed(tensor, rounds):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(rounds):
        dist.all_reduce(tensor)
    torch.cuda.synchronize()
    return agreed((time.perf_counter() - start) / rounds, dist.ReduceOp.MAX)
def main():
    size, greatest = int(sys.argv[1]), int(sys.argv[2])
    rank, world, local = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", timeout=datetime.timedelta(minutes=10))
    print(f"#  Rank {rank:2d} Group  0 Pid {os.getpid():6d} on {platform.node():>10} device {local:2d} "
          f"[0000:00:00] {torch.cuda.get_device_name(local)}", flush=True)
    greatest = min(greatest, int(agreed(torch.cuda.mem_get_info()[0] // 2, dist.ReduceOp.MIN)))
    expected, faults, total, speeds = world * (world + 1) / 2, 0, 0.0, []
    while size <= greatest and (total < MOST or size <= 2 ** 30):
        tensor = torch.full((size // 4,), rank + 1.0, device="cuda")
        rounds = max(2, min(ROUNDS, int(SECONDS / max(timed(tensor, WARM), 1e-6))))
        seconds = timed(tensor, rounds)
        total += seconds * (rounds + WARM)
        tensor.fill_(rank + 1.0)
        dist.all_reduce(tensor)
        wrong = agreed(float((tensor != expected).sum().item()), dist.ReduceOp.SUM)
        faults += wrong > 0
        text, speed = line(size, world, seconds, wrong)
        speeds.append(speed)
        if local == 0:
            print(text, flush=True)
        del tensor
        size *= 2
    if local == 0:
        print(f"# Out of bounds values : {faults} {'FAILED' if faults else 'OK'}")
        print(f"# Avg bus bandwidth    : {sum(speeds) / max(len(speeds), 1):g}", flush=True)
    dist.destroy_process_group()
    sys.exit(1 if faults else 0)
main()
"""
_FUNCTIONS: t.Final = f"""\
cd "$(mktemp -d)" || exit
export HOME="$PWD" CUDA_DEVICE_ORDER=PCI_BUS_ID PMIX_MCA_gds=^ds12
export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,NET,P2P,SHM
cat >all_reduce.py <<'PROGRAM'
{WORKER}PROGRAM
gpus=$(nvidia-smi -L | grep -c '^GPU ')
echo "rdma devices:" $(ls /sys/class/infiniband 2>/dev/null)
echo "rdma verbs:" $(ls /dev/infiniband 2>/dev/null | grep uverbs)
by_torch() {{
  python3 -m torch.distributed.run --nnodes "$NODES" --node_rank "$NODE_RANK" --nproc_per_node "$gpus" \\
    --master_addr "$MASTER_ADDR" --master_port "$MASTER_PORT" all_reduce.py "$1" "$2"
}}
all_reduce() {{
  for tool in all_reduce_perf_mpi all_reduce_perf; do
    if command -v $tool; then
      $tool -b "$1" -e "$2" -f 2 -g "$gpus" -w 2 -n 10
      return
    fi
  done
  by_torch "$1" "$2"
}}
"""
# Loopback: without memory that GPUs share, the data of a node has to leave by the NIC and come back.
_INSIDE: t.Final = f"""\
measure() {{
  echo "nccl part={ALL_REDUCE}"
  all_reduce {8 << 20} {8 << 30} || return
  set -- /dev/infiniband/uverbs*
  if [ -e "$1" ]; then
    echo "nccl part={LOOPBACK}"
    (export NCCL_SHM_DISABLE=1 NCCL_P2P_DISABLE=1 NCCL_NVLS_ENABLE=0; all_reduce {256 << 20} {4 << 30})
  fi
}}
"""
# The name of the first pod is known some seconds after the pod runs.
_ACROSS: t.Final = f"""\
measure() {{
  echo "nccl part={ALL_REDUCE} rank=$NODE_RANK nodes=$NODES first=$MASTER_ADDR"
  tries=0
  until getent hosts "$MASTER_ADDR" || [ $tries -ge 150 ]; do sleep 2; tries=$((tries + 1)); done
  by_torch {8 << 20} {8 << 30}
}}
"""
# The devices of the pod are not all that it sees, and the table of addresses has those of other pods too.
_OVER_NETWORK: t.Final = """\
rdma_devices
export NCCL_SOCKET_IFNAME=eth0 NCCL_IB_HCA="=$(cut -d' ' -f2 devices | paste -sd, -)"
gids=$(cut -d' ' -f3 devices | sort -u)
case $gids in ''|-|*[!0-9]*) ;; *) export NCCL_IB_GID_INDEX=$gids ;; esac
"""
_PART: t.Final = re.compile(r"^nccl part=(\w+).*$", re.MULTILINE)
_NUMBER: t.Final = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")
_END: t.Final = re.compile(r"^# *Out of bounds values *: *(\d+) *(OK|FAILED)", re.MULTILINE)
_RANK: t.Final = re.compile(r"^#\s{1,9}Rank\s{1,9}(\d+)\b.* device\s{1,9}\d+ \[", re.MULTILINE)
_VIA: t.Final = re.compile(r"\bvia (?:(P2P|SHM)/|(NET/[^/\n]{1,40})/\d[^/\s]*(/GDRDMA)?)")
_NETWORK: t.Final = re.compile(r"NCCL INFO Using network (\S.*)$", re.MULTILINE)
_RDMA: t.Final = re.compile(r"^rdma devices:[ \t]*(\S.*)$", re.MULTILINE)
_VERBS: t.Final = re.compile(r"^rdma verbs:[ \t]*(\S*)", re.MULTILINE)
_IB: t.Final = re.compile(r"NET/IB : Using ((?:\[\d+\]\S+ ?)+)")
_CHANNELS: t.Final = re.compile(r"\b(\d+) nvls channels")
_NVLS: t.Final = re.compile(r"NVLS multicast support is available|Connected NVLS")
_VERSION: t.Final = re.compile(
    r"\bNCCL version ([\d.]+)|^# nccl-tests version .*nccl-library=(\d+)", re.MULTILINE
)
_TROUBLE: t.Final = re.compile(
    r"NCCL WARN (\S.*)$|(Test (?:NCCL|CUDA) failure .*)$|^(?:\[rank\d+\]: ?)?(\w+(?:\.\w+)*Error: .*)$"
    r"|^(Invalid number of GPUs: .*)$",
    re.MULTILINE,
)
_MEMORY_LOCK: t.Final = re.compile(r"ibv_(?:reg_mr|create_)\w* failed.*Cannot allocate memory")


class Row(t.NamedTuple):
    """A line of the table. speed: bus bandwidth, the better of both ways. wrong: None if nobody checked."""

    size: int
    speed: float
    wrong: float | None


def unfit(settings: Settings, node: GpuNode) -> str:
    """Return why the GPUs cannot talk to one another."""
    if node.mig:
        return "its GPUs are partitioned, and NCCL joins whole ones"
    if node.devices < 2 and settings.nodes < 2:
        return "it has one GPU, which has no other one to talk to; set nodes to test several nodes together"
    return ""


def script(settings: Settings, node: GpuNode) -> str:
    """Return the script of a pod that has all GPUs of a node, alone or with those of other nodes."""
    if node.nodes > 1:
        return script_of_rank(settings, node, node.rank, node.nodes, node.master)
    top = f"NODE_RANK=0\nNODES=1\nMASTER_ADDR=127.0.0.1\nMASTER_PORT={PORT}\n"
    return f"{devices.LIST}\n{top}{_FUNCTIONS}{_network(settings, node)}{_INSIDE}{readings.beside('measure')}"


def script_of_rank(settings: Settings, node: GpuNode, rank: int, nodes: int, master_host: str) -> str:
    """Return the script of one of several pods that work together, each with all GPUs of its node.

    rank: number of the pod, from 0. master_host: the name by which the others reach the pod of rank 0.
    """
    top = f"NODE_RANK={rank}\nNODES={nodes}\nMASTER_ADDR={master_host}\nMASTER_PORT={PORT}\n"
    return f"{devices.LIST}\n{top}{_FUNCTIONS}{_network(settings, node)}{_ACROSS}{readings.beside('measure')}"


def _network(settings: Settings, node: GpuNode) -> str:
    """Return what a pod with a network of its own does before."""
    return f"{rdma.asked(node)}{rdma.FUNCTIONS}{_OVER_NETWORK}" if settings.network else ""


def parse(log: str, settings: Settings) -> Result:
    """Return the bus bandwidth at the largest sizes, and how the data went."""
    uuids = tuple(devices.uuids(log))
    parts = _parts(log)
    findings = [finding for name, text in parts.items() for finding in _faults(name, text, len(uuids))]
    tables = {name: rows(text) for name, text in parts.items()}
    figures: list[Figure] = []
    sizes: dict[str, int] = {}
    for name, table in tables.items():
        largest = max((row.size for row in table), default=0)
        speed = max((row.speed for row in table if row.size >= min(largest, LARGE)), default=0.0)
        if speed > 0:
            figures.append(Figure(name, speed, "GB/s"))
            sizes[name] = largest
        if speed > 0 and largest < LARGE:
            text = f"the largest size was {largest >> 20} MiB; below 1 GiB the links are not full"
            findings.append(Finding(name, "warn", text))
    ways = {name: transports(text) for name, text in parts.items()}
    findings += _ways(log, ways, settings)
    findings += rdma.device_faults(log) if settings.network else ()
    findings += readings.parse(log)
    version = _VERSION.search(log)
    network = _NETWORK.findall(log)
    return Result(
        passed=bool(figures) and not any(one.status == "fail" for one in findings),
        uuids=uuids,
        figures=tuple(figures),
        findings=tuple(dict.fromkeys(findings)),
        extra={
            "transports": ways,
            "sizes": sizes,
            "network": network[-1].strip() if network else "",
            "nccl_version": (version[1] or version[2]) if version else "",
        },
    )


def _parts(log: str) -> dict[str, str]:
    """Return the log by its parts; a log without marks is the first one."""
    marks = list(_PART.finditer(log))
    if not marks:
        return {ALL_REDUCE: log}
    ends = [*(mark.start() for mark in marks[1:]), len(log)]
    return {mark[1]: log[mark.end() : end] for mark, end in zip(marks, ends, strict=True)}


def rows(text: str) -> list[Row]:
    """Return the lines of a table of nccl-tests.

    They have size, count, type, operation, root, then once or twice time, algbw, busbw and #wrong. Older
    releases have no root, and a deviation below 1 instead of #wrong.
    """
    return [row for line in text.splitlines() if len(line) < 400 and (row := _row(line.split()))]


def _row(cells: list[str]) -> Row | None:
    if len(cells) < 8 or not (cells[0].isdigit() and cells[1].isdigit()) or cells[2].isdigit():
        return None
    found = cells[5:] if len(cells[4:]) % 4 == 1 else cells[4:]
    groups = [found[place : place + 4] for place in range(0, len(found), 4)]
    if len(groups) > 2 or not all(_is_measured(group) for group in groups):
        return None
    checked = [float(group[3]) for group in groups if group[3] != "N/A"]
    return Row(int(cells[0]), max(float(group[2]) for group in groups), max(checked) if checked else None)


def _is_measured(group: t.Sequence[str]) -> bool:
    numbers = group if group[-1] != "N/A" else group[:3]
    return len(group) == 4 and all(_NUMBER.fullmatch(cell) for cell in numbers)


def transports(text: str) -> list[str]:
    """Return the ways that NCCL's own lines name, such as P2P, NVLS, NET/IB/GDRDMA, NET/Socket."""
    found = {(local or f"{net}{direct or ''}") for local, net, direct in _VIA.findall(text)}
    channels = _CHANNELS.findall(text)
    if any(map(int, channels)) if channels else _NVLS.search(text):
        found.add("NVLS")
    return sorted(found)


def _faults(name: str, text: str, number: int) -> t.Iterator[Finding]:
    """Yield what is wrong with a part: no table, no end, results that are wrong, GPUs that took no part."""
    table, end = rows(text), _END.search(text)
    wrong = [row for row in table if row.wrong is not None and row.wrong >= 1]
    ranks = set(_RANK.findall(text))
    if wrong:
        words = f"{wrong[0].wrong:g} values are wrong at {wrong[0].size} bytes"
        yield Finding(name, "fail", words)
    elif end and end[2] == "FAILED":
        yield Finding(name, "fail", f"NCCL counts {end[1]} values that are out of bounds")
    elif table and any(row.wrong is None for row in table):
        yield Finding(name, "fail", "nobody checked whether the results are right")
    elif not table or not end or not any(row.speed for row in table):
        words, code = "it did not run to its end" if table and not end else "it measured nothing", ""
        if _MEMORY_LOCK.search(text):
            code = rdma.RIGHTS
            words += ": the pod may not lock memory; RDMA needs an unlimited memlock, or capability IPC_LOCK"
        said = dict.fromkeys("".join(groups).strip()[:300] for groups in _TROUBLE.findall(text)[:20])
        yield Finding(name, "fail", "; ".join([words, *list(said)[:3]]), code=code)
    elif ranks and len(ranks) < number:
        yield Finding(name, "fail", f"only {len(ranks)} of {number} GPUs took part")


def _ways(log: str, ways: t.Mapping[str, t.Sequence[str]], settings: Settings) -> t.Iterator[Finding]:
    """Yield what is wrong with the ways between nodes, or out of a node and back."""
    listed = _RDMA.search(log)
    named = _IB.search(log)
    present = listed[1].strip() if listed else ", ".join(re.findall(r"\](\w+)", named[1])) if named else ""
    verbs = _VERBS.search(log)
    lacks = bool(present and verbs and not verbs[1])
    nodes = settings.nodes
    network = _NETWORK.findall(log)
    for name, found in ways.items():
        nets = [way for way in found if way.startswith("NET/")]
        if not nets and network and (nodes > 1 or named):
            nets = [f"NET/{network[-1].strip()}"]
        if any(way.startswith("NET/Socket") for way in nets) and (present or nodes > 1):
            why = (
                f"although there are RDMA devices: {present}"
                if present
                else "because it found no RDMA device"
            )
            more = "; the pod has none of them, so request their resource" if lacks else ""
            words, over = f"NCCL used TCP sockets, {why}{more}", settings.network
            yield Finding(name, "fail" if over else "warn", words, code=SOCKETS if over else "")
        elif set(nets) & set(found) and not any(way.endswith("/GDRDMA") for way in nets):
            text = "RDMA without GPUDirect: the data passes through the memory of the host"
            yield Finding(name, "warn", text)
    if lacks and nodes < 2:
        text = (
            f"the way through the NIC was not measured: the node has {present}, and the pod has none of them"
        )
        yield Finding(LOOPBACK, "skip", text)


PROGRAM: t.Final = Program(
    "node",
    image=images.pytorch,
    script=script,
    parse=parse,
    seconds=lambda _settings: 600,
    unfit=unfit,
    cpu=1,
    memory=4096,
    shared_memory=2,
)
